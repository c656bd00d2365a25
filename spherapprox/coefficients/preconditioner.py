"""A sparse factor of a kernel matrix's inverse, from the nearest points that come earlier in a random order.

Row i of the factor G holds the coefficients by which the kernel at point i is predicted from those at its neighbours,
divided by the root of what the prediction leaves: among sparse factors of these places G minimises
Kullback and Leibler's divergence between the normal distributions of covariance A and ``(G^T G)^-1`` (Schaefer,
Katzfuss, Owhadi, SIAM J. Sci. Comput. 43 (2021) A2019-A2046).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _checks
from .._threads import slices
from .._types import Float64, Int64

NEIGHBOURS = 64  # points that a row of the factor takes in: more make fewer iterations and a dearer factor. Tuned.
QUERIES = 512  # points whose neighbours are looked for in one call
_SYSTEM_ELEMENTS = 2**21  # elements of the small matrices that are solved together
_JITTER = 1e-13  # added to the diagonal of the small matrices, which may be singular to rounding


def inverse_factor(rows: Float64, concentration: float, ridge: float) -> Any:
    """Return a sparse G (n, n) with ``G^T G`` near the inverse of the kernel matrix plus ``ridge`` times I."""
    from scipy.sparse import csr_array

    n, k = len(rows), min(NEIGHBOURS, len(rows) - 1)
    _checks.memory(48.0 * n * (k + 1), f"the preconditioner for {n} points", "take fewer points")
    # Step 1: draw an order, and find the nearest points that come earlier
    order = np.random.default_rng(0).permutation(n)
    near = _earlier_neighbours(rows[order], k)  # (n, k+1), -1 where there are fewer
    # Step 2: solve for the coefficients of each row
    data = np.empty(near.shape)
    step = max(1, _SYSTEM_ELEMENTS // (k + 1) ** 2)
    for i in range(0, n, step):
        data[i : i + step] = _predictions(rows[order], near[i : i + step], concentration, ridge=ridge)
    # Step 3: put the rows where the points are
    valid = near >= 0
    lines = np.broadcast_to(order[:, None], near.shape)[valid]
    return csr_array((data[valid], (lines, order[near[valid]])), shape=(n, n))


def _earlier_neighbours(rows: Float64, k: int) -> Int64:
    """Return for each row its own index and those of the k nearest rows before it, (n, k+1), filled with -1."""
    from scipy.spatial import cKDTree

    n = len(rows)
    near = np.full((n, k + 1), -1, dtype=np.int64)
    near[:, 0] = np.arange(n)
    start = 1
    while start < n:  # each range is as long as what comes before it, so that half of all neighbours are earlier
        stop = min(n, max(2 * start, 2 * k))
        count = stop if start == 1 else min(stop, 5 * k // 2 + 16)
        tree, ranks = cKDTree(rows[:stop]), range(1, count + 1)
        cuts = slices(stop - start, QUERIES)  # between them an interruption is heeded
        index = np.concatenate([tree.query(rows[start:stop][part], k=ranks)[1] for part in cuts])  # (stop-start, count)
        later = index >= np.arange(start, stop)[:, None]
        places = np.argsort(later, axis=1, kind="stable")[:, :k]
        near_rows = np.where(np.take_along_axis(later, places, 1), -1, np.take_along_axis(index, places, 1))
        near[start:stop, 1 : 1 + near_rows.shape[1]] = near_rows
        start = stop
    return near


def _predictions(rows: Float64, near: Int64, concentration: float, ridge: float) -> Float64:
    """Return the rows of the factor for some points, (b, k+1), each with 1 + k places."""
    missing = near < 0
    # Step 1: the kernel matrix of each point and its neighbours
    y = rows[np.where(missing, 0, near)] - rows[near[:, :1]]  # (b, k+1, d): small, so that products keep their digits
    squares = np.einsum("ijc,ijc->ij", y, y)  # (b, k+1)
    a = squares[:, :, None] + squares[:, None, :] - 2.0 * (y @ y.transpose(0, 2, 1))  # (b, k+1, k+1)
    np.exp(np.maximum(a, 0.0, out=a) * (-0.5 * concentration), out=a)
    a[missing] = 0.0
    a.transpose(0, 2, 1)[missing] = 0.0
    diagonal = np.arange(near.shape[1])
    a[:, diagonal, diagonal] = 1.0 + ridge + _JITTER
    # Step 2: its inverse's first column, divided by the root of its first element
    first = np.zeros((len(near), near.shape[1], 1))
    first[:, 0] = 1.0
    solutions = np.linalg.solve(a, first)[:, :, 0]  # (b, k+1)
    return np.asarray(solutions / np.sqrt(np.abs(solutions[:, :1])))
