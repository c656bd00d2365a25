"""Moments of the terms of a head about centres of cells, and bounds of their change within the cells.

The control point b_k has the exponent ``E_k = rate |c - b_k|^2`` at the centre c, for a softmax less the least one, and
within a cell it changes by at most ``y_k = 2 rate q |c - b_k|``, q the largest chord from c to a point of the cell.
Terms with ``E_k - y_k`` above a cut are left out.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine


@subroutine
def near_terms(
    c: Float64, b: Float64, rate: float, chord: float, cut: float, shifted: bool, squares: Float64, near: Int64
) -> tuple[int, float]:
    """Write squared distances (n,) of control points (d, n), list those that are kept, and return count and shift."""
    squares[:] = 0.0
    for axis in range(len(b)):
        row = b[axis]
        for k in range(len(squares)):
            squares[k] += (row[k] - c[axis]) * (row[k] - c[axis])
    least = squares.min() if shifted else 0.0
    # E - y <= cut where (r - chord)^2 <= (cut / rate + least) + chord^2
    reach = (chord + math.sqrt(chord * chord + cut / rate + least)) ** 2 if rate > 0.0 else math.inf
    count = 0
    for k in range(len(squares)):
        if squares[k] <= reach:
            near[count] = k
            count += 1
    return count, least


@subroutine
def grown(w: float, exponent: float, y: float) -> tuple[float, float]:
    """Return ``w (e^y - 1)`` and ``w (e^y - 1 - y)`` for ``w = e^-exponent``, without overflow at large y."""
    if y < 1e-2:
        return w * y * (1.0 + 0.51 * y), w * (0.5 * y * y) * (1.0 + 0.4 * y)
    first = math.exp(y - exponent) - w
    return first, first - w * y


@njit
def local_moments(
    x: Float64, chords: Float64, b: Float64, values: Float64, rate: float, normalize: bool, cut: float,
    slopes: Float64, drifts: Float64, rests: Float64, growths: Float64,
) -> None:  # fmt: skip
    """Write the moments of 6.3 for cells with centres x (m, d): G (m, p, d), beta (m, d), S (m,) and Z (m,).

    b (d, n) and values (n, p). With weights w_k, which sum to 1 if `normalize`, and terms ``a_k = v_k - h`` (v_k for
    plain sums): ``G = 2 rate sum w a (b - c)``, ``beta = sum w (b - c)``, ``S = sum w |a| (e^y - 1 - y)`` and
    ``Z = sum w (e^y - 1 - y)``.
    """
    d, n = b.shape
    p = values.shape[1]
    squares, near, weights = np.empty(n), np.empty(n, np.int64), np.empty(n)
    mean, step, rows = np.empty(p), np.empty(d), np.ascontiguousarray(b.T)
    for i in range(len(x)):
        c, chord = x[i], chords[i]
        count, least = near_terms(c, b, rate, chord, cut, normalize, squares, near)
        # Step 1: the head at the centre
        mean[:] = 0.0
        total = 0.0
        for j in range(count):
            k = near[j]
            weights[j] = math.exp(-rate * (squares[k] - least))
            total += weights[j]
            for r in range(p):
                mean[r] += weights[j] * values[k, r]
        if normalize:
            mean /= total
        else:
            mean[:] = 0.0
            total = 1.0
        # Step 2: moments of the terms
        slopes[i] = 0.0
        drifts[i] = 0.0
        rest = growth = 0.0
        for j in range(count):
            k = near[j]
            w = weights[j]
            _, second = grown(w, rate * (squares[k] - least), 2.0 * rate * chord * math.sqrt(squares[k]))
            for axis in range(d):
                step[axis] = w * (rows[k, axis] - c[axis])
                drifts[i, axis] += step[axis]
            size = 0.0
            for r in range(p):
                a = values[k, r] - mean[r]
                size += a * a
                for axis in range(d):
                    slopes[i, r, axis] += a * step[axis]
            rest += second * math.sqrt(size)
            growth += second
        slopes[i] *= 2.0 * rate / total
        drifts[i] /= total
        rests[i], growths[i] = rest / total, growth / total


@njit
def angle_moments(
    x: Float64, chords: Float64, radii: Float64, b: Float64, rate: float, cut: float,
    means: Float64, slopes: Float64, turns: Float64, drifts: Float64, rests: Float64,
) -> None:  # fmt: skip
    """Write the moments of 6.3 for the mean angle W: W (m,), G (m, d), e (m, d), beta (m, d) and the rest (m,).

    ``radii`` are the angular radii of the cells. ``G = 2 rate sum w (theta - W)(b - c)``, e the mean of the unit
    tangent vectors towards b_k, and the rest is ``sum w [|theta - W| (e^y - 1 - y) + delta (e^y - 1) + q]``, q a bound
    of what the angle grows by beyond its linear part.
    """
    d, n = b.shape
    squares, near, weights = np.empty(n), np.empty(n, np.int64), np.empty(n)
    angles, rows = np.empty(n), np.ascontiguousarray(b.T)
    for i in range(len(x)):
        c, delta = x[i], radii[i]
        count, least = near_terms(c, b, rate, chords[i], cut, True, squares, near)
        # Step 1: the mean angle at the centre
        total = mean = 0.0
        for j in range(count):
            k = near[j]
            weights[j] = math.exp(-rate * (squares[k] - least))
            angles[j] = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(squares[k])))
            total += weights[j]
            mean += weights[j] * angles[j]
        mean /= total
        # Step 2: moments of the terms
        slopes[i] = 0.0
        turns[i] = 0.0
        drifts[i] = 0.0
        rest = 0.0
        for j in range(count):
            k = near[j]
            w, theta = weights[j], angles[j]
            y = 2.0 * rate * chords[i] * math.sqrt(squares[k])
            first, second = grown(w, rate * (squares[k] - least), y)
            sine = math.sin(theta)
            bend = 2.0 * delta
            if theta > delta:
                bend = min(bend, 0.5 * delta * delta * max(0.0, 1.0 / math.tan(theta - delta)))
            inner = 1.0 - 0.5 * squares[k]
            for axis in range(d):
                step = rows[k, axis] - c[axis]
                slopes[i, axis] += w * (theta - mean) * step
                drifts[i, axis] += w * step
                if sine > 1e-12:
                    turns[i, axis] += w * (rows[k, axis] - inner * c[axis]) / sine
            if sine <= 1e-12:
                bend = 2.0 * delta
            rest += second * abs(theta - mean) + delta * first + w * bend
        slopes[i] *= 2.0 * rate / total
        turns[i] /= total
        drifts[i] /= total
        means[i], rests[i] = mean, rest / total
