"""4.4, the split head: the worst case attained, what (mean) and (nearest) promise, ranges and inverse forms."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import error_bound, prefix_length
from bounds._problem import Problem
from bounds.covering import covering_bound
from bounds.sharp import search, split
from spherapprox import EqualMeasurePartition, SplitHead, Target, worst_case_error
from spherapprox.special import log_cap_measure
from spherapprox.sphere import distance
from spherapprox.vmf import VonMisesFisher


@pytest.mark.parametrize(("dim", "n", "lam"), [(1, 7, 15.0), (2, 40, 60.0), (3, 60, 20.0), (8, 100, 200.0)])
@pytest.mark.parametrize("exponent", [1.0, 0.5])
def test_the_worst_case_is_attained(dim, n, lam, exponent):
    points = np.random.default_rng(dim).normal(size=(n, dim + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    worst = worst_case_error(points, lam, n=500, refine=4)

    def function(y):
        return 2.5 * distance(y, worst.at[None, :]) ** exponent

    target = Target(function, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(target, points, lam)
    error = abs(float((head(worst.at[None, :]) - function(worst.at[None, :]))[0]))
    if exponent == 1.0:
        assert error == pytest.approx(2.5 * worst.lower, rel=1e-10)
    else:  # L sum w theta^alpha <= L W^alpha
        assert 1.5 * worst.lower**exponent < error <= 2.5 * worst.lower**exponent
    # no other target of the class does worse there
    other = Target(lambda y: 2.5 * distance(y, points[:1]) ** exponent, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(other, points, lam)
    assert abs(float((head(worst.at[None, :]) - other(worst.at[None, :]))[0])) <= error


@settings(max_examples=25)
@given(
    dim=st.integers(1, 10**4), share=st.floats(-12, 0.49).map(lambda e: 10.0**e),
    exponent=st.sampled_from([1.0, 1.0, 0.3]), lip=st.floats(-3, 3).map(lambda e: 10.0**e),
)  # fmt: skip
def test_mean_keeps_its_promise_and_is_best(dim, share, exponent, lip):
    eps = share**exponent * lip
    bound = split.split_mean(Problem(eps, dim, lip, exponent=exponent))
    assert bound.holds
    log_w = split.log_mean_error(bound.concentration, bound.radius, dim)
    assert lip * math.exp(exponent * log_w) == pytest.approx(eps, rel=1e-11)
    cells = -log_cap_measure(dim, bound.radius / 6) if dim > 1 else math.log(math.ceil(math.pi / bound.radius))
    assert bound.log == pytest.approx(cells, rel=1e-12)
    for factor in (0.1, 0.9, 0.999, 1.001, 1.1, 10.0, 1e4):
        other = split.split_mean(Problem(eps, dim, lip, exponent=exponent, concentration=factor * bound.concentration))
        assert other.log >= bound.log * (1 - 1e-13) - 1e-11


def test_mean_against_direct_quadrature():
    dim, lam, rho = 2, 30.0, 0.2
    theta = (np.arange(400_000) + 0.5) * math.pi / 400_000

    def kernel(angle):
        return np.exp(lam * np.cos(angle))

    measure = np.sin(theta)
    top = np.sum((theta + rho) * kernel(np.maximum(theta - rho, 0.0)) * measure)
    quotient = top / np.sum(kernel(np.minimum(theta + rho, math.pi)) * measure)
    bound = error_bound(dim=dim, theorem="sharp-split-mean", lipschitz=3.0, concentration=lam, radius=rho).value
    assert bound == pytest.approx(3.0 * min(quotient, math.pi), rel=1e-8)


@settings(max_examples=25)
@given(dim=st.integers(1, 60), eps=st.floats(1e-3, 2.0), slack=st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_nearest_keeps_its_promise(dim, eps, slack):
    bound = prefix_length(eps, dim=dim, theorem="sharp-split-nearest", slack=slack)

    def promised(factor):
        return math.exp(split.log_nearest_error(factor * bound.concentration, bound.radius, bound.log))

    assert promised(1.0) <= eps * (1 + 1e-9)
    if bound.concentration > 0:
        assert promised(0.99) > eps
        # and this concentration allows just this prefix length (a little more, and it may do with fewer)
        again = prefix_length(eps, dim=dim, theorem="sharp-split-nearest", concentration=1.001 * bound.concentration)
        assert again.log <= bound.log + 1e-9
        assert again.log >= bound.log - 0.01 * dim - math.log(2)


@pytest.mark.parametrize("covering", ["best", "greedy", "volume"])
@pytest.mark.parametrize(("dim", "eps"), [(1, 0.05), (1, 2.5), (2, 0.05), (2, 1.2), (8, 0.1), (100, 1.8)])
def test_nearest_at_a_concentration_is_the_best_radius(dim, eps, covering):
    # a second way: every radius of a fine grid
    radii = eps * np.linspace(0.02, 1.0, 90)[:-1]
    logs = np.array([covering_bound(float(r), dim, covering).log for r in radii])
    for factor in (0.3, 5.0, 16.0, 1e3):
        lam = factor * dim / eps**2 + factor
        bound = split.split_nearest(Problem(eps, dim, concentration=lam, covering=covering))
        some = [(n, r) for n, r in zip(logs, radii, strict=True) if split.log_nearest_error(lam, r, n) <= math.log(eps)]
        if bound.holds:
            assert math.exp(split.log_nearest_error(lam, bound.radius, bound.log)) <= eps * (1 + 1e-11)
            assert bound.log <= min((n for n, _ in some), default=math.inf) + 1e-11
        else:
            assert not some


@pytest.mark.parametrize(("eps", "lam"), [(0.3, 247.80675469538045), (1.3, 9.58283168809303), (0.1, 4e3), (2.0, 8.0)])
def test_nearest_on_the_circle_takes_the_fewest_points(eps, lam):
    # a second way: n points have covering radius pi/n
    counts = (n for n in range(2, 10**4) if split.log_nearest_error(lam, math.pi / n, math.log(n)) <= math.log(eps))
    assert round(split.split_nearest(Problem(eps, 1, concentration=lam)).value) == next(counts)


@pytest.mark.parametrize(("dim", "lam"), [(1, 500.0), (2, 500.0), (2, 1e5), (3, 1e3), (8, 1e3), (50, 2e3)])
def test_nearest_at_a_concentration_is_monotone(dim, lam):
    # over the jumps of exactly known covering numbers, and beyond pi
    logs = [split.split_nearest(Problem(float(e), dim, concentration=lam)).log for e in np.linspace(0.05, 3.3, 120)]
    assert all(a >= b - 1e-11 for a, b in itertools.pairwise(logs))
    assert logs[-1] == 0.0
    fewer = split.split_nearest(Problem(0.9, dim, concentration=2.0 * lam)).log
    assert fewer <= split.split_nearest(Problem(0.9, dim, concentration=lam)).log + 1e-11


@pytest.mark.parametrize("theorem", [split.split_mean, split.split_nearest])
@pytest.mark.parametrize("dim", [1, 2, 8, 10**4])
def test_monotone_in_eps_over_all_ranges(theorem, dim):
    eps = np.sort(np.concatenate([np.logspace(-12, 0.52, 25), math.pi / 2 + np.linspace(-1e-8, 1e-8, 7), [0.1 + 1e-9]]))
    logs = [theorem(Problem(float(e), dim)).log for e in eps]
    assert all(a >= b - 1e-13 * a for a, b in itertools.pairwise(logs))
    assert logs[0] > logs[-1] == 0.0
    rough = [theorem(Problem(float(e) ** 0.4, dim, exponent=0.4)).log for e in eps[::6]]
    assert rough == pytest.approx(logs[::6], rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("theorem", [split.split_mean, split.split_nearest])
def test_ends_of_the_ranges(theorem):
    for arguments in ((1e-60, 10**6), (1e-60, 1), (1.5, 10**6), (3.1, 1)):
        assert 0.0 < theorem(Problem(*arguments)).log < math.inf
    assert theorem(Problem(1e90, 2)).value == 1.0
    assert theorem(Problem(1e90, 2, exponent=0.003, concentration=4.0)).concentration == 4.0
    fine = theorem(Problem(1e-60, 3, exponent=0.1))
    assert fine.log == math.inf
    assert "(eps/lipschitz)^(1/exponent)" in fine.failed[0]


def test_hoelder_targets():
    common = {"dim": 2, "concentration": 100.0, "exponent": 0.5, "lipschitz": 2.0}
    assert error_bound(theorem="convolution", **common).value == pytest.approx(
        2.0 * VonMisesFisher(2, 100.0).mean_angle(0.5), rel=1e-13
    )
    rough = error_bound(theorem="sharp-split", radius=0.01, n=1e5, **common).value
    plain = error_bound(theorem="sharp-split", radius=0.01, n=1e5, dim=2, concentration=100.0, lipschitz=1.0).value
    assert rough == pytest.approx(2.0 * plain**0.5, rel=1e-13)


@pytest.mark.parametrize("n", [6, 50, 900])
def test_nearest_contains_the_worst_case_of_a_partition(n):
    partition = EqualMeasurePartition(2, n)
    for lam in (1.0, 30.0, 2000.0):
        seen = worst_case_error(partition, lam, n=2000, refine=2).lower
        assert math.log(seen) <= split.log_nearest_error(lam, partition.cell_radius(), math.log(n))
        assert math.log(seen) <= split.log_mean_error(lam, partition.cell_radius(), 2)


@settings(max_examples=12)
@given(dim=st.sampled_from([1, 2, 8, 10**4]), radius=st.floats(-12, 0.49).map(lambda e: 10.0**e))
def test_best_concentration_of_the_mean_bound(dim, radius):
    def log_error(lam):
        return split.log_mean_error(lam, radius, dim)

    best = search.best_concentration(log_error, dim, radius)
    offsets = (-10.0, -3.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0, 3.0, 10.0)
    others = [best * math.exp(x) for x in offsets] if best > 0.0 else np.geomspace(1e-6, 1e6, 13)
    assert log_error(best) <= min(log_error(float(lam)) for lam in others) + 1e-9
