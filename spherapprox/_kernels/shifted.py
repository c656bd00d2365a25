"""Sums over all control points that are right at every rate, tile by tile: the careful kernel of the dense method.

For each evaluation point x it computes the triple ``(t, numerators, denominator)`` with t the smallest of
``t_k = offset_k + |x - b_k|^2``, numerators the sums of ``w_k exp(-rate (t_k - t))`` and denominator the sum of
``exp(-rate (t_k - t))``. No term overflows and the largest is 1, so the triple is right at every rate.

A tile of points (two vectors) meets a block of control points in two steps: the t_k into a buffer that stays in the
first cache, with their minimum; then the exponentials and the sums. Blocks are added with their rounding errors.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from .exp import (
    BYTES,
    add,
    add_square,
    angle,
    decay,
    load,
    multiply,
    multiply_add,
    smaller,
    spread,
    store,
    subtract,
    zeros,
)
from .jit import njit

TILE_BYTES = 2 * BYTES
"""Evaluation points of a tile, times the size of a number."""
BLOCK = 64
"""Control points in a block, the longest plain running sum."""
CHAIN = 16
"""Coordinates in a running sum of squares: the error of |x - b|^2 grows with it, not with the dimension."""
GROUP = 4
"""Control points that are in registers together: pad their number to a multiple of it, with infinite offsets."""


@njit
def _distances(tile, b, offset, start, stop, near, buffer):
    """Write t_k for the block's control points into the buffer, and lower `near` to their minimum."""
    width = BYTES // tile.itemsize
    size, dimension = 2 * width, b.shape[1]
    near_a, near_b = load(near, 0), load(near, width)
    at = 0
    for k in range(start, stop, GROUP):
        t0a = t0b = spread(offset, k)
        t1a = t1b = spread(offset, k + 1)
        t2a = t2b = spread(offset, k + 2)
        t3a = t3b = spread(offset, k + 3)
        for first in range(0, dimension, CHAIN):
            s0a = s0b = s1a = s1b = s2a = s2b = s3a = s3b = zeros(tile)
            for j in range(first, min(first + CHAIN, dimension)):
                xa, xb = load(tile, j * size), load(tile, j * size + width)
                b0 = spread(b, k * dimension + j)
                b1 = spread(b, (k + 1) * dimension + j)
                b2 = spread(b, (k + 2) * dimension + j)
                b3 = spread(b, (k + 3) * dimension + j)
                s0a, s0b = add_square(xa, b0, s0a), add_square(xb, b0, s0b)
                s1a, s1b = add_square(xa, b1, s1a), add_square(xb, b1, s1b)
                s2a, s2b = add_square(xa, b2, s2a), add_square(xb, b2, s2b)
                s3a, s3b = add_square(xa, b3, s3a), add_square(xb, b3, s3b)
            t0a, t0b = add(t0a, s0a), add(t0b, s0b)
            t1a, t1b = add(t1a, s1a), add(t1b, s1b)
            t2a, t2b = add(t2a, s2a), add(t2b, s2b)
            t3a, t3b = add(t3a, s3a), add(t3b, s3b)
        near_a = smaller(near_a, smaller(smaller(t0a, t1a), smaller(t2a, t3a)))
        near_b = smaller(near_b, smaller(smaller(t0b, t1b), smaller(t2b, t3b)))
        store(buffer, at, t0a)
        store(buffer, at + width, t0b)
        store(buffer, at + size, t1a)
        store(buffer, at + size + width, t1b)
        store(buffer, at + 2 * size, t2a)
        store(buffer, at + 2 * size + width, t2b)
        store(buffer, at + 3 * size, t3a)
        store(buffer, at + 3 * size + width, t3b)
        at += GROUP * size
    store(near, 0, near_a)
    store(near, width, near_b)


