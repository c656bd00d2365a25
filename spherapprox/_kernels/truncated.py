"""Sums over those blocks of control points that matter to a tile of evaluation points, found in a tree of balls.

With u_k, v_k the largest and the least mass of a control point over the columns of weights, each relative to its
column's mean, a node of the tree with n of N points is left out where for every row of the tile
``sum_{k in node} u_k exp(-rate t) <= rtol (n / N) L``: t bounds the t_k from below, and L is the mass of some points
near the row, at most ``sum_k v_k exp(-rate t_k)``. So all nodes left out add at most rtol of the row's own sum of
absolute values (docs/theorems.md, 4.11).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from . import shifted
from .fused import BLOCK, GROUP, VECTORS, add_block, aligned, fill, write_sums
from .jit import njit
from .kdtree import COLUMNS, LEAST, MASS, RADIUS, distance
from .registers import lanes
from .vectors import BYTES, add, add_square, load, multiply, smaller, spread, store, subtract, zeros

RATE, CUT, MOST, LOST, SLACK = range(5)
"""What a kernel's limits hold: the rate; ``log(N / rtol)``; the exponent from which on nothing matters; that from which
on a plain sum would underflow; the relative error of computed squared distances."""


@njit
def _ball(tile, center):
    """Write the center of the tile's points, and return their largest distance from it."""
    d, size = center.size, tile.shape[1]
    for j in range(d):
        s = 0.0
        for i in range(size):
            s += tile[j, i]
        center[j] = s / size
    largest = 0.0
    for i in range(size):
        t = 0.0
        for j in range(d):
            t += (np.float64(tile[j, i]) - center[j]) ** 2
        largest = max(largest, t)
    return math.sqrt(largest)


@njit(inline="always")
def _exponent(t, factor, lower, k):
    """Return ``factor t - lower_k``."""
    return subtract(multiply(t, factor), spread(lower, k))


