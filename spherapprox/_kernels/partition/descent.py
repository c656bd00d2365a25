"""The descent through the recursive zonal partition from a cell's number to its zones and its centre.

A level S^m, m >= 3, is a set of tables laid end to end: table t has the boundaries ``offsets[t] : offsets[t + 1]``,
with ``first`` the number of cells north of each boundary and ``angle`` its colatitude. On S^2 both have a closed form,
so nothing is stored; S^1 is arcs. docs/theorems/5.1-zonal-partition.md.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import cap

NORTH, SOUTH, DONE = -1, -2, -3
"""Slots of rows that end in a polar cap of this level, or ended above it; others are the collar's first boundary."""


class Tree(NamedTuple):
    """All levels of a partition, and the centres of whole S^2 where they are at hand."""

    offsets: Int64
    first: Int64
    cosine: Float64  # of the middle of the collar south of each boundary
    sine: Float64
    below: Int64  # table of the partition inside that collar
    at_hand: Int64  # first row of each S^2's centres, -1 for those that are not at hand
    rows: Float64


@subroutine
def _zone_of_index(low: int, high: int, first: Int64, k: int) -> int:
    """Return the slot of cell k in the table of boundaries low, ..., high."""
    if k == 0:
        return NORTH
    if k >= first[high]:
        return SOUTH
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= k:
            low = middle
        else:
            high = middle
    return low


@njit
def search_index(table: Int64, offsets: Int64, first: Int64, local: Int64, slot: Int64) -> None:
    """Find the zone that holds cell `local` of each row's table, and reduce `local` to the number inside it."""
    for i in range(len(table)):
        t = table[i]
        slot[i] = DONE if t < 0 else _zone_of_index(offsets[t], offsets[t + 1] - 1, first, local[i])
        if slot[i] >= 0:
            local[i] -= first[slot[i]]


@njit
def centers(dim: int, n: int, tree: Any, start: int, out: Float64) -> None:
    """Write the centres of consecutive cells, dim >= 2: down to a run of cells of one S^2, and up as far as it ends."""
    offsets, first = tree.offsets, tree.first
    table, scale, axis = np.zeros(dim + 1, dtype=np.int64), np.ones(dim + 1), np.zeros(dim + 1)
    north, south = np.empty(dim + 1, dtype=np.int64), np.empty(dim + 1, dtype=np.int64)  # rows of each table's cells
    north[dim], south[dim] = -start, n - start
    row, m = 0, dim
    while row < len(out):
        # Step 1: down to the S^2, or the polar cap on the way, that holds the cell
        j = 0
        while m > 2 and j >= 0:
            t = table[m]
            j = _zone_of_index(offsets[t], offsets[t + 1] - 1, first, row - north[m])
            if j >= 0:
                axis[m], scale[m - 1] = scale[m] * tree.cosine[j], scale[m] * tree.sine[j]
                north[m - 1], south[m - 1] = north[m] + first[j], north[m] + first[j + 1]
                table[m - 1] = tree.below[j]
                m -= 1
        # Step 2: the cap's centre, or the centres of that S^2 as far as it goes
        if j < 0:
            end = row + 1
            for column in range(m):
                out[row, column] = 0.0
            out[row, m] = scale[m] if j == NORTH else -scale[m]
            for column in range(m + 1, dim + 1):
                out[row, column] = axis[column]
        else:
            end = min(south[2], len(out))
            place = tree.at_hand[table[2] - (len(offsets) - 1)]
            if place < 0:
                cap.centers(south[2] - north[2], row - north[2], scale[2], axis[3:], out[row:end])
            else:
                _copy(tree.rows[place + row - north[2] :], scale[2], axis[3:], out[row:end])
        # Step 3: up to the first sphere whose cells go on
        row = end
        while m < dim and south[m] <= row:
            m += 1


@subroutine
def _copy(source: Float64, scale: float, tail: Float64, out: Float64) -> None:
    """Write `scale` times the source's rows, and `tail` behind each."""
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2] = scale * source[i, 0], scale * source[i, 1], scale * source[i, 2]
        for column in range(len(tail)):
            out[i, 3 + column] = tail[column]


@njit
def centers_of_counts(counts: Int64, offsets: Int64, rows: Float64) -> None:
    """Write the centres of S^2 in n cells for each n of `counts`, from row ``offsets`` on (-1: not wanted)."""
    for i in range(len(counts)):
        if offsets[i] >= 0:
            cap.centers(counts[i], np.int64(0), 1.0, rows[0, 3:], rows[offsets[i] : offsets[i] + counts[i]])


@njit
def intervals(table: Int64, offsets: Int64, angle: Float64, slot: Int64, lower: Float64, upper: Float64) -> None:
    """Write the bounding colatitudes of each row's zone."""
    for i in range(len(slot)):
        j = slot[i]
        lower[i], upper[i] = 0.0, math.pi
        if j >= 0:
            lower[i], upper[i] = angle[j], angle[j + 1]
        elif j == NORTH:
            upper[i] = angle[offsets[table[i]]]
        elif j == SOUTH:
            lower[i] = angle[offsets[table[i] + 1] - 1]
