"""A tree of balls about rows of points: the rows in an order in which blocks of neighbours are together, and the balls.

Nodes are in preorder, so that a node's first child follows it, and what it holds can be skipped in one step.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from .jit import njit

EXACT = 64
"""Blocks of a node up to which its radius is that of its points, and not a bound by its children's."""
SAMPLE = 256
"""Rows that say along which coordinate a node is halved."""
FEW = 15
"""Rows that say about which value it is."""
COLUMNS = 3
RADIUS, MASS, LEAST = range(COLUMNS)
"""Columns of a node after its center's coordinates: docs/theorems.md, 4.11."""


@njit
def _widest(rows, first, last):
    """Return the coordinate in which the rows, or SAMPLE of them, differ most, and by how much."""
    best, width = 0, -1.0
    step = max(1, (last - first) // SAMPLE)
    for j in range(rows.shape[1]):
        low = high = rows[first, j]
        for i in range(first + step, last, step):
            v = rows[i, j]
            low = v if v < low else low
            high = v if v > high else high
        if high - low > width:
            best, width = j, high - low
    return best, width


@njit
def _pivot(rows, first, last, middle, j, few):
    """Return a value of coordinate j whose rank among the rows is near `middle`: that among a few of them."""
    n = min(few.size, last - first)
    step = (last - first) // n
    for i in range(n):
        v, k = rows[first + i * step, j], i
        while k > 0 and few[k - 1] > v:
            few[k] = few[k - 1]
            k -= 1
        few[k] = v
    return few[(middle - first) * n // (last - first)]


@njit
def _swap(rows, order, i, k):
    """Exchange two rows."""
    for j in range(rows.shape[1]):
        v = rows[i, j]
        rows[i, j] = rows[k, j]
        rows[k, j] = v
    n = order[i]
    order[i] = order[k]
    order[k] = n


@njit
def _select(rows, order, first, last, middle, j):
    """Exchange rows until those before `middle` are at most, the others at least as large in coordinate j (Hoare)."""
    few = np.empty(FEW, rows.dtype)
    while last - first > 1:
        pivot = _pivot(rows, first, last, middle, j, few)
        i, k = first, last - 1
        while i <= k:
            while rows[i, j] < pivot:
                i += 1
            while rows[k, j] > pivot:
                k -= 1
            if i <= k:
                _swap(rows, order, i, k)
                i += 1
                k -= 1
        if middle <= k:
            last = k + 1
        elif middle >= i:
            first = i
        else:
            return


@njit
def halve(rows, order, first, last, block):
    """Bring the rows into two halves along their widest coordinate, the first of whole blocks; return its end."""
    blocks = (last - first + block - 1) // block
    middle = first + (blocks // 2) * block
    if blocks > 1:
        j, width = _widest(rows, first, last)
        if width > 0.0:
            _select(rows, order, first, last, middle, j)
    return middle


@njit
def sort_blocks(rows, order, first, last, block):
    """Halve the rows, and the halves, down to single blocks; `order` (n,) follows them."""
    ends = np.empty(64, np.int64)  # as many as the tree is deep
    depth = 0
    ends[0] = last
    while depth >= 0:
        while ends[depth] - first > block:
            ends[depth + 1] = halve(rows, order, first, ends[depth], block)
            depth += 1
        first = ends[depth]
        depth -= 1


@njit
def _spans(blocks, spans):
    """Write each node's first block, its number of blocks, and its number of nodes with itself, in preorder."""
    spans[0, 0], spans[0, 1] = 0, blocks
    for i in range(spans.shape[0]):
        first, n = spans[i, 0], spans[i, 1]
        spans[i, 2] = 2 * n - 1
        if n > 1:
            left, right = n // 2, i + 2 * (n // 2)
            spans[i + 1, 0], spans[i + 1, 1] = first, left
            spans[right, 0], spans[right, 1] = first + left, n - left


@njit
def _log_sum(values):
    """Return the logarithm of the sum of exponentials."""
    largest, total = -math.inf, 0.0
    for v in values:
        largest = max(largest, v)
    for v in values:
        total += math.exp(v - largest)
    return largest + math.log(total)


@njit
def distance(a, b, size):
    """Return the distance of two points, given by the first `size` numbers of arrays."""
    t = 0.0
    for j in range(size):
        t += (np.float64(a[j]) - np.float64(b[j])) ** 2
    return math.sqrt(t)


@njit
def _mean(rows, first, last, center):
    """Write the mean of the rows."""
    for j in range(center.size):
        center[j] = 0.0
    for k in range(first, last):
        for j in range(center.size):
            center[j] += rows[k, j] / (last - first)


@njit
def _radius(rows, nodes, i, spans, first, last):
    """Return a bound of the distances of the node's points from its center."""
    d, radius = rows.shape[1], 0.0
    if spans[i, 1] <= EXACT:
        for k in range(first, last):
            radius = max(radius, distance(rows[k], nodes[i], d))
    else:
        child = i + 1
        for _ in range(2):
            radius = max(radius, distance(nodes[child], nodes[i], d) + nodes[child, d + RADIUS])
            child = i + 2 * (spans[i, 1] // 2)
    return radius


@njit
def make_tree(rows, upper, masses, block, slack, nodes, spans):
    """Write the balls about the nodes of sorted rows, (n, d): ``nodes`` (2q-1, d+3), ``spans`` (2q-1, 3), q blocks.

    A node holds its center, its radius, the logarithm of the mean of exp(upper) over its points, and that of the least
    of its columns of ``masses`` (q, p). `slack` covers the relative errors of distances and of rounding to the nodes'
    dtype.
    """
    n, d = rows.shape
    _spans(masses.shape[0], spans)
    sums, total, center = np.zeros((spans.shape[0], masses.shape[1])), np.empty(spans.shape[0]), np.empty(d)
    for i in range(spans.shape[0] - 1, -1, -1):
        left, right = i + 1, i + 2 * (spans[i, 1] // 2)
        first, last = spans[i, 0] * block, min((spans[i, 0] + spans[i, 1]) * block, n)
        if spans[i, 1] == 1:
            total[i] = _log_sum(upper[first:last])
            _mean(rows, first, last, center)
        else:
            more, less = max(total[left], total[right]), min(total[left], total[right])
            total[i] = more + math.log1p(math.exp(less - more))
            share = (spans[right, 0] * block - first) / (last - first)
            for j in range(d):
                center[j] = share * nodes[left, j] + (1.0 - share) * nodes[right, j]
        least = math.inf
        for r in range(masses.shape[1]):
            sums[i, r] = masses[spans[i, 0], r] if spans[i, 1] == 1 else sums[left, r] + sums[right, r]
            least = min(least, sums[i, r])
        for j in range(d):
            nodes[i, j] = center[j]
        nodes[i, d + RADIUS] = _radius(rows, nodes, i, spans, first, last) * (1.0 + slack)
        nodes[i, d + MASS] = total[i] - math.log(last - first)
        nodes[i, d + LEAST] = math.log(least)
