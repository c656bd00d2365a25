"""The von Mises-Fisher kernel: density, eigenvalues, entropy, moments of the angle and integrals of its shifts."""

import math

import mpmath as mp
import numpy as np
import pytest
import scipy.special
import scipy.stats
import truth

from spherapprox import VonMisesFisher, special


@pytest.mark.parametrize("dim", [1, 2, 100, 10**6])
@pytest.mark.parametrize("lam", [5e-324, 1e-20, 1.0, 1e16, 1e200])
def test_integrals_hold_over_the_whole_range(dim, lam):
    kernel = VonMisesFisher(dim, lam)
    mean = kernel.mean_angle()
    assert 0.0 < mean <= math.pi / 2 + 1e-15
    previous = -math.inf
    for rho in (5e-324, 1e-150, 1e-20, 1e-3, 1.0, math.pi / 2, 2.4, math.pi):
        variation, shifted = (f(rho, log=True) for f in (kernel.shift_variation, kernel.shifted_mean_angle))
        assert not math.isnan(variation)
        assert variation >= previous - 1e-9
        assert math.log(mean + rho) - 1e-13 * max(1.0, abs(shifted)) <= shifted < math.inf
        previous = variation


def test_integrals_at_the_ends():
    kernel = VonMisesFisher(3, 2.0)
    assert kernel.shift_variation(0.0) == 0.0
    assert kernel.shifted_mean_angle(0.0) == kernel.mean_angle()
    # rho = pi: (theta + pi) k(0) over k(pi)
    assert kernel.shifted_mean_angle(math.pi) == pytest.approx(1.5 * math.pi * math.exp(4.0), rel=1e-14)
    uniform = VonMisesFisher(5, 0.0)
    assert uniform.mean_angle() == pytest.approx(math.pi / 2, rel=1e-15)
    assert uniform.shift_variation(1.0) == 0.0
    assert uniform.shifted_mean_angle(0.25) == pytest.approx(math.pi / 2 + 0.25, rel=1e-15)
    circle = VonMisesFisher(1, 0.0)
    for power in (0.01, 0.5, 1.0, 1.7, 2.0, 4.0):
        assert circle.mean_angle(power) == pytest.approx(math.pi**power / (power + 1), rel=1e-14)
    assert circle.mean_angle(0.0) == 1.0
    assert VonMisesFisher(128, 1e9).shifted_mean_angle(2.5) == math.inf
    assert VonMisesFisher(128, 1e9).shifted_mean_angle(2.5, log=True) > 1e9


@pytest.mark.parametrize(("dim", "lam"), [(1, 0.3), (1, 40.0), (2, 5.0), (3, 12.0), (8, 0.01), (8, 40.0), (17, 30.0)])
def test_funk_hecke_by_quadrature(dim, lam):
    kernel = VonMisesFisher(dim, lam)
    t, weights = scipy.special.roots_jacobi(80, dim / 2 - 1, dim / 2 - 1)
    weights /= weights.sum()
    density = kernel(t)
    assert weights @ density == pytest.approx(1.0, rel=1e-12)
    eigenvalues = kernel.eigenvalues(20)
    for degree in range(21):
        assert weights @ (density * special.gegenbauer(degree, dim, t)) == pytest.approx(eigenvalues[degree], abs=1e-13)
    entropy = -weights @ (density * kernel.log_density(t))
    assert kernel.entropy("normalized") == pytest.approx(entropy, rel=1e-11)


def test_eigenvalues_over_many_degrees():
    degrees = np.arange(0, 5001, 97)  # between and beyond the degrees where the products start afresh
    for lam in (1e5, 1e12):
        kernel = VonMisesFisher(3, lam)
        np.testing.assert_allclose(kernel.eigenvalues(5000)[degrees], kernel.eigenvalue(degrees), rtol=1e-14)
        logs = kernel.eigenvalues(5000, log=True)
        np.testing.assert_allclose(logs[degrees], special.log_iv_ratio(1.0, lam, degrees), rtol=1e-14)
    uniform = VonMisesFisher(3, 0.0)
    assert uniform.eigenvalues(2).tolist() == [1.0, 0.0, 0.0]
    assert uniform.eigenvalues(1, log=True).tolist() == [0.0, -math.inf]
    least, tiny = (VonMisesFisher(2, 1.0).shift_variation(rho, log=True) for rho in (5e-324, 1e-200))
    assert least == pytest.approx(tiny + math.log(5e-324) - math.log(1e-200), rel=1e-14)
    assert VonMisesFisher(3, 1e-310).eigenvalues(2, log=True)[1] == pytest.approx(math.log(1e-310) - math.log(4.0))


