"""Descent through the recursive zonal partition: from a cell's number to its centre, and from a point to its cell.

A level S^m, m >= 3, is a set of tables laid end to end: table t has the boundaries ``offsets[t] : offsets[t + 1]``,
with ``first`` the number of cells north of each boundary and ``angle`` its colatitude. On S^2 both have a closed form,
so nothing is stored; S^1 is arcs. docs/theorems.md, section 5.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NORTH, SOUTH, DONE = -1, -2, -3
"""Slots of rows that end in a polar cap of this level, or ended above it; others are the collar's first boundary."""

_RESTART = 16
"""Rows along an arc between two evaluations of sine and cosine; a rotation makes those in between."""


@njit
def search_index(table: Integers, offsets: Integers, first: Integers, local: Integers, slot: Integers) -> None:
    """Find the zone that holds cell `local` of each row's table, and make `local` the number inside it."""
    for i in range(len(table)):
        t = table[i]
        if t < 0:
            slot[i] = DONE
            continue
        low, high, k = offsets[t], offsets[t + 1] - 1, local[i]
        if k == 0:
            slot[i] = NORTH
        elif k >= first[high]:
            slot[i] = SOUTH
        else:
            while high - low > 1:
                middle = (low + high) // 2
                if first[middle] <= k:
                    low = middle
                else:
                    high = middle
            slot[i] = low
            local[i] = k - first[low]


@njit
def search_point(table: Integers, level: Any, height: Floats, below: Floats, index: Integers, slot: Integers) -> None:
    """Find the zone that holds each point and count the cells north of it.

    `level` is (offsets, first, angle), `height` the coordinate along the axis, `below` the sum of squares of the rest.
    """
    offsets, first, angle = level
    for i in range(len(table)):
        t = table[i]
        if t < 0:
            slot[i] = DONE
            continue
        colatitude = math.atan2(math.sqrt(below[i]), height[i])
        low, high = offsets[t], offsets[t + 1] - 1
        if colatitude < angle[low] or angle[low] >= math.pi:  # a boundary at pi: one cell holds all of S^m
            slot[i] = NORTH
        elif colatitude >= angle[high]:
            slot[i] = SOUTH
            index[i] += first[high]
        else:
            while high - low > 1:
                middle = (low + high) // 2
                if angle[middle] <= colatitude:
                    low = middle
                else:
                    high = middle
            slot[i] = low
            index[i] += first[low]


@njit
def place(slot: Integers, cosine: Floats, sine: Floats, scale: Floats, column: Floats) -> None:
    """Write the centres' coordinate along this level's axis, and leave in `scale` the length of the rest."""
    for i in range(len(slot)):
        j = slot[i]
        if j >= 0:
            column[i] = scale[i] * cosine[j]
            scale[i] *= sine[j]
        else:
            column[i] = scale[i] if j == NORTH else (-scale[i] if j == SOUTH else 0.0)
            scale[i] = 0.0


@njit
def intervals(table: Integers, offsets: Integers, angle: Floats, slot: Integers, lower: Floats, upper: Floats) -> None:
    """Write the colatitudes between which each row's zone lies."""
    for i in range(len(slot)):
        j = slot[i]
        lower[i], upper[i] = 0.0, math.pi
        if j >= 0:
            lower[i], upper[i] = angle[j], angle[j + 1]
        elif j == NORTH:
            upper[i] = angle[offsets[table[i]]]
        elif j == SOUTH:
            lower[i] = angle[offsets[table[i] + 1] - 1]


# S^1: arcs in eighths of a turn, exact up to n = 2^53


@njit
def _arc_center(k: int, n: int) -> Any:
    """Return cosine and sine of the azimuth (2k + 1) pi / n; a single arc has its centre at the pole, like S^m."""
    if n == 1:
        return 0.0, 1.0
    octant, rest = divmod(4 * (2 * k + 1), n)
    if octant % 2:
        rest = n - rest
    angle = (rest / n) * (math.pi / 4.0)
    c, s = math.cos(angle), math.sin(angle)
    if octant in (1, 2, 5, 6):
        c, s = s, c
    return (-c if octant in (2, 3, 4, 5) else c), (-s if octant >= 4 else s)


@njit
def _arc_index(x: float, y: float, n: int) -> int:
    """Return the arc [2 pi k/n, 2 pi (k+1)/n) that holds the direction of (x, y)."""
    u, v = abs(x), abs(y)
    if u == 0.0 and v == 0.0:
        return 0
    quadrant = (0 if x > 0.0 else 1) if y > 0.0 else (2 if x < 0.0 else 3)
    if y == 0.0:
        quadrant = 0 if x > 0.0 else 2
    near_y = v > u
    octant = 2 * quadrant + (1 if near_y != (quadrant % 2 == 1) else 0)
    share = math.atan2(min(u, v), max(u, v)) * (4.0 / math.pi) * n
    base = (octant + octant % 2) * n
    rest = base % 8 + (-share if octant % 2 else share)
    k = base // 8 + math.floor(rest / 8.0)
    return min(max(k, 0), n - 1)


