"""Moments of the terms of a head about centres of cells, for its derivatives there and their change within the cells.

Weights, origins and the numbers y_k are those of `moments`. Coordinates are along the tangent vectors of a frame, and
last along the centre itself.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine
from . import E_B, E_V, E_VB, E_VBB, G_BB, G_VB, KAPPA, NOISE, V_B, V_BB, ZETA, V
from .moments import bound_growth, list_near, uncertainty, write_mean, write_squares

SUMS = NOISE + 1  # number of sums of absolute terms


@subroutine
def add_sums(
    w: float, first: float, second: float, size: float, distance: float, radial: float, sums: Float64
) -> None:  # fmt: skip
    """Add a term's share of the absolute sums; ``first`` and ``second`` are ``w (e^y - 1)`` and ``w (e^y - 1 - y)``."""
    sums[ZETA] += second
    sums[E_B] += second * distance
    sums[E_V] += second * size
    sums[E_VB] += second * size * distance
    sums[E_VBB] += second * size * distance * distance
    sums[G_BB] += first * distance * distance
    sums[G_VB] += first * size * distance
    sums[V] += w * size
    sums[V_B] += w * size * distance
    sums[V_BB] += w * size * distance * distance
    sums[KAPPA] += w * size * distance * distance * abs(radial)


@subroutine
def add_powers(
    w: float, a: Float64, z: Float64, depth: int, firsts: Float64, seconds: Float64, thirds: Float64
) -> None:  # fmt: skip
    """Add ``w a z``, for a depth of 2 ``w a z z``, i >= j, for 3 ``w a z z z`` of tangent coordinates, i >= j >= k."""
    d = len(z)
    for r in range(len(a)):
        for i in range(d):
            linear = w * a[r] * z[i]
            firsts[r, i] += linear
            if depth > 1:
                for j in range(i + 1):
                    square = linear * z[j]
                    seconds[r, i, j] += square
                    if depth > 2 and i < d - 1:
                        for k in range(j + 1):
                            thirds[r, i, j, k] += square * z[k]


@njit
def local_cumulants(
    x: Float64, frames: Float64, chords: Float64, b: Float64, rows: Float64, values: Float64, rate: float,
    normalize: bool, cut: float, depth: int, means: Float64, firsts: Float64, seconds: Float64, thirds: Float64,
    pairs: Float64, sums: Float64,
) -> None:  # fmt: skip
    """Add the moments of 6.6 for cells with centres x (n, d) and frames (n, d, d), the last row of which is x.

    b (d, N), the same as rows (N, d), and values (N, p). With weights that sum to 1 if `normalize`, ``a_k = v_k - h``
    (v_k for plain sums) and z the coordinates of b_k - o: means (n, p) of v (0 for a softmax), ``sum w a z`` (n, p, d),
    for a depth of 2 ``sum w a z z`` (n, p, d, d), for 3 ``sum w a z z z`` of the tangent coordinates (n, p, m, m, m),
    of both the entries with falling indices alone, ``sum w z z`` (n, d, d), and the absolute sums (n, SUMS).
    """
    d, n = b.shape
    p = values.shape[1]
    squares, near, weights = np.empty(n), np.empty(n, np.int64), np.empty(n)
    mean, a, z, origin = np.zeros(p), np.empty(p), np.empty(d), np.empty(d)
    reference = -1
    for i in range(len(x)):
        # Step 1: the weights, and the head at the centre
        write_squares(x[i], b, squares)
        count, least, total = list_near(x[i], rows, squares, rate, chords[i], cut, normalize, near, weights, origin)
        if normalize:
            reference = write_mean(near, weights, count, values, mean)
        sums[i, NOISE] = uncertainty(d, count, rate, least, chords[i], cut)
        # Step 2: moments of the terms
        for j in range(count):
            k, w, distance, size = near[j], weights[j] / total, 0.0, 0.0
            for axis in range(d):
                z[axis] = 0.0
                for column in range(d):
                    z[axis] += frames[i, axis, column] * (rows[k, column] - origin[column])
                distance += z[axis] * z[axis]
            for r in range(p):
                a[r] = values[k, r]
                if normalize:
                    a[r] = (a[r] - values[reference, r]) - mean[r]
                else:
                    means[i, r] += w * a[r]
                size += a[r] * a[r]
            distance, size = math.sqrt(distance), math.sqrt(size)
            first, second = bound_growth(weights[j], rate * (squares[k] - least), 2.0 * rate * chords[i] * distance)
            add_sums(w, first / total, second / total, size, distance, z[d - 1], sums[i])
            add_powers(w, a, z, depth, firsts[i], seconds[i], thirds[i])
            if chords[i] > 0.0:
                for axis in range(d):
                    for column in range(d):
                        pairs[i, axis, column] += w * z[axis] * z[column]


@njit
def absolute_derivatives(
    x: Float64, chords: Float64, b: Float64, sizes: Float64, concentration: float, order: int, longest: float,
    bounds: Float64,
) -> None:  # fmt: skip
    """Write the bound 6.6 (far) of a plain sum's derivative of order 1 or 2 in cells.

    ``sizes`` are the |v_k| (N,), and no b_k (d, N) is longer than `longest`.
    """
    n = len(sizes)
    squares = np.empty(n)
    top = math.sqrt(order / concentration)  # where s^order e^(-concentration s^2 / 2) is largest
    lead = concentration if order == 1 else concentration * (concentration + 0.5)
    for i in range(len(x)):
        write_squares(x[i], b, squares)
        bound = 0.0
        for k in range(n):
            distance = math.sqrt(squares[k])
            low, high = max(distance - chords[i], 0.0), distance + chords[i]
            exponent = 0.5 * concentration * low * low
            if exponent > 700.0:
                continue
            s = min(max(top, low), high)
            term = lead * s**order * math.exp(-0.5 * concentration * s * s)
            if order == 2:
                term = max(term, longest * concentration * math.exp(-exponent))
            bound += sizes[k] * term
        bounds[i] = bound
