"""Clusters of directions."""

import warnings

import dask.array
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import SphericalKMeans


def make_clusters(k, p, n, size, seed=0):
    """Return rows about k random directions in turn, and their numbers."""
    means = sphere.uniform(p - 1, k, rng=seed)
    return VonMisesFisher(means, np.full(k, float(size))).rvs(n, rng=seed).reshape(-1, p), np.tile(np.arange(k), n)


def lloyd(x, weights, centers, steps):
    """Return labels, centres and inertia after some steps, by loops over clusters."""
    for _ in range(steps):
        labels = np.argmax(x @ centers.T, axis=1)
        sums = np.array([weights[labels == j] @ x[labels == j] for j in range(len(centers))])
        centers = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    labels = np.argmax(x @ centers.T, axis=1)
    return labels, centers, float(weights @ (1.0 - np.einsum("ij,ij->i", x, centers[labels])))


@pytest.mark.filterwarnings("ignore:'X' has rows of zeros")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([SphericalKMeans(init="random", tol=0.0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.once
@pytest.mark.filterwarnings("ignore:'X' has rows of zeros")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([SphericalKMeans(3, batch_size=100)])
def test_scikit_learns_checks_in_batches(estimator, check):
    check(estimator)


@pytest.mark.parametrize("p", [2, 3, 16, 17, 300])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_steps_are_lloyds(p, kind):
    rng = np.random.default_rng(p)
    x, weights = sphere.uniform(p - 1, 3000, rng=rng), rng.random(3000)
    start = x[:7].copy()
    rows = (x * rng.uniform(0.5, 2.0, (3000, 1))).astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SphericalKMeans(7, init=5.0 * start, max_iter=4, tol=0.0).fit(rows, sample_weight=weights)
    labels, centers, inertia = lloyd(x, weights, start, 4)
    assert (model.labels_ == labels).mean() > (0.999 if kind is np.float32 else 0.9999)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-3 if kind is np.float32 else 1e-10)
    assert model.inertia_ == pytest.approx(inertia, rel=1e-4 if kind is np.float32 else 1e-12)
    assert model.n_iter_ == 4


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 20), st.booleans(), st.sampled_from([0.0, 3.0, 12.0]))
def test_inertia_never_rises(seed, k, p, single, decades):
    rng = np.random.default_rng(seed)
    x = sphere.uniform(p - 1, int(rng.integers(k, 60)), rng=rng)
    x = x[rng.integers(0, len(x), len(x))] if seed % 3 == 0 else x  # rows that repeat
    x = x.astype(np.float32) if single else x
    weights = 10.0 ** rng.uniform(-decades, 0.0, len(x))
    start = sphere.uniform(p - 1, k, rng=rng)
    if seed % 2 == 0:
        start[:] = start[0]  # all but one are without rows
    values, rounding = [], (1e-6 if single else 1e-14) * weights.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for steps in range(1, 9):
            values.append(
                SphericalKMeans(k, init=start, max_iter=steps, tol=0.0).fit(x, sample_weight=weights).inertia_
            )
    assert (np.diff(values) <= rounding).all()


@pytest.mark.parametrize("options", [{}, {"batch_size": 500}, {"init": "random"}, {"n_init": 3}])
def test_clusters_are_found(options):
    x, labels = make_clusters(10, 30, 300, 200.0)
    model = SphericalKMeans(10, random_state=0, **options).fit(x)
    assert adjusted_rand_score(model.labels_, labels) > (0.75 if options.get("init") else 0.99)
    assert model.labels_.dtype == np.int32


@pytest.mark.parametrize("seed", range(3))
def test_thirty_clusters_in_768_columns_are_found(seed):
    x, labels = make_clusters(30, 768, 60, 300.0, seed=seed)
    x = x.astype(np.float32)
    assert adjusted_rand_score(SphericalKMeans(30, random_state=seed).fit(x).labels_, labels) > 0.97


def test_every_storage_has_the_same_clusters():
    x, _ = make_clusters(5, 20, 100, 30.0)
    x = np.where(np.abs(x) < 0.1, 0.0, x) * np.linspace(0.1, 9.0, 500)[:, None]
    model = SphericalKMeans(5, random_state=1).fit(x)
    lazy = dask.array.from_array(x, chunks=(130, 7))
    for rows in (scipy.sparse.csr_array(x), scipy.sparse.coo_matrix(x), lazy, x.tolist(), np.asfortranarray(x)):
        other = SphericalKMeans(5, random_state=1).fit(rows)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_allclose(other.cluster_centers_, model.cluster_centers_, atol=1e-13)
        np.testing.assert_allclose(other.transform(rows), model.transform(x), atol=1e-13)
        np.testing.assert_array_equal(other.predict(rows), model.labels_)
        assert other.score(rows) == pytest.approx(-model.inertia_, rel=1e-12)


def test_transform_is_1_less_cosine_and_predict_its_least():
    x, _ = make_clusters(4, 6, 50, 20.0)
    model = SphericalKMeans(4, random_state=0).fit(x)
    distances = model.transform(3.0 * x)
    np.testing.assert_allclose(distances, 1.0 - x @ model.cluster_centers_.T, atol=1e-14)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.predict(x))
    np.testing.assert_array_equal(model.labels_, model.predict(x))
    assert model.inertia_ == pytest.approx(distances.min(axis=1).sum(), rel=1e-12)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0, rtol=1e-14)
    assert model.transform(x.astype(np.float32)).dtype == np.float32
    assert list(model.get_feature_names_out()) == [f"sphericalkmeans{j}" for j in range(4)]


