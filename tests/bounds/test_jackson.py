"""Jackson constants: closed forms, the kernels behind them, and functions that no polynomial approximates better."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import roots_gegenbauer

from bounds import jackson
from bounds.jackson import approximation_error, bessel_zero, jackson_constant, jackson_degree, jackson_floor
from bounds.spectral import KAPPA
from spherapprox import special

DIMS = (2, 3, 4, 5, 8, 16, 33, 100, 1000, 10**6)


def test_bessel_zero_is_the_first_zero():
    for dim in (1, 2, 3, 8, 16, 101, 1000, 10_000):
        with mp.workdps(30):
            order = mp.mpf(dim) / 2 - 1
            zero = mp.mpf(bessel_zero(0.5 * dim - 1.0))
            assert jackson.jackson_limit(dim) == pytest.approx(float(mp.pi * zero), rel=1e-15)
            assert abs(mp.besselj(order, zero) / (zero * mp.besselj(order + 1, zero))) < 1e-13
            # the first zero: no sign change before it
            assert all(mp.besselj(order, zero * k / 40) > 0 for k in range(39, 0, -3))


@pytest.mark.parametrize("order", [1e4, 5e5])
def test_bessel_zero_of_large_order(order):
    a = -2.338107410459767  # Airy's zero; DLMF 10.21.40
    cube = order ** (1.0 / 3.0)
    series = order + 1.855757081489239 * cube + 1.033150387859 / cube - 0.003971 / order
    assert bessel_zero(order) == pytest.approx(series, abs=1e-6 * cube)
    assert -a * 2.0 ** (-1.0 / 3.0) == pytest.approx(1.855757081489239, rel=1e-12)


def test_the_circle_has_favards_constant():
    for q in (0, 1, 7, 10**9):
        assert approximation_error(q, 1) == pytest.approx(math.pi / (2 * (q + 1)), rel=1e-15)
    assert jackson_constant(1) == math.pi / 2
    assert jackson_constant(1, degree=3) == pytest.approx(3 * math.pi / 8)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 64, 65, 10**4, 10**8])
def test_approximation_errors_have_closed_forms_for_dim_2_and_4(n):
    # the Gauss nodes are Chebyshev's for m = 2, and the roots of tan N t = N tan t for m = 4
    assert approximation_error(2 * n, 2) == pytest.approx(math.pi / (2 * (n + 1)), rel=1e-11)
    assert approximation_error(2 * n + 1, 2) == approximation_error(2 * n, 2)
    size = n + 2
    truth = 0.3 * math.pi * (3 * size**2 - 2) / (size * (size**2 - 1))
    assert approximation_error(2 * n, 4) == pytest.approx(truth, rel=1e-11 if n <= 64 else 0.007)
    assert approximation_error(2 * n, 4) >= truth * (1 - 1e-11)


@pytest.mark.parametrize(("dim", "n"), [(2, 1), (3, 2), (4, 3), (7, 2), (8, 4), (20, 3), (60, 5)])
def test_the_kernel_reaches_the_error(dim, n):
    """Interpolate the cap measure at the Gauss nodes: the kernel's tail is not negative, and its integral the error."""
    node, _ = roots_gegenbauer(n, 0.5 * dim)
    angle = np.arccos(node)

    def tail(theta):
        return np.exp(special.log_cap_measure(dim, math.pi - theta))

    def ratio(theta):
        return tail(theta) / np.sin(theta) ** dim

    # Hermite interpolation of phi = tail / sin^m in t, whose derivative is (s_m + m t phi) / (1 - t^2)
    s = math.exp(special.log_surface_area(dim - 1) - special.log_surface_area(dim))
    slope = (s + dim * node * ratio(angle)) / (1.0 - node**2)
    powers = np.polynomial.chebyshev.chebvander(node, 2 * n - 1)
    eye = np.eye(2 * n)
    slopes = np.stack(
        [np.polynomial.chebyshev.chebval(node, np.polynomial.chebyshev.chebder(e)) for e in eye], axis=-1
    )  # (n, 2n)
    system = np.concatenate([powers, slopes])
    scale = 1.0 / np.abs(system).max(axis=1)
    coefficients = np.linalg.solve(system * scale[:, None], np.concatenate([ratio(angle), slope]) * scale)
    x, w = np.polynomial.legendre.leggauss(16)
    theta = (math.pi / 12.0 * (np.arange(12)[:, None] + 0.5 + 0.5 * x)).ravel()
    left = tail(theta) - np.sin(theta) ** dim * np.polynomial.chebyshev.chebval(np.cos(theta), coefficients)
    assert np.min(left) > -1e-9
    assert math.pi / 24.0 * np.dot(np.tile(w, 12), left) == pytest.approx(approximation_error(2 * n, dim), rel=1e-8)


@pytest.mark.parametrize("dim", DIMS)
def test_the_constant_holds_for_every_degree(dim):
    degrees = [*range(1, 300), *np.unique(np.geomspace(300, 1e9, 200).astype(int))]
    values = [jackson_constant(dim, degree=int(q)) for q in degrees]
    # at odd degrees the bound is (2n+1) e_n
    assert max(values) <= jackson_constant(dim) * (1 + 1e-12)
    errors = [v / q for v, q in zip(values, degrees, strict=True)]
    assert all(a >= b * (1 - 1e-12) for a, b in itertools.pairwise(errors))
    if dim <= 1000:
        assert values[-1] > 0.94 * jackson_constant(dim)


