"""Spherical k-means: rows to their nearest centres, centres to the directions of their rows' sums."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels.simd.alignment import read_only
from .._loading import Later
from .._threads import slices
from .._types import Array, Float64, Indices, Int32
from ..vmf.sparse import is_sparse
from .rows import Rows

_nearest = Later("spherapprox.directional._kernels.nearest")
FEW = 16  # columns up to which products are faster made beside the search (tuned)
LABEL, OWN, OTHER = range(3)  # of a state: the nearest centre, and bounds of its distance and of all others'
SLACK = 4.0  # roots of the unit roundoff by which distances may be wrong


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

    Only rows that change their cluster change the sums. It ends where none does, or where the inertia falls by less
    than `tol` of it. A cluster without rows gets the one that is farthest from its centre.
    """
    state, sums, inertia = np.zeros((3, len(rows))), np.zeros(centers.shape), math.inf
    labels, moves = np.full(len(rows), -1, np.int32), np.zeros(len(centers))
    steps, is_settled = 0, False
    while not is_settled and steps < max_iter:
        steps += 1
        # Step 1: rows to their nearest centres
        before, last = labels, inertia
        labels = _reassign(rows, state, centers, moves)
        if len(empty := np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0)):
            _fill(empty, rows, weights, labels, centers)
            state[:] = 0.0  # all rows are compared with all centres again
        changed = np.flatnonzero(before != labels)
        sums += change_sums(rows, weights, before, labels, changed=changed, k=len(centers))
        # Step 2: centres to the directions of their sums
        old, centers = centers, directions(sums, centers)
        moves, inertia = np.sqrt(np.square(centers - old).sum(axis=1)), inertia_of(weights, sums, centers)
        is_settled = not len(changed) or last - inertia <= tol * inertia < tol * last
    before, labels = labels, _reassign(rows, state, centers, moves)
    sums += change_sums(rows, weights, before, labels, changed=np.flatnonzero(before != labels), k=len(centers))
    return Clusters(centers, sums, labels, inertia_of(weights, sums, centers), steps, is_settled=is_settled)


def _reassign(rows: Any, state: Float64, centers: Float64, moves: Float64) -> Int32:
    """Return labels, and renew the state (3, n), after centres moved by chords (k,) to where they are."""
    if rows.shape[1] <= FEW:
        return label(rows, centers)
    state[:] = rows.concatenate(partial(_reassign_block, centers=centers, moves=moves), state)
    return np.asarray(state[LABEL], dtype=np.int32)


def _reassign_block(rows: Rows, state: Float64, *, centers: Float64, moves: Float64) -> Float64:
    """Compare rows with all centres where the triangle inequality leaves room for another one than their own."""
    own, other = state[OWN] + moves[state[LABEL].astype(np.intp)], state[OTHER] - moves.max()
    doubtful = np.flatnonzero(own + SLACK * math.sqrt(np.finfo(rows.dtype).eps) >= other)
    state = np.stack([state[LABEL], own, other])
    if len(doubtful):
        part = rows if len(doubtful) > 0.7 * len(rows) else rows[doubtful]
        labels, cosines = _nearest_two(part, centers)
        distances = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
        state[:, slice(None) if part is rows else doubtful] = np.concatenate([labels[None, :], distances])
    return state


def fit_batches(
    rows: Any, weights: Float64, centers: Float64, *, batch_size: int, rng: Any, max_iter: int, tol: float
) -> Clusters:
    """Return clusters by steps over all rows in random batches, until one lowers the inertia by less than `tol`."""
    sums, (labels, _, inertia) = np.zeros(centers.shape), assign(rows, weights, centers)
    steps, is_settled = 0, False
    while not is_settled and steps < max_iter:
        steps += 1
        order, last = rng.permutation(len(rows)), inertia
        for part in slices(len(rows), batch_size):
            batch = np.sort(order[part])
            centers, sums = learn_batch(rows[batch], weights[batch], centers, sums)
        labels, _, inertia = assign(rows, weights, centers)
        is_settled = last - inertia <= tol * inertia
    return Clusters(centers, sums, labels, inertia, steps, is_settled=is_settled)


def learn_batch(rows: Any, weights: Float64, centers: Float64, sums: Float64) -> tuple[Float64, Float64]:
    """Return centres and sums, to which each row of a batch is added where its nearest centre is."""
    labels = label(rows, centers)
    if len(empty := np.flatnonzero((np.bincount(labels, minlength=len(centers)) == 0) & ~sums.any(axis=1))):
        _fill(empty, rows, weights, labels, centers)
    sums = sums + sum_up(rows, weights, labels, k=len(centers))
    return directions(sums, centers), sums


