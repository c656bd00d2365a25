"""The thesis's lemmas on sums, quotients and masks against mpmath and what they bound, and zonal harmonics."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import covering_number
from bounds.theorems.thesis import harmonics
from bounds.theorems.thesis import lemmas as thesis
from spherapprox import EqualMeasurePartition, SplitHead, special, sphere
from spherapprox.vmf import VonMisesFisher


def test_count_against_mpmath():
    with mp.workdps(40):
        dim, lip, sup, eps, lam = 8, mp.mpf(2), mp.mpf(3), mp.mpf("0.25"), mp.mpf(1000)
        nu = mp.mpf(dim - 1) / 2
        area = 2 * mp.pi ** (nu + 1) / mp.gamma(nu + 1)
        c = area * lam**nu / ((2 * mp.pi) ** (nu + 1) * mp.besseli(nu, lam, maxterms=10**6))
        d = dim + 1
        phi = mp.e * (d * mp.log(d) + d * mp.log(mp.log(d)) + 5 * d)
        truth = mp.log(phi * (3 * mp.pi * (lip + lam * sup) * c * mp.exp(lam) / eps) ** (2 * d))
    log_delta = thesis.log_delta(1000.0, 0.25, 8, lipschitz=2.0, sup_norm=3.0)
    assert thesis.log_count_of(log_delta, 8) == pytest.approx(float(truth), rel=1e-13)


@given(dim=st.integers(2, 3000), log_delta=st.floats(-3000, -1e-3))
def test_cap_counts_are_in_order(dim, log_delta):
    lower, middle, last = thesis.cap_counts(log_delta, dim)
    assert lower < middle
    assert lower < last
    assert middle == math.inf or middle < last
    if log_delta > -200.0:
        radius = 2.0 * math.asin(math.sqrt(0.5 * math.exp(log_delta)))
        assert lower == pytest.approx(covering_number(radius, dim=dim, method="lower").log, rel=1e-9, abs=1e-9)
        if dim <= 200:
            assert covering_number(radius, dim=dim, method="volume").log < last or radius > 0.5
        assert (middle < math.inf) == (math.sin(radius) <= 1.0 / (dim + 1))
        if middle < math.inf:
            rogers = covering_number(radius, dim=dim, method="rogers").log
            assert middle == pytest.approx(rogers, rel=1e-9)


def test_riemann_sums_stay_within_b27():
    # g(x, y) = exp(5 <x, y>) on S^2: its slope in y is at most that of exp(5 cos t)
    partition = EqualMeasurePartition(2, 60)
    centres = partition.centers()
    grid = np.linspace(0.0, math.pi, 10_001)
    slope = np.max(5.0 * np.sin(grid) * np.exp(5.0 * np.cos(grid)))
    x = sphere.uniform(2, 200, rng=5)
    exact = math.sinh(5.0) / 5.0
    error = np.max(np.abs(exact - np.exp(5.0 * x @ centres.T).mean(axis=1)))
    sharp = thesis.log_riemann_error(math.log(slope), partition.cell_radius(), printed=False)
    assert 0.0 < error <= math.exp(sharp)
    assert thesis.log_riemann_error(math.log(slope), partition.cell_radius()) == pytest.approx(sharp + math.log(3.0))


@given(dim=st.integers(1, 10**4), log_lambda=st.floats(-12, 12))
def test_kernel_slope_and_modulus(dim, log_lambda):
    lam = 10.0**log_lambda
    kernel = VonMisesFisher(dim, lam)
    peak = float(kernel.log_density(1.0))
    # the steepest point: cos t = lam sin^2 t
    t = 2.0 * lam / (1.0 + math.hypot(1.0, 2.0 * lam))
    log_slope = math.log(lam) + 0.5 * math.log(t / lam) + float(kernel.log_density(t))
    assert log_slope <= thesis.log_kernel_slope(lam, dim) + 1e-9 * max(1.0, abs(peak))
    assert thesis.log_kernel_slope(lam, dim, printed=True) == peak == thesis.log_peak(math.log(lam), dim) or abs(
        thesis.log_peak(math.log(lam), dim) - peak
    ) < 1e-12 * max(1.0, abs(peak), dim)
    modulus = thesis.log_modulus(lam, dim, lipschitz=2.0, sup_norm=3.0)
    assert modulus == pytest.approx(math.log(2.0 + 3.0 * lam) + peak, rel=1e-12, abs=1e-12)


def test_peak_far_out_is_a_power():
    for dim in (1, 8, 10**4):
        low, high = thesis.log_peak(455.0, dim), thesis.log_peak(900.0, dim)
        assert high - low == pytest.approx(0.5 * dim * 445.0, rel=1e-12)
    assert thesis.log_kernel_slope(0.0, 3) == -math.inf


@given(size=st.floats(0.1, 10), e1=st.floats(0, 1), e2=st.floats(0, 0.9), signs=st.integers(0, 3))
def test_quotient_error_contains_quotients(size, e1, e2, signs):
    b, d = size + (1 - 2 * (signs % 2)) * e1, 1.0 + (1 - 2 * (signs // 2)) * e2
    bound = thesis.quotient_error(e1, e2, numerator=size, denominator=1.0, product=1.0 - e2)
    assert abs(size - b / d) <= bound * (1 + 1e-12) + 1e-15


def test_denominator_error_is_the_riemann_error_at_the_radius_of_b210():
    dim, eps, lam, lip, sup = 8, 0.3, 250.0, 2.0, 3.0
    numbers = {"lipschitz": lip, "sup_norm": sup}
    modulus = thesis.log_modulus(lam, dim, **numbers)
    radius = eps / (6.0 * math.sqrt(dim + 1.0)) * math.exp(-modulus)
    for printed in (False, True):
        slope = thesis.log_kernel_slope(lam, dim, printed=printed)
        value = thesis.denominator_error(eps, lam, dim, **numbers, printed=printed)
        assert value == pytest.approx(math.exp(thesis.log_riemann_error(slope, radius)), rel=1e-12)


@given(eps=st.floats(1e-9, 1.9), dim=st.integers(8, 10**4))
def test_inner_accuracy_and_split_error_are_inverse(eps, dim):
    inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0)
    assert thesis.split_error(inner, dim, sup_norm=1.0) == pytest.approx(eps, rel=1e-12)
    printed = thesis.inner_accuracy(eps, dim, lipschitz=2.0, sup_norm=3.0, printed=True)
    assert printed == pytest.approx(4.0 * eps / 7.0)


def test_mask_error_against_mpmath():
    for log_mass, mask, inputs in ((3.0, 0.0, 1), (200.0, -5.0, 7), (-300.0, 2.0, 3), (1e4, -1e4, 2)):
        with mp.workdps(30):
            second = inputs * mp.exp(mask)
            truth = 2.0 * second / (second + mp.exp(log_mass))
        value = thesis.mask_error(log_mass, mask, sup_norm=2.0, inputs=inputs)
        assert value == pytest.approx(float(truth), rel=1e-12)


def test_harmonics_of_zonal_functions():
    # theta on the circle: pi/2 - (4/pi) sum over odd k of cos(k theta) / k^2
    norms = harmonics.zonal_harmonic_norms(lambda t: t, 1, 9)
    odd = np.arange(1, 10, 2)
    assert norms[odd] == pytest.approx(4.0 / (math.pi * odd**2), rel=1e-9)
    assert np.abs(norms[2::2]).max() < 1e-12
    # theta on S^2: the coefficient of P_1 is -3 pi/8
    assert harmonics.zonal_harmonic_norms(lambda t: t, 2, 2) == pytest.approx(
        [math.pi / 2, 3 * math.pi / 8, 0.0], abs=1e-12
    )
    # a zonal polynomial is its own harmonic
    for dim, degree in ((1, 7), (3, 4), (8, 12), (200, 3)):
        norms = harmonics.zonal_harmonic_norms(
            lambda t, k=degree, m=dim: special.gegenbauer(k, m, np.cos(t)), dim, degree
        )
        assert norms[degree] == pytest.approx(1.0, rel=1e-8)
        assert np.abs(norms[:degree]).max() < 1e-9
    # a kernel: a_k dim(H_k)
    kernel = VonMisesFisher(5, 30.0)
    counts = [1, 6, 20, 50]
    expected = [n * kernel.eigenvalue(k) for k, n in enumerate(counts)]
    assert harmonics.zonal_harmonic_norms(lambda t: kernel(np.cos(t)), 5, 3) == pytest.approx(expected, rel=1e-9)
    assert harmonics.zonal_harmonic_bound(lambda t: kernel(np.cos(t)), 5, 3) == pytest.approx(max(expected), rel=1e-9)


def lifted(y):
    """B.4.1: the inverse of the stereographic projection."""
    square = (y * y).sum(axis=-1, keepdims=True)
    return np.concatenate([2.0 * y, square - 1.0], axis=-1) / (square + 1.0)


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_constants_of_the_stereographic_projection_are_sharp(dim):
    rng = np.random.default_rng(dim)
    y, other = rng.uniform(0.0, 1.0, (2, 4000, dim))
    y[0], other[0], y[1], other[1] = 0.0, 1e-6, 1.0, 1.0 - 1e-6
    chords, lengths = (np.linalg.norm(a - b, axis=1) for a, b in ((lifted(y), lifted(other)), (y, other)))
    scales = np.sqrt((1.0 + (y * y).sum(axis=1)) * (1.0 + (other * other).sum(axis=1)))
    assert np.allclose(chords, 2.0 * lengths / scales, rtol=1e-8)
    ratios = chords / lengths
    assert ratios.max() == pytest.approx(2.0, rel=1e-5)
    assert (1.0 / ratios).max() == pytest.approx(0.5 * (1.0 + dim), rel=1e-5)


def test_split_heads_come_near_functions_of_the_square():
    f = lambda y: np.stack([np.abs(y[:, 0] - y[:, 1]), np.sin(3.0 * y[:, 0])], axis=-1)  # noqa: E731
    errors = []
    for side, rate in ((12, 100.0), (48, 1600.0)):
        grid = (np.stack(np.meshgrid(*[np.arange(side)] * 2), axis=-1).reshape(-1, 2) + 0.5) / side
        head = SplitHead(lifted(grid), f(grid), rate)
        y = np.random.default_rng(0).uniform(0.0, 1.0, (2000, 2))
        errors.append(float(np.abs(head(lifted(y)) - f(y)).max()))
    assert errors[0] < 0.4
    assert errors[1] < 0.35 * errors[0]
