"""4.1, the convolution error: the threshold, sharpness, Hoelder targets and bounded ones, by direct quadrature."""

import math

import enclosures
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import concentration, error_bound
from bounds.theorems.convolution import concentration_needed, convolution_error
from spherapprox.points import gauss_product
from spherapprox.vmf import VonMisesFisher

scale = st.floats(-3, 3).map(lambda e: 10.0**e)


def direct(lam, dim, lip, exponent, sup=math.inf, n=400_001):
    """E[min(L theta^alpha, 2F)] by Simpson's rule on both sides of the kink, theta = s^4."""
    kink = min((2.0 * sup / lip) ** (1.0 / exponent), math.pi)
    total = norm = 0.0
    for low, high in ((0.0, kink), (kink, math.pi)):
        s = np.linspace(low**0.25, high**0.25, n)
        weight = np.full(n, 2.0)
        weight[1::2], weight[[0, -1]] = 4.0, 1.0
        theta = s**4
        density = weight * np.exp(lam * (np.cos(theta) - 1.0)) * np.sin(theta) ** (dim - 1) * 4.0 * s**3 * (s[1] - s[0])
        total += np.sum(density * np.minimum(lip * theta**exponent, 2.0 * sup))
        norm += np.sum(density)
    return total / norm


@settings(max_examples=60)
@given(
    dim=st.integers(1, 10**4), share=st.floats(-12, 0.0).map(lambda e: 10.0**e), lip=scale,
    exponent=st.one_of(st.just(1.0), st.floats(0.05, 1.0)),
)  # fmt: skip
def test_concentration_is_the_threshold(dim, share, lip, exponent):
    eps = lip * share**exponent * VonMisesFisher(dim, 0.0).mean_angle(exponent)
    lam = concentration_needed(eps, dim, lip, exponent)
    assert lip * VonMisesFisher(dim, lam).mean_angle(exponent) == pytest.approx(eps, rel=1e-11)
    assert convolution_error(lam, dim, lip, exponent) == pytest.approx(eps, rel=1e-11)


def test_the_printed_concentration_is_reproduced():
    assert concentration(0.05, dim=8) == pytest.approx(3005.85, abs=0.00501)


def test_concentration_is_zero_from_a_right_angle():
    for dim in (1, 2, 50):
        assert concentration(math.pi / 2, dim=dim) == 0.0
        assert concentration(3.0, dim=dim, lipschitz=1.5) == 0.0
        assert 0.0 < concentration(math.pi / 2 - 1e-3, dim=dim) < 0.1 * dim
        uniform = VonMisesFisher(dim, 0.0).mean_angle(0.5)
        assert concentration_needed(1.0001 * uniform, dim, 1.0, 0.5) == 0.0
        assert 0.0 < concentration_needed(0.999 * uniform, dim, 1.0, 0.5) < 0.1 * dim


@pytest.mark.parametrize(("dim", "lam"), [(1, 30.0), (1, 0.0), (2, 3.0), (3, 40.0), (8, 100.0), (40, 500.0)])
@pytest.mark.parametrize(("exponent", "sup"), [(1.0, math.inf), (1.0, 0.05), (1.0, 0.8), (0.5, 0.3), (0.2, math.inf)])
def test_against_direct_quadrature(dim, lam, exponent, sup):
    expected = direct(lam, dim, 2.0, exponent, sup)
    assert convolution_error(lam, dim, 2.0, exponent, sup) == pytest.approx(expected, rel=1e-9)


def test_bounded_targets_against_mpmath():
    lam, dim, lip, sup = 25, 3, 4, mpmath.mpf("0.35")
    kink = 2 * sup / lip

    def density(theta):
        return mpmath.exp(lam * mpmath.cos(theta)) * mpmath.sin(theta) ** (dim - 1)

    near = mpmath.quad(lambda t: lip * t * density(t), [0, kink])
    beyond = 2 * sup * mpmath.quad(density, [kink, 0.5, 1, mpmath.pi])
    expected = (near + beyond) / mpmath.quad(density, [0, 0.5, 1, mpmath.pi])
    assert convolution_error(25.0, 3, 4.0, 1.0, 0.35) == pytest.approx(float(expected), rel=1e-13)


@given(
    dim=st.integers(1, 10**4), lam=st.floats(-6, 20).map(lambda e: 10.0**e), exponent=st.floats(0.05, 1.0),
    sup=st.floats(-40, 3).map(lambda e: 10.0**e),
)  # fmt: skip
def test_a_sup_norm_only_helps(dim, lam, exponent, sup):
    free = convolution_error(lam, dim, 1.0, exponent)
    capped = convolution_error(lam, dim, 1.0, exponent, sup)
    assert 0.0 < capped <= min(free, 2.0 * sup)
    assert capped <= convolution_error(lam, dim, 1.0, exponent, 1.5 * sup) * (1 + 1e-12)
    if 2.0 * sup >= math.pi**exponent:
        assert capped == free
    if 2.0 * sup < 1e-6 * free:
        assert capped > sup


def test_attained_by_the_distance_on_the_sphere():
    # f = L theta(., pole) at the pole, convolved by a quadrature rule of the sphere, and its truncation, |f| <= F
    nodes, lam, lip = gauss_product(2, 1200), 20.0, 2.5
    height = nodes.points[:, 2]
    share, angle = nodes.weights * VonMisesFisher(2, lam)(height), np.arccos(height)
    bound = error_bound(dim=2, theorem="convolution", lipschitz=lip, concentration=lam).value
    assert bound == pytest.approx(lip * np.sum(share * angle), rel=1e-6)
    capped = np.sum(share * np.minimum(lip * angle, 1.0))
    assert convolution_error(lam, 2, lip, 1.0, 0.5) == pytest.approx(capped, rel=1e-5)


@pytest.mark.parametrize(("dim", "lam"), [(1, 0.3), (1, 1e4), (2, 20.0), (3, 500.0), (8, 3.0), (8, 1e5)])
def test_attained_by_the_distance_in_other_dimensions(dim, lam):
    lost = float(enclosures.mean_angle(dim, lam).midpoint)
    bound = error_bound(dim=dim, theorem="convolution", lipschitz=2.5, concentration=lam).value
    assert bound == pytest.approx(2.5 * lost, rel=1e-12)
