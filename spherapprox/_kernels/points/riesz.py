"""Repulsion between points: sums over all pairs of powers of their distance, one row of the table of pairs at a time.

Rows are taken side by side, as vectors, and each adds its pairs in one order, so that the results are the same for any
cut into ranges of rows.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine

ROWS = 128  # rows that run side by side: their sums stay in the first cache


@subroutine
def _add_square(own: Float64, coordinate: float, r2: Float64) -> None:
    """Add the squared differences in one coordinate."""
    for i in range(r2.size):
        step = own[i] - coordinate
        r2[i] += step * step


@subroutine
def _add_force(own: Float64, coordinate: float, w: Float64, force: Float64) -> None:
    """Add the differences in one coordinate, weighted."""
    for i in range(w.size):
        force[i] += w[i] * (own[i] - coordinate)


@subroutine
def _power(q: Float64, exponent: float, base: Float64, w: Float64) -> None:
    """Fill w with q^(exponent/2): by multiplications and a square root for a whole exponent."""
    integer = int(min(exponent, 1e6))
    if integer != exponent:
        for i in range(w.size):
            w[i] = q[i] ** (0.5 * exponent)
        return
    for i in range(w.size):  # base[:] = q would compile the message that shapes differ with it, for seconds
        w[i] = math.sqrt(q[i]) if integer % 2 else 1.0
        base[i] = q[i]
    bits = integer // 2
    while bits:
        if bits % 2:
            for i in range(w.size):
                w[i] *= base[i]
        for i in range(w.size):
            base[i] *= base[i]
        bits //= 2


@subroutine
def _squared_distances(own: Float64, x: Float64, j: int, r2: Float64) -> None:
    """Fill r2 with the squared distances of point j from those in `own` (d, rows)."""
    r2[:] = 0.0
    for k in range(len(x)):
        _add_square(own[k], x[k, j], r2)


@njit
def repulsion(
    x: Float64, start: int, exponent: float, scale: Float64, nearest: Float64, total: Float64, force: Float64
) -> None:
    """Sum the repulsion over j != i, for i = start, ..., start + len(nearest) - 1; x holds coordinates as rows, (d, n).

    With r = |x_i - x_j| and q = scale_i/r^2: `nearest` (rows,) is the least r^2; `total` (rows,) the sum of
    q^(exponent/2), for exponent 0 that of log q; `force` (d, rows) that of q^(exponent/2 + 1) (x_i - x_j).
    """
    rows = len(nearest)
    own = x[:, start : start + rows].copy()  # (d, rows)
    r2, w, base = np.empty(rows), np.empty(rows), np.empty(rows)
    nearest[:], total[:], force[:] = np.inf, 0.0, 0.0
    for j in range(x.shape[1]):
        # Step 1: r^2 of all rows from point j, and the least
        _squared_distances(own, x, j, r2)
        if 0 <= j - start < rows:
            r2[j - start] = np.inf
        for i in range(rows):
            nearest[i] = r2[i] if r2[i] < nearest[i] else nearest[i]
        if exponent == 0.0 and 0 <= j - start < rows:
            r2[j - start] = scale[j - start]  # whose logarithm is 0, and the force is 0 anyway
        # Step 2: q, and its power for the energy and for the force
        for i in range(rows):
            r2[i] = scale[i] / r2[i]
        if exponent > 0.0:
            _power(r2, exponent, base, w)
            for i in range(rows):
                total[i] += w[i]
                w[i] *= r2[i]
        else:
            for i in range(rows):
                total[i] += math.log(r2[i])
                w[i] = r2[i]
        # Step 3: the force
        for k in range(len(x)):
            _add_force(own[k], x[k, j], w, force[k])
