"""Mixtures for scikit-learn: its checks, parts that are found, storages, criteria, batches, complaints."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import vonmises_fisher
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from spherapprox import VonMisesFisher
from spherapprox.directional import VonMisesFisherMixture

SIZES = [10.0, 50.0, 200.0]
X = VonMisesFisher(np.eye(3), SIZES).rvs(500, rng=0).reshape(-1, 3)
LABELS = np.tile(np.arange(3), 500)


def model(k=3, **options):
    return VonMisesFisherMixture(k, **{"random_state": 0, **options})


def clusters(k, p, n, size, seed, points=0):
    """Return float32 rows and the numbers of their parts; `points` of the parts are of equal rows."""
    rng = np.random.default_rng(seed)
    means = VonMisesFisher(p - 1, 0.0).rvs(np.eye(p)[0], k, rng=rng)
    labels = np.repeat(np.arange(k), n)
    x = VonMisesFisher(means, np.full(k, float(size))).rvs(n, rng=rng).transpose(1, 0, 2).reshape(-1, p)
    x[labels < points] = means[labels[labels < points]]
    return x.astype(np.float32), labels


@pytest.mark.filterwarnings("ignore:'X' has rows of zeros")
@parametrize_with_checks([VonMisesFisherMixture(), VonMisesFisherMixture(concentration="equal", method="hard")])
def test_the_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "options", [{}, {"method": "hard"}, {"method": "stochastic"}, {"noise": True}, {"init": "random"}]
)
def test_parts_are_found(options):
    fitted = model(**options).fit(X)
    order = np.argsort(fitted.concentrations_)
    assert fitted.concentrations_[order] == pytest.approx(SIZES, rel=0.1)
    assert fitted.means_[order] == pytest.approx(np.eye(3), abs=0.03)
    assert fitted.weights_[:3] == pytest.approx(1 / 3, abs=0.01)
    assert adjusted_rand_score(fitted.predict(X), LABELS) > 0.98
    assert fitted.converged_ is (fitted.method != "stochastic")


def test_densities_are_those_of_scipy():
    fitted = model().fit(X)
    laws = [vonmises_fisher(m, k) for m, k in zip(fitted.means_, fitted.concentrations_, strict=True)]
    parts = np.stack([w * law.pdf(X) for w, law in zip(fitted.weights_, laws, strict=True)], axis=1)
    assert fitted.score_samples(X) == pytest.approx(np.log(parts.sum(axis=1)), abs=1e-10)
    assert fitted.predict_proba(X) == pytest.approx(parts / parts.sum(axis=1, keepdims=True), abs=1e-10)
    assert np.array_equal(fitted.predict(X), parts.argmax(axis=1))
    assert fitted.score(X) == pytest.approx(fitted.lower_bound_, abs=1e-12)


@pytest.mark.parametrize(
    ("concentration", "count"), [("free", 3 * 2 + 3 + 2), ("equal", 3 * 2 + 1 + 2), (20.0, 3 * 2 + 2)]
)
@pytest.mark.parametrize("noise", [False, True])
def test_criteria_count_the_free_parameters(concentration, count, noise):
    fitted = model(concentration=concentration, noise=noise, init=np.eye(3)).fit(X)
    total = fitted.score_samples(X).sum()
    assert fitted.aic(X) == pytest.approx(2 * (count + noise) - 2 * total)
    assert fitted.bic(X) == pytest.approx((count + noise) * math.log(len(X)) - 2 * total)
    if concentration != "free":
        assert len(set(fitted.concentrations_)) == 1


def test_a_criterion_finds_the_number_of_parts():
    x, _ = clusters(4, 50, 100, 100.0, seed=1)
    criteria = [model(k, concentration="equal").fit(x).bic(x) for k in range(1, 7)]
    assert np.argmin(criteria) == 3


def test_a_criterion_of_a_part_that_is_a_point_is_warned_of():
    x = np.concatenate((X, np.tile([0.6, 0.0, 0.8], (50, 1))))
    fitted = model(4, init=np.vstack((np.eye(3), x[-1]))).fit(x)
    for criterion in (fitted.bic, fitted.aic):
        with pytest.warns(UserWarning, match=r"1 of 4 parts have no width left.*concentration='equal'"):
            criterion(x)


def test_one_part_is_the_core_s_fit():
    x = VonMisesFisher([0.0, 0.6, 0.8], 1e6).rvs(50, rng=0)
    mean, law = VonMisesFisher.fit(x)
    fitted = VonMisesFisherMixture().fit(x)
    assert fitted.means_[0] == pytest.approx(mean, abs=1e-14)
    assert fitted.concentrations_[0] == pytest.approx(law.concentration, rel=1e-8)


def test_outliers_are_of_the_uniform_part():
    x, labels = clusters(3, 20, 200, 200.0, seed=2)
    outliers = VonMisesFisher(19, 0.0).rvs(np.eye(20)[0], 60, rng=3)
    fitted = model(noise=True).fit(np.concatenate((x, outliers)))
    assert fitted.weights_[3] == pytest.approx(60 / 660, abs=0.01)
    assert (fitted.predict(outliers) == -1).mean() > 0.95
    assert adjusted_rand_score(fitted.predict(x), labels) > 0.97
    assert fitted.predict_proba(x).shape == (600, 4)
    directions, numbers = fitted.sample(2000)
    assert (numbers == -1).mean() == pytest.approx(60 / 660, abs=0.03)
    assert np.sqrt(np.square(directions).sum(axis=1)) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [64, 256])
def test_outliers_do_not_take_the_place_of_clusters_that_are_near_each_other(p):
    pole = np.eye(p)[0]
    means = pole + VonMisesFisher(p - 1, 0.0).rvs(pole, 10, rng=0)
    means /= np.sqrt(np.square(means).sum(axis=1, keepdims=True))
    labels = np.repeat(np.arange(10), 100)
    x = VonMisesFisher(means[labels], 6.0 * p).rvs((), rng=0)
    outliers = VonMisesFisher(p - 1, 0.0).rvs(pole, 100, rng=0)
    fitted = model(10, noise=True).fit(np.concatenate((x, outliers)))
    assert adjusted_rand_score(fitted.predict(x), labels) > 0.99
    assert (fitted.predict(outliers) == -1).mean() > 0.95


def test_samples_have_the_mixtures_law():
    fitted = model().fit(X)
    directions, numbers = fitted.sample(3000)
    for j in range(3):
        mean, law = VonMisesFisher.fit(directions[numbers == j])
        assert mean == pytest.approx(fitted.means_[j], abs=0.03)
        assert law.concentration == pytest.approx(fitted.concentrations_[j], rel=0.15)
    assert fitted.score(directions) == pytest.approx(fitted.lower_bound_, abs=0.1)


@pytest.mark.parametrize("method", ["soft", "hard"])
def test_a_weight_of_two_is_a_row_twice(method):
    weights = np.random.default_rng(4).integers(3, size=len(X))
    options = {"method": method, "init": np.eye(3), "noise": True}
    fitted, other = model(**options).fit(X, sample_weight=weights), model(**options).fit(X.repeat(weights, axis=0))
    assert fitted.means_ == pytest.approx(other.means_, abs=1e-12)
    assert fitted.concentrations_ == pytest.approx(other.concentrations_, rel=1e-9)
    assert fitted.lower_bound_ == pytest.approx(other.lower_bound_, rel=1e-12)


@pytest.mark.parametrize("size", [1e-290, 1e290])
def test_weights_of_any_size_give_the_same_parts(size):
    x, fits = X.astype(np.float32), (model(init=np.eye(3)), model(init=np.eye(3)))
    for fitted, weight in zip(fits, (1.0, size), strict=True):
        fitted.fit(x, sample_weight=np.full(1500, weight)).partial_fit(x[:100], sample_weight=np.full(100, weight))
    assert fits[0].means_ == pytest.approx(fits[1].means_, abs=1e-12)
    assert fits[0].concentrations_ == pytest.approx(fits[1].concentrations_, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_thirty_clusters_in_768_columns_are_found(seed):
    x, labels = clusters(30, 768, 80, 300.0, seed=seed, points=3)
    x[::40] = x[1::40]  # repeated rows
    assert adjusted_rand_score(VonMisesFisherMixture(30, random_state=seed).fit(x).predict(x), labels) > 0.97


def test_small_parts_are_found_beside_large_ones():
    means = VonMisesFisher(199, 0.0).rvs(np.eye(200)[0], 12, rng=0)
    counts = [1500, *[40] * 11]
    x = np.concatenate(
        [VonMisesFisher(m, 200.0).rvs(n, rng=n + i) for i, (m, n) in enumerate(zip(means, counts, strict=True))]
    )
    assert adjusted_rand_score(model(12).fit(x).predict(x), np.repeat(np.arange(12), counts)) > 0.98


def test_narrow_clusters():
    x, labels = clusters(5, 384, 60, 800.0, seed=5)
    fitted = model(5).fit(x)
    assert adjusted_rand_score(fitted.predict(x), labels) == 1.0
    assert fitted.concentrations_ == pytest.approx(800.0, rel=0.1)


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 0.01 / 2.0**-23), (np.float64, 0.01 / 2.0**-52)])
def test_a_part_that_is_a_point_ends_at_the_stated_concentration(dtype, largest):
    x, labels = clusters(3, 100, 50, 300.0, seed=6, points=1)
    fitted = model(3).fit(x.astype(dtype))
    narrow = fitted.predict(x[:1])[0]
    assert fitted.concentrations_[narrow] == pytest.approx(largest, rel=0.5 if dtype == np.float64 else 1e-12)
    assert fitted.concentrations_.max() <= largest
    assert adjusted_rand_score(fitted.predict(x), labels) == 1.0
    assert np.isfinite(fitted.score_samples(x)).all()


def test_more_parts_than_different_rows():
    x = np.repeat(np.eye(4)[:3], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 of 5 parts have no rows and the weight 0"):
        fitted = model(5).fit(x)
    assert adjusted_rand_score(fitted.predict(x), np.repeat(np.arange(3), 20)) == 1.0
    assert np.sort(fitted.weights_) == pytest.approx([0.0, 0.0, 1 / 3, 1 / 3, 1 / 3])
    assert np.isfinite(fitted.predict_proba(x)).all()


def test_opposite_rows_have_concentration_zero():
    fitted = VonMisesFisherMixture().fit(np.concatenate((X, -X)))
    assert fitted.concentrations_[0] == pytest.approx(0.0, abs=1e-6)
    assert fitted.score(X) == pytest.approx(-math.log(4 * math.pi))


def test_more_starts_are_not_worse():
    x, _ = clusters(6, 10, 40, 20.0, seed=7)
    bounds = [model(6, init="random", n_init=n, max_iter=300).fit(x).lower_bound_ for n in (1, 8)]
    assert bounds[1] >= bounds[0]


def test_a_warm_start_goes_on():
    x, _ = clusters(6, 4, 40, 8.0, seed=7)
    whole, parts = model(6, tol=0.0, max_iter=6), model(6, tol=0.0, max_iter=2, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole.fit(x)
        for _ in range(3):
            parts.fit(x)
    assert parts.means_ == pytest.approx(whole.means_, abs=1e-12)
    assert parts.n_iter_ == 2


def test_a_fit_that_has_not_settled_says_so():
    with pytest.warns(ConvergenceWarning, match="no rest in max_iter = 1"):
        assert not model(2, max_iter=1, tol=0.0, init="random").fit(X).converged_


def test_batches_come_near_the_whole_fit():
    order = np.random.default_rng(8).permutation(len(X))
    whole, fitted = model().fit(X), model()
    for batch in np.array_split(order, 10):
        fitted.partial_fit(X[batch])
    assert np.sort(fitted.concentrations_) == pytest.approx(np.sort(whole.concentrations_), rel=0.1)
    assert fitted.score(X) == pytest.approx(whole.score(X), abs=0.01)
    assert fitted.weights_.sum() == pytest.approx(1.0)


def test_batches_follow_a_change():
    fitted = VonMisesFisherMixture().partial_fit(X[LABELS == 0])
    for _ in range(20):
        fitted.partial_fit(X[LABELS == 2])
    assert fitted.means_[0, 2] > 0.9


def test_pipelines_searches_and_clones():
    pipeline = make_pipeline(FunctionTransformer(lambda x: x - 0.01), model())
    assert pipeline.fit(X).predict(X).shape == (1500,)
    search = GridSearchCV(model(), {"n_components": [1, 3], "concentration": ["free", "equal"]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 3, "concentration": "free"}
    assert clone(model(noise=True)).noise


def test_rows_of_zeros_are_left_out_and_told():
    with pytest.warns(UserWarning, match=r"no direction: 1, row 1500 first, are left out; drop them"):
        fitted = model(init=np.eye(3)).fit(np.concatenate((X, np.zeros((1, 3)))))
    assert fitted.means_ == pytest.approx(model(init=np.eye(3)).fit(X).means_)
    with pytest.raises(ValueError, match="that have a direction"), pytest.warns(UserWarning, match="no direction"):
        model(1).fit(np.zeros((3, 3)))
