"""Where the parts of a mixture start: directions of clusters that are found in few columns, whatever their sizes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import _checks
from ..._threads import one_blas_thread
from ..._types import Array, Float64
from ..rows import Rows

SAMPLE, NUMBERS, EACH = 2**13, 2**22, 20  # rows of a sample at most, numbers there, but at least so many rows a part
SEEDS = (2, 3, 4)  # small clusters for each part
AXES = 1000  # rows of a sample of axes at most, but EACH a part


def find_means(rows: Any, weights: Float64, k: int, rng: Any, *, loose: bool = True) -> Float64 | None:
    """Return at most k unit vectors, the directions of clusters of a sample of rows; without loose ones, if there are.

    In many columns responsibilities are 0 or 1 from the first step on, and an ascent stays where it starts. So the
    sample is projected on its k largest singular vectors, which the noise of p columns is not in; 2, 3 and 4 k small
    clusters are sought there, so that no part is missed, and joined by directions, which does not depend on sizes.
    Rows of no cluster would be taken for some: not `loose`, they are left out; None says that there are none.
    """
    from threadpoolctl import threadpool_limits

    sample, share = draw_rows(rows, weights, max(EACH * k, min(SAMPLE, NUMBERS // rows.shape[1])), rng)
    labels = np.zeros(len(sample), dtype=int)
    if k > 1 or not loose:
        with one_blas_thread(), threadpool_limits(1, "openmp"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fewer different rows than clusters
            points = _project(sample, share, k, rng)
            if not loose:
                kept = _find_narrow(sample, points, share, k, rng)
                if kept.all() or kept.sum() < k:
                    return None
                sample, share = Rows(sample.values[kept], None), share[kept]
                points = _project(sample, share, k, rng)
            found = [_cluster(points, share, k, min(seeds * k, len(sample)), rng=rng) for seeds in SEEDS]
            labels = np.unique(min(found, key=lambda end: end.inertia_).labels_, return_inverse=True)[1]
    sums = sample.add_up(share * (labels == np.arange(labels.max() + 1)[:, None]))
    lengths = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
    return np.asarray(np.where(lengths > 0.0, sums / np.where(lengths > 0.0, lengths, 1.0), np.eye(1, sums.shape[1])))


def _find_narrow(sample: Rows, points: Array, share: Float64, k: int, rng: Any) -> Array:
    """Return which rows are in small clusters that are narrower than those of uniform rows.

    Of the square of a uniform row the share k/p is in k coordinates, and so is at most that of the mean of rows that
    are near each other in these; from the others comes 1/n, with a standard deviation of 1.4/p^.5 times as much.
    """
    from sklearn.cluster import KMeans

    (n, k_few), p = points.shape, sample.shape[1]
    labels = KMeans(min(SEEDS[-1] * k, n), random_state=rng).fit(points, sample_weight=share).labels_
    chosen = labels == np.arange(labels.max() + 1)[:, None]
    counts, masses = np.maximum(chosen.sum(axis=1), 1), np.maximum(chosen @ share, 1e-300)
    squares = np.square(sample.add_up(share * chosen) / masses[:, None]).sum(axis=1)
    return np.asarray((squares > k_few / p + (1.0 + 6.0 / p**0.5) / counts)[labels])


def _cluster(points: Array, share: Float64, k: int, small: int, *, rng: Any) -> Any:
    """Return a fit of k-means to at most k clusters, joined of small ones."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from sklearn.cluster import KMeans

    fit = KMeans(small, random_state=rng).fit(points, sample_weight=share)
    numbers, labels = np.unique(fit.labels_, return_inverse=True)
    if len(numbers) <= k:
        return fit
    centers, sizes = fit.cluster_centers_[numbers], np.bincount(labels, share)
    lengths = np.sqrt(np.square(centers).sum(axis=1, keepdims=True))
    tree = linkage(centers / np.maximum(lengths, 1e-30), "average", metric="sqeuclidean")
    joins = cut_tree(tree, k)[:, 0] == np.arange(k)[:, None]
    joined = (joins * sizes) @ centers / (joins @ sizes)[:, None]
    return KMeans(k, init=joined, n_init=1).fit(points, sample_weight=share)


def draw_rows(rows: Any, weights: Float64, count: int, rng: Any) -> tuple[Rows, Float64]:
    """Return at most so many of the rows of positive weight, in their order, of length 1, and their weights up to 1."""
    chosen = np.flatnonzero(weights)
    if len(chosen) > count:
        chosen = np.sort(rng.choice(chosen, count, replace=False))
    share = weights[chosen]
    return Rows(rows[chosen].unit(), None), share / share.max()  # which float32 can hold


def _project(sample: Rows, share: Float64, k: int, rng: Any) -> Array:
    """Return rows (n, k) in coordinates of their largest k singular vectors, or as they are where columns are few."""
    if min(sample.shape) <= k:
        return np.asarray(sample.values.toarray() if hasattr(sample.values, "toarray") else sample.values)
    from sklearn.decomposition import TruncatedSVD

    weighted = Rows(sample.values, np.sqrt(share) if np.ptp(share) else None).unit()
    return np.asarray(TruncatedSVD(k, random_state=rng).fit(weighted).transform(sample.values))


def group_axes(rows: Any, weights: Float64, k: int, rng: Any) -> tuple[Rows, Float64, Array]:
    """Return a sample of rows, their weights, and the numbers of k groups of axes.

    The squared cosine of two rows is the scalar product of their x x^T, in whose principal coordinates k-means groups.
    """
    from sklearn.cluster import KMeans
    from sklearn.utils.extmath import randomized_svd, safe_sparse_dot
    from threadpoolctl import threadpool_limits

    sample, share = draw_rows(rows, weights, max(EACH * k, AXES), rng)
    if k == 1:
        return sample, share, np.zeros(len(sample), dtype=int)
    with one_blas_thread(), threadpool_limits(1, "openmp"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fewer different rows than groups
        _checks.memory(16.0 * len(sample) ** 2, f"a start of n_components = {k} axes", "lower 'n_components'")
        squares = np.square(safe_sparse_dot(sample.values, sample.values.T, dense_output=True))
        vectors, sizes, _ = randomized_svd(squares, min(k + 1, len(sample)), random_state=rng)
        groups = KMeans(min(k, len(sample)), n_init=10, random_state=rng)
        return sample, share, groups.fit(vectors * np.sqrt(sizes), sample_weight=share).labels_
