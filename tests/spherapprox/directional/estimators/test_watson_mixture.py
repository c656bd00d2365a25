"""Mixtures of axes: scikit-learn's checks, parts of any form, storages, a likelihood that never falls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from spherapprox import sphere
from spherapprox.directional import SphericalKMeans, VonMisesFisherMixture, Watson, WatsonMixture, mixtures
from spherapprox.directional.axes import AxialParts
from spherapprox.directional.rows import read_rows

AXES = np.eye(3)
X = np.concatenate([Watson(a, k).rvs(300, rng=0) for a, k in zip(AXES, (20.0, 60.0, 200.0), strict=True)])
LABELS = np.repeat(np.arange(3), 300)


def model(k=3, **options):
    return WatsonMixture(k, **{"random_state": 0, **options})


@pytest.mark.filterwarnings("ignore:'X' has rows of zeros")
@parametrize_with_checks([WatsonMixture(form="either")])
def test_the_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("options", [{}, {"method": "hard"}, {"method": "stochastic", "max_iter": 20}, {"noise": True}])
def test_parts_are_found_whatever_the_signs_of_rows(options):
    fitted = model(**options).fit(X)
    order = np.argsort(fitted.concentrations_)
    assert fitted.concentrations_[order] == pytest.approx([20.0, 60.0, 200.0], rel=0.15)
    assert np.abs(fitted.axes_[order]) == pytest.approx(AXES, abs=0.04)
    assert adjusted_rand_score(fitted.predict(X), LABELS) > 0.98
    signs = np.where(np.arange(900) % 2, -1.0, 1.0)[:, None]
    other = model(**options).fit(X * signs)
    assert other.axes_ == pytest.approx(fitted.axes_, abs=1e-8)
    assert np.array_equal(other.predict(-X), fitted.predict(X))


def test_girdles_and_clusters_are_told_apart():
    x = np.concatenate([Watson(AXES[0], -60.0).rvs(400, rng=1), Watson(AXES[0], 60.0).rvs(200, rng=2)])
    fitted = model(2, form="either").fit(x)
    assert np.sort(fitted.concentrations_) == pytest.approx([-60.0, 60.0], rel=0.2)
    assert np.abs(fitted.axes_[:, 0]) == pytest.approx(1.0, abs=1e-3)
    assert adjusted_rand_score(fitted.predict(x), np.repeat([0, 1], [400, 200])) > 0.98
    crossed = np.concatenate([Watson(axis, -80.0).rvs(300, rng=3) for axis in AXES[:2]])
    fitted = model(2, form="girdle").fit(crossed)
    assert np.abs(fitted.axes_) @ AXES[:2].T == pytest.approx(np.eye(2)[np.argmax(np.abs(fitted.axes_), 1)], abs=0.1)
    assert (fitted.concentrations_ < -40.0).all()


def test_thirty_axes_in_256_columns_are_found():
    axes = sphere.uniform(255, 30, rng=0)
    x = np.concatenate([Watson(axis, 1000.0).rvs(60, rng=i) for i, axis in enumerate(axes)])
    assert adjusted_rand_score(model(30).fit(x).predict(x), np.repeat(np.arange(30), 60)) == 1.0


def test_one_part_is_watsons_fit():
    for form, kappa in (("bipolar", 1e6), ("girdle", -1e4), ("either", -3.0)):
        x = Watson([0.0, 0.6, 0.8], kappa).rvs(200, rng=0)
        fitted, own = WatsonMixture(form=form).fit(x), Watson.fit(x, form=form)
        assert fitted.axes_[0] == pytest.approx(own.axis, abs=1e-8)
        assert fitted.concentrations_[0] == pytest.approx(own.concentration, rel=1e-6)
        assert fitted.score_samples(x) == pytest.approx(own.logpdf(x), abs=1e-6)


def test_densities_and_shares_are_those_of_the_parts():
    fitted = model(form="either", noise=True).fit(X)
    laws = [Watson(a, k) for a, k in zip(fitted.axes_, fitted.concentrations_, strict=True)]
    parts = np.stack([*(law.pdf(X) for law in laws), np.full(900, 0.25 / math.pi)], axis=1) * fitted.weights_
    assert fitted.score_samples(X) == pytest.approx(np.log(parts.sum(axis=1)), abs=1e-10)
    assert fitted.predict_proba(X) == pytest.approx(parts / parts.sum(axis=1, keepdims=True), abs=1e-10)
    assert fitted.score(X) == pytest.approx(fitted.lower_bound_, abs=1e-12)
    assert fitted.aic(X) == pytest.approx(2 * (3 * 2 + 3 + 3) - 2 * fitted.score_samples(X).sum())


def test_samples_have_the_mixtures_law():
    fitted = model(noise=True).fit(X)
    axes, numbers = fitted.sample(4000)
    for j in range(3):
        own = Watson.fit(axes[numbers == j])
        assert own.axis == pytest.approx(fitted.axes_[j], abs=0.05)
        assert own.concentration == pytest.approx(fitted.concentrations_[j], rel=0.15)
    assert (numbers == -1).mean() == pytest.approx(fitted.weights_[3], abs=0.02)


def test_a_weight_of_two_is_a_row_twice():
    weights = np.random.default_rng(4).integers(3, size=len(X))
    fits = [model().fit(X, sample_weight=weights), model().fit(X.repeat(weights, axis=0))]
    order = [np.argsort(fitted.concentrations_) for fitted in fits]
    for name, digits in (("axes_", 1e-3), ("concentrations_", 0.5), ("weights_", 1e-3)):
        a, b = (getattr(fitted, name)[own] for fitted, own in zip(fits, order, strict=True))
        assert a == pytest.approx(b, abs=digits)


def test_batches_come_near_the_whole_fit():
    fitted = model()
    for batch in np.array_split(np.random.default_rng(8).permutation(len(X)), 5):
        fitted.partial_fit(X[batch])
    assert fitted.score(X) == pytest.approx(model().fit(X).score(X), abs=0.02)


@settings(max_examples=20, deadline=None)
@given(
    p=st.sampled_from([2, 3, 10, 60]), k=st.integers(1, 4), seed=st.integers(0, 10**6), noise=st.booleans(),
    form=st.sampled_from(["bipolar", "girdle", "either"]), spread=st.sampled_from([1e-3, 0.3, 2.0]),
    single=st.booleans(),
)  # fmt: skip
def test_the_likelihood_never_falls(p, k, seed, noise, form, spread, single):
    dtype, rng = np.float32 if single else np.float64, np.random.default_rng(seed)
    x = rng.standard_normal((80, p)) * spread + rng.standard_normal((3, p))[rng.integers(3, size=80)]
    rows, weights = read_rows(x.astype(dtype)), rng.exponential(size=80) * (rng.random(80) < 0.9)
    axes, sizes = sphere.uniform(p - 1, k, rng=rng), rng.standard_normal(k) * 10.0
    parts, bounds = AxialParts.of(rng.dirichlet(np.ones(k + noise)), axes, sizes), []
    for _ in range(8):
        sums = mixtures.gather_all(rows, weights, parts, "soft", rng=None)
        bounds.append(sums.log_likelihood / weights.sum())
        assert np.isfinite(bounds[-1])
        rounding = 8.0 * np.finfo(dtype).eps * (1.0 + p + np.abs(parts.concentrations).max())
        assert len(bounds) < 2 or bounds[-1] >= bounds[-2] - rounding
        parts = mixtures.maximize(sums, parts, form, dtype=rows.dtype)
        assert parts.shares.sum() == pytest.approx(1.0)


def test_parts_that_shrink_end_at_the_stated_concentrations_and_are_told():
    x = np.concatenate([X[:300], np.tile([0.0, 0.0, 1.0], (50, 1)) * np.where(np.arange(50) % 2, 1.0, -1.0)[:, None]])
    for dtype, largest in ((np.float32, 0.01 / 2.0**-23), (np.float64, 1e10)):
        fitted = model(2).fit(x.astype(dtype))
        assert fitted.concentrations_.max() == pytest.approx(largest, rel=1e-12)
        assert np.isfinite(fitted.score_samples(x)).all()
        with pytest.warns(UserWarning, match=r"1 of 2 parts have no width left.*lower 'n_components'"):
            fitted.bic(x)


def test_more_parts_than_different_rows():
    with pytest.warns(ConvergenceWarning, match="parts have no rows and the weight 0"):
        fitted = model(5).fit(np.repeat(np.eye(4)[:3], 20, axis=0))
    assert np.isfinite(fitted.predict_proba(np.eye(4))).all()


@pytest.mark.filterwarnings("ignore:.*parts have no rows")
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.6, 0.48, 0.64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_may_all_lie_on_one_axis(axis, dtype):
    fitted = model(4).fit((np.where(np.arange(60) % 2, 1.0, -1.0)[:, None] * axis).astype(dtype))
    assert fitted.axes_[fitted.weights_.argmax()] == pytest.approx(axis, abs=1e-6)
    assert np.isfinite(fitted.predict_proba(np.eye(3))).all()


def test_more_parts_than_rows_of_positive_weight():
    with pytest.warns(ConvergenceWarning, match="3 of 5 parts have no rows"):
        fitted = model(5).fit(X, sample_weight=np.isin(np.arange(900), [0, 400]) + 0.0)
    assert np.isfinite(fitted.score_samples(X)).all()


@pytest.mark.filterwarnings("ignore:.*parts have no rows")
@pytest.mark.parametrize("estimator", [WatsonMixture, VonMisesFisherMixture])
def test_a_sample_may_be_of_rows_of_tiny_weight_alone(estimator):
    x, weights = np.tile(X, (12, 1)).astype(np.float32), np.full(10800, 1e-50)
    weights[0] = 1.0
    assert np.isfinite(estimator(2, random_state=0).fit(x, sample_weight=weights).lower_bound_)


@pytest.mark.parametrize(
    ("estimator", "name", "other"),
    [(WatsonMixture, "n_components", 3), (WatsonMixture, "noise", True), (VonMisesFisherMixture, "n_components", 3),
     (SphericalKMeans, "n_clusters", 3)],
)  # fmt: skip
def test_batches_go_on_with_the_fitted_number_of_parts(estimator, name, other):
    fitted = estimator(2, random_state=0).partial_fit(X)
    before = getattr(fitted, name)
    with pytest.raises(ValueError, match=rf"'{name}' must stay {before} in partial_fit, as fitted, got {other}"):
        fitted.set_params(**{name: other}).partial_fit(X)
    assert getattr(fitted.fit(X), name) == other
