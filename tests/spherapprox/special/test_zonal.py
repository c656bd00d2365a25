"""Zonal polynomials: values, derivatives, slopes and the largest zero, against mpmath and identities."""

import math

import mpmath as mp
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import special

EPS = 2.0**-52
quick = settings(derandomize=True, deadline=None, max_examples=100)
degrees = st.one_of(st.integers(0, 12), st.integers(13, 300))
dims = st.one_of(st.integers(1, 12), st.integers(13, 2000), st.sampled_from([10**4, 10**6, 10**12]))
cosines = st.one_of(st.floats(-1.0, 1.0), st.floats(0.0, 15.9).map(lambda e: 1.0 - 10.0**-e))


@pytest.mark.parametrize("k", [10**4, 10**6])
@pytest.mark.parametrize("t", [0.0, 0.123, 0.5, 0.5000000000000001, -0.77, 0.9999])
def test_values_of_high_degree_against_closed_forms(k, t):
    with mp.workdps(40):
        theta = mp.acos(mp.mpf(t))
        s, c = mp.sin(theta), mp.cos(theta)
        sine, cosine = mp.sin((k + 2) * theta), mp.cos((k + 2) * theta)
        chebyshev = mp.cos(k * theta)
        second = mp.sin((k + 1) * theta) / (s * (k + 1))
        # U_{k+1}' = [sin((k+2) theta) cos(theta)/sin(theta) - (k+2) cos((k+2) theta)] / sin(theta)^2
        third = (sine * c / s - (k + 2) * cosine) / s**2 * 3 / mp.mpf((k + 1) * (k + 2) * (k + 3))
        assert abs(special.gegenbauer(k, 1, t) - chebyshev) <= EPS
        assert abs(special.gegenbauer(k, 3, t) - second) <= EPS * abs(second) + mp.mpf("1e-25")
        turn = mp.sqrt(k * (k + 4)) * s**2 / 3  # the envelope is 1 / turn to leading order
        assert abs(special.gegenbauer(k, 5, t) - third) <= 8 * EPS * math.sqrt(k + 1) * 1.1 / turn
        # DLMF 18.15.10 with lambda = 1/2
        total, half = mp.mpf(0), mp.mpf(1) / 2
        for i in range(12):
            weight = mp.rf(half, i) ** 2 / (mp.factorial(i) * mp.rf(k + 3 * half, i))
            total += weight * mp.cos((k + i + half) * theta - (i + half) * mp.pi / 2) / (2 * s) ** (i + half)
        legendre = 2 / mp.sqrt(mp.pi) * mp.exp(mp.loggamma(k + 1) - mp.loggamma(k + 3 * half)) * total
        unit = mp.sqrt(2 / (mp.pi * k * s))
        assert abs(special.gegenbauer(k, 2, t) - legendre) <= 8 * EPS * math.sqrt(k + 1) * 1.1 * unit


def test_relative_accuracy_of_tiny_values():
    with mp.workdps(1000):  # the recurrence loses nothing
        for k, m, t in ((100, 10**6, 0.001), (40, 10**12, 1e-6), (31, 10**6, 0.0), (600, 10**4, 0.9), (10, 767, 1e-9)):
            before, exact = mp.mpf(0), mp.mpf(1)
            for j in range(k):
                before, exact = exact, ((2 * j + m - 1) * mp.mpf(t) * exact - j * before) / (j + m - 1)
            assert abs(special.gegenbauer(k, m, t) - exact) <= 1e-13 * abs(exact)
    assert special.gegenbauer(10**4, 767, 0.9) == 0.0  # about 1e-340


@quick
@given(degrees, dims, cosines)
def test_parity_and_range(k, m, t):
    value = special.gegenbauer(k, m, t)
    assert special.gegenbauer(k, m, -t) == (-1) ** k * value
    assert abs(value) <= 1.0
    assert special.gegenbauer(k, m, 1.0) == 1.0
    assert special.gegenbauer(k, m, -1.0) == (-1.0) ** k


@quick
@given(st.integers(0, 150), dims)
def test_values_at_the_equator(j, m):
    assert special.gegenbauer(2 * j + 1, m, 0.0) == 0.0
    # (-1)^j (1/2)_j / (m/2)_j
    expected = (-1.0) ** j * math.prod((i + 0.5) / (i + 0.5 * m) for i in range(j))
    assert special.gegenbauer(2 * j, m, 0.0) == pytest.approx(expected, rel=1e-13, abs=1e-299)


@quick
@given(degrees, dims, cosines)
def test_derivative_of_order_zero_and_beyond_the_degree(k, m, t):
    assert special.gegenbauer_derivative(k, m, t, order=0) == special.gegenbauer(k, m, t)
    assert special.gegenbauer_derivative(k, m, t, order=k + 1) == 0.0
    top = special.gegenbauer_derivative_bound(k, m, order=k)
    assert special.gegenbauer_derivative(k, m, t, order=k) == pytest.approx(top, rel=1e-13)


