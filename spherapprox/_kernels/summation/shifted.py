"""Sums over control points relative to the largest exponential: right at every rate.

For each evaluation point x it is the smallest t of ``t_k = offset_k + stretch_k |x - b_k|^2``, and for each column r of
weights ``sum_k w_kr exp(-rate (t_k - t))``: no term overflows, and the largest exponential is 1.

A tile of points meets a block of control points in one pass, relative to the least t of earlier ones. That is taken
anew, and the block's sums are scaled to it, where a t is lower by so much that digits of the exponent matter, and when
the block ends.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64, Floats
from ..jit import njit
from ..simd.angles import angle_block
from ..simd.decay import ZERO_FROM, decay_beyond
from ..simd.registers import (
    add_weighted,
    any_below,
    block_zeros,
    lanes,
    load_like,
    multiples,
    pair_sums,
    row_infinities,
    row_minima,
    row_zeros,
)
from ..simd.vectors import add, multiply, store, subtract
from .fused import add_sums, squares
from .packing import EXCESS, pack_points
from .tiles import GROUP, VECTORS, aligned, block_length, fill, keep, resume


class State(NamedTuple):
    """The sums of a tile's rows: what they are relative to, room for those of a block, totals and rounding errors."""

    near: Any
    sums: Any
    total: Any
    residual: Any


def pack(b: Floats, offset: Float64, dtype: np.dtype[Any], stretch: Float64 | None = None) -> Floats:
    """Copy control points (n, d) with their offsets, and the factors of their distances, for `add_block`."""
    if stretch is None:
        return pack_points(b, offset, dtype)
    return pack_points(np.column_stack([b, offset]), stretch, dtype)


@njit(inline="always")
def _distances(tile, b, k):
    """Return the t_k of a group."""
    size, d, at = tile.shape[1], tile.shape[0] - 1, k * b.shape[1]
    t = squares(tile, b, at, d)
    if b.shape[1] > tile.shape[0]:
        t = multiples(t, tile, d * size, b, at + (d + 1) * GROUP)
    return add(t, pair_sums(block_zeros(tile), tile, d * size, b, at + d * GROUP))


@njit
def _relate(sums, before, after, rates):
    """Relate sums to another t of each row, that is not above the one before."""
    scale = decay_beyond(before, after, rates)
    if any_below(scale, 1.0):
        for at in range(0, sums.size, sums.shape[1]):
            store(sums, at, multiply(load_like(sums, at, scale), scale))


@njit
def new_state(size, q, like):
    """Return the state of a tile's sums in q columns."""
    near = aligned(np.int64(1), size, like)
    return State(near, aligned(q, size, like), aligned(q, size, like), aligned(q, size, like))


@njit
def begin(start, count, state, nearest, sums):
    """Read the state of a tile's rows; those that fill it repeat the last."""
    near, _, total, residual = state
    for i in range(near.size):
        near[0, i] = nearest[start + min(i, count - 1)]
    resume(start, count, sums, total, residual)


@njit
def add_block(tile, b, w, first, last, angles, rates, state):
    """Add the sums over control points first, ..., last - 1 (a multiple of GROUP) to the state.

    ``tile`` (d+1, size) holds the coordinates of the evaluation points and then zeros, ``b`` (n / GROUP, d+1, GROUP)
    those of the control points and then their offsets (and where there is one row more, factors of the squared
    distances), ``w`` (n / GROUP, q, GROUP) the columns of their weights. With `angles` the first of two columns is
    multiplied by the angles between x and b_k.
    """
    near, sums, total, residual = state
    size, q = tile.shape[1], w.shape[1]
    least = before = reference = load_like(near, 0, row_zeros(tile))
    sums[:] = 0.0
    # Step 1: the block's sums
    for k in range(first, last, GROUP):
        t = _distances(tile, b, k)
        here = row_minima(row_infinities(tile), t)
        least = row_minima(least, here)
        if any_below(subtract(here, reference), -rates[EXCESS]):
            _relate(sums, reference, least, rates)
            reference = least
        if not any_below(subtract(here, reference), rates[ZERO_FROM]):
            continue  # all exponentials are 0
        e = decay_beyond(t, reference, rates)
        if angles:
            store(sums, 0, add_weighted(load_like(sums, 0, reference), multiply(e, angle_block(t)), w, k * q))
        for r in range(angles, q):
            store(sums, r * size, add_weighted(load_like(sums, r * size, reference), e, w, k * q + r * GROUP))
    # Step 2: relate them, and those of earlier blocks, to the new minima
    _relate(sums, reference, least, rates)
    _relate(total, before, least, rates)
    _relate(residual, before, least, rates)
    add_sums(sums, total, residual)
    store(near, 0, least)


@njit
def finish(start, count, state, nearest, sums):
    """Write the state of a tile's rows."""
    near, _, total, residual = state
    for i in range(count):
        nearest[start + i] = near[0, i]
    keep(start, count, total, residual, sums)


@njit
def shifted_sums(x, b, w, angles, rates, nearest, sums):
    """Update t for each row of x (m, d), ``nearest`` (m,), and the sums and their rounding errors (m, 2, q).

    At first t is infinite, and the others 0. Other arrays as in `add_block`, of the type of x.
    """
    size, block, n, zeros = VECTORS * lanes(x), block_length(x), b.shape[0] * GROUP, np.zeros(x.shape[0], x.dtype)
    tile, state = aligned(x.shape[1] + 1, size, x), new_state(size, sums.shape[2], x)
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, zeros)
        begin(start, count, state, nearest, sums)
        for k in range(0, n, block):
            add_block(tile, b, w, k, min(k + block, n), angles, rates, state)
        finish(start, count, state, nearest, sums)
