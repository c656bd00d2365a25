"""The largest radius of a cell of S^2 in n cells, without going through all its collars: docs/theorems.md, 5.6."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine
from . import cap, zone

MIDPOINT, SMALLEST_CAP, CENTROID = 0, 1, 2

SPHERE = np.int64(2)
"""The dimension of S^2, typed: for a literal numba would compile all that is below once more."""

ROUNDING = 1e-14
"""Relative error that a computed radius or bound never reaches here."""


@subroutine
def about(kind: int, m: int, lower: float, upper: float, across: float, spread: float) -> float:
    """Return the radius of a cell of S^m about its centre; for centroids, which depend on more, a bound of it.

    `spread` is at least 1 - l^2, l the length of the mean vector of the cell inside.
    """
    if kind == MIDPOINT:
        return zone.radius(lower, upper, zone.midpoint(lower, upper), across)
    if kind == SMALLEST_CAP:
        return zone.radius(lower, upper, zone.smallest_cap(lower, upper, across), across)
    sine, cosine = zone.means(m, lower, upper)
    return about_extremes(lower, upper, across, spread, sine, cosine)


@subroutine
def about_extremes(lower: float, upper: float, across: float, spread: float, sine: float, cosine: float) -> float:
    """Return a bound of the radius about the centroid from the means of sine and cosine."""
    inner = math.atan2(sine * least_length(across, spread), cosine)
    return about_between(lower, upper, across, inner, math.atan2(sine, cosine))


@subroutine
def least_length(across: float, spread: float) -> float:
    """Return a lower bound of the length of the mean vector of a cell of radius `across`."""
    return max(0.0, math.cos(across), math.sqrt(max(0.0, 1.0 - spread)))


@subroutine
def about_between(lower: float, upper: float, across: float, one: float, other: float) -> float:
    """Return the largest radius about a centre between the colatitudes `one` and `other`."""
    result = max(zone.radius(lower, upper, one, across), zone.radius(lower, upper, other, across))
    if across > 0.5 * math.pi:
        # the farthest centre from an end of the zone may lie inside
        first, last = min(one, other), max(one, other)
        result = max(result, zone.radius(first, last, lower, across), zone.radius(first, last, upper, across))
    return result


@njit
def allowed(lower: float, upper: float, one: float, other: float, threshold: float) -> float:
    """Return up to which radius inside, pi/2 at most, `about_between` is at most the threshold; 0 if it never is."""
    square, result = math.sin(0.5 * min(threshold, math.pi)) ** 2, 1.0
    for t in (lower, upper):
        for center in (one, other):
            left = square - math.sin(0.5 * (t - center)) ** 2
            product = math.sin(t) * math.sin(center)
            if left < result * product:
                result = left / product
    if result <= 0.0:
        return 0.0
    return 2.0 * math.asin(min(math.sqrt(result), math.sqrt(0.5)))


@subroutine
def of_arcs(kind: int, lower: float, upper: float, arcs: int) -> float:
    """Return the radius of the cells of a collar of S^2."""
    half = math.pi / arcs
    if kind != CENTROID:
        return about(kind, SPHERE, lower, upper, half, 1.0)
    center, _ = zone.centroid(SPHERE, lower, upper, math.sin(half) / half if arcs > 1 else 0.0)
    return zone.radius(lower, upper, center, half)


@subroutine
def rest(kind: int, n: float, angle: float, step: Any) -> float:
    """Return a bound of the radii of all collars of S^2 between colatitudes `angle` and pi - `angle`: (1) of 5.6."""
    sine, cosine = math.sin(angle), math.cos(angle)
    moved = (1.0 / n + 4e-15) / sine
    narrow, wide = step[0] - 2.0 * moved, step[1] + 2.0 * moved
    if narrow <= 0.0 or wide >= math.pi:
        return math.pi
    shift = 0.0
    if kind == CENTROID:
        outwards = cosine / sine * (wide - math.sin(wide)) / (wide + math.sin(wide))
        loss = (math.pi / (n * sine * math.sin(0.5 * narrow))) ** 2 / 6.0
        if loss >= 0.5:
            return math.pi
        shift = math.atan(max(outwards, loss / (1.0 - loss) * sine * (1.0 + outwards / sine)))
    cot, across = cosine / sine, math.pi / (2.0 * n * math.sin(0.5 * narrow))
    far, near = math.sin(0.5 * wide), math.sin(shift)
    square = math.sin(0.25 * wide + 0.5 * shift) ** 2 + across * across * (1.0 + cot * far) * (1.0 + cot * near)
    return 2.0 * math.asin(math.sqrt(square)) * (1.0 + ROUNDING) if square < 1.0 else math.pi


@njit
def of_count(kind: int, n: int) -> float:
    """Return the largest cell radius of S^2 in n cells."""
    if n <= 2:
        return math.pi / n
    angle, fitting, collars = cap.layout(n)
    largest, lower, upper = angle, angle, math.pi - angle
    first, last = 1, n - 1
    for j in range((collars + 1) // 2):
        # collar j from the north and collar j from the south, which are one in the middle
        inner = cap.first_of(n, angle, fitting, collars, j + 1)
        below = cap.boundary(n, inner)
        largest = max(largest, of_arcs(kind, lower, below, inner - first))
        if 2 * j + 1 == collars:
            break
        first, lower = inner, below
        inner = cap.first_of(n, angle, fitting, collars, collars - j - 1)
        above = cap.boundary(n, inner)
        largest = max(largest, of_arcs(kind, above, upper, last - inner))
        last, upper = inner, above
        if rest(kind, float(n), min(lower, math.pi - upper, angle + (j + 1) * fitting), (fitting, fitting)) <= largest:
            break
    return largest


@subroutine
def cells_of(n: int, threshold: float, radius: Float64, length: Float64) -> int:
    """Write radius about the centroid and mean vector's length of the cells of S^2 in n cells that exceed `threshold`.

    Mirror images count once. Returns how many there are, or -1 if there is no room for them.
    """
    if n <= 2:
        radius[0], length[0] = math.pi / n, zone.centroid(SPHERE, 0.0, math.pi / n, 0.0)[1]
        return 1
    angle, fitting, collars = cap.layout(n)
    radius[0], length[0] = angle, zone.centroid(SPHERE, 0.0, angle, 0.0)[1]
    size = 1 if angle > threshold else 0
    for j in range((collars + 1) // 2):
        north = cap.first_of(n, angle, fitting, collars, j)
        south = cap.first_of(n, angle, fitting, collars, j + 1)
        lower, upper = cap.boundary(n, north), cap.boundary(n, south)
        outer = n - cap.first_of(n, angle, fitting, collars, collars - j)
        mirrored = n - cap.first_of(n, angle, fitting, collars, collars - j - 1)
        alike = 2 * j + 1 == collars or (north == outer and south == mirrored)
        for k in range(1 if alike else 2):
            if size == len(radius):
                return -1
            if k == 1:  # a tie
                lower, upper, north, south = cap.boundary(n, outer), cap.boundary(n, mirrored), outer, mirrored
            half = math.pi / (south - north)
            center, mean = zone.centroid(SPHERE, lower, upper, math.sin(half) / half if half < math.pi else 0.0)
            across = zone.radius(lower, upper, center, half)
            if across > threshold:
                radius[size], length[size] = across, mean
                size += 1
        at = min(cap.boundary(n, min(south, mirrored)), angle + (j + 1) * fitting)
        if at < 0.5 * math.pi and rest(CENTROID, float(n), at, (fitting, fitting)) <= threshold:
            break
    return size
