"""Moments of the terms of a head about centres of cells, and bounds of their change within the cells.

The control point b_k has the exponent ``E_k = rate |c - b_k|^2`` at the centre c, for a softmax less the least one, and
the weight ``w_k = e^-E_k``. Within a cell ``log w_k`` changes by at most ``y_k = 2 rate q |b_k - o|``, but for what is
common to all k: q is the largest chord from c to a point of the cell, the origin o is the weighted mean of the control
points, for plain sums c itself. Terms with ``E_k - y_k`` above a cut are left out.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import FAR_WEIGHT, GROWTH, REST, ROUNDING, SPREAD

EPSILON = 2.0**-52  # the unit of rounding
FAR = 12.0
"""Exponents from which on terms are not of the range of values near a cell, but add their share of the largest."""


@subroutine
def write_squares(c: Float64, b: Float64, squares: Float64) -> None:
    """Write the squared distances (n,) of control points (d, n)."""
    for k in range(len(squares)):
        squares[k] = 0.0
    for axis in range(len(b)):
        coordinate = c[axis]
        for k in range(len(squares)):
            squares[k] += (b[axis, k] - coordinate) * (b[axis, k] - coordinate)


@subroutine
def list_below(squares: Float64, limit: float, near: Int64) -> int:
    """List the control points with squared distances up to a limit, and return their number."""
    count = 0
    for k in range(len(squares)):
        if squares[k] <= limit:
            near[count] = k
            count += 1
    return count


@subroutine
def list_near(
    c: Float64, rows: Float64, squares: Float64, rate: float, chord: float, cut: float, normalize: bool,
    near: Int64, weights: Float64, origin: Float64,
) -> tuple[int, float, float]:  # fmt: skip
    """List the terms that are kept with their weights, write the origin o; return count, shift and sum of weights."""
    least, room, apart, total = 0.0, math.inf, 0.0, 1.0
    for axis in range(len(c)):
        origin[axis] = 0.0 if normalize else c[axis]
    if normalize:
        least, total = squares[0], 0.0
        for k in range(len(squares)):
            least = min(least, squares[k])
    if rate > 0.0:
        room = cut / rate + least
    if normalize:
        count = list_below(squares, room, near)
        for j in range(count):
            k = near[j]
            w = math.exp(-rate * (squares[k] - least))
            total += w
            for axis in range(len(c)):
                origin[axis] += w * rows[k, axis]
        for axis in range(len(c)):
            origin[axis] /= total
            apart += (origin[axis] - c[axis]) * (origin[axis] - c[axis])
        apart = math.sqrt(apart)
    # |b - o| <= r + |o - c|, and E - y <= cut where (r - q)^2 <= room + q^2 + 2 q |o - c|
    reach = chord + math.sqrt(chord * chord + 2.0 * chord * apart + room)
    count = list_below(squares, reach * reach, near)
    for j in range(count):
        weights[j] = math.exp(-rate * (squares[near[j]] - least))
    return count, least, total


@subroutine
def uncertainty(d: int, count: int, rate: float, least: float, chord: float, cut: float) -> float:
    """Bound the relative roundings of weights and of their growth, but for a common factor, and of their sums."""
    # 6.5, rounding: |b - c|^2 and |b - o| are within (d + 16) units of rounding, E - y <= cut, y <= 4 rate q
    return EPSILON * (4.0 * (d + 16) * (rate * least + cut + 8.0 * rate * chord) + count)


@subroutine
def write_mean(near: Int64, weights: Float64, count: int, values: Float64, mean: Float64) -> int:
    """Write the mean of the values less the heaviest term's, whose index is returned: no digits of changes are lost."""
    heaviest, total = 0, 0.0
    for j in range(count):
        total += weights[j]
        if weights[j] > weights[heaviest]:
            heaviest = j
    reference = near[heaviest]
    for r in range(len(mean)):
        mean[r] = 0.0
        for j in range(count):
            mean[r] += weights[j] * (values[near[j], r] - values[reference, r])
        mean[r] /= total
    return reference


@subroutine
def bound_growth(w: float, exponent: float, y: float) -> tuple[float, float]:
    """Bound ``w (e^y - 1)`` and ``w (e^y - 1 - y)`` for ``w = e^-exponent``, without overflow at large y."""
    if y < 1e-2:
        return w * y * (1.0 + 0.51 * y), w * (0.5 * y * y) * (1.0 + 0.4 * y)
    first = math.exp(y - exponent) - w
    return first, first - w * y


@subroutine
def add_term(w: float, total: float, exponent: float, y: float, size: float, off: float, sums: Float64) -> None:
    """Add a term to S and Z, and to the spread or the far weights."""
    _, second = bound_growth(w, exponent, y)
    sums[REST] += second / total * size
    sums[GROWTH] += second / total
    if exponent - y < FAR:
        sums[SPREAD] = max(sums[SPREAD], off)
    else:
        sums[FAR_WEIGHT] += math.exp(y - exponent) / total


