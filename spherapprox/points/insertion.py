"""Farthest-point insertion: exact on S^1 and S^2, from a pool of candidates and an ascent beyond."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from .. import sphere
from .._loading import load
from .._types import Float64, Int64

_SAME = 1e-8  # points of S^2 that are closer count as one in a triangulation
SLACK = 5e-7
"""How far a triangle's cap may reach over a point, and a point lie from all vertices: closer pairs lose digits."""
_EQUAL = 1e-12  # inner products that differ by less count as equal in the ascent
_CLIMBS = 4  # candidates that are moved uphill in each round. Tuned.
_NEAR = 32  # rows that an ascent looks at first, for each coordinate. Tuned.
_FLAT = 1e-9  # rate of ascent, per angle, that counts as none
_TABLE_ELEMENTS = 2**22  # elements of a block of the table of candidates and points


def insert_on_circle(x: Float64, n: int) -> tuple[Float64, float]:
    """Return n - len(x) farthest points of S^1, one after another, and the covering radius with them.

    Each is the middle of the largest gap; of equal gaps, the one with the least azimuth is the first.
    """
    # Step 1: the gaps between the given points, widest first
    start = np.sort(sphere.to_polar(x)[:, 0])
    width = np.diff(start, append=start[0] + 2.0 * np.pi)
    gaps = list(zip((-width).tolist(), start.tolist(), strict=True))
    heapq.heapify(gaps)
    # Step 2: a point into the middle of the widest, which leaves two halves (5.10)
    azimuth = np.empty(n - len(x))
    for i in range(len(azimuth)):
        minus_width, a = gaps[0]
        azimuth[i] = a - 0.5 * minus_width
        heapq.heapreplace(gaps, (0.5 * minus_width, a))
        heapq.heappush(gaps, (0.5 * minus_width, float(azimuth[i])))
    return np.column_stack([np.cos(azimuth), np.sin(azimuth)]), -0.5 * gaps[0][0]


def insert_on_sphere(x: Float64, n: int, *, slack: float = SLACK) -> tuple[Float64, float | None]:
    """Return n - len(x) farthest points of S^2, one after another, and the covering radius with them.

    The radius is None where the last point did not come from a triangulation, which is one up to `slack`.
    """
    first = filled = len(x)
    x, radius = np.concatenate([x, np.empty((n - first, 3))]), None
    while filled < n:
        # Step 1: the triangles of the hull, if it has the origin inside
        inner = _shortest(x[:filled])
        surface = None if np.linalg.norm(inner) > _FLAT else _triangulation(x[:filled], slack=slack)
        # Step 2: one point without them, all the others with them
        if surface is None:
            x[filled] = _farthest(x[:filled], inner)
            filled += 1
        else:
            filled, radius = _split(x, filled, *surface)
    return x[first:], radius


def _split(x: Float64, filled: int, corners: Int64, beside: Int64) -> tuple[int, float | None]:
    """Fill rows of x from `filled` on; return the number of rows filled, and the covering radius if all are."""
    load("spherapprox._kernels.points.delaunay")
    from .._kernels.points import delaunay

    faces, room = len(corners), 2 * (len(x) - filled)
    corners, beside = (np.concatenate([a, np.empty((room, 3), dtype=np.int64)]) for a in (corners, beside))
    centers, leaves = np.empty((faces + room, 3)), 1 << (faces + room - 1).bit_length()
    tree = np.full(2 * leaves, -1.0)
    filled, complete = delaunay.insert(x, filled, faces, corners, beside, centers, tree)
    top = int(np.argmax(tree[leaves:]))
    return filled, float(sphere.distance(x[corners[top]], centers[top]).max()) if complete else None


def _triangulation(x: Float64, *, slack: float = SLACK) -> tuple[Int64, Int64] | None:
    """Return the triangles of the convex hull, counterclockwise from outside, and their neighbours; None if flat."""
    from scipy.spatial import ConvexHull, QhullError, cKDTree

    # Step 1: the hull of points that are not too close
    distinct = np.unique(x, axis=0, return_index=True)[1]
    close = cKDTree(x[distinct]).query_pairs(_SAME, output_type="ndarray")
    distinct = np.delete(distinct, close[:, 1])
    try:
        hull = ConvexHull(x[distinct])
    except QhullError:  # fewer than four, or all on one circle
        return None
    corners = distinct[hull.simplices].astype(np.int64)
    # Step 2: its triangles counterclockwise
    a, b, c = x[corners].transpose(1, 0, 2)  # (faces, 3) each
    normal = np.cross(b - a, c - a)
    inward = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0.0
    corners[inward], normal[inward] = corners[inward, ::-1], -normal[inward]
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    # Step 3: none of them may leave a point out
    reach = np.linalg.norm(x[corners] - normal[:, None], axis=2).max(axis=1)
    tree, beside = cKDTree(x[distinct[hull.vertices]]), _neighbours(corners, len(x))
    misses = (tree.query(x[distinct])[0] > slack).any() or (tree.query(normal)[0] < reach - slack).any()
    return None if beside is None or misses else (corners, beside)  # both happen where the hull is nearly flat


