"""4.4 (nearest): what it promises, and the fewest points at a concentration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds import prefix_length
from bounds.covering import covering_bound
from bounds.records.problem import Problem
from bounds.theorems import state
from bounds.theorems.nearest import log_nearest_error, split_nearest


@settings(max_examples=25)
@example(dim=37, eps=1.5625, slack=0.1)
@given(dim=st.integers(1, 60), eps=st.floats(1e-3, 2.0), slack=st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_nearest_keeps_its_promise(dim, eps, slack):
    bound = prefix_length(eps, dim=dim, theorem=state("sharp-split-nearest", slack=slack))

    def promised(factor):
        return math.exp(log_nearest_error(factor * bound.concentration, bound.radius, bound.log))

    assert promised(1.0) <= eps * (1 + 1e-9)
    if bound.concentration > 0:
        assert promised(0.99) > eps
        # and this concentration allows just this prefix length (a little more, and it may do with fewer)
        again = prefix_length(
            eps, dim=dim, theorem=state("sharp-split-nearest", concentration=1.001 * bound.concentration)
        )
        assert again.log <= bound.log + 1e-9
        first, then = (covering_bound(radius, dim, "best") for radius in (bound.radius, again.radius))
        if first.theorem == then.theorem:  # else the count may jump
            assert again.log >= bound.log - 0.01 * dim - math.log(2)


@pytest.mark.parametrize("covering", ["best", "greedy", "volume"])
@pytest.mark.parametrize(("dim", "eps"), [(1, 0.05), (1, 2.5), (2, 0.05), (2, 1.2), (8, 0.1), (100, 1.8)])
def test_nearest_at_a_concentration_is_the_best_radius(dim, eps, covering):
    # a second way: every radius of a fine grid
    radii = eps * np.linspace(0.02, 1.0, 90)[:-1]
    logs = np.array([covering_bound(float(r), dim, covering).log for r in radii])
    for factor in (0.3, 5.0, 16.0, 1e3):
        lam = factor * dim / eps**2 + factor
        bound = split_nearest(Problem(eps, dim, concentration=lam, covering=covering))
        some = [(n, r) for n, r in zip(logs, radii, strict=True) if log_nearest_error(lam, r, n) <= math.log(eps)]
        if bound.holds:
            assert math.exp(log_nearest_error(lam, bound.radius, bound.log)) <= eps * (1 + 1e-11)
            assert bound.log <= min((n for n, _ in some), default=math.inf) + 1e-11
        else:
            assert not some


@pytest.mark.parametrize(
    ("dim", "eps", "lam", "covering"),
    [(5, 0.0364, 48740.0, "volume"), (5, 0.1247, 3490.0, "best"), (8, 0.335, 453.0, "greedy"),
     (24, 0.684, 273.3, "volume")],
)  # fmt: skip
def test_no_radius_is_taken_where_none_keeps_the_promise(dim, eps, lam, covering):
    bound = split_nearest(Problem(eps, dim, concentration=lam, covering=covering))
    assert not bound.holds
    for radius in eps * np.geomspace(1e-3, 0.999, 30):
        log_n = covering_bound(radius, dim, covering).log
        assert log_nearest_error(lam, radius, log_n) > math.log(eps)


@pytest.mark.parametrize(("eps", "lam"), [(0.3, 247.80675469538045), (1.3, 9.58283168809303), (0.1, 4e3), (2.0, 8.0)])
def test_nearest_on_the_circle_takes_the_fewest_points(eps, lam):
    # a second way: n points have covering radius pi/n
    counts = (n for n in range(2, 10**4) if log_nearest_error(lam, math.pi / n, math.log(n)) <= math.log(eps))
    assert round(split_nearest(Problem(eps, 1, concentration=lam)).value) == next(counts)


@pytest.mark.parametrize(("dim", "lam"), [(1, 500.0), (2, 500.0), (2, 1e5), (3, 1e3), (8, 1e3), (50, 2e3)])
def test_nearest_at_a_concentration_is_monotone(dim, lam):
    # over the jumps of exactly known covering numbers, and beyond pi
    logs = [split_nearest(Problem(float(e), dim, concentration=lam)).log for e in np.linspace(0.05, 3.3, 120)]
    assert all(a >= b - 1e-11 for a, b in itertools.pairwise(logs))
    assert logs[-1] == 0.0
    fewer = split_nearest(Problem(0.9, dim, concentration=2.0 * lam)).log
    assert fewer <= split_nearest(Problem(0.9, dim, concentration=lam)).log + 1e-11
