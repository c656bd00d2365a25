"""Tests of uniformity: formulas, published percentage points, levels, power, Monte Carlo."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom, chi2, kstest

from spherapprox import VonMisesFisher, directional, sphere
from spherapprox.directional.uniformity import _gine_pvalue, _gine_weights, log_tail

TESTS = (directional.rayleigh, directional.bingham, directional.gine)


def with_mean_length(n, p, length):
    """Return n unit rows whose mean has this length: cosines of it, and sides that cancel in pairs."""
    x = np.zeros((n, p))
    x[:, 0] = length
    x[:, 1] = math.sqrt(1.0 - length**2) * (-1.0) ** np.arange(n)
    return x


def test_rayleigh_of_the_specification():
    statistic, pvalue = directional.rayleigh(with_mean_length(10, 3, 0.5))
    assert statistic == pytest.approx(7.6875, rel=1e-14)
    assert pvalue == pytest.approx(0.0529315, abs=5e-8)


def test_rayleigh_against_r_on_the_circle():
    """R 4.2.2, circular 0.4-95: rayleigh.test, an expansion to order 1/n^2 as well."""
    angles = np.array([0.3, 0.7, 2.1, -0.4, 0.9, 3.25, -1.1, 0.55, 1.33, 4.05, 5.1, 0.2])
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert directional.rayleigh(x).pvalue == pytest.approx(0.230840310477695, abs=3e-4)
    assert np.linalg.norm(x.mean(axis=0)) == pytest.approx(0.351552430070949, rel=1e-13)


def test_statistics_by_their_definitions():
    for p in (2, 3, 7):
        x = sphere.uniform(p - 1, 30, rng=p)
        n, cosines = 30, np.clip(x @ x.T, -1.0, 1.0)
        psi = np.arccos(cosines)[np.triu_indices(n, 1)]
        # Gine: A_n and G_n of Prentice (1978)
        ajne = n / 4 - psi.sum() / (math.pi * n)
        constant = (p - 1) / (2 * n) * (math.gamma((p - 1) / 2) / math.gamma(p / 2)) ** 2
        expected = 4 * ajne + n / 2 - constant * np.sin(psi).sum()
        assert directional.gine(x).statistic == pytest.approx(expected, rel=1e-12)
        # Bingham: S of the second moments, modified
        s = n * p * (p + 2) / 2 * (np.square(x.T @ x / n).sum() - 1 / p)
        assert directional.bingham(x).statistic == pytest.approx(s, rel=1e-12)
        assert directional.bingham(-x) == pytest.approx(directional.bingham(x), rel=1e-12)
        few = sphere.uniform(9, 5, rng=p)  # fewer rows than columns: the Gram matrix has the same sum
        expected = 5 * 60 * (np.square(few.T @ few / 5).sum() - 0.1)
        with pytest.warns(RuntimeWarning, match="5 rows of 10 columns are too few"):
            assert directional.bingham(few).statistic == pytest.approx(expected, rel=1e-12)


def test_bingham_is_modified_as_jupp_has_it_and_stays_monotone():
    x = np.eye(3)[[0] * 40 + [1] * 30 + [2] * 30]
    s = 100 * 7.5 * (np.square([0.4, 0.3, 0.3]).sum() - 1 / 3)
    modified = s * (1 - (31 / 42 - 41 / 294 * s + 20 / 5292 * s * s) / 100)  # p = 3
    assert directional.bingham(x).pvalue == pytest.approx(chi2.sf(modified, 5), abs=2e-4)
    pvalues = [directional.bingham(np.eye(3)[[0] * k + [1] * 20 + [2] * 20]).pvalue for k in range(20, 400, 10)]
    assert all(np.diff(pvalues) <= 0.0)
    assert pvalues[3] < 1e-8
    assert pvalues[-1] < 1e-100


@pytest.mark.parametrize(("level", "point"), [(0.2, 1.948), (0.05, 2.748), (0.01, 3.633)])
def test_percentage_points_of_gine_on_s2(level, point):
    """Keilson, Petrondas, Sumita & Wellner (1983), Significance points for some tests of uniformity on the sphere,
    J. Stat. Comput. Simul. 17, 195-218."""
    assert _gine_pvalue(point, 10**9, 3) == pytest.approx(level, abs=2e-4)


def test_gine_has_the_variance_of_its_sample_size():
    for n in (2, 10):
        value = 1.5 + 1.2 * math.sqrt(1.0 - 1.0 / n)
        assert _gine_pvalue(value, n, 3) == pytest.approx(_gine_pvalue(2.7, 10**15, 3), rel=1e-9)


def test_gine_weights_are_eigenvalues_of_the_kernel():
    for p in (2, 3, 9):
        weights, degrees = _gine_weights(p)
        assert weights @ degrees == pytest.approx(1.5, rel=1e-14)
        with mp.workdps(20):
            q = mp.mpf(p)
            half = mp.gamma(q / 2) / mp.gamma((q - 1) / 2) / mp.sqrt(mp.pi)
            sine = half * mp.beta(q / 2, mp.mpf(1) / 2)
            for degree in (1, 2, 3, 6):

                def integrand(a, degree=degree, q=q, sine=sine):
                    kernel = mp.mpf(3) / 2 - 2 / mp.pi * a - mp.sin(a) / (2 * sine)
                    zonal = (
                        mp.cos(degree * a)
                        if q == 2
                        else mp.gegenbauer(degree, q / 2 - 1, mp.cos(a)) / mp.gegenbauer(degree, q / 2 - 1, 1)
                    )
                    return kernel * zonal * mp.sin(a) ** (q - 2)

                value = half * mp.quad(integrand, [0, mp.pi / 4, mp.pi / 2, mp.pi])
                assert weights[degree - 1] == pytest.approx(float(value), rel=1e-11)
        # the variance of all degrees, the last ones taken together, is that of the kernel
        square = half * mp.quad(
            lambda a, sine=sine, q=q: (
                (mp.mpf(3) / 2 - 2 / mp.pi * a - mp.sin(a) / (2 * sine)) ** 2 * mp.sin(a) ** (q - 2)
            ),
            [0, mp.pi],
        )
        assert weights**2 @ degrees == pytest.approx(float(square), rel=1e-8)


def test_tails_of_weighted_chi_squares():
    for freedom in (30.0, 768.0, 3e5):
        for x in (0.1, 0.9, 1.0, 1.01, 2.0, 20.0):
            got = log_tail(freedom * x, np.array([1.0]), np.array([freedom]))
            if freedom * x < 2000.0 or x < 1.05:  # beyond SciPy's logarithm is -inf
                assert got == pytest.approx(chi2.logsf(freedom * x, freedom), rel=1e-10, abs=1e-11)
    # exponentials of many scales: sums of pairs in closed form
    weights = np.array([1.0, 0.8, 0.6, 0.45, 0.3, 0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01])
    rates = [mp.mpf(1) / (2 * mp.mpf(float(weight))) for weight in weights]
    with mp.workdps(40):
        for x in (0.5, 3.0, 8.0, 25.0, 400.0):
            exact = sum(
                mp.exp(-rate * x) * mp.fprod(other / (other - rate) for other in rates if other != rate)
                for rate in rates
            )
            assert log_tail(x, weights, np.full(16, 2.0)) == pytest.approx(float(mp.log(exact)), rel=1e-11, abs=1e-12)
    assert log_tail(-1.0, weights, np.full(16, 2.0)) == 0.0


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("p", "n"), [(2, 12), (3, 10), (5, 30), pytest.param(60, 150, marks=pytest.mark.once)])
def test_pvalues_are_uniform_under_uniformity(test, p, n):
    rng = np.random.default_rng(11)
    pvalues = [test(sphere.uniform(p - 1, n, rng)).pvalue for _ in range(200)]
    assert kstest(pvalues, "uniform").pvalue > 1e-3
    assert binom.sf(sum(value < 0.05 for value in pvalues) - 1, 200, 0.05) > 1e-3


@pytest.mark.parametrize("test", TESTS)
def test_monte_carlo_agrees_with_the_law(test):
    x = sphere.uniform(3, 60, rng=3)
    assert test(x, n_resamples=999, rng=0).pvalue == pytest.approx(test(x).pvalue, abs=0.05)
    assert test(x, n_resamples=999, rng=0) == test(x, n_resamples=999, rng=0)
    narrow = VonMisesFisher(3, 20.0).rvs(np.eye(4)[0], 60, rng=0)
    assert test(narrow, n_resamples=99, rng=0).pvalue == 0.01


def test_each_test_sees_its_alternative():
    cap = VonMisesFisher([0.0, 0.0, 1.0], 1.0).rvs(100, rng=0)
    girdle = directional.Watson([0.0, 0.0, 1.0], -6.0).rvs(100, rng=0)
    cap_pvalues, girdle_pvalues = ([test(x).pvalue for test in TESTS] for x in (cap, girdle))
    assert max(cap_pvalues[::2]) < 2e-3
    assert girdle_pvalues[0] > 0.05
    assert max(girdle_pvalues[1:]) < 1e-3
    assert 0.0 < directional.gine(np.eye(3)[[0] * 200]).pvalue < 1e-100
    assert directional.gine(np.eye(2)[[0] * 2000]).pvalue == 0.0  # at once: it underflows
    assert log_tail(3000.0, *_gine_weights(2)) < -800.0
    near, far = (log_tail(x, *_gine_weights(2)) for x in (260.0, 270.0))  # the first weight's exponential law is left
    assert far - near == pytest.approx(-5.0 / _gine_weights(2)[0].max(), rel=1e-9)