def test_a_cluster_without_rows_gets_the_farthest_one():
    x = np.concatenate([make_clusters(1, 3, 50, 1e3)[0], [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]])
    start = np.concatenate([x[:1], x[:1], x[:1]])
    with pytest.warns(ConvergenceWarning, match="max_iter = 1"):
        model = SphericalKMeans(3, init=start, max_iter=1).fit(x)
    assert sorted(np.bincount(model.labels_)) == [1, 1, 50]


def test_batches_give_rows_to_clusters_that_never_had_one():
    x = np.concatenate([make_clusters(1, 3, 50, 1e3)[0], [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]])
    model = SphericalKMeans(3, init=np.stack([x[0]] * 3)).partial_fit(x)
    assert sorted(np.bincount(model.labels_)) == [1, 1, 50]


def test_heavy_rows_leave_nothing_behind_in_float32():
    """Two rows of weight 1e9 start in the first cluster, and leave it for the others in the second step."""
    e = np.eye(20)
    light = 0.636 * (e[0] + e[1]) + 0.437 * e[6]
    x = np.stack([e[0], e[1], *[light] * 9, *[0.8 * e[0] + 0.6 * e[4]] * 9, *[0.8 * e[1] + 0.6 * e[5]] * 9])
    start = np.stack([e[0] + e[1], 0.6 * e[0] + 0.8 * e[4], 0.6 * e[1] + 0.8 * e[5]])
    weights = np.r_[1e9, 1e9, np.ones(27)]
    model = SphericalKMeans(3, init=start, tol=0.0).fit(x.astype(np.float32), sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, [1, 2] + [0] * 9 + [1] * 9 + [2] * 9)
    np.testing.assert_allclose(model.cluster_centers_[0], light / np.linalg.norm(light), atol=1e-6)


def test_fewer_different_rows_than_clusters_are_warned_of():
    x = np.repeat(np.eye(3), 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 of n_clusters = 5 have no rows"):
        model = SphericalKMeans(5, random_state=0).fit(x)
    assert model.inertia_ < 1e-14
    assert len(np.unique(model.labels_)) == 3


def test_rows_that_cancel_leave_their_centre():
    model = SphericalKMeans(1, init=[[0.6, 0.8]]).fit([[1.0, 0.0], [-1.0, 0.0]])
    np.testing.assert_allclose(model.cluster_centers_, [[0.6, 0.8]], rtol=1e-15)
    assert model.inertia_ == pytest.approx(2.0)


def test_rows_of_zeros_do_not_count():
    x, _ = make_clusters(3, 4, 30, 100.0)
    with pytest.warns(UserWarning, match="rows of zeros"):
        model = SphericalKMeans(3, random_state=0).fit(np.concatenate([x, np.zeros((2, 4))]))
    np.testing.assert_array_equal(model.labels_[:-2], SphericalKMeans(3, random_state=0).fit(x).labels_)


def test_weights_count_rows_as_often_and_starts_do_not_depend_on_order():
    x, _ = make_clusters(6, 5, 40, 15.0)
    counts = np.random.default_rng(0).integers(0, 4, len(x))
    weighted = SphericalKMeans(6, random_state=3).fit(x, sample_weight=counts)
    repeated = SphericalKMeans(6, random_state=3).fit(np.repeat(x, counts, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-12)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-10)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_of_any_size_give_the_same_clusters(size):
    x, _ = make_clusters(4, 30, 30, 40.0)
    plain = SphericalKMeans(4, random_state=0).fit(x.astype(np.float32))
    scaled = SphericalKMeans(4, random_state=0).fit(x.astype(np.float32), sample_weight=np.full(len(x), size))
    np.testing.assert_allclose(scaled.cluster_centers_, plain.cluster_centers_, atol=1e-6)


def test_threads_change_no_bit(monkeypatch):
    x, _ = make_clusters(8, 40, 6000, 30.0)
    fits = []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("SPHERAPPROX_WORKERS", workers)
        fits.append(SphericalKMeans(8, random_state=0, tol=0.0).fit(x))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)


def test_batches_come_one_after_another():
    x, labels = make_clusters(6, 10, 400, 150.0)
    model = SphericalKMeans(6, random_state=0)
    for part in np.array_split(np.arange(len(x)), 12):
        assert model.partial_fit(x[part]) is model
        assert len(model.labels_) == len(part)
        assert model.inertia_ == pytest.approx(-model.score(x[part]), rel=1e-12)
    assert model.n_iter_ == 12
    assert adjusted_rand_score(model.predict(x), labels) > 0.99
    whole = clone(model).fit(x)
    assert model.score(x) == pytest.approx(whole.score(x), rel=0.01)
    before = whole.cluster_centers_.copy()
    whole.partial_fit(x[:6])  # six rows among as many as came before move centres little
    assert 0.0 < np.abs(whole.cluster_centers_ - before).max() < 0.01


def test_a_start_that_does_not_settle_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        SphericalKMeans(20, init="random", max_iter=2, tol=0.0, random_state=0).fit(sphere.uniform(3, 2000, rng=0))


def test_more_starts_are_never_worse():
    x = sphere.uniform(4, 400, rng=0)
    one, ten = (SphericalKMeans(12, init="random", n_init=n, random_state=7).fit(x).inertia_ for n in (1, 10))
    assert ten < one