@njit
def _exponentials(buffer, n, near, w, start, scalar, constants, block):
    """Turn the buffer's n rows of t_k into e_k = exp(-rate (t_k - near)); add them, and e_k w_k if `scalar`."""
    width = BYTES // buffer.itemsize
    size = 2 * width
    high, low, cut = spread(constants, 0), spread(constants, 1), spread(constants, 2)
    near_a, near_b = load(near, 0), load(near, width)
    sum_a = sum_b = one_a = one_b = zeros(buffer)
    k = start
    for i in range(0, n * size, GROUP * size):
        e0a = decay(subtract(load(buffer, i), near_a), high, low, cut)
        e0b = decay(subtract(load(buffer, i + width), near_b), high, low, cut)
        e1a = decay(subtract(load(buffer, i + size), near_a), high, low, cut)
        e1b = decay(subtract(load(buffer, i + size + width), near_b), high, low, cut)
        e2a = decay(subtract(load(buffer, i + 2 * size), near_a), high, low, cut)
        e2b = decay(subtract(load(buffer, i + 2 * size + width), near_b), high, low, cut)
        e3a = decay(subtract(load(buffer, i + 3 * size), near_a), high, low, cut)
        e3b = decay(subtract(load(buffer, i + 3 * size + width), near_b), high, low, cut)
        one_a = add(one_a, add(add(e0a, e1a), add(e2a, e3a)))
        one_b = add(one_b, add(add(e0b, e1b), add(e2b, e3b)))
        if scalar:
            w0, w1, w2, w3 = spread(w, k), spread(w, k + 1), spread(w, k + 2), spread(w, k + 3)
            sum_a = multiply_add(e3a, w3, multiply_add(e2a, w2, multiply_add(e1a, w1, multiply_add(e0a, w0, sum_a))))
            sum_b = multiply_add(e3b, w3, multiply_add(e2b, w2, multiply_add(e1b, w1, multiply_add(e0b, w0, sum_b))))
            k += GROUP
        else:
            store(buffer, i, e0a)
            store(buffer, i + width, e0b)
            store(buffer, i + size, e1a)
            store(buffer, i + size + width, e1b)
            store(buffer, i + 2 * size, e2a)
            store(buffer, i + 2 * size + width, e2b)
            store(buffer, i + 3 * size, e3a)
            store(buffer, i + 3 * size + width, e3b)
    store(block, 0, one_a)
    store(block, width, one_b)
    store(block, size, sum_a)
    store(block, size + width, sum_b)


@njit
def _angles(buffer, n, near, constants, block):
    """Add e_k = exp(-rate (t_k - near)), and e_k times the angle of t_k, over the buffer's n rows of t_k."""
    width = BYTES // buffer.itemsize
    size = 2 * width
    high, low, cut = spread(constants, 0), spread(constants, 1), spread(constants, 2)
    near_a, near_b = load(near, 0), load(near, width)
    one_a = one_b = sum_a = sum_b = zeros(buffer)
    for i in range(0, n * size, size):
        ta, tb = load(buffer, i), load(buffer, i + width)
        ea, eb = decay(subtract(ta, near_a), high, low, cut), decay(subtract(tb, near_b), high, low, cut)
        one_a, one_b = add(one_a, ea), add(one_b, eb)
        sum_a, sum_b = multiply_add(ea, angle(ta), sum_a), multiply_add(eb, angle(tb), sum_b)
    store(block, 0, one_a)
    store(block, width, one_b)
    store(block, size, sum_a)
    store(block, size + width, sum_b)


@njit
def _products(buffer, n, w, start, block):
    """Add e_k w_kr over the buffer's n rows of e_k, four columns r of w at a time."""
    width = BYTES // buffer.itemsize
    size, columns = 2 * width, w.shape[1]
    for r in range(0, columns, GROUP):
        s0a = s0b = s1a = s1b = s2a = s2b = s3a = s3b = zeros(buffer)
        at = start * columns + r
        for i in range(0, n * size, size):
            ea, eb = load(buffer, i), load(buffer, i + width)
            w0, w1, w2, w3 = spread(w, at), spread(w, at + 1), spread(w, at + 2), spread(w, at + 3)
            s0a, s0b = multiply_add(ea, w0, s0a), multiply_add(eb, w0, s0b)
            s1a, s1b = multiply_add(ea, w1, s1a), multiply_add(eb, w1, s1b)
            s2a, s2b = multiply_add(ea, w2, s2a), multiply_add(eb, w2, s2b)
            s3a, s3b = multiply_add(ea, w3, s3a), multiply_add(eb, w3, s3b)
            at += columns
        first = (r + 1) * size
        store(block, first, s0a)
        store(block, first + width, s0b)
        store(block, first + size, s1a)
        store(block, first + size + width, s1b)
        store(block, first + 2 * size, s2a)
        store(block, first + 2 * size + width, s2b)
        store(block, first + 3 * size, s3a)
        store(block, first + 3 * size + width, s3b)


