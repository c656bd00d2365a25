"""Cells of a partition in bundles, from S^2 up, to bound their radii about their centroids.

docs/theorems/5.6-largest-radius.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import cap, largest, zone

UPPER, LEAST, MOST, RADIUS, LENGTH = range(5)
"""Columns of a bundle: its cells' radii are at most `upper`, their mean vectors' lengths between `least` and `most`,
and one cell of the partition has this `radius` and `length`."""

WHOLE = 2**16  # cells of S^2 beyond which the collars about the equator are bounded together


@subroutine
def about_between(lower: float, upper: float, across: float, start: float, end: float) -> float:
    """Return the largest radius about a centre between the colatitudes `start` and `end`."""
    result = max(zone.radius(lower, upper, start, across), zone.radius(lower, upper, end, across))
    if across > 0.5 * math.pi:
        # the farthest centre from an end of the zone may lie inside
        first, last = min(start, end), max(start, end)
        result = max(result, zone.radius(first, last, lower, across), zone.radius(first, last, upper, across))
    return result


@subroutine
def _copy(rows: Float64, size: int, out: Float64) -> None:
    """Copy bundles: numba compiles ``out[:] = rows`` together with the message that shapes differ, for seconds."""
    for i in range(size):
        for j in range(LENGTH + 1):
            out[i, j] = rows[i, j]


@subroutine
def write_cell(radius: float, length: float, out: Float64) -> None:
    """Write the bundle of one cell."""
    out[UPPER] = out[RADIUS] = radius
    out[LEAST] = out[MOST] = out[LENGTH] = length


@njit
def gather(scratch: Float64, size: int, top: int, out: Float64) -> int:
    """Merge the bundles of `scratch` to at most `top` ones, those of similar lengths together; return their number."""
    if size <= top:
        _copy(scratch, size, out)
        return size
    # Step 1: equal intervals of the lengths
    low, high = scratch[0, LEAST], scratch[0, MOST]
    for i in range(size):
        low, high = min(low, scratch[i, LEAST]), max(high, scratch[i, MOST])
    scale = 0.999999 * top / (high - low) if high > low else 0.0
    # Step 2: one bundle for each interval; a negative bound stands for an empty one
    out[:top, UPPER] = -1.0
    for i in range(size):
        k = int(scale * (0.5 * (scratch[i, LEAST] + scratch[i, MOST]) - low))
        if out[k, UPPER] < 0.0:
            _copy(scratch[i : i + 1], 1, out[k : k + 1])
            continue
        out[k, UPPER] = max(out[k, UPPER], scratch[i, UPPER])
        out[k, LEAST], out[k, MOST] = min(out[k, LEAST], scratch[i, LEAST]), max(out[k, MOST], scratch[i, MOST])
        if scratch[i, RADIUS] > out[k, RADIUS]:
            out[k, RADIUS], out[k, LENGTH] = scratch[i, RADIUS], scratch[i, LENGTH]
    # Step 3: without the empty ones
    count = 0
    for k in range(top):
        if out[k, UPPER] >= 0.0:
            _copy(out[k : k + 1], 1, out[count : count + 1])
            count += 1
    return count


@njit
def lift(lower: float, upper: float, sine: float, cosine: float, inside: Float64, out: Float64) -> None:
    """Lift a bundle to the collar around it; `sine` and `cosine` are the zone's means."""
    # 5.4, 5.2
    center, out[LENGTH] = zone.toward(lower, upper, sine, cosine, inside[LENGTH])
    out[RADIUS] = zone.radius(lower, upper, center, inside[RADIUS])
    if inside[LEAST] == inside[MOST] and inside[UPPER] == inside[RADIUS]:
        write_cell(out[RADIUS], out[LENGTH], out)
        return
    # 5.6: the radius about any centre between the two extreme ones
    near, out[LEAST] = zone.toward(lower, upper, sine, cosine, inside[LEAST])
    far, out[MOST] = zone.toward(lower, upper, sine, cosine, inside[MOST])
    bound = about_between(lower, upper, inside[UPPER], near, far) * (1.0 + largest.ROUNDING)
    out[UPPER] = max(out[RADIUS], bound)


@njit
def write_caps(m: int, radii: Float64, out: Float64) -> None:
    """Write the bundles of one cap of S^m each."""
    for i in range(len(radii)):
        write_cell(radii[i], zone.centroid(m, 0.0, radii[i], 0.0)[1], out[i])


