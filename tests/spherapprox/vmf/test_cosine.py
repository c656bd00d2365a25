"""The law of the cosine against sums in longer floats: both tails, quantiles and caps over the whole range."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import VonMisesFisher, special

DIMS = [1, 2, 3, 9, 63, 767, 4095, 10**5 - 1]


LONG = np.longdouble
PI = 4 * np.arctan(LONG(1))
S = np.linspace(-4.6, 4.6, 1501, dtype=LONG)
NEAR = 1 / (1 + np.exp(PI * np.sinh(S)))  # nodes in (0, 1), and their weights: the double exponential rule
WEIGHTS = (S[1] - S[0]) * PI * np.cosh(S) * NEAR * (1 - NEAR)
long_floats = pytest.mark.skipif(np.finfo(LONG).eps > 1e-18, reason="floats of more than 53 bits are the truth")


def log_sweep(m1, lam, at, width):
    """Return log of the integral of density over density(at) from at to at + width, in 64 bits."""
    u = NEAR * width
    half = np.sin(u / 2)
    exponent = -2 * lam * np.sin(at + u / 2) * half
    if m1:
        exponent += m1 * np.log1p(np.maximum(2 * np.cos(at + u / 2) * half / np.sin(at), -1 + LONG(1e-19)))
    return np.log(abs(width) * (WEIGHTS * np.exp(exponent)).sum())


def exact_log_tail(dim, lam, angle, inside):
    """Return the log share of the angles inside one, or outside: by the smaller one of both."""
    m1, lam, angle = LONG(dim - 1), LONG(lam), LONG(angle)
    total = m1 + np.sqrt(m1 * m1 + 4 * lam * lam)
    mode = np.arctan2(np.sqrt(2 * m1 / total), 2 * lam / total) if dim > 1 else LONG(0)
    halves = [log_sweep(m1, lam, mode, width) if width else -np.inf for width in (-mode, PI - mode)]
    whole = np.logaddexp(*halves)
    height = lam * -2 * np.sin((angle + mode) / 2) * np.sin((angle - mode) / 2)
    height += m1 * np.log(np.sin(angle) / np.sin(mode)) if dim > 1 else 0
    below = angle < mode
    edge = height + log_sweep(m1, lam, angle, -angle if below else PI - angle) - whole
    if edge > -LONG(0.7):
        edge = np.logaddexp(log_sweep(m1, lam, mode, angle - mode), halves[1 if below else 0]) - whole
        below = not below
    return edge if inside == below else np.log1p(-np.exp(edge))


def cases(dim, n):
    rng = np.random.default_rng(dim)
    for i in range(n):
        lam = (0.0, 10 ** rng.uniform(-4, 7), dim * 10 ** rng.uniform(-1, 1))[i % 3]
        kernel = VonMisesFisher(dim, lam)
        yield kernel, float(kernel.ppf((10 ** rng.uniform(-8, -0.3), 1e-100, 0.7, 1 - 1e-9)[i % 4])), i


@long_floats
@pytest.mark.parametrize("dim", DIMS)
def test_both_tails_are_right_to_their_last_digits(dim):
    for kernel, t, _ in cases(dim, 8):
        if t < -1.0 + 1e-6 or t == 1.0:  # where the angle from the other pole is not in `angle`
            continue
        angle = 2 * np.arcsin(np.sqrt((1 - LONG(t)) / 2))
        for complement in (False, True):
            exact = exact_log_tail(dim, kernel.concentration, angle, complement)
            log = kernel.cdf(t, complement=complement, log=True)
            smaller = min(exact, exact_log_tail(dim, kernel.concentration, angle, not complement))
            limit = 1e-13 + 9e-16 * math.sqrt(dim * -smaller) + 4e-16 * abs(smaller)
            assert abs(log - exact) < limit * min(1, abs(exact)), (kernel, t, complement)
            assert kernel.cdf(t, complement=complement) == pytest.approx(math.exp(log), rel=1e-15)


@pytest.mark.parametrize(("lam", "mass", "expected"), [
    (1.0, 0.5, 1.1221115931083204), (20.0, 0.95, 0.55440582583279454), (1e4, 0.95, 0.024478079414181638),
])  # fmt: skip
def test_caps_of_the_specification(lam, mass, expected):
    assert VonMisesFisher(2, lam).cap(mass) == pytest.approx(expected, rel=1e-15)


@long_floats
@pytest.mark.parametrize("dim", DIMS)
def test_caps_hold_their_share(dim):
    for lam in (0.0, 1e-3, 2.0, float(dim), 1e7):
        kernel = VonMisesFisher(dim, lam)
        for share, complement in itertools.product((1e-200, 1e-12, 0.01, 0.5, 0.7), (False, True)):
            angle = kernel.cap(share, complement=complement)
            if angle < 3.1:  # whose own rounding counts beyond
                # relative error of the angle: of the log share over its derivative in the log angle
                log = float(exact_log_tail(dim, lam, angle, not complement))
                moved = float(exact_log_tail(dim, lam, angle * (1 + 1e-5), not complement))
                assert abs(log - math.log(share)) < 1e-12 * abs(moved - log) / 1e-5, (lam, share, complement)


def test_caps_of_logarithms_and_ends():
    kernel = VonMisesFisher(30, 50.0)
    assert kernel.cap(math.log(0.3), log=True) == pytest.approx(kernel.cap(0.3), rel=1e-15)
    assert kernel.cap(math.log(0.9), log=True) == pytest.approx(kernel.cap(0.9), rel=1e-14)
    assert kernel.cap([0.0, 1.0]).tolist() == [0.0, math.pi]
    assert kernel.cap([0.0, 1.0], complement=True).tolist() == [math.pi, 0.0]
    assert kernel.ppf([0.0, 1.0]).tolist() == [-1.0, 1.0]
    assert kernel.cdf([-1.0, 1.0, -1.0 - 1e-16, 1.0 + 1e-16]).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert kernel.cdf([-1.0, 1.0], complement=True).tolist() == [1.0, 0.0]
    for dim in (1, 2, 7, 1000):  # a power of the angle
        log = -1e5
        expected = math.exp(max(-700.0, (log - special.log_cap_measure(dim, 1e-3)) / dim + math.log(1e-3)))
        assert VonMisesFisher(dim, 0.0).cap(log, log=True) == pytest.approx(expected, rel=1e-4)
    for dim, lam in ((1, 5.0), (3, 18.0), (4, 1e4)):  # near the pole the density is constant: angle^dim
        near, far = VonMisesFisher(dim, lam).cap([-400.0 * dim, -600.0 * dim], log=True)
        assert far == pytest.approx(near * math.exp(-200.0), rel=1e-12)
    assert VonMisesFisher(3, 18.0).cap(-1e5, complement=True, log=True) == math.pi
    for dim, log in itertools.product((1, 3, 9, 63), (-5e3, -5e4, -2e5, -1e300)):
        for lam in (0.0, 3e-9, 18.0, 1e7):
            assert 0.0 <= VonMisesFisher(dim, lam).cap(log, log=True) < math.exp(max(-690.0, log / dim + 9.0))
    assert math.isnan(kernel.cdf(math.nan))
    assert math.isnan(kernel.cap(math.nan))
    np.testing.assert_array_equal(np.isnan(kernel.ppf([0.5, np.nan])), [False, True])
    assert math.isnan(VonMisesFisher(2, 20.0).cap(math.nan))


@pytest.mark.parametrize("dim", [1, 2, 5, 400])
def test_uniform_points_have_the_measures_of_caps(dim):
    angles = np.linspace(0.05, 3.0, 9)
    uniform = VonMisesFisher(dim, 0.0)
    log = special.log_cap_measure(dim, angles)
    np.testing.assert_allclose(uniform.cdf(np.cos(angles), complement=True, log=True), log, rtol=2e-13, atol=1e-300)
    np.testing.assert_allclose(uniform.cap(log, log=True), special.cap_angle(dim, log), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([1, 2, 3, 20, 500]), st.floats(0.0, 1e4), st.floats(1e-6, 1.0 - 1e-6))
def test_quantiles_invert_the_distribution_function(dim, lam, q):
    kernel = VonMisesFisher(dim, lam)
    t = kernel.ppf(q)
    slack = 1e-12 + 2e-15 * math.exp(min(30.0, _log_cosine_density(kernel, t)))  # the rounding of t
    assert kernel.cdf(t) == pytest.approx(q, abs=slack)
    assert kernel.ppf(1.0 - q, complement=True) == pytest.approx(t, abs=1e-9)
    assert kernel.cdf(t) + kernel.cdf(t, complement=True) == pytest.approx(1.0, abs=1e-15)
    low, high = kernel.interval(q)
    assert kernel.cdf(low) == pytest.approx(kernel.cdf(high, complement=True), rel=1e-5, abs=slack)
    assert (low, high) == (kernel.ppf(0.5 - 0.5 * q), kernel.ppf(0.5 - 0.5 * q, complement=True))
    low, high = sorted([t, 0.9 * t])
    assert kernel.cdf(low) <= kernel.cdf(high)
    assert kernel.cap(1.0 - q) == pytest.approx(math.acos(t), rel=1e-6, abs=1e-7)


def _log_cosine_density(kernel, t):
    m, rest = kernel.dim, max(1e-30, 1.0 - t * t)
    area = special.log_surface_area(m - 1) if m > 1 else math.log(2.0)
    return kernel.log_density(t, "surface") + area + (0.5 * m - 1.0) * math.log(rest)


VARIANCES = [(2, 1e-3, 0.00049999993750001043, 0.49999981250005208), (3, 100.0, 0.99, 1e-4),
             (64, 2.0845, 0.03253687484272463, 0.015576940601733268),
             (768, 500.0, 0.49303503113242998, 6.0072031909620669e-4),
             (4096, 1e4, 0.81598806295869719, 1.6369327326728832e-5)]  # fmt: skip


@pytest.mark.parametrize(("columns", "lam", "mean", "variance"), VARIANCES)
def test_moments_of_the_specification(columns, lam, mean, variance):
    kernel = VonMisesFisher(columns - 1, lam)
    assert kernel.mean_cosine() == pytest.approx(mean, rel=1e-15)
    assert kernel.cosine_variance() == pytest.approx(variance, rel=2e-15)


@pytest.mark.parametrize("columns", [2, 3, 10, 128, 768, 10**5])
def test_variances_are_right_where_their_definition_cancels(columns):
    order = 0.5 * (columns - 2)
    for lam in (1e-300, 1e-6, 0.3, 5.0, 63.0, 65.0, 500.0, 2e4, 1e7):
        with mp.workdps(60):
            first = mp.exp(
                truth.log_iv_here(mp.mpf(order) + 1, mp.mpf(lam)) - truth.log_iv_here(mp.mpf(order), mp.mpf(lam))
            )
            exact = 1 - first**2 - (columns - 1) * first / mp.mpf(lam) if lam > 1e-200 else 1 / mp.mpf(columns)
            assert abs(VonMisesFisher(columns - 1, lam).cosine_variance() / exact - 1) < 5e-15, lam
    assert VonMisesFisher(columns - 1, 0.0).cosine_variance() == pytest.approx(1.0 / columns, rel=1e-15)
