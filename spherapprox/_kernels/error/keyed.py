"""Moments of the terms of a head whose control points have concentrations of their own, about centres of cells.

Weights, exponents and sums are those of `moments`, with keys ``c_k = lambda_k b_k``: within a cell ``log w_k`` changes
by at most ``y_k = q |c_k - o|``, but for what is common to all k; the origin o is the weighted mean of the keys, for
plain sums a multiple of the centre.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine
from . import ROUNDING
from .moments import EPSILON, add_term, write_mean, write_squares


@subroutine
def write_logits(
    squares: Float64, concentrations: Float64, normalize: bool, exponents: Float64, weights: Float64
) -> tuple[int, float]:  # fmt: skip
    """Write exponents (n,), for a softmax less that of the largest logit, and weights; return its index and the sum."""
    best, highest, total = -1, -math.inf, 0.0
    if normalize:
        for k in range(len(squares)):
            logit = concentrations[k] * (1.0 - 0.5 * squares[k])
            if logit > highest:
                best, highest = k, logit
    for k in range(len(squares)):
        exponents[k] = 0.5 * concentrations[k] * squares[k]
        if normalize:
            exponents[k] -= 0.5 * concentrations[best] * squares[best]
            exponents[k] += concentrations[best] - concentrations[k]
        weights[k] = math.exp(-exponents[k])
        total += weights[k]
    return best, total if normalize else 1.0


@subroutine
def write_origin(
    c: Float64, keys: Float64, values: Float64, concentrations: Float64, weights: Float64, total: float,
    normalize: bool, origin: Float64,
) -> None:  # fmt: skip
    """Write the mean of the keys (n, d), for plain sums c times the mean concentration by the sizes of terms."""
    mass = pull = 0.0
    for axis in range(len(c)):
        origin[axis] = 0.0
    for k in range(len(keys)):
        size = 0.0
        for r in range(values.shape[1]):
            size += abs(values[k, r])
        mass += weights[k] * size
        pull += weights[k] * size * concentrations[k]
        if normalize:
            for axis in range(len(c)):
                origin[axis] += weights[k] / total * keys[k, axis]
    if not normalize and mass > 0.0:
        for axis in range(len(c)):
            origin[axis] = pull / mass * c[axis]


@subroutine
def parts_of(concentrations: Float64, squares: Float64, k: int, best: int, chord: float, length: float) -> float:
    """Return the sizes of what a term's exponent and its change come from: their roundings are shares of it."""
    # 6.5, rounding: s_k
    parts = 0.5 * concentrations[k] * squares[k] + 2.0 * chord * (concentrations[k] + length)
    if best >= 0:
        parts += 0.5 * concentrations[best] * squares[best] + abs(concentrations[best] - concentrations[k])
    return parts


@njit
def keyed_moments(
    x: Float64, target: Float64, chords: Float64, b: Float64, keys: Float64, values: Float64, concentrations: Float64,
    normalize: bool, cut: float, slopes: Float64, origins: Float64, sums: Float64,
) -> None:  # fmt: skip
    """Write the moments of `local_moments` for control points with concentrations (n,) of their own.

    Keys (n, d) are ``concentrations b``; in place of ``2 rate (b - o)`` there is the key less their origin, which is
    written in place of o.
    """
    d, n = b.shape
    p = values.shape[1]
    squares, exponents, weights, near = np.empty(n), np.empty(n), np.empty(n), np.arange(n)
    mean, step, reference, fine = np.zeros(p), np.empty(d), -1, 4.0 * (d + 16) * EPSILON
    slopes[:], sums[:] = 0.0, 0.0
    for i in range(len(x)):
        # Step 1: the weights, the origin, and the head at the centre
        write_squares(x[i], b, squares)
        best, total = write_logits(squares, concentrations, normalize, exponents, weights)
        write_origin(x[i], keys, values, concentrations, weights, total, normalize, origins[i])
        if normalize:
            reference = write_mean(near, weights, n, values, mean)
        farthest = longest = 0.0
        length = math.sqrt(np.sum(origins[i] * origins[i]))
        # Step 2: moments of the terms
        for k in range(n):
            w, distance, size, off = weights[k] / total, 0.0, 0.0, 0.0
            for axis in range(d):
                step[axis] = keys[k, axis] - origins[i, axis]
                distance += step[axis] * step[axis]
            for r in range(p):
                a = values[k, r]
                off += (a - target[i, r]) * (a - target[i, r])
                if normalize:
                    a = (a - values[reference, r]) - mean[r]
                size += a * a
                for axis in range(d):
                    slopes[i, r, axis] += w * a * step[axis]
            y = chords[i] * math.sqrt(distance)
            add_term(weights[k], total, exponents[k], y, math.sqrt(size), math.sqrt(off), sums[i])
            parts = parts_of(concentrations, squares, k, best, chords[i], length)
            if not exponents[k] - y - fine * parts > cut:
                farthest, longest = max(farthest, parts), max(longest, concentrations[k])
        sums[i, ROUNDING] = fine * farthest + EPSILON * n * (1.0 + 2.0 * chords[i] * longest)
