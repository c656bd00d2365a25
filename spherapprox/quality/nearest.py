"""The nearest of given points of S^m, for many queries: by a k-d tree in low dimension, by matrix products beyond."""

from __future__ import annotations

import numpy as np

from .._threads import for_work, in_order, slices
from .._types import Float64, Int64

TREE_DIM = 8  # up to this many columns a k-d tree is faster than matrix products (measured with uniform points)
TABLE_ELEMENTS = 2**22  # elements of a block of the table of inner products
_FAR = 3.0
"""Angles beyond which chords and inner products, flat near pi, do not tell the nearest point: by all angles then."""
QUERY = 2e-6  # seconds of a query of the tree, about


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
