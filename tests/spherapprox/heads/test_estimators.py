"""The scikit-learn estimator: scikit-learn's own checks, and that it is `fit` behind an embedding."""

import pickle

import numpy as np
import pytest

from spherapprox import CoreHead, SplitHead, sphere

pytest.importorskip("sklearn", reason="the extra `learn`")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from spherapprox import HeadRegressor

KINDS = {"core": CoreHead, "split": SplitHead}
kinds = pytest.mark.parametrize("kind", KINDS)


def model(kind="split", **options):
    return HeadRegressor(kind, **{"n_control_points": 12, "random_state": 0, **options})


@parametrize_with_checks([model("split")])
def test_the_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.once
@parametrize_with_checks([model("core", points="free", n_control_points=2)])
def test_with_free_points_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def data(m=150, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = 5.0 + 2.0 * rng.standard_normal((m, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(m)


@kinds
@pytest.mark.parametrize("embedding", ["stereographic", "normalize"])
@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1010])
def test_units_do_not_matter(kind, embedding, exponent):
    X, y = data(60)
    one, other = (model(kind, embedding=embedding).fit(rows, y) for rows in (X, np.ldexp(X, exponent)))
    np.testing.assert_allclose(other.predict(np.ldexp(X, exponent)), one.predict(X), rtol=1e-12, atol=1e-12)
    assert np.isfinite(other.predict(np.array([[1e308, -1e308, 1.0]]))).all()


@kinds
def test_it_is_fit_behind_the_stereographic_map(kind):
    X, y = data()
    fitted = model(kind, concentration=6.0, regularization=1e-3, n_control_points=1000).fit(X, y)
    z = (X - X.mean(axis=0)) / np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    rows = sphere.inverse_stereographic(z)
    head = KINDS[kind].fit(rows, y, n=len(X), concentration=6.0, regularization=1e-3)
    assert isinstance(fitted.head_, KINDS[kind])
    assert len(fitted.head_) == len(X)
    np.testing.assert_allclose(fitted.predict(X), head(rows), rtol=0, atol=1e-9)
    assert (fitted.concentration_, fitted.regularization_) == (6.0, 1e-3)


@kinds
def test_normalized_rows_forget_their_lengths(kind):
    x = sphere.uniform(2, 150, rng=0)
    lengths = np.exp(np.random.default_rng(1).standard_normal((150, 1)))
    fitted = model(kind, embedding="normalize").fit(lengths * x, x[:, :2])
    assert fitted.predict(x).shape == (150, 2)
    np.testing.assert_allclose(fitted.predict(1e200 * x), fitted.predict(x), rtol=0, atol=1e-9)
    assert fitted.head_.dim == 2
    assert fitted.score(x, x[:, :2]) > 0.98


def test_no_number_of_control_points_is_the_default():
    X, y = data(40)
    none, default = (model(n_control_points=n, concentration=3.0).fit(X, y) for n in (None, "auto"))
    np.testing.assert_array_equal(none.predict(X), default.predict(X))


@kinds
def test_it_learns_and_its_error_is_honest(kind):
    X, y = data(400)
    fitted = model(kind, n_control_points=60).fit(X[:300], y[:300])
    error = np.sqrt(np.mean(np.square(fitted.predict(X[300:]) - y[300:])))
    assert error < 0.3 * y.std()
    assert 0.5 < fitted.loo_error_ / error < 2.0


@kinds
def test_free_points_are_those_of_fit_and_fewer_do(kind):
    X, _ = data(200)
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    free, fixed = (model(kind, points=points, n_control_points=15).fit(X, y) for points in ("free", "fixed"))
    assert 1.0 - free.score(X, y) < 0.6 * (1.0 - fixed.score(X, y)) < 0.1
    assert len(free.head_) == 15
    assert free.loo_error_ < fixed.loo_error_


def test_it_works_within_scikit_learn():
    X, y = data(90)
    search = GridSearchCV(model(concentration=2.0), {"kind": ["split", "core"], "n_control_points": [3, 30]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["n_control_points"] == 30
    assert cross_val_score(model(), X, y, cv=3).mean() > 0.8
    fitted = model().fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "head_")


def test_one_feature_one_row_and_constant_rows():
    t = np.linspace(0.0, 6.0, 60)[:, None]
    assert model().fit(t, np.sin(t[:, 0])).score(t, np.sin(t[:, 0])) > 0.99
    np.testing.assert_allclose(model().fit([[2.0, 3.0]], [7.0]).predict([[2.0, 3.0]]), [7.0], rtol=1e-6)
    same = model().fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(same.predict(np.ones((1, 2))), [2.5], rtol=1e-6)


@kinds
@pytest.mark.parametrize("embedding", ["stereographic", "normalize"])
def test_sample_weights_count_rows(kind, embedding):
    X, y = data(80)
    w = np.random.default_rng(3).integers(0, 3, size=80)
    weighted = model(kind, embedding=embedding).fit(X, y, sample_weight=w)
    repeated = model(kind, embedding=embedding).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    assert weighted.loo_error_ == pytest.approx(repeated.loo_error_)
    assert np.abs(weighted.predict(X) - model(kind, embedding=embedding).fit(X, y).predict(X)).max() > 1e-3


def test_a_core_head_far_from_zero_is_warned_of():
    X, y = data(60)
    fit = model("core", n_control_points=4).fit
    with pytest.warns(RuntimeWarning, match=r"error, .* is more than twice the standard deviation of 'y', 1.*less its"):
        far = fit(X, y + 1e7, sample_weight=np.ones(60))
    assert far.score(X, y + 1e7) < 0.0
    assert fit(X, y).score(X, y) > 0.5  # without a warning, as are constants and split heads
    fit(X, np.full(60, 1e7 / 3.0))
    fit(X, np.tile([3e7, 1e6 / 3.0, 0.7e7], (60, 1)), sample_weight=np.linspace(0.1, 1.0, 60))  # means are rounded
    with pytest.warns(RuntimeWarning, match="'y' less its mean"):
        CoreHead.fit(sphere.inverse_stereographic(X), y + 1e7, n=4, rng=0)
    assert model(n_control_points=4).fit(X, y + 1e7).score(X, y + 1e7) > 0.5