@njit
def arc_centers(start: int, n: int, out: Floats) -> None:
    """Write the centres of consecutive arcs of S^1."""
    for i in range(len(out)):
        out[i, 0], out[i, 1] = _arc_center(start + i, n)


@njit
def arc_indices(x: Floats, n: int, index: Integers) -> None:
    """Write the arc of S^1 that holds each point."""
    for i in range(len(index)):
        index[i] = _arc_index(x[i, 0], x[i, 1], n)


# S^2: sigma(C(t)) = sin^2(t/2) puts the number and the colatitude of every boundary into closed form


@njit
def _collars(n: int) -> Any:
    """Return the polar caps' colatitude, the fitting angle and the number of collars of S^2 in n >= 3 cells."""
    cap = 2.0 * math.asin(math.sqrt(1 / n))
    span = math.pi - 2.0 * cap
    count = max(1, math.floor(span / math.sqrt(4.0 * math.pi / n) + 0.5))
    return cap, span / count, count


@njit
def _first(n: int, cap: float, fitting: float, count: int, j: int) -> int:
    """Return the number of cells north of boundary j: n sigma(C) rounded half up, from the nearer pole."""
    if j == 0:
        return 1
    if j == count:
        return n - 1
    if 2 * j == count:
        return (n + 1) // 2
    half = math.sin(0.5 * (cap + min(j, count - j) * fitting))
    ideal = n * half * half
    if 2 * j < count:
        return math.floor(ideal + 0.5)
    return n - math.ceil(ideal - 0.5)


@njit
def _boundary(n: int, first: int) -> float:
    """Return the colatitude of the cap of S^2 that holds `first` of n cells."""
    if 2 * first == n:
        return 0.5 * math.pi
    if 2 * first < n:
        return 2.0 * math.asin(math.sqrt(first / n))
    return math.pi - 2.0 * math.asin(math.sqrt((n - first) / n))


@njit
def _collar_of_index(n: int, k: int) -> Any:
    """Return number and size of the collar that holds cell k, 0 < k < n - 1: (cells north of it, north of its end)."""
    cap, fitting, count = _collars(n)
    j = int((_boundary(n, k) - cap) / fitting)
    j = min(max(j, 0), count - 1)
    while _first(n, cap, fitting, count, j) > k:
        j -= 1
    while _first(n, cap, fitting, count, j + 1) <= k:
        j += 1
    return _first(n, cap, fitting, count, j), _first(n, cap, fitting, count, j + 1)


@njit
def _zone_of_index(n: int, k: int) -> Any:
    """Return (cells north of the zone, north of its end) of the zone of S^2 that holds cell k."""
    if k == 0:
        return 0, 1
    if k == n - 1:
        return n - 1, n
    return _collar_of_index(n, k)


@njit
def zone_counts(n: int, counts: Integers) -> int:
    """Write the numbers of cells in the zones of S^2 from north to south, and return how many zones there are."""
    zone, k = 0, 0
    while k < n:
        north, south = _zone_of_index(n, k)
        if zone < len(counts):
            counts[zone] = south - north
        zone, k = zone + 1, south
    return zone


@njit
def cap_centers(count: Integers, local: Integers, scale: Floats, out: Floats) -> None:
    """Write the first three coordinates of the centres of cells `local` of S^2 in `count` cells (0: nothing left)."""
    north, south, n = 0, 0, 0
    c, s, cos_step, sin_step, cos_theta, sin_theta = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(count)):
        k = local[i]
        if count[i] == 0 or k == 0 or k == count[i] - 1:
            out[i, 0] = out[i, 1] = 0.0
            out[i, 2] = 0.0 if count[i] == 0 else (scale[i] if k == 0 else -scale[i])
            n = 0
            continue
        if count[i] != n or k < north or k >= south:
            n = count[i]
            north, south = _collar_of_index(n, k)
            theta = 0.5 * (_boundary(n, north) + _boundary(n, south))
            cos_theta, sin_theta = math.cos(theta), math.sin(theta)
            step = 2.0 * math.pi / (south - north)
            cos_step, sin_step = math.cos(step), math.sin(step)
            fresh = True
        else:
            fresh = local[i - 1] != k - 1
        arc = k - north
        turns = arc % _RESTART
        if fresh or turns == 0:
            c, s = _arc_center(arc - turns, south - north)
        else:
            turns = 1
        for _ in range(turns):
            c, s = c * cos_step - s * sin_step, s * cos_step + c * sin_step
        out[i, 0], out[i, 1], out[i, 2] = scale[i] * sin_theta * c, scale[i] * sin_theta * s, scale[i] * cos_theta