@subroutine
def write_sphere(n: int, out: Float64) -> int:
    """Write the bundles of S^2 in n cells, mirror images once; return their number, -1 if there is no room."""
    angle, fitting, collars = cap.layout(max(n, 3))
    if n <= 2:
        angle, collars = math.pi / n, 0
    write_cell(angle, zone.centroid(largest.SPHERE, 0.0, angle, 0.0)[1], out[0])
    size, top_radius = 1, angle
    for j in range((collars + 1) // 2):
        ends = cap.first_of(n, angle, fitting, collars, j), cap.first_of(n, angle, fitting, collars, j + 1)
        image = n - cap.first_of(n, angle, fitting, collars, collars - j)
        image_end = n - cap.first_of(n, angle, fitting, collars, collars - j - 1)
        if size + 3 > len(out):
            return -1
        top_radius, size = max(top_radius, _of_arcs(n, ends[0], ends[1], out[size])), size + 1
        if 2 * j + 1 < collars and ends != (image, image_end):  # a tie
            top_radius, size = max(top_radius, _of_arcs(n, image, image_end, out[size])), size + 1
        at = min(cap.boundary(n, min(ends[1], image_end)), angle + (j + 1) * fitting)
        if n > WHOLE and at < 0.5 * math.pi:
            bound = largest.equatorial_bound(largest.CENTROID, float(n), at, fitting)
            if bound <= top_radius:
                _copy(out[:1], 1, out[size : size + 1])
                # a mean vector is at least as long as the cosine of the radius
                out[size, UPPER], out[size, LEAST], out[size, MOST] = max(bound, angle), math.cos(top_radius), 1.0
                return size + 1
    return size


@subroutine
def _of_arcs(n: int, north: int, south: int, out: Float64) -> float:
    """Write the bundle of a collar of S^2, given the cells north of its ends, and return the radius."""
    lower, upper, half = cap.boundary(n, north), cap.boundary(n, south), math.pi / (south - north)
    center, mean = zone.centroid(largest.SPHERE, lower, upper, math.sin(half) / half if half < math.pi else 0.0)
    write_cell(zone.radius(lower, upper, center, half), mean, out)
    return out[RADIUS]


@njit
def write_spheres(counts: Int64, top: int, offsets: Int64, out: Float64, start: int) -> int:
    """Write the bundles of S^2 in n cells for each n of `counts` from number `start` on, at most `top` for each.

    Writes where each one's bundles end, and returns up to which `out` had room.
    """
    filled, scratch = 0, np.empty((64, LENGTH + 1))
    for e in range(start, len(counts)):
        size = write_sphere(counts[e], scratch)
        while size < 0:
            scratch = np.empty((4 * len(scratch), LENGTH + 1))
            size = write_sphere(counts[e], scratch)
        if filled + min(size, top) > len(out):
            return e
        filled += gather(scratch, size, top, out[filled:])
        offsets[e + 1] = filled
    return len(counts)


@njit
def raise_bundles(
    m: int, rows: Any, caps: Float64, inside: Any, top: int, offsets: Int64, out: Float64, start: int
) -> int:
    """Write the bundles of partitions of S^m from number `start` on, at most `top` each, from those in their collars.

    `rows` are the collars in the order of their partitions, `caps` the caps' bundles, `inside` offsets and bundles of
    the partitions inside. Writes where each one's bundles end, and returns up to which `out` had room.
    """
    first, below = inside
    filled, scratch, i = 0, np.empty((64, LENGTH + 1)), np.searchsorted(rows.parent, start)
    for e in range(start, len(caps)):
        _copy(caps[e : e + 1], 1, scratch)
        size = 1
        while i < len(rows.parent) and rows.parent[i] == e:
            lower, upper, inner = rows.lower[i], rows.upper[i], rows.inner[i]
            if size + first[inner + 1] - first[inner] > len(scratch):
                larger = np.empty((4 * len(scratch) + top, LENGTH + 1))
                _copy(scratch, size, larger)
                scratch = larger
            sine, cosine = zone.means(m, lower, upper)
            for g in range(first[inner], first[inner + 1]):
                lift(lower, upper, sine, cosine, below[g], scratch[size])
                size += 1
            i += 1
        if filled + min(size, top) > len(out):
            return e
        filled += gather(scratch, size, top, out[filled:])
        offsets[e + 1] = filled
    return len(caps)
