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


def pole_series(k, m, u):
    """G_k(1 - u) at the working precision, raised by the digits that the alternating series cancels."""
    reach = float(mp.mpf(k) * (k + m - 1) * u)  # the sum of the terms' sizes is at most exp of either of
    with mp.workdps(mp.mp.dps + int(min(0.9 * math.sqrt(2 * reach), 5 + reach / m))):
        term = total = mp.mpf(1)
        floor = mp.mpf(10) ** -mp.mp.dps
        for i in range(k):
            term *= -u * (k - i) * (k + m - 1 + i) / ((m + 2 * mp.mpf(i)) * (i + 1))
            total += term
            if abs(term) < floor:
                break
    return +total


def exact(k, m, t):
    """G_k(t) at the working precision: the three-term recurrence, or the series at the pole for large degrees."""
    t = mp.mpf(t)
    if k > 400:
        return pole_series(k, m, 1 - t)
    before, value = mp.mpf(0), mp.mpf(1)
    for j in range(k):
        whole = max(j + m - 1, 1)
        before, value = value, ((2 * j + m - 1 if j else 1) * t * value - j * before) / whole if j else t
    return value


def exact_slope(k, m, t):
    """G_k'(t) at the working precision."""
    return mp.mpf(k) * (k + m - 1) / m * exact(k - 1, m + 2, t) if k else mp.mpf(0)


def envelope(k, m, t):
    """sqrt(G^2 + (dG/dtheta)^2 / (k(k+m-1))), what the accuracy of `gegenbauer` is relative to."""
    if k == 0:
        return mp.mpf(1)
    turn = (1 - mp.mpf(t) ** 2) * exact_slope(k, m, t) ** 2
    return mp.sqrt(exact(k, m, t) ** 2 + turn / (mp.mpf(k) * (k + m - 1)))


