"""Kernel densities of directions."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import check_estimator

from spherapprox import VonMisesFisher, points, special, sphere
from spherapprox.directional import SphericalKernelDensity

POLE = np.array([0.0, 0.0, 1.0])


def peak(n, concentration=20.0, seed=0):
    return VonMisesFisher(POLE, concentration).rvs(n, rng=seed)


@pytest.mark.parametrize("concentration", ["cv", "rule", 30.0, 0.0])
def test_scikit_learns_checks(concentration):
    results = check_estimator(SphericalKernelDensity(concentration), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize("dim", [1, 2, 4, 767])
def test_density_is_the_mean_of_kernels(dim):
    rng = np.random.default_rng(dim)
    rows, x = sphere.uniform(dim, 30, rng=rng), sphere.uniform(dim, 20, rng=rng)
    weights = rng.random(30)
    density = SphericalKernelDensity(2.0 * dim).fit(rng.uniform(0.1, 9.0, (30, 1)) * rows, sample_weight=weights)
    logs = VonMisesFisher(rows, 2.0 * dim).logpdf(x[:, None])
    truth = np.log(np.exp(logs - logs.max()) @ weights / weights.sum()) + logs.max()
    np.testing.assert_allclose(density.score_samples(3.0 * x), truth, rtol=1e-12, atol=1e-9)
    assert density.score(x) == pytest.approx(truth.sum(), rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2])
def test_density_has_the_integral_1(dim):
    rule = points.gauss_product(dim, 120)
    rows = sphere.uniform(dim, 200, rng=0)
    for concentration in ("cv", "rule"):
        density = SphericalKernelDensity(concentration).fit(rows)
        mean = np.exp(density.score_samples(rule.points)) @ rule.weights / rule.weights.sum()
        assert math.log(mean) + special.log_surface_area(dim) == pytest.approx(0.0, abs=1e-8)


def left_out(rows, weights, concentration):
    """Return the weighted mean of log densities of rows, each left out, on S^2, in mpmath."""
    k, total = mp.mpf(concentration), mp.fsum(weights)
    peak, result = k / (2 * mp.pi * -mp.expm1(-2 * k)), 0
    for i, (x, w) in enumerate(zip(rows, weights, strict=True)):
        terms = [
            mp.mpf(v) * mp.exp(-k / 2 * mp.fsum((mp.mpf(s) - mp.mpf(t)) ** 2 for s, t in zip(x, y, strict=True)))
            for j, (y, v) in enumerate(zip(rows, weights, strict=True))
            if j != i
        ]
        result += w * mp.log(peak * mp.fsum(terms) / (total - w))
    return float(result / total)


@pytest.mark.parametrize("alone", [0, 3])
def test_cross_validation_has_the_largest_likelihood_of_left_out_rows(alone):
    rng = np.random.default_rng(alone)
    rows = np.concatenate([peak(40, 300.0), -sphere.uniform(2, alone, rng=rng) if alone else np.empty((0, 3))])
    weights = rng.uniform(0.5, 2.0, len(rows))
    density = SphericalKernelDensity().fit(rows, sample_weight=weights)
    values = [left_out(rows, weights, f * density.concentration_) for f in (0.93, 1.0, 1.07)]
    assert density.log_likelihood_ == pytest.approx(values[1], abs=1e-11)
    assert values[1] == max(values)


def test_rows_that_repeat_are_one_row_with_their_weights():
    rows, counts = peak(60), np.random.default_rng(1).integers(1, 5, 60)
    once = SphericalKernelDensity().fit(rows, sample_weight=counts)
    again = SphericalKernelDensity().fit(np.repeat(rows, counts, axis=0) * np.arange(1.0, counts.sum() + 1.0)[:, None])
    assert len(again.rows_) == 60
    assert again.concentration_ == pytest.approx(once.concentration_, rel=1e-9)
    assert again.log_likelihood_ == pytest.approx(once.log_likelihood_, rel=1e-9)
    twice = SphericalKernelDensity().fit(np.concatenate([rows, rows]))
    assert twice.concentration_ == pytest.approx(SphericalKernelDensity().fit(rows).concentration_, rel=1e-9)
    assert len(SphericalKernelDensity().fit((rows / 3.0).astype(np.float32)).rows_) == 60


def test_rounded_data_have_a_bandwidth_above_their_grid():
    rows = np.round(peak(3000, 50.0), 2)
    assert 50.0 < SphericalKernelDensity().fit(rows).concentration_ < 2000.0


def test_uniform_rows_have_a_wide_kernel_and_far_clusters_a_narrow_one():
    assert SphericalKernelDensity().fit(sphere.uniform(2, 2000, rng=0)).concentration_ < 5.0
    clusters = np.concatenate([peak(300, 1e6), -peak(300, 1e6, seed=1)])
    assert SphericalKernelDensity().fit(clusters).concentration_ > 1e6


def test_search_is_not_caught_by_a_lower_top():
    rows = peak(300)
    twins = rows + 1e-6 * np.random.default_rng(0).standard_normal(rows.shape)  # each row has one a micron away
    assert SphericalKernelDensity().fit(np.concatenate([rows, twins])).concentration_ > 1e8


def test_search_among_some_rows_leads_to_the_best_for_all():
    rows = peak(9000)
    best = SphericalKernelDensity().fit(rows)
    for factor in (0.85, 1.15):
        near = SphericalKernelDensity(factor * best.concentration_).fit(rows)
        assert near.concentration_ == factor * best.concentration_
        assert not hasattr(near, "log_likelihood_")
    shuffled = SphericalKernelDensity().fit(np.random.default_rng(2).permutation(rows))
    assert shuffled.concentration_ == pytest.approx(best.concentration_, rel=0.02)


def test_rule_takes_equal_weights_of_any_size():
    rows = peak(500)
    plain, scaled = (SphericalKernelDensity("rule").fit(rows, sample_weight=np.full(500, w)) for w in (1.0, 1e5))
    assert plain.concentration_ == pytest.approx(scaled.concentration_, rel=1e-6)
    half = SphericalKernelDensity("rule").fit(rows, sample_weight=np.r_[np.ones(250), np.full(250, 1e-9)])
    assert half.concentration_ < 0.9 * plain.concentration_


def test_samples_have_the_density():
    density = SphericalKernelDensity(40.0).fit(peak(300), sample_weight=np.linspace(0.0, 1.0, 300))
    x = density.sample(20_000, random_state=1)
    np.testing.assert_array_equal(x, density.sample(20_000, random_state=1))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-12)
    mean = density.weights_ @ density.rows_ * VonMisesFisher(2, 40.0).mean_cosine()
    np.testing.assert_allclose(x.mean(axis=0), mean, atol=0.012)
    assert density.level(0.5) == pytest.approx(np.median(density.score_samples(x)), abs=0.02)


def test_probability_of_a_cap_is_the_distribution_function_of_one_kernel():
    density = SphericalKernelDensity(10.0).fit([[0.0, 0.0, 5.0]])
    truth = 1.0 - VonMisesFisher(2, 10.0).cdf(math.cos(0.4))
    for region in ((2.0 * POLE, 0.4), lambda x: x[:, 2] > math.cos(0.4)):
        share, error = density.probability(region)
        assert abs(share - truth) < 4.0 * error < 0.007
    assert density.probability(([0, 0, 1], math.pi)) == (1.0, 1e-5)
    shares = [density.probability((POLE, 0.4), n_samples=2000, random_state=seed)[0] for seed in range(40)]
    assert stats.kstest((np.array(shares) - truth) / math.sqrt(truth * (1 - truth) / 2000), "norm").pvalue > 1e-3


def test_levels_hold_their_masses():
    density = SphericalKernelDensity().fit(np.concatenate([peak(500), -peak(300, 100.0)]))
    masses = np.array([0.1, 0.5, 0.95])
    levels = density.level(masses)
    logs = density.score_samples(density.sample(40_000, random_state=5))
    np.testing.assert_allclose([(logs >= level).mean() for level in levels], masses, atol=0.01)


def test_weights_of_any_size_give_the_same_density():
    rows = peak(100)
    plain, huge = (SphericalKernelDensity().fit(rows, sample_weight=np.full(100, w)) for w in (1.0, 1e290))
    assert huge.concentration_ == pytest.approx(plain.concentration_, rel=1e-12)
    alone = SphericalKernelDensity().fit(rows[:3], sample_weight=[1.0, 1e-20, 1e-20])  # one row has all but nothing
    assert math.isfinite(alone.log_likelihood_)


def test_float32_rows_have_nearly_the_same_density():
    rows = peak(200)
    double, single = (SphericalKernelDensity().fit(rows.astype(kind)) for kind in (np.float64, np.float32))
    assert single.concentration_ == pytest.approx(double.concentration_, rel=1e-4)
    assert single.rows_.dtype == np.float64