@pytest.mark.parametrize(
    ("dim", "n"), [(5, 65), (8, 300), (33, 3000), pytest.param(500, 20_000, marks=pytest.mark.once)]
)
def test_large_degrees_use_the_first_zero(dim, n):
    """4.6, part 2, with the zero itself instead of Sturm's bound of it."""
    zero, size = float(special.gegenbauer_max_zero_angle(n, dim + 1)), n + 0.5 * dim
    weight = math.pi / size * (1.0 + 0.25 * dim / (size * math.sin(zero)) ** 2) ** (0.5 * dim - 1.0)
    tolerance = 0.01 * (dim / n) ** 4 + 1e-10
    assert approximation_error(2 * n, dim) == pytest.approx(zero - 0.5 * weight, rel=tolerance)
    assert approximation_error(2 * n, dim) >= zero - 0.5 * weight * (1 + 1e-12)


@pytest.mark.parametrize("dim", DIMS)
def test_no_larger_than_non_negative_kernels(dim):
    """4.6: their C_R is pi q sin(phi/2), or from two moments, and their limit 2 j or pi j."""
    zero = bessel_zero(0.5 * dim - 1.0)
    assert jackson_constant(dim) < 2.0 * zero < jackson.jackson_limit(dim)
    for q in (2, 3, 8, 20, 51, 200):
        elementary = math.pi * q * math.sin(0.5 * float(special.gegenbauer_max_zero_angle(q // 2 + 1, dim)))
        assert jackson_constant(dim, degree=q) < elementary * (1 + 1e-12)
        if dim < 100:
            assert jackson_constant(dim, degree=q) < q * two_moments(q // 2, q % 2, dim) * 1.001


def two_moments(n, odd, dim):
    """Return sqrt(2 u1 + kappa u2) of the best non-negative kernel of degree 2n + odd."""
    a, b = 0.5 * dim - 1.0, 0.5 * dim - 1.0 + odd
    k = np.arange(n + 2.0)
    total = 2.0 * k + a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        diagonal = np.where(total == 0.0, (b - a) / (a + b + 2.0), (b * b - a * a) / (total * (total + 2.0)))
        off = 4.0 * k * (k + a) * (k + b) * (k + a + b) / (total**2 * (total + 1.0) * (total - 1.0))
    off[1] = 4.0 * (1.0 + a) * (1.0 + b) / ((2.0 + a + b) ** 2 * (3.0 + a + b))
    beta = np.sqrt(off[1:])
    value, vector = np.linalg.eigh(np.diag(diagonal[: n + 1]) + np.diag(beta[:n], 1) + np.diag(beta[:n], -1))
    u1 = 1.0 - value[-1]
    return math.sqrt(2.0 * u1 + KAPPA * (u1**2 + (beta[n] * vector[-1, -1]) ** 2))


@pytest.mark.parametrize("degree", [1, 4, 9])
def test_no_polynomial_approximates_these_better(degree):
    """Zonal functions need at least Favard's error, whatever the dimension, and have at most the bound."""
    theta = np.linspace(0.0, math.pi, 1201)
    wave = math.pi / (degree + 1)
    targets = (theta, np.abs((theta % wave) - 0.5 * wave))  # the distance, and the worst even function on the circle
    for f, least in zip(targets, (0.0, 0.25 * wave), strict=True):
        error = best_zonal_error(f, theta, degree)
        assert error >= least * 0.99
        for dim in (1, 2, 3, 8, 100):
            assert error <= approximation_error(degree, dim) + 1e-9


def best_zonal_error(f, theta, degree):
    basis = np.cos(np.outer(theta, np.arange(degree + 1)))  # (k, q + 1)
    ones = np.ones((len(theta), 1))
    rows = np.block([[basis, -ones], [-basis, -ones]])
    result = linprog([0.0] * (degree + 1) + [1.0], rows, np.concatenate([f, -f]), bounds=(None, None), method="highs")
    return result.fun


@given(dim=st.integers(1, 300), degree=st.integers(1, 10**6))
def test_the_floor_is_below(dim, degree):
    floor = jackson_floor(dim, degree)
    assert 0.0 < floor <= jackson_constant(dim, degree=degree)


def test_the_floor_is_half_a_caps_angle():
    # dim P_q = (q + 1)^2 on S^2, and a cap of measure sin^2(phi/2)
    for q in (1, 5, 1000):
        angle = 2.0 * math.asin(((q + 1.0) ** 2 + 1.0) ** -0.5)
        assert jackson_floor(2, q) == pytest.approx(0.5 * q * angle, rel=1e-12)
    assert jackson_floor(3, 2) == pytest.approx(float(special.cap_angle(3, -math.log(15.0))), rel=1e-12)


@given(log_eps=st.floats(-10, 0.4), dim=st.sampled_from((1, 2, 3, 8, 100, 10**5)), lip=st.floats(1e-3, 1e3))
def test_jackson_degree_is_the_smallest(log_eps, dim, lip):
    eps = 10.0**log_eps * lip
    q = jackson_degree(eps, dim, lip)
    assert approximation_error(q, dim) <= eps / lip
    if q > 0:
        assert approximation_error(q - 1, dim) > eps / lip * (1 - 1e-12)


def test_the_ends_of_the_ranges_have_values():
    assert jackson_degree(1e-60, 8) == pytest.approx(1e60 * jackson_constant(8), rel=0.05)
    assert jackson_degree(math.pi / 2, 8) == 0
    assert 1e-300 < approximation_error(10**300, 8) < 1e-298
    degree = jackson_degree(1e-290, 8)
    assert approximation_error(degree, 8) <= 1e-290 < approximation_error(degree - degree // 10**12, 8)
    assert jackson_degree(1e300, 8, 1e-300) == 0


def test_numbers_of_numpy_are_as_good_as_ints():
    assert approximation_error(np.array(3), np.array(4)) == approximation_error(3, 4)
