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
    load_like,
    pair_sums,
    row_zeros,
    squares_from_products,
)
from ..simd.vectors import add, store
from .layout import CHAIN, PART, TOGETHER
from .packing import NEAREST
from .tiles import GROUP, add_exactly, aligned, block_length, fill, run_length


@njit(inline="always")
def _add_rows(t, tile, at, b, at_b, n):
    """Return t plus the products of n rows of a tile and n groups of numbers, from flat indices on."""
    size, whole = tile.shape[1], n // 4 * 4
    for j in range(0, whole, 4):  # a short loop costs as much as it counts
        row, group = at + j * size, at_b + j * GROUP
        t = add_products(t, tile, row, b, group)
        t = add_products(t, tile, row + size, b, group + GROUP)
        t = add_products(t, tile, row + 2 * size, b, group + 2 * GROUP)
        t = add_products(t, tile, row + 3 * size, b, group + 3 * GROUP)
    for j in range(whole, n):
        t = add_products(t, tile, at + j * size, b, at_b + j * GROUP)
    return t


@njit(inline="always")
def _products(t, tile, b, at, d):
    """Return ``t + <x, b_k>``, summed over at most CHAIN coordinates at a time."""
    total = t
    for first in range(0, d, CHAIN):
        s = _add_rows(t, tile, first * tile.shape[1], b, at + first * GROUP, min(d - first, CHAIN))
        total = s if first == 0 else add(total, s)
        t = block_zeros(tile)
    return total


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
    or (n, -) one, as `add_decays` wants it, or many in the blocks of `pack_weights`, of which the control points are
    one; ``total`` and ``residual`` are (q, size), where groups fill q up, and so is `room`, but for blocks it has a row
    for each control point. Between the calls of `flush_tiny`. Returns the number of groups computed by differences.
    """
    size, column, again = tile.shape[1], row_zeros(tile), 0
    if w.ndim == 3:
        room[:] = 0.0
    for k in range(first, last, GROUP):
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
            store(room, (k - first) * size, decay_block(t, rates))
    if w.ndim == 2:
        add_exactly(0, column, total, residual)
    elif w.ndim == 3:
        add_sums(room, total, residual)
    else:
        add_products_of_block(room, w, first, last, total, residual)
    return again


@njit(inline="always")
def add_columns(e, w, k, like, sums):
    """Add the products of a group's exponentials and each column of its weights."""
    size = sums.shape[1]
    for r in range(w.shape[1]):
        at = k * w.shape[1] + r * GROUP
        store(sums, r * size, add_weighted(load_like(sums, r * size, like), e, w, at))


@njit(inline="always")
def add_products_of_block(decays, w, first, last, total, residual):
    """Add the products of a block's exponentials and their weights, for a group of columns at a time."""
    _, groups, length, _ = w.shape
    size, n, run = decays.shape[1], last - first, run_length(decays)
    for r in range(groups):
        s, at = block_zeros(decays), (first * groups + r * length) * GROUP
        for k in range(0, n, run):
            s = add(s, _add_rows(block_zeros(decays), decays, k * size, w, at + k * GROUP, min(run, n - k)))
        add_exactly(r * GROUP * size, s, total, residual)


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
    """Add the sums at each row of x (m, d), with their rounding errors, to ``sums`` (tiles, 2, q, size), by tiles.

    Arrays are as in `add_block`, of one dtype; ``defects`` (m,) are the ``(1 - |x|^2)/2``. Beyond m sums are of no use.
    A few tiles meet the control points part by part, as many as stay in the second cache.
    """
    tiles, _, q, size = sums.shape
    n, rows, block = b.shape[0] * GROUP, x.shape[1] + 1, block_length(x)
    part = max(1, PART // (x.itemsize * (b.size + w.size) // n * block)) * block
    points, room = aligned(TOGETHER * rows, size, x), aligned(block if w.ndim == 4 else q, size, x)
    before = flush_tiny()
    for start in range(0, tiles, TOGETHER):
        count = min(TOGETHER, tiles - start)
        for i in range(count):
            fill(points[i * rows : (i + 1) * rows], x, (start + i) * size, defects)
        for first in range(0, n, part):
            for i in range(count):
                tile, total, residual = points[i * rows : (i + 1) * rows], sums[start + i, 0], sums[start + i, 1]
                again = 0
                for k in range(first, min(first + part, n), block):
                    products = begins_with_products(by_products, again, k, block)
                    again = add_block(tile, b, w, k, min(k + block, n), products, rates, room, total, residual)
    restore_tiny(before)