def samples(n, seed):
    """Random (degree, dim, t): anywhere, near the pole and the equator, at both sides of the seams."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        k = int(10 ** rng.uniform(0.0, 2.5))
        m = int(rng.choice([1, 2, 2, 3, 4, 8, int(10 ** rng.uniform(0, 3)), int(10 ** rng.uniform(3, 6)), 10**12]))
        seam = 1.0 - m / (k * (k + m - 1.0)) * rng.uniform(0.9, 1.1)
        t = (
            rng.uniform(-1.0, 1.0),
            math.cos(rng.uniform(0.0, 1.5) * math.sqrt(m / (k * (k + m)))),
            1.0 - 10 ** rng.uniform(-16.0, 0.0),
            rng.uniform(0.49, 0.51),
            min(1.0, rng.uniform(0.0, 3.0) / math.sqrt(m)),
            max(seam, 0.0),
        )[i % 6]
        yield k, m, t


def test_values_against_mpmath():
    with mp.workdps(40):
        for k, m, t in samples(300, seed=1):
            unit = envelope(k, m, t)
            allowed = 8 * EPS * math.sqrt(k + 1) * unit
            if m == 1 or (abs(t) >= 0.5 and k * (k + m - 1) * (1 - abs(t)) <= m):
                allowed = min(allowed, mp.mpf(4 * EPS))
            got = special.gegenbauer(k, m, t)
            assert abs(got - exact(k, m, t)) <= allowed + mp.mpf("1e-300"), (k, m, t)


@pytest.mark.parametrize("k", [1000, 99_999, 10**6])
@pytest.mark.parametrize("m", [1, 2, 3, 8, 100, 10**4, 10**6])
def test_values_of_high_degree_near_the_pole_against_mpmath(k, m):
    with mp.workdps(40):
        for part in (0.1, 0.9, 1.5, 3.0, 6.0):
            u = part * m / (k * (k + m - 1.0))
            if u > 1.0 or (m == 10**6 and part > 1.0 and k > 1000):
                continue
            t = 1.0 - u
            error = abs(special.gegenbauer(k, m, t) - exact(k, m, t))
            assert error <= 8 * EPS * math.sqrt(k + 1) * envelope(k, m, t), (part, t)
            if part < 1.0:
                assert error <= 4 * EPS


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
    with mp.workdps(40):
        for k, m, t in ((100, 10**6, 0.001), (40, 10**12, 1e-6), (31, 10**6, 0.0), (600, 10**4, 0.9), (10, 767, 1e-9)):
            truth = exact(k, m, t) if k < 400 else None
            if truth is None:  # at the working precision of a thousand digits the recurrence loses nothing
                before, truth = mp.mpf(0), mp.mpf(1)
                for j in range(k):
                    before, truth = truth, ((2 * j + m - 1) * mp.mpf(t) * truth - j * before) / (j + m - 1)
            assert abs(special.gegenbauer(k, m, t) - truth) <= 1e-13 * abs(truth)
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
@given(st.integers(1, 300), dims, cosines)
def test_three_term_recurrence(k, m, t):
    below, here, above = (special.gegenbauer(k + i, m, t) for i in (-1, 0, 1))
    whole = max(k + m - 1, 1)
    slack = 40 * EPS * math.sqrt(k + 1)
    assert whole * above == pytest.approx((2 * k + m - 1) * t * here - k * below, abs=slack * (2 * k + m))


@quick
@given(st.integers(2, 300), dims, st.floats(-1.0, 1.0))
def test_gegenbauer_polynomials_solve_their_differential_equation(k, m, t):
    value, first, second = (special.gegenbauer_derivative(k, m, t, order=i) for i in range(3))
    # (1 - t^2) G'' - m t G' + k (k+m-1) G = 0
    sizes = [special.gegenbauer_derivative_bound(k, m, order=i) for i in range(3)]
    slack = 20 * EPS * math.sqrt(k + 1) * max((1 - t * t) * sizes[2], m * abs(t) * sizes[1], k * (k + m - 1.0))
    assert (1 - t) * (1 + t) * second - m * t * first + k * (k + m - 1.0) * value == pytest.approx(0.0, abs=slack)


@pytest.mark.parametrize("m", [1, 2, 3, 8, 20])
def test_orthogonality_under_the_gauss_rule(m):
    nodes, weights = scipy.special.roots_jacobi(40, m / 2 - 1, m / 2 - 1)
    k = np.arange(30)
    values = special.gegenbauer(k[:, None], m, nodes)  # (30, 40)
    gram = (values * (weights / weights.sum())) @ values.T
    # 1 / dim of the spherical harmonics of degree k
    count = [1 if i == 0 else (2 * i + m - 1) / i * math.comb(i + m - 2, i - 1) for i in range(30)]
    np.testing.assert_allclose(gram, np.diag(1.0 / np.array(count)), atol=3e-14)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 40])
def test_dim_1_and_2_are_chebyshev_and_legendre(k):
    t = np.linspace(-1.0, 1.0, 101)
    unit = np.eye(k + 1)[k]
    np.testing.assert_allclose(special.gegenbauer(k, 1, t), np.polynomial.chebyshev.chebval(t, unit), atol=1e-13)
    np.testing.assert_allclose(special.gegenbauer(k, 2, t), np.polynomial.legendre.legval(t, unit), atol=1e-13)
    for order in (1, 2, 5):
        slopes = np.polynomial.legendre.legval(t, np.polynomial.legendre.legder(unit, order))
        bound = special.gegenbauer_derivative_bound(k, 2, order)
        np.testing.assert_allclose(special.gegenbauer_derivative(k, 2, t, order), slopes, atol=1e-12 * max(1.0, bound))
        slopes = np.polynomial.chebyshev.chebval(t, np.polynomial.chebyshev.chebder(unit, order))
        bound = special.gegenbauer_derivative_bound(k, 1, order)
        np.testing.assert_allclose(special.gegenbauer_derivative(k, 1, t, order), slopes, atol=1e-12 * max(1.0, bound))


def test_derivatives_against_mpmath():
    rng = np.random.default_rng(3)
    with mp.workdps(60):
        for i in range(60):
            k, m = int(rng.integers(1, 60)), int(rng.choice([1, 2, 3, 9, 400, 10**6]))
            order, t = int(rng.integers(0, 5)), float(rng.uniform(-1, 1) if i % 2 else 1 - 10 ** rng.uniform(-9, -1))
            truth = (
                mp.diff(lambda x, k=k, m=m: exact(k, m, x), t, order, h=mp.mpf(10) ** -10) if order else exact(k, m, t)
            )
            size = special.gegenbauer_derivative_bound(k, m, order)
            got = special.gegenbauer_derivative(k, m, t, order)
            assert abs(got - truth) <= 8 * EPS * math.sqrt(k + 1) * size + 2 * order * EPS * abs(got), (k, m, order, t)


@quick
@given(st.integers(1, 60), st.integers(1, 1000), st.floats(-0.9, 0.9))
def test_derivative_against_finite_differences(k, m, t):
    h = 1e-4 / k
    measured = (special.gegenbauer(k, m, t + h) - special.gegenbauer(k, m, t - h)) / ((t + h) - (t - h))
    third = special.gegenbauer_derivative_bound(k, m, 3) * h * h / 6
    assert special.gegenbauer_derivative(k, m, t) == pytest.approx(measured, abs=third + 40 * EPS * math.sqrt(k) / h)


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
        for k, m, order in (
            (10**6, 2, 1),
            (10**6, 10**12, 20),
            (10**6, 1, 10**5),
            (5, 10**12, 5),
            (1, 3, 1),
            (300, 8, 299),
        ):
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


def steepest(k, m):
    """The maximum of |dG_k/dtheta| at the working precision, near where g' = 0 first, by ternary search."""

    def slope(theta):
        return mp.sin(theta) * pole_series(k - 1, m + 2, 2 * mp.sin(theta / 2) ** 2)

    whole = mp.mpf(k) * (k + m - 1)
    low, high = mp.mpf(0), min(mp.pi / 2, 2 * mp.sqrt((m + 2) / whole))
    for _ in range(110):
        third = (high - low) / 3
        if slope(low + third) < slope(high - third):
            low += third
        else:
            high -= third
    return whole / m * slope(low)


