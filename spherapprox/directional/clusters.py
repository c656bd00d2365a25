"""Spherical k-means: rows to their nearest centres, centres to the directions of their rows' sums."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from .._types import Array, Float64, Int32
from ..vmf.sparse import is_sparse
from .rows import Rows


class Clusters(NamedTuple):
    """Unit centres and sums of rows (k, p), labels (n,), the weighted sum of 1 - cosine, and the number of steps."""

    centers: Float64
    sums: Float64
    labels: Int32
    inertia: float
    steps: int
    is_settled: bool


def fit_clusters(rows: Any, weights: Float64, centers: Float64, *, max_iter: int, tol: float) -> Clusters:
    """Return clusters from first centres by Lloyd's steps; the inertia never rises but for roundings.

    It ends where no row changes its cluster, or where the inertia falls by less than `tol` of it.
    """
    labels, sums, inertia = assign(rows, weights, centers)
    steps, is_settled = 0, False
    while not is_settled and steps < max_iter:
        steps += 1
        before, last = labels, inertia
        centers = move(rows, weights, labels, sums, centers)
        labels, sums, inertia = assign(rows, weights, centers, before=(labels, sums))
        is_settled = bool((labels == before).all()) or last - inertia <= tol * inertia < tol * last
    return Clusters(centers, sums, labels, inertia, steps, is_settled=is_settled)


def assign(
    rows: Any, weights: Float64, centers: Float64, *, before: tuple[Int32, Float64] | None = None
) -> tuple[Int32, Float64, float]:
    """Return the numbers (n,) of the nearest centres, the weighted sums of their rows (k, p), and the inertia.

    Of labels and sums `before` only rows that change their cluster are added and taken off.
    """
    old, sums = before or (np.full(len(rows), -1, np.int32), np.zeros(centers.shape))
    changes, labels = rows.total(partial(_assign, centers=centers), weights, old)
    found = np.concatenate(labels)
    sums = np.where(np.bincount(found, minlength=len(sums))[:, None] > 0, sums + changes, 0.0)  # no rounding is left
    return found, sums, max(float(weights.sum() - np.einsum("ij,ij->", sums, centers)), 0.0)


def _assign(rows: Rows, weights: Float64, before: Int32, *, centers: Float64) -> tuple[Float64, list[Int32]]:
    """Return the changes of the sums, and the labels, of a block."""
    labels = label_block(rows, centers=centers)
    changed = np.flatnonzero(labels != before)
    after, old, masses = labels[changed], before[changed], weights[changed]
    numbers = np.stack([after, np.maximum(old, 0)], axis=1).ravel()  # of each row the cluster it comes to, and leaves
    signed = np.stack([masses, np.where(old < 0, 0.0, -masses)], axis=1).ravel()
    moves = csc_array((signed, numbers, np.arange(0, len(numbers) + 1, 2)), (len(centers), len(changed)))
    sums = moves @ rows[changed].unit()  # in float64: a heavy row that goes must leave no rounding
    return np.asarray(sums.toarray() if is_sparse(sums) else sums), [labels]


def label(rows: Any, centers: Float64) -> Int32:
    """Return the numbers (n,) of the nearest centres, the first of equally near ones."""
    return np.asarray(rows.concatenate(partial(label_block, centers=centers)))


def label_block(rows: Rows, *, centers: Float64) -> Int32:
    """Return the labels of a block: largest ranks of flags take half the time of NumPy's argmax by columns."""
    cosines, k = rows.cosines(centers), len(centers)
    ranks = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))[:, None]
    return np.asarray(k - ((cosines == cosines.max(axis=0)) * ranks).max(axis=0).astype(np.int32), np.int32)


def move(rows: Any, weights: Float64, labels: Int32, sums: Float64, centers: Float64) -> Float64:
    """Return the directions (k, p) of sums, the old centres where these vanish, the farthest rows where none came."""
    scaled = sums / np.maximum(np.abs(sums).max(axis=1, keepdims=True), 1e-300)  # no square over- or underflows
    lengths = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    centers = np.where(lengths > 0.0, scaled / np.where(lengths > 0.0, lengths, 1.0), centers)
    empty = np.flatnonzero((np.bincount(labels, minlength=len(sums)) == 0) & ~sums.any(axis=1))
    if len(empty):
        versines = np.where(weights > 0.0, rows.concatenate(partial(_versines, centers=centers)), -1.0)
        far = np.argsort(-versines, kind="stable")[: len(empty)]
        far = far[versines[far] > 8.0 * np.finfo(rows.dtype).eps]  # rows that are their centres stay
        chosen: Any = rows[far].unit() if len(far) else np.empty((0, sums.shape[1]))
        centers[empty[: len(far)]] = chosen.toarray() if is_sparse(chosen) else chosen
    return centers


def _versines(rows: Rows, *, centers: Float64) -> Array:
    return np.asarray(1.0 - rows.cosines(centers).max(axis=0))
