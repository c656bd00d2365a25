"""Sums over those blocks of control points that matter to a tile of evaluation points, found by boxes about them.

With u_k, v_k the largest and the least mass of a control point over the columns of weights, each relative to its
column's mean, a block of n of N points is left out where for every row of the tile
``sum_{k in block} u_k exp(-rate t) <= rtol (n / N) L``: t bounds the t_k from below, and L is the mass of some points
near the row, at most ``sum_k v_k exp(-rate t_k)``. So all blocks left out add at most rtol of the row's own sum of
absolute values (docs/theorems/4.11-truncated-sums.md).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..jit import njit
from ..simd.flush import flush_tiny, restore_tiny
from ..simd.registers import lanes
from ..simd.vectors import (
    add,
    add_square,
    larger,
    load,
    multiply,
    multiply_add,
    replicate,
    smaller,
    spread,
    store,
    subtract,
)
from . import shifted
from .boxes import BUNDLE, LANES, enclose, farthest, fill, nearest, negative
from .fused import add_block, begins_with_products
from .layout import NEAR_BLOCK
from .tiles import VECTORS, aligned
from .tiles import fill as fill_tile

TILES = 8  # tiles that look for blocks together, among those that may matter to all of their rows. Tuned.
SEARCH_ROWS = 768  # rows of whole searches on any machine: tasks of its multiples change no search


class Room(NamedTuple):
    """The room that a search writes to."""

    near: Any  # the boxes of candidates, (2d+2, blocks)
    ids: Any  # which blocks these are
    need: Any  # bounds of -log L for the rows of a tile
    box: Any  # about a tile, (2d,)
    starts: Any  # the first rows of blocks near the tile


@njit
def _candidates(tree, around, limits, near, ids):
    """Copy the boxes of the blocks that may matter to points of a box; return their number and a bound of -log L."""
    boxes, bundles = tree.boxes, tree.bundles
    begin = n = np.int64(0)  # a number as any other: for one that it knows numba compiles again
    # 4.11: Lambda from all points, with T = 4.01
    bound = limits.rate * (1.0 + limits.slack) * 4.01 - tree.least
    # Step 1: lower the bound by the bundle and the block that are least far
    here, where = farthest(bundles, begin, bundles.shape[1], around, limits)
    first, last = where * BUNDLE, min((where + 1) * BUNDLE, boxes.shape[1])
    bound = min(bound, here, farthest(boxes, first, last, around, limits)[0])
    # Step 2: the bundles near the box, and the near ones of their blocks
    bundle_ids = np.empty(bundles.shape[1], np.int64)
    for i in range(nearest(bundles, begin, bundles.shape[1], around, bound, limits, bundle_ids, begin)):
        first, last = bundle_ids[i] * BUNDLE, min((bundle_ids[i] + 1) * BUNDLE, boxes.shape[1])
        n = nearest(boxes, first, last, around, bound, limits, ids, n)
    # Step 3: copy their boxes
    for j in range(boxes.shape[0]):
        for i in range(n):
            near[j, i] = boxes[j, ids[i]]
    fill(near, n)
    return n, bound


@njit
def _needs(tile, rows, lower, first, limits, need):
    """Lower the bounds of -log L of the tile's rows to those of the points of a block."""
    d, size = rows.shape[1], tile.shape[1]
    factor = replicate(limits.rate * (1.0 + limits.slack))
    for v in range(0, size, LANES):
        least = load(need, v)
        for k in range(first, min(first + NEAR_BLOCK, lower.size)):
            t = replicate(0.0)
            for j in range(d):
                t = add_square(load(tile, j * size + v), spread(rows, k * d + j), t)
            # 4.11 (lower)
            least = smaller(least, subtract(multiply(t, factor), spread(lower, k)))
        store(need, v, least)


@njit
def _enclose_tile(tile, box):
    """Write the least and the largest coordinates of a tile's points."""
    d = box.size // 2
    for j in range(d):
        low = high = tile[j, 0]
        for i in range(1, tile.shape[1]):
            v = tile[j, i]
            low = v if v < low else low
            high = v if v > high else high
        box[j], box[d + j] = low, high