@njit
def _fold(block, old, near, constants, total, rest):
    """Merge the block's sums, relative to `near`, into the totals, relative to `old`; `rest` keeps rounding errors."""
    width = BYTES // block.itemsize
    high, low, cut = spread(constants, 0), spread(constants, 1), spread(constants, 2)
    for h in range(0, 2 * width, width):
        scale = decay(subtract(load(old, h), load(near, h)), high, low, cut)
        for i in range(h, block.size, 2 * width):
            a, b = multiply(load(total, i), scale), load(block, i)
            s = add(a, b)
            v = subtract(s, a)
            error = add(subtract(a, subtract(s, v)), subtract(b, v))
            store(total, i, s)
            store(rest, i, multiply_add(load(rest, i), scale, error))


@njit
def new_state(x, w):
    """Return room for the sums of a tile: `near`, `old`, `buffer`, `block`, `total`, `rest`."""
    size = 2 * (BYTES // x.itemsize)
    rows = (1 + max(1, w.shape[1]), size)
    block, total, rest = np.empty(rows, x.dtype), np.empty(rows, x.dtype), np.empty(rows, x.dtype)
    return np.empty(size, x.dtype), np.empty(size, x.dtype), np.empty((BLOCK, size), x.dtype), block, total, rest


@njit
def begin(tile, x, start, state):
    """Copy a tile's evaluation points, and clear the state; the last tile repeats the last row. Returns the rows."""
    count = min(tile.shape[1], x.shape[0] - start)
    for i in range(tile.shape[1]):
        for j in range(x.shape[1]):
            tile[j, i] = x[start + min(i, count - 1), j]
    near, _, _, _, total, rest = state
    near[:] = np.inf
    total[:] = 0.0
    rest[:] = 0.0
    return count


@njit
def add_block(tile, b, offset, w, start, stop, constants, state):
    """Add control points start, ..., stop - 1 (at most BLOCK) to the state; arrays as in `shifted_sums`."""
    near, old, buffer, block, total, rest = state
    for i in range(0, near.size, BYTES // near.itemsize):
        store(old, i, load(near, i))
    _distances(tile, b, offset, start, stop, near, buffer)
    if w.shape[1] == 0:
        _angles(buffer, stop - start, near, constants, block)
    else:
        _exponentials(buffer, stop - start, near, w, start, w.shape[1] == 1, constants, block)
    if w.shape[1] > 1:
        _products(buffer, stop - start, w, start, block)
    _fold(block, old, near, constants, total, rest)


@njit
def finish(start, count, state, nearest, numerators, denominator):
    """Write the triples of the tile's rows."""
    near, _, _, _, total, rest = state
    for i in range(count):
        nearest[start + i] = near[i]
        denominator[start + i] = total[0, i] + rest[0, i]
        for r in range(numerators.shape[1]):
            numerators[start + i, r] = total[1 + r, i] + rest[1 + r, i]


@njit
def shifted_sums(x, b, offset, w, constants, nearest, numerators, denominator):
    """Write the triple of each row of x. Arrays are contiguous and of one dtype.

    ``x`` (m, d), ``b`` (n, d), ``offset`` (n,), ``w`` (n, q), n a multiple of GROUP, q one or a multiple of GROUP,
    or 0 for the angles between x and b_k in place of weights;
    ``nearest`` (m,), ``numerators`` (m, p) with p <= q, ``denominator`` (m,).
    """
    state = new_state(x, w)
    size = 2 * (BYTES // x.itemsize)
    tile = np.empty((x.shape[1], size), x.dtype)
    for start in range(0, x.shape[0], size):
        count = begin(tile, x, start, state)
        for k in range(0, b.shape[0], BLOCK):
            add_block(tile, b, offset, w, k, min(k + BLOCK, b.shape[0]), constants, state)
        finish(start, count, state, nearest, numerators, denominator)
