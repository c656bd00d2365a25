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
RADIUS, MASS, LEAST = 0, 1, 2
"""Columns of a node after its center's coordinates: docs/theorems.md, 4.11."""


@njit
def _widest(rows, first, last):
    """Return the coordinate in which the rows differ most, and by how much."""
    best, width = 0, -1.0
    for j in range(rows.shape[1]):
        low = high = rows[first, j]
        for i in range(first + 1, last):
            v = rows[i, j]
            low = min(low, v)
            high = max(high, v)
        if high - low > width:
            best, width = j, high - low
    return best, width


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
    while last - first > 1:
        a, b, c = rows[first, j], rows[(first + last) >> 1, j], rows[last - 1, j]
        pivot = max(min(a, b), min(max(a, b), c))
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
    stack = np.empty((64, 2), np.int64)  # as deep as the tree
    stack[0] = first, last
    depth = 1
    while depth > 0:
        depth -= 1
        first, last = stack[depth]
        if last - first > block:
            middle = halve(rows, order, first, last, block)
            stack[depth] = first, middle
            stack[depth + 1] = middle, last
            depth += 2


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
def _log_sum(values, first, last):
    """Return the logarithm of the sum of exponentials."""
    largest = -math.inf
    for k in range(first, last):
        largest = max(largest, values[k])
    if largest == -math.inf:
        return largest
    total = 0.0
    for k in range(first, last):
        total += math.exp(values[k] - largest)
    return largest + math.log(total)


@njit
def _distance(a, b, size):
    """Return the distance of two points, given by the first `size` numbers of arrays."""
    t = 0.0
    for j in range(size):
        t += (np.float64(a[j]) - b[j]) ** 2
    return math.sqrt(t)


@njit
def make_tree(rows, upper, masses, block, slack, nodes, spans):
    """Write the balls about the nodes of sorted rows, (n, d): ``nodes`` (2q-1, d+3), ``spans`` (2q-1, 3), q blocks.

    A node holds its center, its radius, the logarithm of the mean of exp(upper) over its points, and that of the least
    of its columns of ``masses`` (q, p). `slack` covers the relative errors of distances.
    """
    n, d = upper.shape[0], rows.shape[1]
    _spans(masses.shape[0], spans)
    sums = np.zeros((spans.shape[0], masses.shape[1]))
    for i in range(spans.shape[0] - 1, -1, -1):
        node, left, right = nodes[i], i + 1, i + 2 * (spans[i, 1] // 2)
        first, last = spans[i, 0] * block, min((spans[i, 0] + spans[i, 1]) * block, n)
        if spans[i, 1] == 1:
            sums[i] = masses[spans[i, 0]]
            node[d + MASS] = _log_sum(upper, first, last)
            node[:d] = 0.0
            for k in range(first, last):
                for j in range(d):
                    node[j] += rows[k, j] / (last - first)
        else:
            sums[i] = sums[left] + sums[right]
            node[d + MASS] = _log_sum(np.array([nodes[left, d + MASS], nodes[right, d + MASS]]), 0, 2)
            share = (min((spans[left, 0] + spans[left, 1]) * block, n) - first) / (last - first)
            for j in range(d):
                node[j] = share * nodes[left, j] + (1.0 - share) * nodes[right, j]
        node[d + LEAST] = math.log(sums[i].min())
        radius = 0.0
        if spans[i, 1] <= EXACT:
            for k in range(first, last):
                radius = max(radius, _distance(rows[k], node, d))
        else:
            for child in (left, right):
                radius = max(radius, _distance(nodes[child], node, d) + nodes[child, d + RADIUS])
        node[d + RADIUS] = radius * (1.0 + slack)
    for i in range(spans.shape[0]):
        nodes[i, d + MASS] -= math.log(min((spans[i, 0] + spans[i, 1]) * block, n) - spans[i, 0] * block)
