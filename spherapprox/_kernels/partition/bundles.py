"""Cells of a partition in bundles, from S^2 up, to bound their radii about their centroids: docs/theorems.md, 5.6.

A bundle is a row (upper, least, most, radius, length): the cells' radii are at most `upper`, the lengths of their mean
vectors between `least` and `most`, and one of them has this `radius` and `length`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import largest, zone


@subroutine
def _copy(rows: Float64, size: int, out: Float64) -> None:
    """Copy bundles: numba compiles ``out[:] = rows`` together with the message that shapes differ, for seconds."""
    for i in range(size):
        for j in range(5):
            out[i, j] = rows[i, j]


@njit
def gathered(scratch: Float64, size: int, most: int, out: Float64) -> int:
    """Write the bundles of `scratch` as at most `most` ones, those of similar lengths together; return how many."""
    if size <= most:
        _copy(scratch, size, out)
        return size
    low, high = scratch[0, 1], scratch[0, 2]
    for i in range(size):
        low, high = min(low, scratch[i, 1]), max(high, scratch[i, 2])
    scale = 0.999999 * most / (high - low) if high > low else 0.0
    out[:most, 0] = -1.0
    for i in range(size):
        k = int(scale * (0.5 * (scratch[i, 1] + scratch[i, 2]) - low))
        if out[k, 0] < 0.0:
            _copy(scratch[i : i + 1], 1, out[k : k + 1])
            continue
        out[k, 0], out[k, 1] = max(out[k, 0], scratch[i, 0]), min(out[k, 1], scratch[i, 1])
        out[k, 2] = max(out[k, 2], scratch[i, 2])
        if scratch[i, 3] > out[k, 3]:
            out[k, 3], out[k, 4] = scratch[i, 3], scratch[i, 4]
    kept = 0
    for k in range(most):
        if out[k, 0] >= 0.0:
            _copy(out[k : k + 1], 1, out[kept : kept + 1])
            kept += 1
    return kept


@njit
def lift(row: Any, sine: float, cosine: float, inside: Float64, out: Float64) -> None:
    """Write the bundle of a collar's cells from that inside: docs/theorems.md, 5.4 and 5.6."""
    lower, upper = row
    center, out[4] = zone.toward(lower, upper, sine, cosine, inside[4])
    out[3] = zone.radius(lower, upper, center, inside[3])
    if inside[1] == inside[2] and inside[0] == inside[3]:
        out[0], out[1], out[2] = out[3], out[4], out[4]
        return
    one, out[1] = zone.toward(lower, upper, sine, cosine, inside[1])
    other, out[2] = zone.toward(lower, upper, sine, cosine, inside[2])
    out[0] = max(out[3], largest.about_between(lower, upper, inside[0], one, other) * (1.0 + largest.ROUNDING))


@njit
def of_caps(m: int, radii: Float64, out: Float64) -> None:
    """Write the bundles of one cap of S^m each."""
    for i in range(len(radii)):
        length = zone.centroid(m, 0.0, radii[i], 0.0)[1]
        out[i, 0] = out[i, 3] = radii[i]
        out[i, 1] = out[i, 2] = out[i, 4] = length


@njit
def of_spheres(counts: Int64, thresholds: Float64, most: int, offsets: Int64, out: Float64, start: int) -> int:
    """Write the bundles of cells of S^2 with radii above the thresholds, at most `most` for a partition.

    Begins with partition `start`, writes where each one's bundles end, and returns up to which `out` had room.
    """
    room, filled = 64, 0
    radius, length = np.empty(room), np.empty(room)
    for e in range(start, len(counts)):
        size = largest.cells_of(counts[e], thresholds[e], radius, length)
        while size < 0:
            room *= 4
            radius, length = np.empty(room), np.empty(room)
            size = largest.cells_of(counts[e], thresholds[e], radius, length)
        if filled + min(size, most) > len(out):
            return e
        scratch = np.empty((size, 5))
        for i in range(size):
            scratch[i, 0] = scratch[i, 3] = radius[i]
            scratch[i, 1] = scratch[i, 2] = scratch[i, 4] = length[i]
        filled += gathered(scratch, size, most, out[filled:])
        offsets[e + 1] = filled
    return len(counts)


@njit
def raise_all(m: int, rows: Any, bounds: Any, inside: Any, most: int, offsets: Int64, out: Float64, start: int) -> Any:
    """Write the bundles of partitions of S^m from those inside their collars, at most `most` for a partition.

    `rows` are the collars (first row of each partition, lower, upper, inner, need), `bounds` the partitions' thresholds
    and caps' bundles, `inside` the offsets and bundles of the partitions inside. Begins with partition `start`, writes
    where each one's bundles end, and returns up to which `out` had room, and how many bundles were lifted.
    """
    (begin, lower, upper, inner, need), (thresholds, caps), (first, below) = rows, bounds, inside
    room = 64
    scratch, filled, lifted = np.empty((room, 5)), 0, 0
    for e in range(start, len(thresholds)):
        size = 1
        _copy(caps[e : e + 1], 1, scratch)
        for i in range(begin[e], begin[e + 1]):
            sine, cosine = -1.0, 0.0
            for g in range(first[inner[i]], first[inner[i] + 1]):
                if below[g, 0] <= need[i]:
                    continue
                if sine < 0.0:
                    sine, cosine = zone.means(m, lower[i], upper[i])
                if size == room:
                    larger = np.empty((4 * room, 5))
                    _copy(scratch, room, larger)
                    scratch, room = larger, 4 * room
                lift((lower[i], upper[i]), sine, cosine, below[g], scratch[size])
                lifted += 1
                if scratch[size, 0] > thresholds[e]:
                    size += 1
        if filled + min(size, most) > len(out):
            return e, lifted
        filled += gathered(scratch, size, most, out[filled:])
        offsets[e + 1] = filled
    return len(thresholds), lifted
