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
from .fused import BLOCK, GROUP, VECTORS, add_block, aligned, fill, half_defects
from .jit import njit
from .kdtree import LEAST, MASS, RADIUS
from .registers import lanes


@njit
def _ball(place, center):
    """Write the center of the tile's points, and return their largest distance from it."""
    d, size = place.shape
    for j in range(d):
        s = 0.0
        for i in range(size):
            s += place[j, i]
        center[j] = s / size
    largest = 0.0
    for i in range(size):
        t = 0.0
        for j in range(d):
            t += (place[j, i] - center[j]) ** 2
        largest = max(largest, t)
    return math.sqrt(largest)


@njit
def _between(center, node):
    """Return the distance of a node's center."""
    t = 0.0
    for j in range(center.size):
        t += (center[j] - node[j]) ** 2
    return math.sqrt(t)


@njit
def _squares(place, point, out):
    """Write the squared distances of the tile's points from a point."""
    d, size = place.shape
    for i in range(size):
        out[i] = 0.0
    for j in range(d):
        b = np.float64(point[j])
        for i in range(size):
            out[i] += (place[j, i] - b) ** 2


@njit
def _needs(place, center, radius, tree, rate, slack, work, need):
    """Write a bound of ``-log L`` for each row of the tile: the larger it is, the farther its sum must reach.

    L is the mass of a node on the way down to a near block, at the node's farthest point, or of a point of that block.
    """
    nodes, spans, rows, lower = tree
    d, size = place.shape
    node, bound = 0, math.inf
    while True:
        far = (_between(center, nodes[node]) + radius) * (1.0 + slack) + nodes[node, d + RADIUS]
        bound = min(bound, rate * (1.0 + slack) * far * far - nodes[node, d + LEAST])
        if spans[node, 1] == 1:
            break
        left, right = node + 1, node + 2 * (spans[node, 1] // 2)
        node = left if _between(center, nodes[left]) < _between(center, nodes[right]) else right
    for i in range(size):
        need[i] = bound
    first = spans[node, 0] * BLOCK
    for k in range(first, min(first + BLOCK, lower.size)):
        _squares(place, rows[k], work)
        factor, own = rate * (1.0 + slack), lower[k]
        for i in range(size):
            v = factor * work[i] - own
            need[i] = v if v < need[i] else need[i]


@njit
def _some_row_needs(place, node, limits, slack, work, need):
    """Say whether a block matters to a row of the tile; limits: as in `near_blocks`."""
    rate, cut, most = limits[0], limits[1], limits[2]
    d, size = place.shape
    _squares(place, node[:d], work)
    radius, mass = node[d + RADIUS], node[d + MASS] + cut
    count = 0
    for i in range(size):
        gap = math.sqrt(work[i]) * (1.0 - slack) - radius
        gap = gap if gap > 0.0 else 0.0
        bound = need[i] + mass
        bound = bound if bound < most else most
        count += rate * (1.0 - slack) * gap * gap < bound
    return count > 0


@njit
def near_blocks(place, tree, limits, work, need, center, found):
    """Write the blocks that matter to the tile of points ``place`` (d, size), in order; return their number.

    ``limits``: the rate, ``log(N / rtol)``, the exponent from which on nothing matters, that from which on plain sums
    would underflow: where no row's sum is known to be larger, the number is negated.
    """
    nodes, spans = tree[0], tree[1]
    rate, cut, most, d = limits[0], limits[1], limits[2], place.shape[0]
    slack = 1e-15 * (d + 16)
    radius = _ball(place, center) * (1.0 + slack)
    _needs(place, center, radius, tree, rate, slack, work, need)
    largest, least = need.max(), need.min()
    node, n = 0, 0
    while node < spans.shape[0]:
        distance, mass = _between(center, nodes[node]) * (1.0 - slack) - nodes[node, d + RADIUS], nodes[node, d + MASS]
        gap = max(0.0, distance - radius)
        if rate * (1.0 - slack) * gap * gap >= min(largest + cut + mass, most):
            node += spans[node, 2]
            continue
        if spans[node, 1] == 1:
            sure = rate * max(0.0, distance) ** 2 < min(least + cut + mass, most)
            if sure or _some_row_needs(place, nodes[node], limits, slack, work, need):
                found[n] = spans[node, 0]
                n += 1
        node += 1
    return -n if least > limits[3] else n


@njit
def truncated_sums(x, tree, b, w, by_products, constants, limits, out):
    """Write the sums at each row of x (m, d) into ``out`` (m, p); b, w, constants: as in `fused_sums`, in tree order.

    ``tree``: nodes, spans, the sorted control points (n, d), and log v_k. A tile whose sums would all underflow is
    left out. Returns the pairs that were computed.
    """
    size, d = VECTORS * lanes(x), x.shape[1]
    q, n = w.shape[0] * w.shape[2], w.shape[1]
    tile, buffer = aligned(d + 1, size, x), aligned(BLOCK, size, x)
    total, rest = aligned(q, size, x), aligned(q, size, x)
    place, work, need, center = np.empty((d, size)), np.empty(size), np.empty(size), np.empty(d)
    found = np.empty(tree[1].shape[0], np.int64)
    defects = np.zeros(x.shape[0], x.dtype)
    if by_products:
        half_defects(x, defects)
    pairs = 0
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, defects)
        place[:] = tile[:d]
        total[:] = 0.0
        rest[:] = 0.0
        again = 0
        blocks = near_blocks(place, tree, limits, work, need, center, found)
        for i in range(blocks):
            k = found[i] * BLOCK
            last = min(k + BLOCK, n)
            products = by_products and (2 * GROUP * again <= BLOCK or i % 16 == 0)
            again = add_block(tile, b, w, k, last, products, constants, buffer, total, rest)
            pairs += count * (last - k)
        for i in range(count):
            for r in range(out.shape[1]):
                out[start + i, r] = total[r, i] + rest[r, i]
    return pairs


@njit
def truncated_triples(x, tree, b, offset, w, constants, limits, shift, numerators, denominator):
    """Write the triple of each row of x (m, d), as `shifted_sums` does; b, offset and w in tree order.

    Returns the pairs that were computed.
    """
    size, d = shifted.TILE_BYTES // x.itemsize, x.shape[1]
    state = shifted.new_state(x, w)
    tile, place, work, need = np.empty((d, size), x.dtype), np.empty((d, size)), np.empty(size), np.empty(size)
    center, found = np.empty(d), np.empty(tree[1].shape[0], np.int64)
    pairs = 0
    for start in range(0, x.shape[0], size):
        count = shifted.begin(tile, x, start, state)
        place[:] = tile
        blocks = abs(near_blocks(place, tree, limits, work, need, center, found))
        for i in range(blocks):
            k = found[i] * BLOCK
            last = min(k + BLOCK, b.shape[0])
            shifted.add_block(tile, b, offset, w, k, last, constants, state)
            pairs += count * (last - k)
        shifted.finish(start, count, state, shift, numerators, denominator)
    return pairs