@pytest.mark.parametrize("k", [2, 3, 11, 150, 10**6])
@pytest.mark.parametrize("m", [2, 3, 9, 500, 10**6, 10**12])
def test_lipschitz_against_mpmath(k, m):
    with mp.workdps(34):
        truth = steepest(k, m)
        got = special.gegenbauer_lipschitz(k, m)
        assert truth <= got <= truth * (1 + mp.mpf(4e-15))


@quick
@given(st.integers(2, 60), st.integers(1, 3000))
def test_lipschitz_bounds_every_slope(k, m):
    bound = special.gegenbauer_lipschitz(k, m)
    theta = np.linspace(0.0, math.pi, 60 * k + 1)
    slopes = np.sin(theta) * np.abs(special.gegenbauer_derivative(k, m, np.cos(theta)))
    assert bound * (1 - 0.003) <= slopes.max() <= bound * (1 + 1e-11)  # the cosines are rounded
    assert bound <= min(k, math.sqrt(k * (k + m - 1)))
    # |dG/dtheta|^2 <= k(k+m-1) (1 - G^2)
    value = special.gegenbauer(k, m, np.cos(theta))
    assert np.all(slopes**2 <= k * (k + m - 1.0) * ((1.0 - value) * (1.0 + value) + 1e-11))


def test_lipschitz_constants_at_both_ends_of_the_dimensions():
    assert special.gegenbauer_lipschitz([0, 1, 17], 1).tolist() == [0.0, 1.0, 17.0]
    assert special.gegenbauer_lipschitz([0, 1], [2, 10**12]).tolist() == [0.0, 1.0]
    first = scipy.special.jvp(1, scipy.special.jnp_zeros(1, 1)[0], 0)  # the maximum of J_1 = -J_0'
    assert special.gegenbauer_lipschitz(10**6, 2) / 1e6 == pytest.approx(first, rel=1e-6)
    k = np.arange(2, 50)
    power = np.sqrt(k) * (1 - 1 / k) ** ((k - 1) / 2)  # of t^k
    np.testing.assert_allclose(special.gegenbauer_lipschitz(k, 10**12), power, rtol=1e-9)


def exact_zero(k, m, near):
    """The angle of the zero of G_k next to the float `near`, by Newton's method at the working precision."""
    theta = mp.mpf(near)
    for _ in range(3):
        t = mp.cos(theta)
        theta += exact(k, m, t) / (mp.sin(theta) * exact_slope(k, m, t))
    return theta


def zero_cases():
    rng = np.random.default_rng(5)
    yield from ((1, 1), (1, 5), (2, 1), (2, 2), (2, 10**12), (3, 2), (9, 1), (399, 1), (30, 99), (30, 100), (30, 101))
    for _ in range(50):
        yield int(10 ** rng.uniform(0.3, 2.6)), int(10 ** rng.uniform(0.0, rng.choice([1.0, 3.0, 12.0])))


def test_largest_zero_against_mpmath():
    with mp.workdps(40):
        for k, m in zero_cases():
            angle, zero = special.gegenbauer_max_zero_angle(k, m), special.gegenbauer_max_zero(k, m)
            theta = exact_zero(k, m, angle)
            assert abs(angle / theta - 1) <= 4e-16, (k, m)
            assert abs(zero - mp.cos(theta)) <= 4e-16 * mp.cos(theta) + mp.mpf(10) ** -38, (k, m)
            # Sturm: as many sign changes in G_0, ..., G_k at t as there are zeros above t
            before, value, t = mp.mpf(0), mp.mpf(1), mp.cos(theta) * (1 + mp.mpf(10) ** -30) + mp.mpf(10) ** -35
            for j in range(k):
                whole = max(j + m - 1, 1)
                before, value = value, ((2 * j + m - 1 if j else 1) * t * value - j * before) / whole if j else t
                assert value > 0, (k, m)


