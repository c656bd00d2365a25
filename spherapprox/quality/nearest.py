"""The nearest of given points of S^m, for many queries, and their separation: by a k-d tree, or by matrix products."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, sphere
from .._threads import for_work, in_order, slices
from .._types import Float32, Float64, Int64

TREE_DIM = 8  # up to this many columns a k-d tree is faster than matrix products (measured with uniform points)
TABLE_ELEMENTS = 2**22  # elements of a block of the table of inner products
_FAR = 3.0
"""Angles beyond which chords and inner products, flat near pi, do not tell the nearest point: by all angles then."""
QUERY = 2e-6  # seconds of a query of the tree, about
_TABLE_ROWS = 2048  # rows and columns of a block of the table of inner products
_CHUNK = 2**17  # queries of the tree, and candidate pairs, that are taken together


def unit(x: Float64) -> Float64:
    """Normalise rows: each direction moves by at most a unit in the last place."""
    return np.asarray(x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None])


def projection(x: Float64) -> Float64:
    """Return one number for each row, the same to the bit for equal rows: a coordinate along a fixed direction."""
    value = np.zeros(len(x))
    for j, factor in enumerate(np.asarray(np.random.default_rng(0).standard_normal(x.shape[1]))):
        value += factor * x[:, j]  # a matrix product may round equal rows differently
    return value


def distinct(x: Float64) -> Float64:
    """Return the rows without repetitions."""
    value = np.sort(projection(x))
    return np.unique(x, axis=0) if (value[1:] == value[:-1]).any() else x


def angles(x: Float64, y: Float64) -> Float64:
    """Return the angle between unit rows, broadcast: 2 atan2(|x - y|, |x + y|)."""
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    minus, plus = np.zeros(shape), np.zeros(shape)
    for j in range(x.shape[-1]):
        a, b = x[..., j], y[..., j]
        minus += (a - b) ** 2
        plus += (a + b) ** 2
    return np.asarray(2.0 * np.arctan2(np.sqrt(minus), np.sqrt(plus)))


class Nearest:
    """Search for the nearest of the unit rows `x` (n, d), in `workers` threads."""

    def __init__(self, x: Float64, workers: int | None) -> None:
        self._x, self._workers = x, workers
        self._tree = None
        if x.shape[1] <= TREE_DIM:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(x)

    def __call__(self, c: Float64) -> tuple[Int64, Float64]:
        """Return the index of the nearest row and the angle to it, (q,) each, for unit rows `c` (q, d)."""
        if self._tree is not None:
            index = self._tree.query(c, workers=for_work(self._workers, QUERY * len(c)))[1].astype(np.int64)
        else:
            blocks = slices(len(c), max(1, TABLE_ELEMENTS // len(self._x)))
            tasks = in_order(lambda block: np.argmax(c[block] @ self._x.T, axis=1), blocks, self._workers)
            index = np.concatenate(list(tasks))
        angle = angles(c, self._x[index])
        for far in np.flatnonzero(angle > _FAR):
            exact = angles(self._x, c[far])
            index[far] = np.argmin(exact)
            angle[far] = exact[index[far]]
        return index, angle


def separation(points: ArrayLike, *, workers: int | None = None, progress: bool = False) -> float:
    """Return the smallest geodesic distance between two points (n, dim+1) of unit length, 0 to pi; inf for one alone.

    To 1e-15, whatever `workers` is (threads, as in `spherapprox.evaluate`). Up to dimension 7 by a k-d tree; beyond by
    all inner products in single precision, of which those that rounding may have kept from being the largest are
    computed again, from the differences of the rows. Memory grows with n only.
    """
    rows = _checks.rows(points, "points").astype(np.float64)
    workers, progress = _checks.workers(workers), _checks.flag(progress, "progress")
    _checks.memory(32.0 * rows.size, f"the separation of {len(rows)} points", "take fewer points")
    if len(rows) == 1:
        return math.inf
    # Step 1: a close pair, among neighbours along one direction
    x = unit(rows)
    pair, chord = _neighbours(x)
    # Step 2: the closest pair, among those that are closer
    if chord > 0.0:
        search = _tree_pair if x.shape[1] <= TREE_DIM else _product_pair
        pair = search(x, pair, chord, workers=workers, progress=progress)
    return float(sphere.distance(rows[pair[0]], rows[pair[1]])) if chord > 0.0 else 0.0


def _neighbours(x: Float64) -> tuple[tuple[int, int], float]:
    """Return the closest pair, and its chord, among neighbours along one direction, as equal rows are."""
    order = np.argsort(projection(x), kind="stable")
    best, pair = math.inf, (0, 1)
    for i in range(0, len(x) - 1, _CHUNK):
        index = order[i : i + _CHUNK + 1]
        difference = x[index[1:]] - x[index[:-1]]
        square = np.einsum("ij,ij->i", difference, difference)
        k = int(np.argmin(square))
        if square[k] < best:
            best, pair = float(square[k]), (int(index[k]), int(index[k + 1]))
    return pair, math.sqrt(best)


def _tree_pair(
    x: Float64, pair: tuple[int, int], chord: float, *, workers: int | None, progress: bool
) -> tuple[int, int]:
    """Return the closest pair, by a search in a tree for the nearest other row of each, closer than the best so far."""
    from scipy.spatial import cKDTree
    from tqdm.auto import tqdm

    tree = cKDTree(x)
    for i in tqdm(range(0, len(x), _CHUNK), desc="separation", leave=False, disable=not progress):
        rows = x[i : i + _CHUNK]
        threads = for_work(workers, QUERY * len(rows))
        length, index = tree.query(rows, k=2, distance_upper_bound=chord, workers=threads)
        k = int(np.argmin(length[:, 1]))
        if length[k, 1] < chord:
            chord, pair = float(length[k, 1]), (i + k, int(index[k, 1]))
            if pair[0] == pair[1]:
                pair = i + k, int(index[k, 0])
    return pair


def _product_pair(
    x: Float64, pair: tuple[int, int], chord: float, *, workers: int | None, progress: bool
) -> tuple[int, int]:
    """Return the closest pair, by inner products in single precision and the angles of those that may be largest."""
    from tqdm.auto import tqdm

    single = x.astype(np.float32)
    # of an inner product of rows that were rounded to single precision: 2^-24 for each factor and each addition
    error = 1.01 * (x.shape[1] + 8) * 2.0**-24
    best = [(2.0 * math.asin(min(1.0, 0.5 * chord)), *pair)]

    def search(block: tuple[int, int]) -> tuple[float, int, int]:
        closest = best[0]
        for angle, i, j in _candidates(x, single, block, cut=math.cos(closest[0]) - error):
            closest = min(closest, (angle, i, j))
        return closest

    blocks = [(i, j) for i in range(0, len(x), _TABLE_ROWS) for j in range(i, len(x), _TABLE_ROWS)]
    results = in_order(search, blocks, workers)
    for closest in tqdm(results, total=len(blocks), desc="separation", leave=False, disable=not progress):
        best[0] = min(best[0], closest)
    return best[0][1:]


def _candidates(x: Float64, single: Float32, block: tuple[int, int], cut: float) -> Iterator[tuple[float, int, int]]:
    """Yield the closest of each chunk of pairs of a block whose inner product is at least `cut`."""
    i, j = block
    # (rows of the block, columns of the block)
    table = single[i : i + _TABLE_ROWS] @ single[j : j + _TABLE_ROWS].T
    if i == j:
        table[np.tril_indices(len(table))] = -2.0
    if float(table.max()) < cut:
        return
    flat = np.flatnonzero(table.ravel() >= cut)
    for start in range(0, len(flat), _CHUNK):
        first, second = np.divmod(flat[start : start + _CHUNK], table.shape[1])
        angle = angles(x[i + first], x[j + second])
        k = int(np.argmin(angle))
        yield float(angle[k]), i + int(first[k]), j + int(second[k])
