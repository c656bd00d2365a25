"""The cells of the recursive zonal partition that hold given points: down through the levels, zone by zone.

A zone is found by the squares of the coordinates; only where these leave a boundary in doubt is the colatitude itself
compared with it. Cells are half-open: a point on a boundary lies south of it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import cap, circle
from .descent import DONE, NORTH, SOUTH

_DOUBT = 1e-14
"""Difference of squares, relative to the square of the length, below which angles decide: far above its rounding."""


class Tables(NamedTuple):
    """Boundaries of one level, or of all from S^dim to S^2."""

    offsets: Int64
    first: Int64
    angle: Float64
    edge: Float64  # cos |cos| of the angle
    below: Int64  # table in the collar south of a boundary, or the number of arcs in a collar of S^2; for all levels


@subroutine
def _rough_colatitude(height: float, total: float) -> float:
    """Return the colatitude to 7e-5 (Abramowitz and Stegun 4.4.45): collars are nearly as wide as each other."""
    z = min(abs(height) / math.sqrt(total + 1e-300), 1.0)
    angle = math.sqrt(1.0 - z) * (1.5707288 + z * (-0.2121144 + z * (0.0742610 - z * 0.0187293)))
    return math.pi - angle if height < 0.0 else angle


@subroutine
def _zone(low: int, high: int, angle: Float64, edge: Float64, height: float, below: float) -> int:
    """Return the slot, among boundaries low, ..., high, of the point at `height`; `below` are its other squares.

    `edge` is cos |cos| of the boundaries' angles, -2 for a boundary at pi, which has nothing south of it.
    """
    # Step 1: a guess of the first boundary south of the point, and steps by squares from there
    square, total = height * abs(height), below + height * height
    place = low  # of the first boundary that is south of the point
    if high > low:
        share = (_rough_colatitude(height, total) - angle[low]) / (angle[high] - angle[low])
        place += min(max(int(share * (high - low)), 0), high - low)
    while place > low and square > total * edge[place - 1]:
        place -= 1
    while place <= high and square <= total * edge[place]:
        place += 1
    # Step 2: where squares leave doubt, steps by colatitudes
    doubt = _DOUBT * total + 1e-300
    clear = place == low or total * edge[place - 1] - square > doubt
    if not (clear and (place > high or square - total * edge[place] > doubt)):
        colatitude = math.atan2(math.sqrt(below), height)
        while place > low and (colatitude < angle[place - 1] or angle[place - 1] >= math.pi):
            place -= 1
        while place <= high and colatitude >= angle[place] and angle[place] < math.pi:
            place += 1
    if place == low:
        return NORTH
    return SOUTH if place > high else place - 1


@njit
def search(table: Int64, level: Any, height: Float64, below: Float64, index: Int64, slot: Int64) -> None:
    """Find the zone of one level that holds each point and count the cells north of it.

    `level` are its `Tables`, `height` the coordinate along the axis, `below` the sum of the squares of those before it.
    """
    offsets, first = level.offsets, level.first
    for i in range(len(table)):
        t = table[i]
        if t < 0:
            slot[i] = DONE
            continue
        high = offsets[t + 1] - 1
        slot[i] = _zone(offsets[t], high, level.angle, level.edge, height[i], below[i])
        if slot[i] != NORTH:
            index[i] += first[high if slot[i] == SOUTH else slot[i]]


@njit
def indices(dim: int, tree: Any, x: Float64, index: Int64) -> None:
    """Write the cell that holds each point, dim >= 2, by a descent through all `Tables` for each point."""
    offsets, first = tree.offsets, tree.first
    squares = np.zeros(dim + 1)  # of the coordinates before each one, summed
    for i in range(len(index)):
        for m in range(dim):
            squares[m + 1] = squares[m] + x[i, m] * x[i, m]
        k, t, m = 0, 0, dim
        while m > 1:
            high = offsets[t + 1] - 1
            j = _zone(offsets[t], high, tree.angle, tree.edge, x[i, m], squares[m])
            if j < 0:
                k += 0 if j == NORTH else first[high]
                break
            k, t, m = k + first[j], tree.below[j], m - 1
        if m == 1:
            k += circle.index_of(x[i, 0], x[i, 1], t)
        index[i] = k


@njit
def indices_below(count: Int64, x: Float64, index: Int64) -> None:
    """Add the cell of S^2 in `count` cells (0: nothing left) that holds each point's first three coordinates."""
    n, layout = 0, (0.0, 0.0, 0)
    for i in range(len(count)):
        if count[i] <= 1:
            continue
        colatitude = math.atan2(math.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1]), x[i, 2])
        if count[i] == 2:
            index[i] += 1 if colatitude >= 0.5 * math.pi else 0
            continue
        if count[i] != n:
            n = count[i]
            layout = cap.layout(n)
        north, south = cap.zone_of_colatitude(n, layout, colatitude)
        index[i] += north
        if south - north > 1:
            index[i] += circle.index_of(x[i, 0], x[i, 1], south - north)
