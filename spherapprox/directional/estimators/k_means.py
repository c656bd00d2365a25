"""Clusters of directions with scikit-learn's conventions.

The arguments are the same throughout: `X` are rows (n, p), directions of any lengths above 0: an array, a tensor on the
CPU, a sparse matrix or an array of Dask; `y` is not used; `sample_weight` are weights of rows (n,), at least 0. Error
names (TypeError, ValueError) what was wrong with an argument, and NotFittedError what needs `fit` first.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Self

import numpy as np

from ... import _checks
from ..._types import Array, Float64, Int32
from ...vmf.sparse import is_sparse
from .. import clusters
from ..rows import Rows, merge_equal, read_rows
from .starts import draw_rows, find_means
from .validation import DirectionalEstimator, check_kept, read_directions, read_random_state, read_start

with _checks.needs("scikit-learn 1.6 or newer", "SphericalKMeans", "learn"):
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted

SAMPLE, EACH = 2**13, 20  # rows among which first centres are sought, at least so many for each


class SphericalKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, DirectionalEstimator):  # type: ignore[misc]
    """Clusters of directions: the sum of 1 - cosine between rows and their centres is made small, as k-means does.

    The inertia never rises but for roundings. A cluster without rows gets the one farthest from its centre. float32
    rows stay float32, rows are not copied, and no number of threads changes a bit. I. S. Dhillon & D. S. Modha (2001),
    Concept decompositions for large sparse text data using clustering, Mach. Learn. 42, 143-175.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    init : {"k-means++", "random"} or array_like, shape (k, p), default "k-means++"
        First centres: clusters that scikit-learn's `KMeans` finds in k columns among at most 8192 rows (or 20 k), as of
        `VonMisesFisherMixture`; random rows; or these.
    n_init : int or "auto", default "auto"
        Starts, of which the best is taken; "auto" is 10 for random rows, else 1.
    max_iter, tol : int, float, default 300, 1e-4
        Most steps, and the share by which each must make the inertia smaller; of 0 a fit ends where no row changes
        its cluster.
    batch_size : int, optional
        Rows, drawn at random without return, that move the centres at a time: these are the directions of sums of all
        rows that came so far. By default all rows at a time.
    random_state : None, int or numpy.random.RandomState
        Draws first centres and batches.

    Attributes
    ----------
    cluster_centers_, labels_ : ndarray, shape (k, p) and (n,)
        Centres of length 1, and the numbers of the rows' clusters.
    inertia_ : float
        The weighted sum of 1 - cosine, to 1e-6 of the weights' sum in float32 and 1e-14 in float64.
    n_iter_, n_features_in_ : int

    Warns
    -----
    ConvergenceWarning, UserWarning
        If a fit has not settled after `max_iter` steps, or clusters have no rows, as where fewer rows differ; if there
        are rows of zeros: they do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import VonMisesFisher
    >>> from spherapprox.directional import SphericalKMeans
    >>> X = VonMisesFisher(np.eye(3), 50.0).rvs(500, rng=0).reshape(-1, 3)  # three clusters in turn
    >>> model = SphericalKMeans(3, random_state=0).fit(X)
    >>> model.labels_[:6], round(model.inertia_ / len(X), 3)
    (array([0, 2, 1, 0, 2, 1], dtype=int32), 0.02)
    >>> model.predict(2.0 * X[:3]), model.transform(X[:3]).shape  # 1 - cosine with each centre
    (array([0, 2, 1], dtype=int32), (3, 3))
    >>> round(model.score(X) / len(X), 3), model.partial_fit(X[:300]).n_iter_
    (-0.02, 3)
    """

    def __init__(
        self, n_clusters: int = 8, *, init: Any = "k-means++", n_init: Any = "auto", max_iter: int = 300,
        tol: float = 1e-4, batch_size: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_clusters, self.init, self.n_init, self.max_iter = n_clusters, init, n_init, max_iter
        self.tol, self.batch_size, self.random_state = tol, batch_size, random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters."""
        starts = self._check()
        rows, weights, rng = *self._read(X, sample_weight, reset=True), read_random_state(self.random_state)
        best = min((self._fit_once(rows, weights, rng) for _ in range(starts)), key=lambda found: found.inertia)
        if not best.is_settled:
            text = f"clusters have not settled after max_iter = {self.max_iter} steps: raise 'max_iter' or 'tol'"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        elif (count := len(np.unique(best.labels))) < self.n_clusters:
            text = f"{self.n_clusters - count} of n_clusters = {self.n_clusters} have no rows: do fewer rows differ?"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        self.cluster_centers_, self._sums, self.labels_, self.inertia_, self.n_iter_ = best[:5]
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres to the directions of the sums of all rows that have come so far; the first ones start."""
        self._check()
        is_new = not hasattr(self, "cluster_centers_")
        if not is_new:
            check_kept(self, "n_clusters", len(self.cluster_centers_))
        rows, weights = self._read(X, sample_weight, reset=is_new)
        if is_new:
            self.cluster_centers_ = self._start(rows, weights, read_random_state(self.random_state))
            self._sums, self.n_iter_ = np.zeros_like(self.cluster_centers_), 0
        self.cluster_centers_, self._sums = clusters.learn_batch(rows, weights, self.cluster_centers_, self._sums)
        self.labels_, _, self.inertia_ = clusters.assign(rows, weights, self.cluster_centers_)
        self.n_iter_ += 1
        return self

    def predict(self, X: Any) -> Int32:
        """Return the numbers of the nearest centres, shape (n,)."""
        check_is_fitted(self)
        return clusters.label(read_directions(self, X), self.cluster_centers_)

    def transform(self, X: Any) -> Array:
        """Return the distances 1 - cosine of rows from centres, shape (n, k), in the rows' precision."""
        check_is_fitted(self)
        cosines = read_directions(self, X).concatenate(partial(Rows.cosines, directions=self.cluster_centers_))
        return np.asarray(np.maximum(1.0 - cosines, 0.0).T)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the inertia of rows, as scikit-learn's KMeans does."""
        check_is_fitted(self)
        rows, weights = self._read(X, sample_weight)
        return -clusters.assign(rows, weights, self.cluster_centers_)[2]

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check(self) -> int:
        """Check the parameters; return the number of starts."""
        _checks.integer(self.n_clusters, "n_clusters", minimum=1)
        _checks.integer(self.max_iter, "max_iter", minimum=1)
        _checks.real(self.tol, "tol", minimum=0.0)
        if self.batch_size is not None:
            _checks.integer(self.batch_size, "batch_size", minimum=1)
        if isinstance(self.init, str):
            _checks.choice(self.init, "init", ("k-means++", "random"))
        if isinstance(self.n_init, str):
            _checks.choice(self.n_init, "n_init", ("auto",))
            return 10 if isinstance(self.init, str) and self.init == "random" else 1
        return _checks.integer(self.n_init, "n_init", minimum=1)

    def _start(self, rows: Any, weights: Float64, rng: Any) -> Float64:
        """Return first centres (k, p)."""
        k = int(self.n_clusters)
        if not isinstance(self.init, str):
            return read_start(self.init, (k, rows.shape[1]))
        sample, share = draw_rows(rows, weights, max(SAMPLE, EACH * k), rng)
        if len(sample) < k:
            raise ValueError(f"'X' must have at least n_clusters = {k} rows of positive weight, got {len(sample)}")
        # repeated rows count as one that has their weights, in an order that is not that of the rows
        unit, share = merge_equal(sample.values, share)
        if self.init == "k-means++" and unit.shape[0] >= k:
            means = find_means(Rows(unit, None), share, k, rng)
            if means is not None and len(means) == k:
                return means
        few = unit.shape[0] < k
        numbers = np.arange(k) % len(share) if few else rng.choice(len(share), k, replace=False, p=share / share.sum())
        centers = read_rows(unit[numbers]).unit()
        return np.asarray(centers.toarray() if is_sparse(centers) else centers, dtype=np.float64)

    def _fit_once(self, rows: Any, weights: Float64, rng: Any) -> clusters.Clusters:
        """Return clusters from one start."""
        options: dict[str, Any] = {"max_iter": int(self.max_iter), "tol": self.tol}
        centers = self._start(rows, weights, rng)
        if self.batch_size is None:
            return clusters.fit_clusters(rows, weights, centers, **options)
        return clusters.fit_batches(rows, weights, centers, batch_size=int(self.batch_size), rng=rng, **options)
