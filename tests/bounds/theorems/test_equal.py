"""4.B: printed radii, the integral by brute force, never above the mean bound, and partitions that must obey."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bounds.records.problem import Problem
from bounds.theorems.convolution import concentration_needed
from bounds.theorems.equal import equal, log_equal_error, sufficient_concentration
from bounds.theorems.mean import log_mean_error
from spherapprox import EqualMeasurePartition
from spherapprox.error import worst_case_error
from spherapprox.special import log_cap_measure


def brute_force(lam, rho, dim, n=4001):
    """The root w of int max_{|t-u|<=rho} (t-w) k(t) dsigma(u) = 0, windows sampled at 200 angles."""
    u = (np.arange(n) + 0.5) * math.pi / n
    low, high = np.maximum(u - rho, 0.0), np.minimum(u + rho, math.pi)
    t = low + (high - low) * np.linspace(0.0, 1.0, 200)[:, None]
    k = np.exp(lam * (np.cos(t) - 1.0))
    sines = np.sin(u) ** (dim - 1)

    def balance(w):
        return np.sum(((t - w) * k).max(axis=0) * sines)

    return brentq(balance, rho, math.pi, xtol=1e-10)


@pytest.mark.parametrize(
    ("dim", "lam", "rho"),
    [(1, 30.0, 0.1), (2, 100.0, 0.05), (3, 40.0, 0.4), (8, 300.0, 0.1), (20, 900.0, 0.02), (1, 0.3, 0.01),
     (4, 0.5, 0.05)],
)  # fmt: skip
def test_error_by_brute_force(dim, lam, rho):
    assert math.exp(log_equal_error(lam, rho, dim)) == pytest.approx(brute_force(lam, rho, dim), rel=2e-5)


def test_a_concentration_that_is_said_to_suffice_does():
    for dim in (1, 2, 8):
        for radius in np.linspace(0.05, 0.4, 12):
            goal = 1.3 * radius
            assert log_equal_error(sufficient_concentration(radius, goal, dim), radius, dim) <= math.log(goal)


@pytest.mark.parametrize(("lam", "rho"), [(1600.0, 0.0209), (3200.0, 0.0412), (6400.0, 0.0608), (25600.0, 0.0859)])
def test_the_printed_radii_are_reproduced(lam, rho):
    bound = equal(Problem.checked(0.1, 8, concentration=lam))
    assert bound.radius == pytest.approx(rho, abs=0.000051)
    assert bound.log == pytest.approx(-log_cap_measure(8, bound.radius / 6), rel=1e-12)


@given(
    dim=st.integers(1, 1000),
    relative=st.floats(-3.0, 8.0).map(lambda e: 10.0**e),
    rho=st.floats(-12.0, 0.1).map(lambda e: 10.0**e),
)
def test_never_above_the_mean_bound_nor_below_what_it_must_exceed(dim, relative, rho):
    lam = relative * dim
    log = log_equal_error(lam, rho, dim)
    assert log <= log_mean_error(lam, rho, dim)
    assert log > math.log(rho)
    if log < math.log(math.pi / 2):  # the mean angle itself is what cells of radius 0 would leave
        assert concentration_needed(math.exp(log), dim, 1.0) <= lam * (1 + 1e-9)


def test_the_radius_tends_to_the_error_as_the_concentration_grows():
    for dim in (1, 3, 100):
        radii = [equal(Problem.checked(0.1, dim, concentration=lam)).radius for lam in np.geomspace(1e5 * dim, 1e20, 6)]
        assert all(a < b for a, b in itertools.pairwise(radii[:-1]))
        assert radii[-1] == pytest.approx(0.1, rel=1e-12)
        errors = [log_equal_error(lam, 0.05, dim) for lam in np.geomspace(1e5 * dim, 1e20, 6)]
        assert all(a >= b for a, b in itertools.pairwise(errors))
        assert math.exp(errors[-1]) == pytest.approx(0.05, rel=1e-12)


def test_arcs_come_close():
    # on the circle N arcs attain their covering radius, and little less than W*
    n, lam = 40, 2000.0
    worst = worst_case_error(EqualMeasurePartition(1, n), lam, n=2000).lower
    promised = math.exp(log_equal_error(lam, math.pi / n, 1))
    assert worst <= promised <= 1.35 * worst


def test_counts_on_the_circle_are_those_of_arcs():
    bound = equal(Problem.checked(0.1, 1))
    assert bound.value == bound.as_integer() == math.ceil(math.pi / bound.radius) == 37


def test_the_ends_of_the_error():
    assert equal(Problem.checked(1.6, 5, concentration=7.0)).value == 2.0
    assert log_equal_error(0.0, 0.1, 3) == pytest.approx(math.log(math.pi / 2 + 0.1))
    assert log_equal_error(1.0, 3.0, 3) == math.log(math.pi)
    needed = 1.0001 * concentration_needed(0.1, 8, 1.0)
    assert equal(Problem.checked(0.1, 8, concentration=needed)).radius < 1e-4