@njit
def cap_indices(count: Integers, x: Floats, index: Integers) -> None:
    """Add the cell of S^2 in `count` cells (0: nothing left) that holds each point's first three coordinates."""
    n, cap, fitting, collars = 0, 0.0, 0.0, 0
    for i in range(len(count)):
        if count[i] <= 1:
            continue
        colatitude = math.atan2(math.hypot(x[i, 0], x[i, 1]), x[i, 2])
        if count[i] == 2:
            index[i] += 1 if colatitude >= 0.5 * math.pi else 0
            continue
        if count[i] != n:
            n = count[i]
            cap, fitting, collars = _collars(n)
        if colatitude < _boundary(n, 1):
            continue
        if colatitude >= _boundary(n, n - 1):
            index[i] += n - 1
            continue
        j = min(max(int((colatitude - cap) / fitting), 0), collars - 1)
        while colatitude < _boundary(n, _first(n, cap, fitting, collars, j)):
            j -= 1
        while colatitude >= _boundary(n, _first(n, cap, fitting, collars, j + 1)):
            j += 1
        north = _first(n, cap, fitting, collars, j)
        south = _first(n, cap, fitting, collars, j + 1)
        index[i] += north + _arc_index(x[i, 0], x[i, 1], south - north)


@njit
def cap_intervals(count: Integers, local: Integers, box: Floats) -> None:
    """Write (colatitudes, azimuths) of cells `local` of S^2 in `count` cells (0: all of it), shape (n, 2, 2)."""
    for i in range(len(count)):
        n, k = count[i], local[i]
        box[i, 0, 0], box[i, 0, 1], box[i, 1, 0], box[i, 1, 1] = 0.0, math.pi, 0.0, 2.0 * math.pi
        if n < 2:
            continue
        north, south = _zone_of_index(n, k)
        if north > 0:
            box[i, 0, 0] = _boundary(n, north)
        if south < n:
            box[i, 0, 1] = _boundary(n, south)
        arcs = south - north
        box[i, 1, 0] = 2.0 * math.pi * ((k - north) / arcs)
        box[i, 1, 1] = 2.0 * math.pi * ((k - north + 1) / arcs)


# radii


@njit
def _distance(t: float, center: float, across: float) -> float:
    """Return the distance between colatitudes `t` and `center` at distance `across` inside the orthogonal sphere."""
    # sin^2(d/2) and cos^2(d/2) as sums of squares: no digit is lost near 0 or pi
    product = math.sin(t) * math.sin(center)
    sine = math.sin(0.5 * (t - center)) ** 2 + product * math.sin(0.5 * across) ** 2
    cosine = math.cos(0.5 * (t + center)) ** 2 + product * math.cos(0.5 * across) ** 2
    return 2.0 * math.atan2(math.sqrt(sine), math.sqrt(cosine))


@njit
def _zone_radius(lower: float, upper: float, across: float) -> float:
    """Return the circumradius about its centre of [lower, upper] x (a cell of radius `across`)."""
    if lower <= 0.0:
        return upper
    if upper >= math.pi:
        return math.pi - lower
    center = 0.5 * (lower + upper)
    radius = max(_distance(lower, center, across), _distance(upper, center, across))
    if across > 0.5 * math.pi:
        # cos d = A cos(t - phase) may have its minimum inside
        far = math.atan2(math.sin(center) * math.cos(across), math.cos(center)) + math.pi
        if lower < far < upper:
            radius = max(radius, _distance(far, center, across))
    return radius


@njit
def fold(lower: Floats, upper: Floats, radius: Floats) -> None:
    """Turn the radii of cells of S^(m-1) into those of the zones of S^m above them, in place."""
    for i in range(len(radius)):
        radius[i] = _zone_radius(lower[i], upper[i], radius[i])


@njit
def cap_radii(counts: Integers, radius: Floats) -> None:
    """Write the largest cell radius of S^2 in n cells, for each n of `counts`."""
    for i in range(len(counts)):
        n = counts[i]
        if n <= 2:
            radius[i] = math.pi / n
            continue
        cap, fitting, collars = _collars(n)
        radius[i] = cap
        north, lower = 1, cap
        for j in range(collars):
            south = _first(n, cap, fitting, collars, j + 1)
            upper = _boundary(n, south)
            radius[i] = max(radius[i], _zone_radius(lower, upper, math.pi / (south - north)))
            north, lower = south, upper


@njit
def cap_cell_radii(count: Integers, local: Integers, radius: Floats) -> None:
    """Write the radius of cell `local` of S^2 in `count` cells (0: all of it)."""
    for i in range(len(count)):
        n = count[i]
        if n < 2:
            radius[i] = math.pi
            continue
        north, south = _zone_of_index(n, local[i])
        lower = _boundary(n, north) if north > 0 else 0.0
        upper = _boundary(n, south) if south < n else math.pi
        radius[i] = _zone_radius(lower, upper, math.pi / (south - north))


@njit
def table_radii(offsets: Integers, angle: Floats, inner: Floats, radius: Floats) -> None:
    """Write the largest cell radius of each table, `inner` being that of the partition inside each collar."""
    for t in range(len(radius)):
        radius[t] = angle[offsets[t]]
        for j in range(offsets[t], offsets[t + 1] - 1):
            radius[t] = max(radius[t], _zone_radius(angle[j], angle[j + 1], inner[j]))
