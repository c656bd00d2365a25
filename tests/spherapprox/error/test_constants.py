import math

import numpy as np
import pytest

from spherapprox import ClassicalHead, CoreHead, SplitHead, sphere
from spherapprox.error import HeadConstants, head_constants
from spherapprox.error.certified.derivatives import Derivative


def differences(head, x, tau):
    """First and second derivatives (n, p) along unit tangents tau at x, by differences."""
    t = 1e-4 / math.sqrt(1.0 + head.concentration)
    ahead, at, back = (
        np.asarray(head(math.cos(s) * x + math.sin(s) * tau, rtol=None)).reshape(len(x), -1) for s in (t, 0.0, -t)
    )
    return (ahead - back) / (2 * t), (ahead - 2 * at + back) / t**2


def brute_force(head, n, seed):
    """The largest value, slope and second derivative at n points, half of them near control points, and directions."""
    rng = np.random.default_rng(seed)
    x = sphere.uniform(head.dim, n, rng)
    x[: n // 2] = head.control_points[rng.integers(len(head), size=n // 2)] + 0.3 * x[: n // 2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    tau = rng.standard_normal(x.shape)
    tau -= (tau * x).sum(axis=1, keepdims=True) * x
    tau /= np.linalg.norm(tau, axis=1, keepdims=True)
    values = np.asarray(head(x)).reshape(n, -1), *differences(head, x, tau)
    return [float(np.linalg.norm(v, axis=1).max()) for v in values]


def intervals(constants):
    return constants.sup_norm, constants.lipschitz, constants.smoothness


def assert_sharp(constants, *values):
    """Check that the lower ends are the largest of values, and the upper ends near."""
    for found, true in zip(intervals(constants), values, strict=True):
        assert found.lower == pytest.approx(true.max(), rel=1e-6)
        assert found.lower <= found.upper <= 1.02 * found.lower


@pytest.mark.parametrize(
    ("kind", "dim", "n", "concentration", "outputs"),
    [(SplitHead, 1, 9, 30.0, 2), (ClassicalHead, 2, 7, 4.0, 1), (CoreHead, 2, 12, 20.0, 2)],
)
def test_both_ends_enclose_brute_force(kind, dim, n, concentration, outputs):
    rng = np.random.default_rng(10 * n + outputs)
    values = rng.standard_normal((n, outputs)) + 3.0
    head = kind(sphere.uniform(dim, n, rng), values[:, 0] if outputs == 1 else values, concentration)
    constants = head_constants(head, slack=0.3)
    assert isinstance(constants, HeadConstants)
    for found, brute in zip(intervals(constants), brute_force(head, 20_000, n), strict=True):
        assert brute * (1 - 1e-5) <= found.upper
        assert 0.8 * brute <= found.lower <= found.upper
        assert found.reason or found.upper <= 1.3 * found.lower
        assert not found.reason or (found is constants.smoothness and dim == outputs == 2)


@pytest.mark.parametrize(("kind", "outputs"), [(SplitHead, 2), (CoreHead, 1)])
def test_lower_ends_are_attained(kind, outputs):
    rng = np.random.default_rng(outputs)
    head = kind(sphere.uniform(2, 8, rng), rng.standard_normal((8, outputs)), 6.0)
    constants = head_constants(head, slack=0.3)
    angles = np.linspace(0.0, math.pi, 2000)
    for order, found in enumerate(intervals(constants)):
        first, second = np.linalg.svd(found.at[None])[2][1:]
        tau = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
        at = np.tile(found.at, (len(tau), 1))
        values = head(at) if order == 0 else differences(head, at, tau)[order - 1]
        assert np.linalg.norm(values, axis=1).max() == pytest.approx(found.lower, rel=1e-5)


@pytest.mark.parametrize("concentration", [0.2, 300.0])
def test_one_kernel_has_its_known_constants(concentration):
    angle = np.linspace(0.0, math.pi, 200_001)
    bump = 2.0 * np.exp(concentration * (np.cos(angle) - 1.0))
    slope = concentration * np.sin(angle) * bump
    # along meridians and parallels: the Hessian's eigenvalues
    bend = np.maximum(np.abs(concentration * np.cos(angle) - concentration**2 * np.sin(angle) ** 2),
                      concentration * np.abs(np.cos(angle))) * bump  # fmt: skip
    constants = head_constants(CoreHead([[0.0, 0.6, 0.8]], [2.0], concentration), slack=0.02)
    assert_sharp(constants, bump, slope, bend)


@pytest.mark.parametrize("concentration", [0.3, 40.0])
def test_two_points_make_a_sigmoid(concentration):
    # h = tanh(rate <x, e>), e along b1 - b2
    points, rate = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8]]), 0.6 * concentration
    height = np.sin(np.linspace(0.0, 0.5 * math.pi, 200_001))
    h = np.tanh(rate * height)
    slope = rate * (1.0 - h**2)
    bends = slope * np.abs(2.0 * rate * h * (1.0 - height**2) + height), slope * height
    constants = head_constants(SplitHead(points, [1.0, -1.0], concentration), slack=0.02)
    assert_sharp(constants, h, slope * np.sqrt(1.0 - height**2), np.maximum(*bends))


