"""4.3, the core head: what its prefix lengths promise, that no concentration does better, ranges, and the searches."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import prefix_length
from bounds.records.problem import Problem
from bounds.theorems import _search as search
from bounds.theorems import state
from bounds.theorems.centroid import centroid, centroid_error
from bounds.theorems.core import core, core_error
from bounds.theorems.mean import log_mean_error

THEOREMS = {"core": (core, core_error), "centroid": (centroid, centroid_error)}
both = pytest.mark.parametrize("theorem", THEOREMS)


def problem(eps, dim, sup=1.0, lip=1.0, exponent=1.0, concentration=None):
    return Problem(eps, dim, lip, sup, concentration=concentration, exponent=exponent, covering="volume")


def test_the_error_of_the_printed_table():
    printed = 0.0514388688995585 + 3.23e-4 + 0.048210751
    assert core_error(2840.0, 3.23e-4, 8, 1.0, 1.0) == pytest.approx(printed, rel=1e-7)
    bound = prefix_length(0.1, dim=8, theorem=state("sharp-core", covering="greedy"))
    assert bound.radius == pytest.approx(3.23e-4, rel=2e-3)
    assert bound.concentration == pytest.approx(2840.0, rel=0.05)  # the optimum is flat


@both
def test_is_the_best_of_a_fine_grid(theorem):
    # a second way: every concentration, every radius
    prefix, error = THEOREMS[theorem]
    bound = prefix(problem(0.4, 2, 1.5))
    for lam, factor in itertools.product(np.geomspace(5.0, 2000.0, 25), np.geomspace(1.001, 3.0, 5)):
        assert error(lam, factor * bound.radius, 2, 1.0, 1.5) > 0.4


@both
@pytest.mark.parametrize(("dim", "eps"), [(1, 0.1), (3, 1.7), (64, 1e-6)])
def test_monotone_in_sup_norm_and_lipschitz(theorem, dim, eps):
    prefix = THEOREMS[theorem][0]
    logs = [prefix(problem(eps, dim, float(sup))).log for sup in eps * np.logspace(-12, 12, 25)]
    assert all(a <= b * (1 + 1e-13) for a, b in itertools.pairwise(logs))
    assert logs[0] == logs[12] == 0.0 < logs[13]  # the zero head, up to sup_norm = eps
    logs = [prefix(problem(eps, dim, 2.0, float(lip))).log for lip in np.logspace(-12, 12, 13)]
    assert all(a <= b * (1 + 1e-13) + 1e-9 for a, b in itertools.pairwise(logs))


@pytest.mark.parametrize("theorem", [*THEOREMS, "mean"])
@settings(max_examples=12)
@given(
    dim=st.sampled_from([1, 2, 8, 10**4]), radius=st.floats(-12, 0.4).map(lambda e: 10.0**e),
    sup=st.floats(-6, 6).map(lambda e: 10.0**e),
)  # fmt: skip
def test_best_concentration_is_best(theorem, dim, radius, sup):
    def log_error(lam):
        if theorem == "mean":
            return log_mean_error(float(lam), radius, dim)
        return math.log(THEOREMS[theorem][1](lam, radius, dim, 1.0, sup))

    best = search.best_concentration(log_error, dim, radius)
    offsets = (-10.0, -3.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0, 3.0, 10.0)
    rivals = [best * math.exp(x) for x in offsets] if best > 0.0 else np.geomspace(1e-6, 1e6, 13)
    assert log_error(best) <= min(log_error(lam) for lam in (0.0, *rivals)) + 1e-9


@both
def test_the_zero_head(theorem):
    bound = THEOREMS[theorem][0](problem(1.0, 3, 1.0))
    assert (bound.value, bound.radius, bound.concentration, bound.holds) == (1.0, math.pi, 0.0, True)
    assert THEOREMS[theorem][0](problem(1.0, 3, 0.2, concentration=7.0)).concentration == 7.0


def test_the_head_of_zeros_and_antipodes_are_named_where_they_will_do():
    assert str(prefix_length(1.0, dim=2, sup_norm=1.0, theorem="sharp-core").hypotheses[0]).startswith(
        "eps >= sup_norm"
    )
    two = prefix_length(1.8, dim=1, sup_norm=4.0, theorem="sharp-split-equal")
    assert two.value == 2.0
    assert "two antipodes" in two.hypotheses[0].statement


def test_best_concentration_takes_the_left_end_of_a_plateau():
    def log_error(lam):
        return math.log(0.1 + 1.0 / (1.0 + lam**2))

    best = search.best_concentration(log_error, 3, 0.1, slack=1e-6)
    assert log_error(best) <= math.log(0.1) + 1.1e-6
    assert best == pytest.approx(10**3.5, rel=0.03)
    assert search.best_concentration(lambda lam: 1.0 + lam, 3, 0.1) == 0.0


@given(
    root=st.floats(-50, 50), start=st.floats(-60, 60), slope=st.floats(0.05, 20), bend=st.sampled_from([0.0, 0.2, 1.0])
)
def test_the_root_of_an_increasing_function_takes_few_calls(root, start, slope, bend):
    calls = []

    def function(x):
        calls.append(x)
        return 3.0 * (x - root) + bend * math.sinh(min(max(x - root, -30.0), 30.0))

    assert search.increasing_root(function, start, slope, -60.0, 60.0)[0] == pytest.approx(root, abs=1e-12, rel=1e-13)
    assert len(calls) < 80
    assert search.increasing_root(lambda x: x - 100.0, start, slope, -60.0, 60.0)[0] == 60.0
    assert search.increasing_root(lambda x: x + 100.0, start, slope, -60.0, 60.0)[0] == -60.0
    assert search.increasing_root(
        lambda x: math.expm1(min(9.0 * (x - root), 300.0)), 60.0, slope, -60.0, 60.0
    )[0] == pytest.approx(root, abs=1e-12, rel=1e-13)  # fmt: skip
    assert search.increasing_root(lambda x: math.inf if x > root else x - root - 1.0, start, slope, -60.0, 60.0)[
        0
    ] == pytest.approx(root, abs=1e-12, rel=1e-13)


@given(top=st.floats(-20, 20), start=st.floats(-25, 25), skew=st.floats(-0.3, 0.3), floor=st.floats(-60, -30))
def test_the_peak_of_a_function_takes_few_calls(top, start, skew, floor):
    calls = []

    def function(x):
        calls.append(x)
        z = x - top
        return -math.sqrt(1.0 + z * z) - skew * math.tanh(z) + skew * z if x > floor else search.NEVER

    x = search.peak(function, start, floor, -100.0)
    step = 1e-4
    assert function(x) >= max(function(x - step), function(x + step))
    assert len(set(calls)) < 60
