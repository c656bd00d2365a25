"""Kent's distribution: its constant against mpmath, samples, fits, densities, complaints."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, vonmises

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import Kent
from spherapprox.directional.kent import integrate


def turned(seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]


def log_constant(kappa, beta):
    """Return log c(kappa, beta) - log(4 pi) by Kent's series, whose terms are positive."""
    with mp.workdps(30):
        k, b, total, j = mp.mpf(kappa), mp.mpf(beta), mp.mpf(0), 0
        while True:
            term = mp.gamma(j + mp.mpf(1) / 2) / mp.gamma(j + 1) * b ** (2 * j) * (k / 2) ** (-2 * j - mp.mpf(1) / 2)
            term *= mp.besseli(2 * j + mp.mpf(1) / 2, k)
            total += term
            if term < mp.mpf(10) ** -25 * total or b == 0:
                return mp.log(total / 2)
            j += 1


@pytest.mark.parametrize("kappa", [1e-6, 0.1, 1.0, 7.0, 100.0, 3000.0])
@pytest.mark.parametrize("share", [0.0, 1e-3, 0.3, 0.9, 0.999999, 1.0])
def test_constant_against_the_series(kappa, share):
    beta = 0.5 * kappa * share
    exact = log_constant(kappa, beta)
    kent = Kent(np.eye(3), kappa, beta)
    assert abs(kent.log_normalizer - float(exact)) <= 1e-14 * max(1.0, kappa)
    # and the density at the peak, from which kappa is taken off without cancellation
    assert kent.logpdf([1.0, 0.0, 0.0]) == pytest.approx(float(mp.mpf(kappa) - exact - mp.log(4 * mp.pi)), abs=3e-14)


@pytest.mark.once
def test_constant_of_narrow_ovals_against_mpmath():
    # int e^(-k w) I_0(b w (2 - w)) dw / 2 in many digits, w = e^y
    for kappa, beta in ((1e6, 2e5), (1e8, 0.4999 * 1e8), (1e12, 5e11), (1e12, 0.5e12 - 2e4)):
        with mp.workdps(20):
            k, b = mp.mpf(kappa), mp.mpf(beta)

            def density(y, k=k, b=b):
                w = mp.exp(y)
                z = b * w * (2 - w)
                scaled = (
                    mp.besseli(0, z) * mp.exp(-z)
                    if z < 1e4
                    else 1 / mp.sqrt(2 * mp.pi * z) * mp.hyp2f0(0.5, 0.5, 1 / (2 * z))
                )
                return mp.exp(-k * w + z) * scaled * w / 2

            exact = mp.log(mp.quad(density, [-70, -50, *np.linspace(-40, 0, 41).tolist()]))
        assert abs(Kent(np.eye(3), kappa, beta)._log_scaled_constant - float(exact)) < 1e-13


def test_no_ovalness_is_von_mises_and_fisher():
    x = sphere.uniform(2, 50, rng=0)
    axes = turned()
    for kappa in (0.0, 3.0, 1e5):
        expected = VonMisesFisher(axes[0], kappa).logpdf(x)
        np.testing.assert_allclose(Kent(axes, kappa, 0.0).logpdf(x), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("kappa", "beta"),
    [(0.01, 0.0), (0.9, 0.45), (1.0, 0.5), (5.0, 2.5), (20.0, 3.0), (1e4, 4999.0), (1e12, 5e11), (1e12, 0.0)],
)
def test_samples_follow_the_distribution(kappa, beta):
    kent = Kent(turned(3), kappa, beta)
    x = kent.rvs(8000, rng=1)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    y = x @ kent.axes.T
    w = 0.5 * np.square(x - kent.axes[0]).sum(axis=1)
    oval = y[:, 1] ** 2 - y[:, 2] ** 2
    _, w_mean, oval_mean = integrate(kappa, beta)
    for values, mean in ((w, w_mean), (oval, oval_mean)):
        assert abs(values.mean() - mean) < 4.0 * values.std() / math.sqrt(len(x))
    # given the cosine, twice the azimuth is von Mises of concentration beta sin^2
    shares = vonmises.cdf(2.0 * np.arctan(y[:, 2] / y[:, 1]), beta * w * (2.0 - w))
    assert kstest(shares, "uniform").pvalue > 1e-3
    for column in y.T[1:]:
        assert abs((column > 0.0).mean() - 0.5) < 0.025


def test_densities_have_integral_one():
    points = sphere.uniform(2, 200_000, rng=0)
    for kappa, beta in ((2.0, 1.0), (10.0, 4.0)):
        density = Kent(turned(1), kappa, beta).pdf(points)
        assert density.mean() * 4.0 * math.pi == pytest.approx(1.0, abs=4.0 * density.std() / density.mean() / 447.0)


@pytest.mark.parametrize(("kappa", "share"), [(3.0, 0.7), (60.0, 0.5), (60.0, 0.0), (1e6, 0.98), (1e10, 0.5)])
def test_fits(kappa, share):
    kent = Kent(turned(2), kappa, 0.5 * kappa * share)
    x = kent.rvs(4000, rng=5)
    moments, likeliest = (Kent.fit(x, method=method) for method in ("moments", "mle"))
    for fitted in (moments, likeliest):
        assert fitted.concentration == pytest.approx(kappa, rel=0.1)
        assert abs(fitted.ovalness - kent.ovalness) < 0.07 * kappa
        assert np.square(fitted.axes[0] - kent.axes[0]).sum() < 0.02 / (1.0 - share * 0.99) / kappa
    # the moments are met, and the likelihood is no less than theirs or the truth's
    y = x @ moments.axes.T
    w = 0.5 * np.square(x - moments.axes[0]).sum(axis=1)
    _, w_mean, oval_mean = integrate(moments.concentration, moments.ovalness)
    assert w_mean == pytest.approx(w.mean(), rel=1e-5)
    if share:
        assert oval_mean == pytest.approx((y[:, 1] ** 2 - y[:, 2] ** 2).mean(), rel=1e-5)
        assert abs(likeliest.axes[1] @ kent.axes[1]) > 0.9
    logs = [one.logpdf(x).sum() for one in (likeliest, moments, kent)]
    assert logs[0] >= max(logs) - 1e-5
    if share and kappa < 100.0:
        for k, b in ((1.03, 1.0), (0.97, 1.0), (1.0, 1.05), (1.0, 0.95)):
            nearby = Kent(
                likeliest.axes,
                k * likeliest.concentration,
                min(b * likeliest.ovalness, k * likeliest.concentration / 2),
            )
            assert nearby.logpdf(x).sum() < logs[0]


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.floats(0.5, 1e5), st.floats(0.0, 0.95))
def test_fits_do_not_depend_on_the_frame_and_weights_count_rows(seed, kappa, share):
    x = Kent(np.eye(3), kappa, 0.5 * kappa * share).rvs(50, rng=seed)
    turn = turned(seed)
    first, second = Kent.fit(x, method="moments"), Kent.fit(x @ turn, weights=np.full(50, 3.0), method="moments")
    assert second.concentration == pytest.approx(first.concentration, rel=1e-4)
    np.testing.assert_allclose(abs(second.axes[0] @ (first.axes[0] @ turn)), 1.0, rtol=1e-9)