def assign(rows: Any, weights: Float64, centers: Float64) -> tuple[Int32, Float64, float]:
    """Return the labels of rows, their sums (k, p) and the inertia."""
    labels = label(rows, centers)
    sums = sum_up(rows, weights, labels, k=len(centers))
    return labels, sums, inertia_of(weights, sums, centers)


def label(rows: Any, centers: Float64) -> Int32:
    """Return the numbers (n,) of the nearest centres, the first of equally near ones."""
    return np.asarray(rows.concatenate(partial(_label, centers=centers)))


def _label(rows: Rows, *, centers: Float64) -> Int32:
    if rows.shape[1] > FEW or is_sparse(rows.values):
        return _nearest_two(rows, centers)[0]
    labels = np.empty(len(rows), np.int32)
    _nearest.label_rows(read_only(rows.values), centers.astype(rows.dtype), labels)
    return labels


def _nearest_two(rows: Rows, centers: Float64) -> tuple[Int32, Array]:
    """Return the numbers of the nearest centres (n,), and the largest two cosines (2, n)."""
    labels, largest = np.empty(len(rows), np.int32), np.empty((2, len(rows)), rows.dtype)
    _nearest.label_columns(rows.cosines(centers), labels, *largest)
    return labels, largest


def sum_up(rows: Any, weights: Float64, labels: Int32, *, k: int) -> Float64:
    """Return the sums (k, p) of rows times weights."""
    return change_sums(rows, weights, np.full_like(labels, -1), labels, changed=np.arange(len(labels)), k=k)


def change_sums(rows: Any, weights: Float64, before: Int32, after: Int32, *, changed: Indices, k: int) -> Float64:
    """Return what the sums (k, p) of rows times weights gain by changes of labels, of which -1 is none."""
    if isinstance(rows, Rows) and 4 * len(changed) < len(rows):
        rows, weights, before, after = rows[changed], weights[changed], before[changed], after[changed]
    return rows.total(partial(_change_sums, k=k), weights, before, after)[0] if len(rows) else np.zeros(())


def _change_sums(rows: Rows, weights: Float64, before: Int32, after: Int32, *, k: int) -> tuple[Float64]:
    """Return a block's part, in float64 where weights differ much: a heavy row that goes must leave no rounding."""
    from scipy import sparse

    is_new = before != after
    if not is_new.all():
        rows, weights, before, after = rows[np.flatnonzero(is_new)], weights[is_new], before[is_new], after[is_new]
    masses = np.stack([weights, np.where(before < 0, 0.0, -weights)], axis=1).ravel()
    if len(weights) and weights.min() > 1e-30 and weights.max() < min(100.0 * weights.min(), 1e30):
        masses = masses.astype(rows.dtype)
    labels = np.stack([after, np.maximum(before, 0)], axis=1).ravel()
    sums = sparse.csc_matrix((masses, labels, np.arange(0, len(labels) + 1, 2)), (k, len(weights))) @ rows.unit()
    return (np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=np.float64),)


def directions(sums: Float64, centers: Float64) -> Float64:
    """Return the directions (k, p) of sums, the old centres where these vanish."""
    scaled = sums / np.maximum(np.abs(sums).max(axis=1, keepdims=True), 1e-300)  # no square over- or underflows
    lengths = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return np.where(lengths > 0.0, scaled / np.where(lengths > 0.0, lengths, 1.0), centers)


def inertia_of(weights: Float64, sums: Float64, centers: Float64) -> float:
    """Return the weighted sum of 1 - cosine from the sums of rows about each centre."""
    return max(float(weights.sum() - np.einsum("ij,ij->", sums, centers)), 0.0)


def _fill(empty: Indices, rows: Any, weights: Float64, labels: Int32, centers: Float64) -> None:
    """Give the farthest rows of positive weight to clusters without rows."""
    versines = np.where(weights > 0.0, rows.concatenate(partial(_versines, centers=centers), labels), -1.0)
    far = np.argsort(-versines, kind="stable")[: len(empty)]
    far = far[versines[far] > 8.0 * np.finfo(rows.dtype).eps]  # rows that are their centres stay
    labels[far] = empty[: len(far)]


def _versines(rows: Rows, labels: Int32, *, centers: Float64) -> Array:
    return np.asarray(1.0 - rows.cosines(centers)[labels, np.arange(len(rows))])
