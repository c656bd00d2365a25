"""Comparisons of samples: formulas, R's circular package, levels, permutations, complaints."""

import numpy as np
import pytest
from scipy.stats import bartlett, f, kstest

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import same_concentration, same_mean

ANGLES = (
    [0.3, 0.7, 0.1, -0.4, 0.9, 0.25, -0.1, 0.55, 0.33, 0.05], [0.6, 1.2, 0.9, 0.2, 1.1, 0.75, 0.5, 1.4],
    [0.2, 0.9, 0.6, 0.8, 0.1, 0.45, 0.7],
)  # fmt: skip


def circle(angles):
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def by_formula(*samples):
    n, g, p = sum(map(len, samples)), len(samples), samples[0].shape[1]
    lengths = sum(np.linalg.norm(x.sum(axis=0)) for x in samples)
    total = np.linalg.norm(np.concatenate(samples).sum(axis=0))
    statistic = (n - g) * (lengths - total) / ((g - 1) * (n - lengths))
    return statistic, f.sf(statistic, (g - 1) * (p - 1), (n - g) * (p - 1))


def test_same_mean_against_r_on_the_circle():
    """R 4.2.2, circular 0.4-95: watson.williams.test, whose F has the factor 1 + 3/(8 kappa) by Fisher's kappa."""
    samples = [circle(np.array(angles)) for angles in ANGLES]
    statistic, pvalue = same_mean(*samples)
    length = np.linalg.norm(np.concatenate(samples).mean(axis=0))
    kappa = 1.0 / (length**3 - 4.0 * length**2 + 3.0 * length)
    assert statistic * (1.0 + 0.375 / kappa) == pytest.approx(5.26378119902495, rel=1e-12)
    assert f.sf(5.26378119902495, 2, 22) == pytest.approx(0.0135482369586654, rel=1e-10)
    assert pvalue == pytest.approx(f.sf(statistic, 2, 22), rel=1e-12)


def test_same_concentration_against_r_on_the_circle():
    """R's equal.kappa.test: Bartlett's statistic of n_i - R_i, to which the likelihood tends for narrow samples."""
    statistic, pvalue = same_concentration(*(circle(np.array(angles)) for angles in ANGLES))
    assert statistic == pytest.approx(0.489830318964572, rel=2e-3)
    assert pvalue == pytest.approx(0.782770946117109, rel=1e-3)


def test_statistics_by_their_formulas():
    for dim, lam in ((1, 10.0), (2, 30.0), (6, 200.0)):
        samples = [VonMisesFisher(dim, lam).rvs(np.eye(dim + 1)[0], n, rng=n) for n in (9, 14, 30)]
        assert same_mean(*samples) == pytest.approx(by_formula(*samples), rel=1e-10)
        single = [x.astype(np.float32) for x in samples]
        assert same_mean(*single) == pytest.approx(by_formula(*samples), rel=1e-3)


def test_narrow_samples_keep_their_digits():
    """Points about the pole a distance 1e-9 wide: in the plane F is that of the analysis of variance."""
    rng = np.random.default_rng(0)
    flat = [1e-9 * (rng.standard_normal((n, 2)) + shift) for n, shift in ((10, 0.0), (12, 0.7), (8, 0.2))]
    samples = [np.concatenate([y, np.ones((len(y), 1))], axis=1) for y in flat]
    everything = np.concatenate(flat)
    between = sum(len(y) * np.square(y.mean(axis=0) - everything.mean(axis=0)).sum() for y in flat)
    within = sum(np.square(y - y.mean(axis=0)).sum() for y in flat)
    statistic, pvalue = same_mean(*samples)
    assert statistic == pytest.approx(27 / 2 * between / within, rel=1e-6)
    assert abs(same_mean(*samples, method="permutation", n_resamples=999, rng=0).pvalue - pvalue) < 0.03
    # and Bartlett's test of the spreads, of which each coordinate has one mean
    variances = [np.square(y - y.mean(axis=0)).sum() / (2 * len(y) - 2) for y in flat]
    freedom = np.array([2 * len(y) - 2 for y in flat])
    total = freedom.sum()
    ratio = total * np.log(freedom @ variances / total) - freedom @ np.log(variances)
    expected = ratio / (1.0 + ((1.0 / freedom).sum() - 1.0 / total) / 6.0)
    assert same_concentration(*samples).statistic == pytest.approx(expected, rel=1e-6)
    # SciPy's statistic has the same form, of n_i - 1 degrees
    plain = bartlett(*(np.concatenate(y - y.mean(axis=0)) for y in flat)).statistic
    assert plain == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(("dim", "lam"), [pytest.param(1, 20.0, marks=pytest.mark.once), (2, 10.0), (20, 2000.0)])
def test_pvalues_are_uniform_where_samples_agree(dim, lam):
    rng = np.random.default_rng(2)
    kernel, mean = VonMisesFisher(dim, lam), np.eye(dim + 1)[0]
    turned = np.roll(mean, 1)
    means, concentrations = [], []
    for _ in range(300):
        x, y, z = (kernel.rvs(mean, n, rng) for n in (8, 12, 20))
        means.append(same_mean(x, y, z).pvalue)
        concentrations.append(same_concentration(x, kernel.rvs(turned, 12, rng), z).pvalue)
    assert kstest(means, "uniform").pvalue > 1e-3
    assert kstest(concentrations, "uniform").pvalue > 1e-3


def test_permutations_need_no_narrow_samples():
    kernel, mean, rng = VonMisesFisher(30, 25.0), np.eye(31)[0], np.random.default_rng(4)
    pvalues, by_law = [], []
    for _ in range(150):
        x, y = kernel.rvs(mean, 25, rng), kernel.rvs(mean, 40, rng)
        pvalues.append(same_mean(x, y, method="permutation", n_resamples=99, rng=rng).pvalue)
        with pytest.warns(RuntimeWarning, match="the F law needs narrower samples"):
            by_law.append(same_mean(x, y).pvalue)
    assert kstest(pvalues, "uniform").pvalue > 1e-3
    assert kstest(by_law, "uniform").pvalue < 1e-3
    shifted = kernel.rvs(np.eye(31)[1], 40, rng)
    assert same_mean(x, shifted, method="permutation", n_resamples=199, rng=0).pvalue == 0.005
    assert same_mean(x, y, method="permutation", rng=1) == same_mean(x, y, method="permutation", rng=1)


def test_differences_are_seen_at_every_concentration():
    pole = np.eye(3)[2]
    for small, large in ((1.0, 4.0), (30.0, 90.0), (1e10, 3e10)):
        samples = [VonMisesFisher(2, lam).rvs(mean, 60, rng=1) for lam, mean in ((small, pole), (large, np.eye(3)[0]))]
        assert same_concentration(*samples).pvalue < 1e-3
    uniform = [sphere.uniform(2, 50, rng=seed) for seed in range(3)]
    assert same_concentration(*uniform).pvalue > 0.05
    x = uniform[0]
    assert same_mean(x, -x, method="permutation", n_resamples=99, rng=0).statistic == pytest.approx(
        by_formula(x, -x)[0]
    )
    opposite = np.concatenate([np.eye(2), -np.eye(2)])
    assert same_concentration(opposite, opposite) == (0.0, 1.0)
