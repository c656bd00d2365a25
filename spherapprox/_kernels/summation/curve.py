"""An order in which neighbours are together: that of a Hilbert curve through the boxes of a grid.

The grid divides a set's bounding box along its widest coordinates. Skilling's form of the curve takes a few operations
on integers for each of them, on many points at a time (J. Skilling, AIP Conf. Proc. 707, 2004, 381-387).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..._types import Floats, Int64
from ..jit import njit, subroutine

BITS = 30  # bits of a box's number along the curve
CUBE, CUBE_BITS = 9, 27
"""Columns of points up to which faces of a cube are better, and the bits of a box's number on one."""
CHUNK = 256  # points that are numbered together
TINY = 1e-290  # widths below it are none
FEW = 32  # points in one box of a grid that stay in any order


def order_of(rows: Floats) -> Int64:
    """Return an order of points of the sphere in which neighbours are together."""
    n, d = rows.shape
    order, keys = np.arange(n), np.empty(n, np.uint64)
    parts, bits = np.array([[0, n]]), 0
    if d <= CUBE:
        bits = max(1, min(math.ceil(math.log2(n) / (d - 1)), CUBE_BITS // (d - 1)))
    while len(parts):
        # Step 1: number the grid's boxes along the curve
        number(rows, order, parts, bits, keys)
        # Step 2: sort by the numbers
        for first, last in parts:
            keys[first:last].sort()
            order[first:last] = keys[first:last] & np.uint64(2**32 - 1)
        # Step 3: go on with the boxes that hold many points
        parts, bits = _together(keys, parts), 0
    return order


def _together(keys: NDArray[np.uint64], parts: Int64) -> Int64:
    """Return the ranges, within parts, of more than FEW keys of one number."""
    ranges = [np.empty((0, 2), np.int64)]
    for first, last in parts:
        numbers = keys[first:last] >> np.uint64(32)
        if (numbers[FEW:] == numbers[:-FEW]).any():
            ends = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1], [True]])) + first
            runs = np.stack([ends[:-1], ends[1:]], axis=1)  # (runs, 2)
            ranges.append(runs[runs[:, 1] - runs[:, 0] > FEW])
    return np.concatenate(ranges)


@subroutine
def _grid(rows, order, low, scale, which):
    """Choose the coordinates that are divided, `which`, and write their least values and boxes per unit.

    They are at least half as wide as the widest. Returns their number, 0 where all rows are equal, and the bits of
    each.
    """
    d = rows.shape[1]
    high = np.empty(d)
    widest = 0.0
    for j in range(d):
        a = b = rows[order[0], j]
        for i in order:
            v = rows[i, j]
            a = v if v < a else a
            b = v if v > b else b
        low[j], high[j] = a, b
        widest = max(widest, b - a)
    n = 0
    for j in range(d):
        if n < which.size and 2.0 * (high[j] - low[j]) >= widest > TINY:
            which[n] = j
            n += 1
    bits = min(15, BITS // max(n, 1))
    for a in range(n):
        scale[a] = (2.0**bits - 0.5) / (high[which[a]] - low[which[a]])
    return n, bits


@subroutine
def _along_curve(cells, n, bits, count, codes):
    """Write the numbers along the curve of boxes given by their coordinates (n, count)."""
    zero, u = cells[0], np.uint32(1)
    turned = np.zeros(count, np.uint32)
    for bit in range(bits - 1, 0, -1):
        below = np.uint32((1 << bit) - 1)
        for i in range(count):
            zero[i] ^= below * ((zero[i] >> bit) & u)
        for a in range(1, n):
            here = cells[a]
            for i in range(count):
                digit = (here[i] >> bit) & u
                swap = (zero[i] ^ here[i]) & (below * (u - digit))
                zero[i] ^= swap | (below * digit)
                here[i] ^= swap
    for a in range(1, n):
        for i in range(count):
            cells[a, i] ^= cells[a - 1, i]
    for bit in range(bits - 1, 0, -1):
        for i in range(count):
            turned[i] ^= np.uint32((1 << bit) - 1) * ((cells[n - 1, i] >> bit) & u)
    codes[:count] = 0
    for bit in range(bits - 1, -1, -1):
        for a in range(n):
            for i in range(count):
                codes[i] = (codes[i] << u) | (((cells[a, i] ^ turned[i]) >> bit) & u)


@subroutine
def _face(row):
    """Return the coordinate of a row that is largest in size."""
    best, largest = 0, -1.0
    for j in range(row.size):
        v = abs(row[j])
        best, largest = (j, v) if v > largest else (best, largest)
    return best


@subroutine
def _on_cube(rows, part, bits, cells, faces):
    """Write the faces of the cube about the sphere, and the boxes there, in the rows' directions."""
    half = 2.0 ** (bits - 1)
    for i in range(part.size):
        row = rows[part[i]]
        face = _face(row)
        scale = half / row[face] if row[face] != 0.0 else 0.0
        for a in range(row.size - 1):
            v = row[a + (a >= face)] * scale + half
            cells[a, i] = np.uint32(min(v, 2.0 * half - 0.5))
        faces[i] = 2 * face + (row[face] < 0.0)


@subroutine
def _in_box(rows, part, n, low, scale, which, cells):
    """Write the boxes of rows in a grid."""
    for a in range(n):
        j = which[a]
        for i in range(part.size):
            cells[a, i] = np.uint32((rows[part[i], j] - low[j]) * scale[a])


@njit
def number(rows, order, parts, cube_bits, keys):
    """Write keys of rows ``order[first:last]``, for each (first, last) of `parts`: 2^32 times a number, and the row.

    Each part has a curve in its own box; with `cube_bits` it is that on the faces of a cube about the sphere, with so
    many bits for a coordinate. Where all rows of a part are equal, they are counted.
    """
    d = rows.shape[1]
    low, scale, which = np.empty(d), np.empty(BITS), np.empty(BITS, np.int64)
    cells, codes = np.zeros((BITS, CHUNK), np.uint32), np.zeros(CHUNK, np.uint32)
    faces = np.zeros(CHUNK, np.uint64)
    for s in range(parts.shape[0]):
        first, last = parts[s, 0], parts[s, 1]
        n, bits = d - 1, cube_bits
        if cube_bits == 0:
            n, bits = _grid(rows, order[first:last], low, scale, which)
        for start in range(first, last, CHUNK):
            part = order[start : min(start + CHUNK, last)]
            if cube_bits > 0:
                _on_cube(rows, part, bits, cells, faces)
            else:
                _in_box(rows, part, n, low, scale, which, cells)
            if n > 0:
                _along_curve(cells, n, bits, part.size, codes)
            for i in range(part.size):
                code = np.uint64(codes[i] if n > 0 else start + i - first)
                keys[start + i] = ((faces[i] << np.uint64(n * bits) | code) << np.uint64(32)) | np.uint64(part[i])
