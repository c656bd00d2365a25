"""Random targets: what they are, and their constants against the largest values and slopes found."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sums import unit

from spherapprox import harmonics, points, special, sphere, targets
from spherapprox.targets import random

FEW = settings(max_examples=15)
SEEDS = st.integers(0, 2**32 - 1)


@FEW
@given(st.integers(1, 6), st.integers(0, 8), SEEDS)
def test_constants_of_polynomials_are_bounds(assert_constants_hold, dim, degree, seed):
    assert_constants_hold(targets.random_bandlimited(dim, degree if dim < 5 else degree // 2, seed), seed)


@pytest.mark.parametrize(("dim", "room"), [(1, 1.002), (2, 1.03)])
def test_constants_of_polynomials_are_nearly_attained_on_circle_and_sphere(dim, room):
    target = targets.random_bandlimited(dim, 6, 5)
    x = points.gauss_product(dim, 3000 if dim == 1 else 300).points
    assert target.sup_norm <= room * np.abs(target(x)).max()
    if dim == 1:
        slopes = np.abs(np.diff(target(x))) / sphere.distance(x[1:], x[:-1])
        assert target.lipschitz <= room * slopes.max()


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
def test_a_polynomial_of_its_degree_with_mean_square_one(dim):
    target = targets.random_bandlimited(dim, 3, 2)
    rule = points.gauss_product(dim, 8)
    assert rule.integrate(lambda x: target(x) ** 2) == pytest.approx(1.0, rel=1e-13)
    table = harmonics.hyperspherical_harmonics(4, rule.points)
    c = table.T @ (rule.weights * target(rule.points))
    of = harmonics.hyperspherical_degrees(4, dim)
    assert np.abs(c[of == 4]).max() < 1e-13
    assert np.abs(c[of == 3]).max() > 1e-3


@FEW
@given(st.integers(1, 8), st.floats(0.05, 9.0).filter(lambda s: abs(s / 2 - round(s / 2)) > 1e-3), SEEDS)
def test_constants_of_smooth_targets_are_bounds(assert_constants_hold, dim, smoothness, seed):
    target = targets.random_smooth(dim, smoothness, seed, terms=3)
    assert_constants_hold(target, seed)
    assert target.exponent == min(smoothness, 1.0)


@pytest.mark.parametrize("smoothness", [0.5, 1.0, 1.5, 3.0])
def test_constants_of_a_single_power_are_attained(smoothness):
    target = targets.random_smooth(1, smoothness, 3, terms=1)
    y = target.function.args[1][0]
    angle = np.linspace(1e-7, math.pi, 200_001)
    x = np.stack([y[0] * np.cos(angle) - y[1] * np.sin(angle), y[1] * np.cos(angle) + y[0] * np.sin(angle)], axis=1)
    f = np.abs(target(x))
    assert f.max() == pytest.approx(target.sup_norm, rel=1e-9)
    slope = (np.abs(np.diff(f)) / np.diff(angle)).max() if smoothness > 1 else (f / angle**smoothness).max()
    assert slope == pytest.approx(target.lipschitz, rel=1e-6)


@pytest.mark.parametrize(("dim", "s"), [(1, 0.5), (1, 1.5), (2, 1.5), (2, 3.7), (4, 1.5), (5, 2.5)])
def test_the_projection_is_within_the_bound(dim, s):
    """What is left of one power after its projection is at most the bound, and reaches it at the centre."""
    n = 5
    t = np.linspace(-1.0, 1.0, 2001)
    q, sizes = [], np.bincount(harmonics.hyperspherical_degrees(n, dim))
    for k in range(n + 1):
        ratio = math.prod((-s / 2 + i) / (dim + s / 2 + i) for i in range(k))
        q.append(ratio * math.gamma(dim) * math.gamma((s + dim) / 2) / math.gamma(dim / 2) / math.gamma(dim + s / 2))
    fit = sum(q[k] * sizes[k] * special.gegenbauer(k, dim, t) for k in range(n + 1))
    residual = np.abs(((1.0 - t) / 2.0) ** (s / 2) - fit)
    assert residual.max() <= random.approximation_bound(dim, s, n) * (1.0 + 1e-12)
    assert residual[-1] == pytest.approx(random.approximation_bound(dim, s, n), rel=1e-9)


@pytest.mark.parametrize("name", ["random_bandlimited", "random_smooth"])
def test_seeds_names_and_pickles(name):
    x = sphere.uniform(3, 20, 0)
    target = targets.make(name, dim=3, rng=7)
    np.testing.assert_array_equal(target(x), targets.make(name, dim=3, rng=np.random.default_rng(7))(x))
    np.testing.assert_array_equal(target(x), pickle.loads(pickle.dumps(target))(x))
    assert (target(x) != targets.make(name, dim=3, rng=8)(x)).all()
    assert targets.make(name)(unit(x[:, :3])).shape == (20,)
    assert "proven" in target.provenance


def test_many_blocks_give_the_same_values():
    target, x = targets.random_bandlimited(2, 4, 0), sphere.uniform(2, 50, 0)
    np.testing.assert_allclose(target.function(x, elements=60), target(x), rtol=1e-12)


@pytest.mark.parametrize(("dim", "s", "n"), [(2, 1.0, 10**15), (2, 3.0, 10**6), (100_000, 1.0, 10), (4, 3.9999999, 9)])
def test_bounds_of_high_degrees_keep_their_digits(dim, s, n):
    with mpmath.workdps(50):
        h, m = mpmath.mpf(s) / 2, mpmath.mpf(dim)
        exact = mpmath.gammaprod([h + m / 2, n + m, n + 1 - h], [m / 2, 1 - h, n + 1, n + m + h])
    assert random.approximation_bound(dim, s, n) == pytest.approx(abs(float(exact)), rel=1e-8)