@pytest.mark.parametrize("k", [10_000, 10**6])
@pytest.mark.parametrize("m", [2, 3, 8, 60, 100, 130])
def test_largest_zero_of_high_degree_against_mpmath(k, m):
    angle = special.gegenbauer_max_zero_angle(k, m)
    with mp.workdps(34):
        below, above = (pole_series(k, m, 2 * mp.sin(angle * (1 + i * EPS) / 2) ** 2) for i in (-2, 2))
    assert below > 0 > above
    # and it is the first: near that of J_(m/2-1)
    first = scipy.special.jn_zeros(m / 2 - 1, 1)[0] if m % 2 == 0 else {3: math.pi}[m]
    assert angle * (k + (m - 1) / 2) == pytest.approx(first, rel=4 * (m / k) ** 2 + 1e-12)


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_largest_zero_is_the_last_node_of_gauss_rules(k):
    nodes = np.polynomial.legendre.leggauss(k)[0]
    assert special.gegenbauer_max_zero(k, 2) == pytest.approx(nodes[-1], abs=4e-16)
    assert special.gegenbauer_max_zero(k, 1) == pytest.approx(math.cos(math.pi / (2 * k)), abs=2e-16)
    assert special.gegenbauer_max_zero(k, 3) == pytest.approx(math.cos(math.pi / (k + 1)), abs=2e-16)
    nodes = scipy.special.roots_gegenbauer(k, 3.5)[0]
    assert special.gegenbauer_max_zero(k, 8) == pytest.approx(nodes[-1], abs=4e-15)
    hermite = np.polynomial.hermite_e.hermegauss(k)[0][-1]
    assert special.gegenbauer_max_zero(k, 10**12) * 1e6 == pytest.approx(hermite, rel=1e-10)


@quick
@given(st.integers(1, 2000), st.integers(1, 10**6))
def test_largest_zero_grows_with_the_degree_and_falls_with_the_dimension(k, m):
    angle = special.gegenbauer_max_zero_angle(k, m)
    assert special.gegenbauer_max_zero_angle(k + 1, m) < angle
    if k > 1:
        assert special.gegenbauer_max_zero_angle(k, m + 1) >= angle
        assert special.gegenbauer_max_zero(k, m) == pytest.approx(math.cos(angle), rel=4e-16, abs=2e-16)
    # no zero where 1 - t < m / (k(k+m-1)), since G' <= G'(1)
    assert 2 * math.sin(angle / 2) ** 2 >= m / (k * (k + m - 1)) * (1 - 4 * EPS)


def test_arrays_give_the_bits_of_scalars_compiled_or_not():
    rng = np.random.default_rng(11)
    n = special.COMPILE_FROM
    k, m = rng.integers(0, 40, n), rng.choice([1, 2, 3, 8, 10**6], n)
    k[: n // 2], m[: n // 4] = 33, 2  # runs of one polynomial, of one degree, and neither
    t = np.concatenate([rng.uniform(-1, 1, n - 500), 1.0 - 10 ** rng.uniform(-16, -1, 500)])
    j = rng.integers(0, 5, n)
    some = np.r_[:200, n // 4 : n // 4 + 100, n // 2 : n // 2 + 100, n - 100 : n]
    for function, arguments in (
        (special.gegenbauer, (k, m, t)),
        (special.gegenbauer_derivative, (k, m, t, j)),
        (special.gegenbauer_derivative_bound, (k, m, j)),
        (special.gegenbauer_lipschitz, (k, m)),
        (special.gegenbauer_max_zero, (k + 1, m)),
        (special.gegenbauer_max_zero_angle, (k + 1, m)),
    ):
        result = function(*arguments)
        one = [function(*(a[i].item() for a in arguments)) for i in some]
        assert result[some].tolist() == one, function.__name__
    logs = special.gegenbauer_derivative_bound(k, m, j, log=True)
    assert logs[some].tolist() == [special.gegenbauer_derivative_bound(k[i], m[i], j[i], log=True) for i in some]
    t = np.linspace(-0.999, 0.999, n)
    tiny = special.gegenbauer(3000, 767, t)  # runs through underflow
    assert tiny[::500].tolist() == [special.gegenbauer(3000, 767, x) for x in t[::500].tolist()]
    assert np.count_nonzero(tiny) < n


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
