"""Farthest-point insertion on S^2: a Delaunay triangulation whose largest empty cap is split again and again.

Triangle f has the vertices ``corners[f]``, counterclockwise seen from outside; beyond the edge opposite its corner k
lies triangle ``beside[f, k]``. Its cap has the centre ``centers[f]``, and the squared chord from there to its corners
is leaf f of ``tree``, a binary tree whose nodes hold the maxima of those below them.

With room for F triangles in all, corners, beside and centers are (F, 3) and the tree (2 leaves,), leaves >= F.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine

MARGIN = 1e-9
"""Share of a squared chord by which a point must lie inside a cap to break it: points on one circle break none."""


@subroutine
def _set(tree: Float64, leaf: int, value: float) -> None:
    """Set a leaf of the tree of maxima, and the nodes above it."""
    i = leaf + len(tree) // 2
    tree[i] = value
    while i > 1:
        i //= 2
        tree[i] = max(tree[2 * i], tree[2 * i + 1])


@subroutine
def _top(tree: Float64) -> int:
    """Return the leaf with the largest value."""
    i = 1
    while i < len(tree) // 2:
        i = 2 * i if tree[2 * i] >= tree[2 * i + 1] else 2 * i + 1
    return i - len(tree) // 2


@subroutine
def _square(x: Float64, i: int, y: Float64, j: int) -> float:
    """Return the squared distance between two rows."""
    return (x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2 + (x[i, 2] - y[j, 2]) ** 2


@subroutine
def _set_cap(x: Float64, f: int, corners: Int64, centers: Float64, tree: Float64) -> None:
    """Compute the cap of a triangle: its centre is the outer normal."""
    a, b, c = corners[f, 0], corners[f, 1], corners[f, 2]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        centers[f, k] = (x[b, i] - x[a, i]) * (x[c, j] - x[a, j]) - (x[b, j] - x[a, j]) * (x[c, i] - x[a, i])
    length = math.sqrt(centers[f, 0] ** 2 + centers[f, 1] ** 2 + centers[f, 2] ** 2)
    for k in range(3):
        centers[f, k] /= length
    _set(tree, f, max(_square(x, a, centers, f), _square(x, b, centers, f), _square(x, c, centers, f)))


@subroutine
def _broken(x, new, t, beside, centers, tree, mark, broken):  # type: ignore[no-untyped-def]
    """List the triangles, connected with t, whose caps hold the new point; return their number."""
    half = len(tree) // 2
    broken[0], mark[t], size, i = t, new, 1, 0
    while i < size:
        for k in range(3):
            g = beside[broken[i], k]
            if mark[g] != new and _square(x, new, centers, g) < (1.0 - MARGIN) * tree[half + g]:
                mark[g] = new
                broken[size] = g
                size += 1
        i += 1
    return size


@subroutine
def _rim(new, size, corners, beside, mark, broken, visits, rim):  # type: ignore[no-untyped-def]
    """List the edges (from, to, triangle beyond) around the broken triangles; return their number, 0 if no ring."""
    edges = 0
    for i in range(size):
        f = broken[i]
        for k in range(3):
            if mark[beside[f, k]] == new:
                continue
            a = corners[f, (k + 1) % 3]
            if visits[a] == new or edges == size + 2:
                return 0
            visits[a] = new
            rim[edges, 0], rim[edges, 1], rim[edges, 2] = a, corners[f, (k + 2) % 3], beside[f, k]
            edges += 1
    # by Euler's formula a connected region of `size` triangles without inner vertices or holes has size + 2 edges
    return edges if edges == size + 2 else 0


@subroutine
def _fill(new, faces, size, edges, corners, beside, broken, rim, starting):  # type: ignore[no-untyped-def]
    """Join the rim to the new point: triangles in the places of the broken ones and two more, listed in `broken`."""
    broken[size], broken[size + 1] = faces, faces + 1
    for e in range(edges):
        f, a, b, g = broken[e], rim[e, 0], rim[e, 1], rim[e, 2]
        corners[f, 0], corners[f, 1], corners[f, 2] = a, b, new
        beside[f, 2] = g
        for k in range(3):
            if corners[g, (k + 1) % 3] == b:
                beside[g, k] = f
        starting[a] = f
    for e in range(edges):
        f, after = broken[e], starting[rim[e, 1]]
        beside[f, 0] = after
        beside[after, 1] = f


@njit
def insert(x, count, faces, corners, beside, centers, tree):  # type: ignore[no-untyped-def]
    """Write farthest points to rows count, count + 1, ... of x; return the number of rows filled, and True.

    Where rounding spoils a region it stops, with False: the row filled last is then not in the triangulation.
    """
    mark, broken = np.full(len(corners), -1), np.empty(len(corners) + 2, dtype=np.int64)
    visits, starting, rim = np.full(len(x), -1), np.empty(len(x), dtype=np.int64), np.empty((len(corners), 3), np.int64)
    for f in range(faces):
        _set_cap(x, f, corners, centers, tree)
    for new in range(count, len(x)):
        # Step 1: the new point is the centre of the largest empty cap, a farthest point (5.10)
        t = _top(tree)
        x[new, 0], x[new, 1], x[new, 2] = centers[t, 0], centers[t, 1], centers[t, 2]
        # Step 2: the triangles whose caps it breaks, and their rim
        size = _broken(x, new, t, beside, centers, tree, mark, broken)
        edges = _rim(new, size, corners, beside, mark, broken, visits, rim)
        if edges == 0:
            return new + 1, False
        # Step 3: new triangles between the rim and the point
        _fill(new, faces, size, edges, corners, beside, broken, rim, starting)
        faces += 2
        for e in range(edges):
            _set_cap(x, broken[e], corners, centers, tree)
    return len(x), True
