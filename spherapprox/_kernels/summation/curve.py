"""An order in which neighbours are together: that of a Hilbert curve on the faces of the cube about the sphere.

Skilling's form of the curve takes a few operations on integers for each coordinate, on many points at a time
(J. Skilling, AIP Conf. Proc. 707, 2004, 381-387). In many dimensions, and in boxes that hold many points, points are
bisected.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..._types import Floats, Int64
from ..jit import njit, subroutine
from .bisection import bisect
from .layout import CUBE

CUBE_BITS = 27  # bits of a box's number on a face of the cube
CHUNK = 256  # points that are numbered together
FEW = 32  # points in one box that stay in any order


def order_of(rows: Floats) -> Int64:
    """Return an order of points of the sphere in which neighbours are together."""
    n, d = rows.shape
    if d > CUBE:
        order, parts = np.arange(n), np.array([[0, n]])
    else:
        bits = max(1, min(math.ceil(math.log2(n) / (d - 1)), CUBE_BITS // (d - 1)))
        keys = np.empty(n, np.uint64)
        number(rows, bits, keys)
        keys.sort()
        order, parts = (keys & np.uint64(2**32 - 1)).astype(np.int64), _together(keys)
    if len(parts):
        bisect(rows, order, parts)
    return order


def _together(keys: NDArray[np.uint64]) -> Int64:
    """Return the ranges of more than FEW sorted keys of one number."""
    numbers = keys >> np.uint64(32)
    if not (numbers[FEW:] == numbers[:-FEW]).any():
        return np.empty((0, 2), np.int64)
    ends = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1], [True]]))
    runs = np.stack([ends[:-1], ends[1:]], axis=1)  # (runs, 2)
    return runs[runs[:, 1] - runs[:, 0] > FEW]


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
def _on_cube(rows, bits, cells, faces):
    """Write the faces of the cube about the sphere, and the boxes there, in the rows' directions."""
    half = 2.0 ** (bits - 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        face = _face(row)
        scale = half / row[face] if row[face] != 0.0 else 0.0
        for a in range(row.size - 1):
            v = row[a + (a >= face)] * scale + half
            cells[a, i] = np.uint32(min(v, 2.0 * half - 0.5))
        faces[i] = 2 * face + (row[face] < 0.0)


@njit
def number(rows, bits, keys):
    """Write keys of rows (n, d): 2^32 times a number along the curve, of so many bits for a coordinate, and the row."""
    m = rows.shape[1] - 1
    cells, codes = np.zeros((m, CHUNK), np.uint32), np.zeros(CHUNK, np.uint32)
    faces = np.zeros(CHUNK, np.uint64)
    for start in range(0, rows.shape[0], CHUNK):
        count = min(CHUNK, rows.shape[0] - start)
        _on_cube(rows[start : start + count], bits, cells, faces)
        _along_curve(cells, m, bits, count, codes)
        for i in range(count):
            code = faces[i] << np.uint64(m * bits) | np.uint64(codes[i])
            keys[start + i] = (code << np.uint64(32)) | np.uint64(start + i)