@pytest.mark.parametrize(
    ("k", "m", "order", "t"), [(1000, 2 * 10**5, 300, 1e-3), (2000, 10**9, 200, 0.51), (1000, 10**6, 300, 0.99)]
)
def test_derivatives_whose_factors_overflow_and_polynomial_underflows(k, m, order, t):
    assert special.gegenbauer_derivative_bound(k, m, order) == math.inf
    assert special.gegenbauer(k - order, m + 2 * order, t) == 0.0 or t == 0.99
    with mp.workdps(60):
        n, dim, before, value = k - order, m + 2 * order, mp.mpf(0), mp.mpf(1)
        for j in range(n):
            before, value = value, ((2 * j + dim - 1) * mp.mpf(t) * value - j * before) / (j + dim - 1)
        for i in range(order):
            value *= mp.mpf(k - i) * (k + m - 1 + i) / (m + 2 * i)
        expected = float(value) if abs(value) < mp.mpf("1e308") else math.inf
        assert t == 0.99 or 1e-300 < abs(expected) < 1e300
    assert special.gegenbauer_derivative(k, m, t, order) == pytest.approx(expected, rel=1e-12, abs=0.0)


@quick
@given(st.integers(0, 40), st.integers(1, 2000), st.integers(0, 6), st.floats(-1.0, 1.0))
def test_derivative_bound_is_the_maximum(k, m, order, t):
    bound = special.gegenbauer_derivative_bound(k, m, order)
    assert abs(special.gegenbauer_derivative(k, m, t, order)) <= bound * (1 + 4 * EPS)
    assert special.gegenbauer_derivative(k, m, 1.0, order) == bound
    log = special.gegenbauer_derivative_bound(k, m, order, log=True)
    assert log == (pytest.approx(math.log(bound), rel=1e-14, abs=1e-15) if order <= k else -math.inf)


def test_derivative_bound_against_mpmath():
    with mp.workdps(40):
        cases = (10**6, 2, 1), (10**6, 10**12, 20), (10**6, 1, 10**5), (5, 10**12, 5), (1, 3, 1), (300, 8, 299)
        for k, m, order in cases:
            # k! Gamma(k+m-1+j) Gamma(m/2) / [(k-j)! Gamma(k+m-1) 2^j Gamma(m/2+j)]
            n, nu = mp.mpf(k), mp.mpf(m) / 2
            log = mp.loggamma(n + 1) - mp.loggamma(n - order + 1) + mp.loggamma(n + m - 1 + order)
            log += mp.loggamma(nu) - mp.loggamma(n + m - 1) - mp.loggamma(nu + order) - order * mp.log(2)
            got = special.gegenbauer_derivative_bound(k, m, order, log=True)
            assert abs(got - log) <= 1e-13 * log
            if log < 700:
                assert abs(special.gegenbauer_derivative_bound(k, m, order) / mp.exp(log) - 1) < 1e-14
            else:
                assert special.gegenbauer_derivative_bound(k, m, order) == math.inf


def test_lipschitz_constants_at_both_ends_of_the_dimensions():
    assert special.gegenbauer_lipschitz([0, 1, 17], 1).tolist() == [0.0, 1.0, 17.0]
    assert special.gegenbauer_lipschitz([0, 1], [2, 10**12]).tolist() == [0.0, 1.0]
    first = scipy.special.jvp(1, scipy.special.jnp_zeros(1, 1)[0], 0)  # the maximum of J_1 = -J_0'
    assert special.gegenbauer_lipschitz(10**6, 2) / 1e6 == pytest.approx(first, rel=1e-6)


def test_shapes_broadcast_and_scalars_give_floats():
    assert isinstance(special.gegenbauer(3, 2, 0.5), float)
    assert isinstance(special.gegenbauer(10**6, 2, 0.5), float)
    assert isinstance(special.gegenbauer(np.int8(3), np.float32(2), np.float16(0.5)), float)
    assert special.gegenbauer([[1], [2]], [2, 3, 4], 0.5).shape == (2, 3)
    assert special.gegenbauer(3, 2, np.zeros((0, 4))).shape == (0, 4)
    assert special.gegenbauer(3, 2, np.float32([0.5])).dtype == np.float64
    assert special.gegenbauer_derivative(np.arange(4), 2, 0.5, [[1], [2]]).shape == (2, 4)
    assert special.gegenbauer_derivative_bound([1, 2], 2, log=True).shape == (2,)
    assert special.gegenbauer_max_zero_angle([5, 10**6], 2).shape == (2,)
    assert special.gegenbauer_lipschitz(5, [2, 3]).shape == (2,)
    assert special.gegenbauer_max_zero([], 2).shape == (0,)
    nan = special.gegenbauer_derivative(3, 2, [math.nan, 0.0])
    assert np.isnan(nan).tolist() == [True, False]
    assert math.isnan(special.gegenbauer(10**6, 2, math.nan))
