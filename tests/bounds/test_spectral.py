"""Two-sided bounds of eigenvalues and of the mean angle: containment over wide ranges, and how close they are."""

import itertools
import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.spectral import FACTORS, eigenvalue_bounds, iv_ratio_bounds, mean_angle_lower, mean_angle_upper
from bounds.theorems.thesis import eigenvalue_lower
from spherapprox import special
from spherapprox.special import iv_ratio
from spherapprox.vmf import VonMisesFisher

ROUNDING = 2e-14
DIMS = (1, 2, 3, 8, 1000, 10**6)


@given(
    degree=st.one_of(st.integers(1, 600), st.integers(1, 10**9)),
    dim=st.one_of(st.integers(1, 300), st.integers(1, 10**6)),
    log_lambda=st.floats(-30, 100),
)
def test_eigenvalues_are_enclosed(degree, dim, log_lambda):
    lam = 10.0**log_lambda
    truth = float(special.log_iv_ratio(0.5 * (dim - 1), lam, degree))
    lower, upper = eigenvalue_bounds(degree, lam, dim)
    slack = ROUNDING * abs(truth)
    assert lower - slack <= truth <= upper + slack
    # sharper than B.2.3 and the trivial 0
    assert eigenvalue_lower(degree, lam, dim) <= lower + slack
    assert upper <= 0.0


@pytest.mark.parametrize("degree", [1, 2, 10, FACTORS, FACTORS + 1, 2000])
def test_eigenvalues_against_mpmath(degree):
    for dim, lam in ((1, 3.0), (8, 40.0), (33, 900.0)):
        with mp.workdps(40):
            order = mp.mpf(dim - 1) / 2
            truth = float(mp.log(mp.besseli(order + degree, lam) / mp.besseli(order, lam)))
        lower, upper = eigenvalue_bounds(degree, lam, dim)
        assert lower < truth < upper
        assert upper - lower < (0.1 + 0.04 * min(abs(truth), 10.0) if degree <= FACTORS else 1.5)


def test_eigenvalue_bounds_meet_in_both_limits():
    for dim, degree in itertools.product((2, 8, 100), (1, 5, FACTORS)):
        for lam in (1e-9, 1e9 * degree**2):
            lower, upper = eigenvalue_bounds(degree, lam, dim)
            assert upper - lower < 1e-6 * abs(upper)


def test_eigenvalue_bounds_fall_with_the_degree():
    assert eigenvalue_bounds(0, 5.0, 3) == (0.0, 0.0)
    assert eigenvalue_bounds(4, 0.0, 3) == (-math.inf, -math.inf)
    falling = [eigenvalue_bounds(k, 50.0, 4) for k in range(0, 2000, 7)]
    for side in (0, 1):
        assert all(a[side] > b[side] for a, b in itertools.pairwise(falling))


@given(dim=st.one_of(st.integers(1, 300), st.integers(1, 10**6)), log_lambda=st.floats(-30, 12))
def test_the_mean_angle_is_enclosed(dim, log_lambda):
    lam = 10.0**log_lambda
    truth = float(VonMisesFisher(dim, lam).mean_angle())
    assert mean_angle_lower(lam, dim) <= truth * (1 + 1e-11)
    assert truth <= mean_angle_upper(lam, dim) * (1 + 1e-11)


def test_the_mean_angle_is_enclosed_closely():
    for dim in (8, 64, 1000, 10**5):
        lower, upper = mean_angle_lower(1e4 * dim, dim), mean_angle_upper(1e4 * dim, dim)
        assert 1.0 < upper / lower < 1.0 + 1.2 / dim + 3e-5  # the upper one bends at angles near 1
    for dim in DIMS:  # at lambda = 0 the angle is pi/2
        assert 0.7 < mean_angle_lower(0.0, dim) / (0.5 * math.pi) < 1.0
        assert 1.0 < mean_angle_upper(0.0, dim) / (0.5 * math.pi) < 1.31
    for dim in DIMS[1:]:  # far out it falls like lambda^(-1/2), without cancellation
        ratio = mean_angle_lower(1e90, dim) / mean_angle_lower(1e94, dim)
        assert ratio == pytest.approx(100.0, rel=1e-9)


@pytest.mark.parametrize("concentration", [5e-324, 1e-300, 1e-291])
@pytest.mark.parametrize("degree", [1, 3, 400])
def test_eigenvalues_of_nearly_uniform_kernels(concentration, degree):
    lower, upper = eigenvalue_bounds(degree, concentration, 8)
    truth = degree * (math.log(concentration) - math.log(2.0)) + math.lgamma(4.5) - math.lgamma(4.5 + degree)
    assert lower <= truth + 1e-12 * abs(truth)
    assert truth - 1e-12 * abs(truth) <= upper
    assert upper - lower < 1e-3 * abs(truth)


@given(order=st.floats(0.0, 1e4), x=st.floats(1e-3, 1e6))
def test_ratio_bounds_contain_the_ratio(order, x):
    low, high = iv_ratio_bounds(order, x)
    ratio = iv_ratio(order, x)
    assert low * (1 - 1e-15) <= ratio <= high * (1 + 1e-15)