@njit
def _needs(tile, center, radius, tree, limits, need):
    """Write a bound of ``-log L`` for each row of the tile: the larger it is, the farther its sum must reach.

    L is the mass of a node on the way down to a near block, at the node's farthest point, or of a point of that block.
    """
    nodes, spans, rows, lower = tree
    d, size, width = center.size, tile.shape[1], BYTES // tile.itemsize
    slack = limits[SLACK]
    node, bound = 0, math.inf
    while True:
        far = (distance(nodes[node], center, d) + radius) * (1.0 + slack) + nodes[node, d + RADIUS]
        bound = min(bound, limits[RATE] * (1.0 + slack) * far * far - nodes[node, d + LEAST])
        if spans[node, 1] == 1:
            break
        left, right = node + 1, node + 2 * (spans[node, 1] // 2)
        node = left if distance(nodes[left], center, d) < distance(nodes[right], center, d) else right
    for i in range(size):
        need[0, i] = bound
        need[1, i] = limits[RATE] * (1.0 + slack)
    first = spans[node, 0] * BLOCK
    for v in range(0, size, width):
        least, factor = load(need, v), load(need, size + v)
        for k in range(first, min(first + BLOCK, lower.size), 4):
            t0 = t1 = t2 = t3 = zeros(tile)
            for j in range(d):
                x, at = load(tile, j * size + v), k * d + j
                t0, t1 = add_square(x, spread(rows, at), t0), add_square(x, spread(rows, at + d), t1)
                t2 = add_square(x, spread(rows, at + 2 * d), t2)
                t3 = add_square(x, spread(rows, at + 3 * d), t3)
            a = smaller(_exponent(t0, factor, lower, k), _exponent(t1, factor, lower, k + 1))
            b = smaller(_exponent(t2, factor, lower, k + 2), _exponent(t3, factor, lower, k + 3))
            least = smaller(least, smaller(a, b))
        store(need, v, least)


@njit
def _some_row_needs(tile, nodes, node, need):
    """Say whether a block comes nearer to a row of the tile than the distance in need[1]."""
    d, size, width = nodes.shape[1] - COLUMNS, tile.shape[1], BYTES // tile.itemsize
    at = node * nodes.shape[1]
    least = zeros(tile)
    for v in range(0, size, width):
        t = zeros(tile)
        for j in range(d):
            t = add_square(load(tile, j * size + v), spread(nodes, at + j), t)
        reach = add(load(need, size + v), spread(nodes, at + d + RADIUS))
        least = smaller(least, subtract(t, multiply(reach, reach)))
    store(need, 2 * size, least)
    count = 0
    for i in range(width):
        count += need[2, i] < 0.0
    return count > 0


@njit
def near_blocks(tile, tree, limits, need, center, found):
    """Write the blocks that matter to the points of a tile (d or more, size), in order; return their number.

    ``limits``: see the constants; ``need`` (3, size), ``center`` (d,), ``found`` (q,): room. The number is negated
    where no row's sum is known to be as large as LOST says.
    """
    nodes, spans = tree[0], tree[1]
    rate, cut, most, slack, d = limits[RATE], limits[CUT], limits[MOST], limits[SLACK], center.size
    radius = _ball(tile, center) * (1.0 + slack)
    _needs(tile, center, radius, tree, limits, need)
    largest = least = np.float64(need[0, 0])
    for i in range(1, tile.shape[1]):
        largest, least = max(largest, need[0, i]), min(least, need[0, i])
    node, n, mass = 0, 0, -math.inf
    while node < spans.shape[0]:
        gap = distance(nodes[node], center, d) * (1.0 - slack) - nodes[node, d + RADIUS] - radius
        bound = min(largest + cut + nodes[node, d + MASS], most)
        if gap > 0.0 and rate * (1.0 - slack) * gap * gap >= bound:
            node += spans[node, 2]
            continue
        if spans[node, 1] == 1:
            found[n] = node
            mass = max(mass, nodes[node, d + MASS])
            n += 1
        node += 1
    for i in range(tile.shape[1]):
        need[1, i] = math.sqrt(max(0.0, min(need[0, i] + cut + mass, most)) / rate) * (1.0 + slack)
    kept = 0
    for i in range(n):
        if _some_row_needs(tile, nodes, found[i], need):
            found[kept] = spans[found[i], 0]
            kept += 1
    return -kept if limits[LOST] < least < math.inf else kept


@njit
def truncated_sums(x, defects, tree, b, w, by_products, constants, limits, out):
    """Write the sums at each row of x (m, d) into ``out`` (m, p); other arguments as in `fused_sums`, in tree order.

    ``tree``: nodes, spans, the sorted control points (n, d), and log v_k, n a multiple of 4. A tile whose sums would
    all underflow is left out. Returns the pairs that were computed.
    """
    size, d = VECTORS * lanes(x), x.shape[1]
    q, n = w.shape[0] * w.shape[2], w.shape[1]
    tile, buffer = aligned(d + 1, size, x), aligned(BLOCK, size, x)
    total, rest = aligned(q, size, x), aligned(q, size, x)
    need, center = np.empty((3, size), x.dtype), np.empty(d)
    found = np.empty(tree[1].shape[0], np.int64)
    pairs = 0
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, defects)
        total[:] = 0.0
        rest[:] = 0.0
        again = 0
        blocks = near_blocks(tile, tree, limits, need, center, found)
        for i in range(blocks):
            k = found[i] * BLOCK
            last = min(k + BLOCK, n)
            products = by_products and (2 * GROUP * again <= BLOCK or i % 16 == 0)
            again = add_block(tile, b, w, k, last, products, constants, buffer, total, rest)
            pairs += count * (last - k)
        write_sums(start, count, total, rest, out)
    return pairs


@njit
def truncated_triples(x, tree, b, w, constants, limits, nearest, out):
    """Write what `shifted_sums` does for each row of x (m, d); b and w in tree order. Returns the pairs computed."""
    size, d = VECTORS * lanes(x), x.shape[1]
    zeros, n = np.zeros(x.shape[0], x.dtype), w.shape[1]
    tile, state = aligned(d + 1, size, x), shifted.new_state(size, w, x)
    need, center = np.empty((3, size), x.dtype), np.empty(d)
    found = np.empty(tree[1].shape[0], np.int64)
    pairs = 0
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, zeros)
        shifted.begin(state)
        blocks = abs(near_blocks(tile, tree, limits, need, center, found))
        for i in range(blocks):
            k = found[i] * BLOCK
            last = min(k + BLOCK, n)
            shifted.add_block(tile, b, w, k, last, False, constants, state)
            pairs += count * (last - k)
        shifted.finish(start, count, state, nearest, out)
    return pairs
