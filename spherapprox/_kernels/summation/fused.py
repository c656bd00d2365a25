"""Sums over control points in one pass: squared distances, exponentials and products stay in registers.

For each evaluation point x and each column r of weights it is ``sum_k w_kr exp(-rate t_k)``, ``t_k = |x - b_k|^2``.
Squaring the differences takes two operations for each coordinate. In higher dimensions
``t_k = 2 - 2 (<x, b_k> + (1 - |x|^2)/2 + (1 - |b_k|^2)/2)`` takes one, and is as accurate relative to t_k unless t_k is
small: where one of a group is, the group is computed again by differences (docs/theorems/4.8-dense-sums.md).

Where the rates are None the points come multiplied so that the sum of products is the exponent itself, in octaves.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from ..jit import njit
from ..simd.decay import add_decays, decay_block
from ..simd.flush import flush_tiny, restore_tiny
from ..simd.registers import (
    add_products,
    add_squares,
    add_weighted,
    any_below,
    block_zeros,
    lanes,
    load_like,
    pair_sums,
    row_zeros,
    squares_from_products,
)
from ..simd.vectors import add, store
from .layout import CHAIN
from .packing import NEAREST
from .tiles import GROUP, VECTORS, add_exactly, aligned, block_length, fill, keep, resume


@njit(inline="always")
def _products(t, tile, b, at, d):
    """Return ``t + <x, b_k>``, summed over at most CHAIN coordinates at a time."""
    size = tile.shape[1]
    for j in range(min(d, CHAIN)):
        t = add_products(t, tile, j * size, b, at + j * GROUP)
    for first in range(CHAIN, d, CHAIN):
        s = block_zeros(tile)
        for j in range(first, min(first + CHAIN, d)):
            s = add_products(s, tile, j * size, b, at + j * GROUP)
        t = add(t, s)
    return t


@njit(inline="always")
def squares(tile, b, at, d):
    """Return ``|x - b_k|^2``, summed over at most CHAIN coordinates at a time."""
    size, t = tile.shape[1], block_zeros(tile)
    for j in range(min(d, CHAIN)):
        t = add_squares(t, tile, j * size, b, at + j * GROUP)
    for first in range(CHAIN, d, CHAIN):
        s = block_zeros(tile)
        for j in range(first, min(first + CHAIN, d)):
            s = add_squares(s, tile, j * size, b, at + j * GROUP)
        t = add(t, s)
    return t


@njit(inline="always")
def products_with_defects(tile, b, k):
    """Return ``<x, b_k>`` plus what the last rows of both hold, for a group."""
    size, d = tile.shape[1], tile.shape[0] - 1
    at = k * (d + 1)  # of the group's first number
    return _products(pair_sums(block_zeros(tile), tile, d * size, b, at + d * GROUP), tile, b, at, d)


@njit
def add_block(tile, b, w, first, last, by_products, rates, room, total, residual):
    """Add the sums over control points first, ..., last - 1 (a multiple of GROUP) to `total` and `residual`.

    ``tile`` (d+1, size) holds the coordinates of the evaluation points and then ``(1 - |x|^2)/2``, ``b``
    (n / GROUP, d+1, GROUP) the same of the control points, ``w`` (n / GROUP, q, GROUP) the q columns of their weights,
    or (n, -) one, as `add_decays` wants it, or many in the chunks of `pack_weights`; ``total`` and ``residual`` are
    (q, size), where chunks fill q up, and so is `room`, but for a row for each control point of a chunk besides.
    Between the calls of `flush_tiny`. Returns the number of groups computed by differences.
    """
    size, column, again = tile.shape[1], row_zeros(tile), 0
    length, decays = w.shape[2] if w.ndim == 4 else last - first, total.size
    room[:] = 0.0
    for begin in range(first, last, length):
        end = min(begin + length, last)
        for k in range(begin, end, GROUP):
            t = block_zeros(tile)
            if rates is None:
                t = products_with_defects(tile, b, k)
            else:
                differences = not by_products
                if by_products:
                    # 4.8, products
                    t = squares_from_products(products_with_defects(tile, b, k))
                    differences = any_below(t, rates[NEAREST])
                if differences:
                    t = squares(tile, b, k * tile.shape[0], tile.shape[0] - 1)
                    again += 1
            if w.ndim == 2:
                column = add_decays(column, t, rates, w, k)
            elif w.ndim == 3:
                add_columns(decay_block(t, rates), w, k, column, room)
            else:
                store(room, decays + (k - begin) * size, decay_block(t, rates))
        if w.ndim == 4:
            add_chunk(decays, w, begin, end, block_zeros(tile), room)
    if w.ndim == 2:
        add_exactly(0, column, total, residual)
    else:
        add_sums(room, total, residual)
    return again


@njit(inline="always")
def add_columns(e, w, k, like, sums):
    """Add the products of a group's exponentials and each column of its weights."""
    size = sums.shape[1]
    for r in range(w.shape[1]):
        at = k * w.shape[1] + r * GROUP
        store(sums, r * size, add_weighted(load_like(sums, r * size, like), e, w, at))


@njit(inline="always")
def add_chunk(decays, w, begin, end, zeros, room):
    """Add the products of a chunk's exponentials and their weights, for a group of columns at a time."""
    _, groups, length, _ = w.shape
    size = room.shape[1]
    for r in range(groups):
        s, at, to = zeros, (begin * groups + r * length) * GROUP, r * GROUP * size
        for k in range(end - begin):
            s = add_products(s, room, decays + k * size, w, at + k * GROUP)
        store(room, to, add(load_like(room, to, s), s))


@njit
def add_sums(sums, total, residual):
    """Add the sums of a block to those before."""
    for at in range(0, total.size, total.shape[1]):
        add_exactly(at, load_like(sums, at, row_zeros(sums)), total, residual)


@njit(inline="always")
def begins_with_products(by_products, again, k, block):
    """Tell whether a block begins with products: where most groups of the last one needed differences, rarely."""
    return by_products and (2 * GROUP * again <= block or k % (16 * block) == 0)


@njit
def fused_sums(x, defects, b, w, by_products, rates, sums):
    """Add the sums at each row of x (m, d), with their rounding errors, to ``sums`` (m, 2, q).

    Arrays are as in `add_block`, of one dtype; ``defects`` (m,) are the ``(1 - |x|^2)/2``.
    """
    size, block, n = VECTORS * lanes(x), block_length(x), b.shape[0] * GROUP
    chunk, q = (w.shape[2], w.shape[1] * GROUP) if w.ndim == 4 else (0, sums.shape[2])
    tile, room = aligned(x.shape[1] + 1, size, x), aligned(q + chunk, size, x)
    total, residual = aligned(q, size, x), aligned(q, size, x)
    before = flush_tiny()
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, defects)
        resume(start, count, sums, total, residual)
        again = 0
        for k in range(0, n, block):
            products = begins_with_products(by_products, again, k, block)
            again = add_block(tile, b, w, k, min(k + block, n), products, rates, room, total, residual)
        keep(start, count, total, residual, sums)
    restore_tiny(before)
