"""Sums over control points relative to the largest exponential: right at every rate.

For each evaluation point x it is the smallest t of ``t_k = offset_k + stretch_k |x - b_k|^2``, and for each column r of
weights ``sum_k w_kr exp(-rate (t_k - t))``: no term overflows, and the largest exponential is 1.

A tile of points meets a block of control points in two steps: the t_k into a buffer that stays in the first cache, with
their minimum; then the exponentials and the sums, to whose minimum those of earlier blocks are scaled.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import Float64, Floats
from ..jit import njit
from ..simd.angles import angle_block
from ..simd.decay import MOST, decay_beyond, decay_table
from ..simd.registers import (
    add_weighted,
    block_zeros,
    lanes,
    load_like,
    multiples,
    pair_sums,
    row_infinities,
    row_minima,
    row_zeros,
    smallest,
)
from ..simd.vectors import add, multiply, store, subtract
from .fused import (
    GROUP,
    VECTORS,
    add_columns,
    add_exactly,
    aligned,
    constants,
    fill,
    keep,
    pack_columns,
    pack_points,
    resume,
    squares,
    tile_rows,
)
from .layout import BLOCK

__all__ = ["constants", "pack", "shifted_sums", "tile_rows"]


def pack(
    b: Floats, offset: Float64, w: Float64, columns: int, dtype: np.dtype[Any], stretch: Float64 | None = None
) -> tuple[Floats, Floats]:
    """Copy control points (n, d) with their offsets, and weights, in the layout of `add_block`.

    Columns beyond those of w (n, p) are of ones, which take the place of angles too.
    """
    points = pack_points(b, offset, dtype)
    if stretch is not None:
        points = pack_points(np.column_stack([b, offset]), stretch, dtype)
    return points, pack_columns(w, len(b), columns, dtype)


@njit
def _distances(tile, b, first, last, buffer):
    """Write the block's t_k into the buffer, and return the rows' minima."""
    size, d = tile.shape[1], b.shape[1] - 1
    least = row_infinities(tile)
    for k in range(first, last, GROUP):
        at = k * (d + 1)
        offset = pair_sums(block_zeros(tile), tile, d * size, b, at + d * GROUP)
        t = squares(offset, tile, b, at, d)
        store(buffer, (k - first) * size, t)
        least = row_minima(least, t)
    return least


@njit
def _stretched_distances(tile, b, first, last, buffer):
    """Write the block's t_k into the buffer, and return the rows' minima, where squared distances have factors."""
    size, columns, d = tile.shape[1], b.shape[1], b.shape[1] - 2
    least = row_infinities(tile)
    for k in range(first, last, GROUP):
        at = k * columns
        t = multiples(squares(block_zeros(tile), tile, b, at, d), tile, d * size, b, at + (d + 1) * GROUP)
        t = add(t, pair_sums(block_zeros(tile), tile, d * size, b, at + d * GROUP))
        store(buffer, (k - first) * size, t)
        least = row_minima(least, t)
    return least


@njit
def _rescale(scale, sums):
    """Multiply all rows of sums."""
    for at in range(0, sums.size, sums.shape[1]):
        store(sums, at, multiply(load_like(sums, at, scale), scale))


@njit
def new_state(size, w, like):
    """Return the state of a tile's sums: their `near`, a `buffer`, `total` and `rest`."""
    q = w.shape[0] * w.shape[2]
    return aligned(1, size, like), aligned(BLOCK, size, like), aligned(q, size, like), aligned(q, size, like)


@njit
def begin(start, count, state, nearest, sums):
    """Read the state of a tile's rows."""
    near, _, total, rest = state
    for i in range(near.size):
        near[0, i] = nearest[start + i] if i < count else np.inf
    resume(start, count, sums, total, rest)


@njit
def add_block(tile, b, w, first, last, angles, table, state):
    """Add the sums over control points first, ..., last - 1 (at most BLOCK, a multiple of GROUP) to the state.

    ``tile`` (d+1, size) holds the coordinates of the evaluation points and then zeros, ``b`` (n / GROUP, d+1, GROUP)
    those of the control points and then their offsets (and where there is one row more, factors of the squared
    distances), ``w`` (q, n, c) the q c columns of their weights, c = 1 for one or two and GROUP for more. With `angles`
    the first of two columns is multiplied by the angles between x and b_k.
    """
    near, buffer, total, rest = state
    size, n = tile.shape[1], w.shape[1]
    # Step 1: squared distances, and their minima with those of earlier blocks
    before = load_like(near, 0, row_zeros(tile))
    if b.shape[1] > tile.shape[0]:
        here = _stretched_distances(tile, b, first, last, buffer)
    else:
        here = _distances(tile, b, first, last, buffer)
    least = row_minima(before, here)
    if smallest(subtract(here, least)) >= table[MOST]:
        return  # all exponentials are 0
    # Step 2: scale the sums of earlier blocks to the new minima
    scale = decay_beyond(before, least, table)
    store(near, 0, least)
    if smallest(scale) < 1.0:
        _rescale(scale, total)
        _rescale(scale, rest)
    # Step 3: exponentials and sums
    sum_0 = sum_1 = row_zeros(tile)
    for k in range(first, last, GROUP):
        at = (k - first) * size
        t = load_like(buffer, at, block_zeros(tile))
        e = decay_beyond(t, least, table)
        if w.shape[2] > 1:
            store(buffer, at, e)
            continue
        sum_0 = add_weighted(sum_0, multiply(e, angle_block(t)) if angles else e, w, k)
        if w.shape[0] == 2:
            sum_1 = add_weighted(sum_1, e, w, n + k)
    if w.shape[2] > 1:
        add_columns(buffer, w, first, last, total, rest)
    else:
        add_exactly(0, sum_0, total, rest)
        if w.shape[0] == 2:
            add_exactly(size, sum_1, total, rest)


@njit
def finish(start, count, state, nearest, sums):
    """Write the state of a tile's rows."""
    near, _, total, rest = state
    for i in range(count):
        nearest[start + i] = near[0, i]
    keep(start, count, total, rest, sums)


@njit
def shifted_sums(x, b, w, angles, constants, nearest, sums):
    """Update t for each row of x (m, d), ``nearest`` (m,), and the sums and their rounding errors (m, 2, p).

    At first t is infinite, and the others 0. Other arrays as in `add_block`, of the type of x, p <= q c.
    """
    size, zeros = VECTORS * lanes(x), np.zeros(x.shape[0], x.dtype)
    tile, state = aligned(x.shape[1] + 1, size, x), new_state(size, w, x)
    table = decay_table(constants, x)
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, zeros)
        begin(start, count, state, nearest, sums)
        for k in range(0, w.shape[1], BLOCK):
            add_block(tile, b, w, k, min(k + BLOCK, w.shape[1]), angles, table, state)
        finish(start, count, state, nearest, sums)