@pytest.mark.parametrize(("kind", "exponent"), [(SplitHead, -600), (CoreHead, 1000)])
def test_constants_scale_with_the_values(kind, exponent):
    points, values = np.eye(2), np.array([1.0, -0.5])
    plain, scaled = (head_constants(kind(points, size * values, 5.0), slack=0.3) for size in (1.0, 2.0**exponent))
    for one, other in zip(intervals(plain), intervals(scaled), strict=True):
        assert (math.ldexp(one.lower, exponent), math.ldexp(one.upper, exponent)) == (other.lower, other.upper)


def test_a_large_constant_costs_no_digits():
    points, values = np.eye(2), np.array([1.0, -0.5])
    plain, moved = (head_constants(SplitHead(points, values + shift, 5.0), slack=0.05) for shift in (0.0, 2.0**30))
    assert moved.lipschitz.lower == pytest.approx(plain.lipschitz.lower, rel=1e-4)
    assert moved.smoothness.lower == pytest.approx(plain.smoothness.lower, rel=1e-4)
    assert moved.smoothness.upper == pytest.approx(plain.smoothness.upper, rel=1e-3)


@pytest.mark.parametrize("kind", [SplitHead, CoreHead])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_no_cell_with_more_than_the_bound_passes(kind, order, dim):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, concentration = int(rng.integers(1, 12)), 10.0 ** rng.uniform(-1, 2)
        head = kind(sphere.uniform(dim, n, rng), rng.standard_normal((n, 1 + seed % 2)), concentration)
        problem = Derivative.of(head, order)
        radii = np.minimum(10.0 ** rng.uniform(-2, 0.3, 40) / math.sqrt(1.0 + concentration), 1.5)
        centres = sphere.uniform(dim, 40, rng)
        tau = rng.standard_normal((40, 50, dim + 1))
        tau -= np.einsum("nkd,nd->nk", tau, centres)[:, :, None] * centres[:, None]
        tau /= np.linalg.norm(tau, axis=2, keepdims=True)
        angles = radii[:, None, None] * rng.choice([0.5, 1.0], (40, 50, 1))
        inside = np.cos(angles) * centres[:, None] + np.sin(angles) * tau
        largest = problem.sample(inside.reshape(-1, dim + 1)).errors.reshape(40, 50).max(axis=1)
        sample = problem.sample(centres)
        for i in np.flatnonzero(largest > 1e3 * sample.rounding):
            one, bound = slice(i, i + 1), 0.999 * largest[i]
            at = sample._replace(errors=sample.errors[one], log_sums=sample.log_sums[one])
            assert not problem.check(centres[one], radii[one], at, bound, None).taylor.any()


def test_constant_heads_have_no_slope():
    for head in (SplitHead(np.eye(3), [0.1] * 3, 5.0), CoreHead(np.eye(3), [1.0, 2.0, 3.0], 0.0)):
        constants = head_constants(head)
        assert (constants.lipschitz.lower, constants.lipschitz.upper) == (0.0, 0.0)
        assert (constants.smoothness.lower, constants.smoothness.upper) == (0.0, 0.0)


def test_a_budget_that_is_too_small_is_said():
    rng = np.random.default_rng(0)
    head = SplitHead(sphere.uniform(2, 60, rng), rng.standard_normal(60), 500.0)
    found = head_constants(head, max_evaluations=1000).smoothness
    assert "max_evaluations" in found.reason
    assert found.lower < found.upper < math.inf


def test_constants_print_as_a_table_whose_ends_hold():
    constants = head_constants(CoreHead([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]], [2.0, 1.234567], 9.0), slack=0.02)
    rows = [line.split() for line in repr(constants).splitlines()[2:]]
    assert [row[0] for row in rows] == ["sup_norm", "lipschitz", "smoothness"]
    for name, low, high in rows:
        interval = getattr(constants, name)
        assert float(low) <= interval.lower <= interval.upper <= float(high)
        assert float(low) == pytest.approx(interval.lower, rel=1e-5)
        assert float(high) == pytest.approx(interval.upper, rel=1e-5)