@njit
def local_moments(
    x: Float64, target: Float64, chords: Float64, b: Float64, rows: Float64, values: Float64, rate: float,
    normalize: bool, cut: float, slopes: Float64, origins: Float64, sums: Float64,
) -> None:  # fmt: skip
    """Write the moments of 6.5 for cells with centres x (m, d): G (m, p, d), o (m, d) and sums (m, 5).

    b (d, n), the same as rows (n, d), and values (n, p). With weights that sum to 1 if `normalize`, and terms
    ``a_k = v_k - h`` (v_k for plain sums): ``G = 2 rate sum w a (b - o)``, and the sums are
    ``S = sum w |a| (e^y - 1 - y)``, ``Z = sum w (e^y - 1 - y)``, the largest ``|wanted - v_k|`` of the terms with
    ``E - y`` below FAR, ``sum w e^y`` of the others, and the weights' uncertainty.
    """
    d, n = b.shape
    p = values.shape[1]
    squares, near, weights = np.empty(n), np.empty(n, np.int64), np.empty(n)
    mean, step, reference = np.zeros(p), np.empty(d), -1
    slopes[:], sums[:] = 0.0, 0.0
    for i in range(len(x)):
        # Step 1: the weights, and the head at the centre
        write_squares(x[i], b, squares)
        count, least, total = list_near(
            x[i], rows, squares, rate, chords[i], cut, normalize, near, weights, origins[i]
        )  # fmt: skip
        if normalize:
            reference = write_mean(near, weights, count, values, mean)
        # Step 2: moments of the terms
        for j in range(count):
            k, w = near[j], weights[j] / total
            distance = size = off = 0.0
            for axis in range(d):
                step[axis] = rows[k, axis] - origins[i, axis]
                distance += step[axis] * step[axis]
            for r in range(p):
                a = values[k, r]
                off += (a - target[i, r]) * (a - target[i, r])
                if normalize:
                    a = (a - values[reference, r]) - mean[r]
                size += a * a
                for axis in range(d):
                    slopes[i, r, axis] += 2.0 * rate * w * a * step[axis]
            y = 2.0 * rate * chords[i] * math.sqrt(distance)
            add_term(weights[j], total, rate * (squares[k] - least), y, math.sqrt(size), math.sqrt(off), sums[i])
        sums[i, ROUNDING] = uncertainty(d, count, rate, least, chords[i], cut)


@njit
def angle_moments(
    x: Float64, chords: Float64, radii: Float64, b: Float64, rows: Float64, rate: float, cut: float,
    means: Float64, slopes: Float64, turns: Float64, rests: Float64, roundings: Float64,
) -> None:  # fmt: skip
    """Write the moments of 6.5 for the mean angle W: W (m,), G (m, d), e (m, d), the rest and uncertainties (m,).

    ``radii`` are the angular radii delta of the cells. ``G = 2 rate sum w (theta - W)(b - o)``, e is the mean of the
    unit tangent vectors towards b_k, and the rest is ``sum w [|theta - W| (e^y - 1 - y) + delta (e^y - 1) + q]``, q a
    bound of what the angle grows by beyond its linear part.
    """
    d, n = b.shape
    squares, near, weights = np.empty(n), np.empty(n, np.int64), np.empty(n)
    angles, origin = np.empty(n), np.empty(d)
    for i in range(len(x)):
        c, delta = x[i], radii[i]
        # Step 1: the weights, and the mean angle at the centre
        write_squares(c, b, squares)
        count, least, total = list_near(c, rows, squares, rate, chords[i], cut, True, near, weights, origin)
        mean = 0.0
        for j in range(count):
            angles[j] = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(squares[near[j]])))
            mean += weights[j] * angles[j]
        mean /= total
        # Step 2: moments of the terms
        for axis in range(d):
            slopes[i, axis] = turns[i, axis] = 0.0
        remainder = 0.0
        for j in range(count):
            k, w, theta = near[j], weights[j], angles[j]
            distance, sine, inner = 0.0, math.sin(theta), 1.0 - 0.5 * squares[k]
            for axis in range(d):
                step = rows[k, axis] - origin[axis]
                distance += step * step
                slopes[i, axis] += 2.0 * rate / total * w * (theta - mean) * step
                if sine > 1e-12:
                    turns[i, axis] += w / total * (rows[k, axis] - inner * c[axis]) / sine
            bend = 2.0 * delta
            if theta > delta and sine > 1e-12:
                bend = min(bend, 0.5 * delta * delta * max(0.0, 1.0 / math.tan(theta - delta)))
            y = 2.0 * rate * chords[i] * math.sqrt(distance)
            first, second = bound_growth(w, rate * (squares[k] - least), y)
            remainder += second * abs(theta - mean) + delta * first + w * bend
        means[i], rests[i] = mean, remainder / total
        roundings[i] = uncertainty(d, count, rate, least, chords[i], cut)