@njit
def near_blocks(tile, tree, count, bound, limits, room):
    """Write the first rows of blocks that matter to the points of a tile (d or more, size), in order.

    The room has the boxes of `count` candidates; ``bound`` is one of -log L for all rows. Returns the number of blocks,
    negated where the bound of -log L is above ``limits.underflow``, and finite, in every row.
    """
    near, ids, need, box, starts = room
    d, size, n = box.size // 2, tile.shape[1], near.shape[1]
    last = (count + LANES - 1) // LANES * LANES
    # Step 1: bound -log Lambda for each row
    begin = np.int64(0)
    _enclose_tile(tile, box)
    here, where = farthest(near, begin, last, box, limits)
    need[:] = min(bound, here)
    if count > 0:
        _needs(tile, tree.rows, tree.lower, ids[where] * NEAR_BLOCK, limits, need)
    largest = least = need[0]
    for v in need:
        largest, least = max(largest, v), min(least, v)
    # Step 2: keep the blocks near the tile's box that are near one of its rows
    factor, negligible = replicate(limits.rate * (1.0 - limits.slack)), replicate(limits.negligible)
    n_near = begin
    for i in range(nearest(near, begin, last, box, largest, limits, starts, begin)):
        at = starts[i]
        extra = replicate(near[2 * d, at] + limits.cut)
        rows = 0
        for v in range(0, size, LANES):
            t = replicate(0.0)
            for j in range(d):
                x = load(tile, j * size + v)
                s = larger(subtract(spread(near, j * n + at), x), subtract(x, spread(near, (d + j) * n + at)))
                s = larger(s, replicate(0.0))
                t = multiply_add(s, s, t)
            bound_here = smaller(add(load(need, v), extra), negligible)
            rows |= negative(subtract(multiply(t, factor), bound_here))
        starts[n_near] = ids[at] * NEAR_BLOCK
        n_near += rows != 0
    return -n_near if limits.underflow < least < math.inf else n_near


@njit
def _room(tree, size):
    """Return the room that a search with tiles of so many rows writes to."""
    d, n = tree.rows.shape[1], tree.boxes.shape[1]
    ids, starts = np.empty(n, np.int64), np.empty(n, np.int64)
    return Room(np.empty((2 * d + 2, n)), ids, np.empty(size), np.empty(2 * d), starts)


@njit
def truncated_sums(x, order, defects, tree, b, w, by_products, rates, limits, out):
    """Write the sums at each row of x (m, d) into rows ``order`` (m,) of ``out``; others as in `fused_sums`, sorted.

    A tile whose sums would all underflow is left out. Returns the pairs that were computed.
    """
    size, d = VECTORS * lanes(x), x.shape[1]
    q, n = out.shape[1], b.shape[0] * b.shape[2]
    tile, part, total, residual = aligned(d + 1, size, x), aligned(q, size, x), aligned(q, size, x), aligned(q, size, x)
    room, box = _room(tree, size), np.empty((2 * d, 1))
    pairs = candidates = 0
    bound = math.inf
    for start in range(0, x.shape[0], size):
        if start % (TILES * size) == 0:
            enclose(x, start, min(start + TILES * size, x.shape[0]), box, np.int64(0))
            candidates, bound = _candidates(tree, box.reshape(2 * d), limits, room.near, room.ids)
        count = min(size, x.shape[0] - start)
        for i in range(size):
            row = start + min(i, count - 1)
            for j in range(d):
                tile[j, i] = x[row, j]
            tile[d, i] = defects[order[row]]
        total[:] = 0.0
        residual[:] = 0.0
        again = 0
        blocks = near_blocks(tile, tree, candidates, bound, limits, room)
        before = flush_tiny()
        for i in range(blocks):
            k = room.starts[i]
            last = min(k + NEAR_BLOCK, n)
            products = begins_with_products(by_products, again, i * NEAR_BLOCK, NEAR_BLOCK)
            again = add_block(tile, b, w, k, last, products, rates, part, total, residual)
            pairs += count * (last - k)
        restore_tiny(before)
        for i in range(count):
            for r in range(out.shape[1]):
                out[order[start + i], r] = total[r, i] + residual[r, i]
    return pairs


@njit
def truncated_triples(x, tree, b, w, rates, limits, nearest_yet, sums):
    """Write the state of `shifted_sums` for each row of x (m, d); b and w sorted. Returns the pairs computed."""
    size, d = VECTORS * lanes(x), x.shape[1]
    zeros, n = np.zeros(x.shape[0], x.dtype), b.shape[0] * b.shape[2]
    tile, state = aligned(d + 1, size, x), shifted.new_state(size, sums.shape[2], x)
    room, box = _room(tree, size), np.empty((2 * d, 1))
    pairs = candidates = 0
    bound, never = math.inf, d < 0  # no constant: for one that it knows numba compiles again
    for start in range(0, x.shape[0], size):
        if start % (TILES * size) == 0:
            enclose(x, start, min(start + TILES * size, x.shape[0]), box, np.int64(0))
            candidates, bound = _candidates(tree, box.reshape(2 * d), limits, room.near, room.ids)
        count = fill_tile(tile, x, start, zeros)
        shifted.begin(start, count, state, nearest_yet, sums)
        blocks = abs(near_blocks(tile, tree, candidates, bound, limits, room))
        for i in range(blocks):
            k = room.starts[i]
            last = min(k + NEAR_BLOCK, n)
            shifted.add_block(tile, b, w, k, last, never, rates, state)
            pairs += count * (last - k)
        shifted.finish(start, count, state, nearest_yet, sums)
    return pairs