@pytest.mark.parametrize(("dim", "lam"), [(1, 2.0), (2, 10.0), (2, 1e-9), (9, 33.0)])
def test_density_and_entropy_agree_with_scipy(dim, lam):
    mean = np.eye(dim + 1)[-1]
    peer = scipy.stats.vonmises_fisher(mean, lam)
    kernel = VonMisesFisher(dim, lam)
    x = kernel.rvs(mean, size=7, rng=2)
    np.testing.assert_allclose(kernel.logpdf(x, mean), peer.logpdf(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.pdf(x, mean), peer.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(kernel.log_density(x[:, -1], measure="surface"), peer.logpdf(x), rtol=1e-12, atol=1e-12)
    assert kernel.entropy() == pytest.approx(peer.entropy(), rel=1e-9)


def test_density_at_extremes():
    assert VonMisesFisher(767, 1e-3).logpdf(np.eye(768)[:1], np.eye(768)[0])[0] == pytest.approx(1458.722151, abs=1e-5)
    assert VonMisesFisher(10**6, 1e300).log_density(1.0) > 1e8
    assert VonMisesFisher(10**6, 1e12)(1.0) == math.inf
    for dim in (1, 2, 10**6):
        for lam in (0.0, 5e-324):
            kernel = VonMisesFisher(dim, lam)
            assert kernel.log_density([-1.0, 0.0, 1.0]).tolist() == [-lam, 0.0, lam]
            assert math.copysign(1.0, kernel.log_normalizer) == math.copysign(1.0, kernel.entropy("normalized")) == 1.0
        largest = VonMisesFisher(dim, 1e300)
        assert largest.log_density([-1.0, 0.5, 1.0])[:2].tolist() == [-2e300, -0.5e300]
        assert largest(-1.0) == 0.0
        assert 300 < largest.log_density(1.0) / dim < 400
        assert largest.entropy("normalized") == pytest.approx(0.5 * dim - largest.log_density(1.0), rel=1e-14)
    poles = VonMisesFisher(2, 1e300).logpdf([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], [0.0, 0.0, 1.0])
    assert poles[0] == VonMisesFisher(2, 1e300).log_density(1.0, "surface")
    assert poles[1] == -2e300


def test_density_takes_what_numpy_takes():
    kernel = VonMisesFisher(2, 1.0)
    assert type(kernel.log_density(0.5)) is type(kernel(np.float32(0.5))) is type(kernel(np.array(1))) is float
    assert kernel.log_density(np.zeros((2, 3))).shape == (2, 3)
    assert kernel.log_density([]).shape == kernel([]).shape == (0,)
    values = kernel(np.array([[math.nan, 0.25]], dtype=np.float32))
    assert values.dtype == np.float64
    assert math.isnan(values[0, 0])
    assert values[0, 1] == kernel(0.25)
    for t in ([1.0, 0.0, 0.0], [[0.5, 0.5, 0.5]], [[1.0, 0.0]], np.zeros((0, 3))):  # cosines, no points
        assert VonMisesFisher([0.0, 0.0, 1.0], 1.0)(t).shape == np.shape(t)
    assert kernel(np.eye(3)).shape == (3, 3)  # cosines with three control points


def seam_cases():
    """Dimensions and concentrations, many of them about dim + 1, where the forms of log density and entropy meet."""
    rng = np.random.default_rng(3)
    for i in range(90):
        dim = int(rng.choice([1, 2, 3, 10, 67, 255, 767, 10**4, 10**6]))
        top = min(1.0, math.log10(3e3 / dim)) if dim > 100 else 3.0
        lam = (dim + 1) * 10 ** rng.uniform(-7, top) if i % 3 or dim > 1000 else (dim + 1) * rng.uniform(0.95, 1.05)
        yield dim, lam


def test_density_is_accurate_where_its_forms_meet_and_apart():
    t = np.array([-1.0, -0.3, -1e-3, 0.0, 1e-7, 0.5, 0.999, 1.0])
    with mp.workdps(40):
        for dim, lam in seam_cases():
            log_c = -truth.log_0f1(0.5 * (dim - 1), lam)
            for cosine, got in zip(t, VonMisesFisher(dim, lam).log_density(t), strict=True):
                exact = log_c + mp.mpf(lam) * mp.mpf(cosine)
                # a unit in the last place of t, or of the terms
                scale = min(max(abs(log_c), lam * abs(cosine)), max(abs(log_c + lam), lam * (1 - cosine)))
                assert abs(got - exact) < 2e-15 * max(scale, abs(exact)), (dim, lam, cosine)
