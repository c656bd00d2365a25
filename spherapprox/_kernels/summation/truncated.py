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
from ..simd.registers import lanes, squares_from_products
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
from .fused import add_block, begins_with_products, products_with_defects, squares
from .layout import CUBE, NEAR_BLOCK
from .tiles import GROUP, VECTORS, aligned
from .tiles import fill as fill_tile

TILES = 8  # tiles that look for blocks together, among those that may matter to all of their rows. Tuned.
LOOKS, UNEVEN = 4, 0.5
"""How often a tile looks for a block that is near its rows, and the difference of their bounds that is worth a look."""
SEARCH_ROWS = 768  # rows of whole searches on any machine: tasks of its multiples change no search


class Room(NamedTuple):
    """The room that a search writes to."""

    near: Any  # the boxes of candidates, (2d+2, blocks)
    ids: Any  # which blocks these are
    centres: Any  # the centres of candidates in groups, (blocks / GROUP, d+1, GROUP)
    squares: Any  # squared distances of a tile's rows from a group of centres, (GROUP, size)
    need: Any  # bounds of -log L for the rows of a tile
    box: Any  # about a tile, (2d,)
    starts: Any  # the first rows of blocks near the tile


@njit
def _candidates(tree, around, limits, room):
    """Copy the boxes of the blocks that may matter to points of a box; return their number and a bound of -log L."""
    boxes, bundles, near, ids = tree.boxes, tree.bundles, room.near, room.ids
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
    # Step 3: copy their boxes and centres
    for j in range(boxes.shape[0]):
        for i in range(n):
            near[j, i] = boxes[j, ids[i]]
    fill(near, n)
    for i in range(n if tree.rows.shape[1] > CUBE else 0):
        for j in range(tree.centres.shape[1]):
            room.centres[i // GROUP, j, i % GROUP] = tree.centres[ids[i], j]
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
def _enclose_tile(tile, first, last, box):
    """Write the least and the largest coordinates of some of a tile's points."""
    d = box.size // 2
    for j in range(d):
        low = high = tile[j, first]
        for i in range(first + 1, last):
            v = tile[j, i]
            low = v if v < low else low
            high = v if v > high else high
        box[j], box[d + j] = low, high


@njit
def _squares(tile, centres, group, by_products):
    """Return the squared distances of a tile's rows from a group of centres."""
    if by_products:
        return squares_from_products(products_with_defects(tile, centres, group * GROUP))
    return squares(tile, centres, group * tile.shape[0] * GROUP, tile.shape[0] - 1)


@njit
def _is_beside(tile, at, radius, bound, limits, room):
    """Tell whether a row of a tile is so near to the centre of a candidate that its ball's points may matter to it.

    To no row does a point matter from `bound` on; squared distances from the centre's group are in the room.
    """
    if not bound > 0.0:
        return False
    # 4.11 (3): |x - c| >= r + (2 bound / lambda)^(1/2) leaves a block out
    reach = (radius + math.sqrt(bound / limits.rate)) * (1.0 + limits.slack)
    size, least = tile.shape[1], replicate(math.inf)
    for v in range(0, size, LANES):
        least = smaller(load(room.squares, at % GROUP * size + v), least)
    return negative(subtract(least, replicate(reach * reach + limits.slack))) != 0


@njit
def _bounds(tile, tree, count, bound, limits, room):
    """Write bounds of -log L for each row of a tile, from points of some blocks; return the least and the largest."""
    size, begin = tile.shape[1], np.int64(0)
    last = (count + LANES - 1) // LANES * LANES
    room.need[:] = least = largest = bound
    first, end = begin, begin + size
    for look in range(LOOKS if count > 0 else 0):
        # after the first look, for the worst row, while it is much worse than the best
        if look > 0:
            if min(largest, limits.negligible) <= least + UNEVEN * limits.cut:
                break
            while room.need[first] < largest:
                first += 1
            end = first + 1
        _enclose_tile(tile, first, end, room.box)
        here, where = farthest(room.near, begin, last, room.box, limits)
        for i in range(first, end):
            room.need[i] = min(room.need[i], here)
        _needs(tile, tree.rows, tree.lower, room.ids[where] * NEAR_BLOCK, limits, room.need)
        first, least, largest = begin, room.need[0], room.need[0]
        for need in room.need:
            least, largest = min(least, need), max(largest, need)
    return least, largest


@njit(inline="always")
def _is_before(tile, near, at, need, limits):
    """Tell whether a candidate may matter to a row of a tile, by its box."""
    d, size, n, rows = near.shape[0] // 2 - 1, tile.shape[1], near.shape[1], 0
    factor, negligible = replicate(limits.rate * (1.0 - limits.slack)), replicate(limits.negligible)
    extra = replicate(near[2 * d, at] + limits.cut)
    for v in range(0, size, LANES):
        t = replicate(0.0)
        for j in range(d):
            x = load(tile, j * size + v)
            s = larger(subtract(spread(near, j * n + at), x), subtract(x, spread(near, (d + j) * n + at)))
            s = larger(s, replicate(0.0))
            t = multiply_add(s, s, t)
        rows |= negative(subtract(multiply(t, factor), smaller(add(load(need, v), extra), negligible)))
    return rows != 0


@njit
def near_blocks(tile, tree, count, bound, by_products, limits, room):
    """Write the first rows of blocks that matter to the points of a tile (d or more, size), in order.

    The room has the boxes of `count` candidates; ``bound`` is one of -log L for all rows. Returns the number of blocks,
    negated where the bound of -log L is above ``limits.underflow``, and finite, in every row.
    """
    d, begin = room.box.size // 2, np.int64(0)
    last = (count + LANES - 1) // LANES * LANES
    # Step 1: bound -log Lambda for each row
    least, largest = _bounds(tile, tree, count, bound, limits, room)
    # Step 2: keep the blocks near the tile's box whose balls, and whose boxes, are near one of its rows
    _enclose_tile(tile, begin, begin + tile.shape[1], room.box)
    n_near, group = begin, begin - 1
    for i in range(nearest(room.near, begin, last, room.box, largest, limits, room.starts, begin)):
        at = room.starts[i]
        if d > CUBE:
            if at // GROUP != group:
                group = at // GROUP
                store(room.squares, 0, _squares(tile, room.centres, group, by_products))
            nearby = min(largest + room.near[2 * d, at] + limits.cut, limits.negligible)
            if not _is_beside(tile, at, tree.radii[room.ids[at]], nearby, limits, room):
                continue
        room.starts[n_near] = room.ids[at] * NEAR_BLOCK
        n_near += _is_before(tile, room.near, at, room.need, limits)
    return -n_near if limits.underflow < least < math.inf else n_near


@njit
def _room(tree, size):
    """Return the room that a search with tiles of so many rows writes to."""
    d, n = tree.rows.shape[1], tree.boxes.shape[1]
    ids, starts = np.empty(n, np.int64), np.empty(n, np.int64)
    centres = np.zeros(((n + GROUP - 1) // GROUP, d + 1, GROUP))
    return Room(
        np.empty((2 * d + 2, n)), ids, centres, np.empty((GROUP, size)), np.empty(size), np.empty(2 * d), starts
    )


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
            candidates, bound = _candidates(tree, box.reshape(2 * d), limits, room)
        count = min(size, x.shape[0] - start)
        for i in range(size):
            row = start + min(i, count - 1)
            for j in range(d):
                tile[j, i] = x[row, j]
            tile[d, i] = defects[order[row]]
        total[:] = 0.0
        residual[:] = 0.0
        again = 0
        blocks = near_blocks(tile, tree, candidates, bound, by_products, limits, room)
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
            candidates, bound = _candidates(tree, box.reshape(2 * d), limits, room)
        count = fill_tile(tile, x, start, zeros)
        shifted.begin(start, count, state, nearest_yet, sums)
        blocks = abs(near_blocks(tile, tree, candidates, bound, never, limits, room))
        for i in range(blocks):
            k = room.starts[i]
            last = min(k + NEAR_BLOCK, n)
            shifted.add_block(tile, b, w, k, last, never, rates, state)
            pairs += count * (last - k)
        shifted.finish(start, count, state, nearest_yet, sums)
    return pairs
