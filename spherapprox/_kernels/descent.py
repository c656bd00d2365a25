"""One level of the descent through the recursive zonal partition: from a cell's number or a point to its zone.

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
