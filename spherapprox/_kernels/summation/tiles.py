"""Tiles of evaluation points, as many as are in registers together, and the sums of their rows."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import subroutine
from ..simd.registers import load_like, shape
from ..simd.vectors import add, store, subtract
from .layout import BLOCK, RUN, SHORT_BLOCK, SHORT_RUN

VECTORS, GROUP = shape()[1:]  # vectors of evaluation points, and control points, that are in registers together


def tile_rows(dtype: np.dtype[Any]) -> int:
    """Return the number of evaluation points of a tile: a task of fewer takes as long."""
    return VECTORS * shape()[0] // dtype.itemsize


@subroutine
def block_length(x):
    """Return the number of control points in a block for an array's type."""
    return BLOCK if x.itemsize == 8 else SHORT_BLOCK


@subroutine
def run_length(x):
    """Return the number of a chunk's products that are one running sum for an array's type."""
    return RUN if x.itemsize == 8 else SHORT_RUN


@subroutine
def aligned(rows, columns, like):
    """Return zeros that begin at a multiple of 64 bytes, where no vector lies across two cache lines."""
    extra = 64 // like.itemsize
    room = np.zeros(rows * columns + extra, like.dtype)
    skip = (-(room.ctypes.data // like.itemsize)) % extra
    return room[skip : skip + rows * columns].reshape(rows, columns)


@subroutine
def add_exactly(at, block, total, residual):
    """Add vectors to those of `total` from a flat index on; `residual` keeps the rounding errors (Knuth)."""
    a = load_like(total, at, block)
    s = add(a, block)
    v = subtract(s, a)
    error = add(subtract(a, subtract(s, v)), subtract(block, v))
    store(total, at, s)
    store(residual, at, add(load_like(residual, at, block), error))


@subroutine
def fill(tile, x, start, defects):
    """Copy a tile's evaluation points; the last tile repeats the last row. Returns the number of its rows."""
    count = min(tile.shape[1], x.shape[0] - start)
    for i in range(tile.shape[1]):
        row = start + min(i, count - 1)
        for j in range(x.shape[1]):
            tile[j, i] = x[row, j]
        tile[x.shape[1], i] = defects[row]
    return count


@subroutine
def resume(start, count, sums, total, residual):
    """Read the sums of a tile's rows, and their rounding errors."""
    total[:] = 0.0
    residual[:] = 0.0
    for i in range(count):
        for r in range(sums.shape[2]):
            total[r, i], residual[r, i] = sums[start + i, 0, r], sums[start + i, 1, r]


@subroutine
def keep(start, count, total, residual, sums):
    """Write the sums of a tile's rows, and their rounding errors."""
    for i in range(count):
        for r in range(sums.shape[2]):
            sums[start + i, 0, r], sums[start + i, 1, r] = total[r, i], residual[r, i]