def _neighbours(corners: Int64, n: int) -> Int64 | None:
    """Return the triangle across the edge opposite each corner; None unless every edge has one on either side."""
    a, b = corners[:, [1, 2, 0]].ravel(), corners[:, [2, 0, 1]].ravel()
    order = np.argsort(a * n + b)
    edges = (a * n + b)[order]
    at = np.minimum(np.searchsorted(edges, b * n + a), len(edges) - 1)
    if (np.diff(edges) == 0).any() or (edges[at] != b * n + a).any():
        return None
    return np.asarray(order[at] // 3, dtype=np.int64).reshape(-1, 3)


def _farthest(x: Float64, inner: Float64) -> Float64:
    """Return a point of S^2 farthest from x, `inner` being the point of the convex hull that is nearest to the origin.

    If that is not the origin, all points lie in a hemisphere and it points to the centre of the smallest cap that holds
    them; else the largest empty cap rests on a facet, unless all points lie on a great circle.
    """
    from scipy.spatial import ConvexHull, QhullError, cKDTree

    length = float(np.linalg.norm(inner))
    if length > _FLAT:
        return ascend(-inner / length, x)
    normal = np.linalg.svd(x, full_matrices=len(x) < 3)[2][-1]
    centers = np.stack([ascend(normal, x), ascend(-normal, x)])
    with suppress(QhullError):
        centers = np.concatenate([centers, ConvexHull(x).equations[:, :3]])
    return ascend(centers[np.argmax(cKDTree(x).query(centers)[0])], x)


def from_pool(x: Float64, pool: Float64, rounds: Iterable[int]) -> Float64:
    """Return one point for each round: the farthest of the holes found so far, local maxima of the distance.

    In each round some more of the candidates are moved up to such maxima, those first that are farthest themselves; a
    maximum holds until a point is added nearby.
    """
    # Step 1: every candidate is a hole
    holes, climbed, added = pool.copy(), np.zeros(len(pool), dtype=bool), []
    closest = np.full(len(pool), -np.inf)  # the largest inner products of candidates with points, and those of holes
    step = max(1, _TABLE_ELEMENTS // len(pool))
    for low in range(0, len(x), step):
        np.maximum(closest, (pool @ x[low : low + step].T).max(axis=1), out=closest)
    height = closest.copy()
    for _ in rounds:
        # Step 2: the farthest of those left climb to local maxima
        open_rounds = np.flatnonzero(~climbed)
        if len(open_rounds) > _CLIMBS:
            open_rounds = open_rounds[np.argpartition(closest[open_rounds], _CLIMBS)[:_CLIMBS]]
        for i in open_rounds:
            holes[i], climbed[i] = ascend(pool[i], x), True
            height[i] = (x @ holes[i]).max()
        # Step 3: the farthest hole is the new point
        new = holes[np.argmin(height)].copy()
        x = np.concatenate([x, new[None]])
        added.append(new)
        np.maximum(closest, pool @ new, out=closest)
        # Step 4: holes near it fall back to their candidates
        spoilt = holes @ new > height
        holes[spoilt], height[spoilt], climbed[spoilt] = pool[spoilt], closest[spoilt], False
    return np.stack(added)


def ascend(y: Float64, x: Float64) -> Float64:
    """Climb from y, along the distance to the nearest of the rows of x, to a local maximum or for so many steps.

    The rows nearest at the start are all it needs, unless another one turns out to be nearer at the end.
    """
    width = _NEAR * len(y)
    if len(x) > 2 * width:
        near = x[np.argpartition(x @ y, len(x) - width)[-width:]]
        top = _climb(y, near)
        if (x @ top).max() <= (near @ top).max() + _EQUAL:
            return top
    return _climb(y, x)


def _climb(y: Float64, x: Float64) -> Float64:
    """Climb from y to a local maximum of the distance to the nearest of the rows of x.

    With the nearest rows b and their parts p across y, the steepest way is against the shortest vector of the convex
    hull of the p; it is followed along a great circle until another row is as near.
    """
    best, least = y, math.inf
    for _ in range(50 + 10 * min(len(y), 10)):
        # Step 1: the nearest rows
        inner = x @ y
        top = float(inner.max())
        if top >= least:  # no more than rounding is left to gain
            break
        best, least = y, top
        near = inner >= top - _EQUAL
        # Step 2: the direction of steepest ascent
        shortest = _shortest(x[near] - np.multiply.outer(inner[near], y))
        rate = float(np.linalg.norm(shortest))
        if rate < _FLAT:
            break
        way = -shortest / rate
        # Step 3: along it until another row is as near
        cotangent = ((x[~near] @ way + rate) / (top - inner[~near])).max(initial=-math.inf)  # of the first meeting
        angle = min(math.atan2(1.0, cotangent), math.atan2(rate, -top))
        y = math.cos(angle) * y + math.sin(angle) * way
        y /= np.linalg.norm(y)
    return best


def _shortest(vectors: Float64) -> Float64:
    """Return the shortest vector of the convex hull of the rows: nonnegative least squares."""
    from scipy.optimize import nnls

    if len(vectors) == 1:
        return np.asarray(vectors[0])
    share, _ = nnls(np.vstack([vectors.T, np.ones(len(vectors))]), np.append(np.zeros(vectors.shape[1]), 1.0))
    return np.asarray(share @ vectors / share.sum())
