"""Empty caps of a set of points of S^m: they rest on the facets of its convex hull.

docs/theorems/5.11-covering-radius.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._types import Float64, Int64
from ...quality.nearest import angles, projection, unit

_VERTICES = 2**20  # vertices whose angles are taken together, or elements of linear systems
_LIFT = 1e-7  # largest relative change of a row's length by the lift


class Facets(NamedTuple):
    """Simplices of a hull's surface, and for each a cap that holds its vertices."""

    vertices: Int64  # (f, d), rows of the points
    centers: Float64  # (f, d), unit
    radii: Float64  # (f,), the largest angle from the centre to a vertex


def facets_of(x: Float64, index: Int64, lift: Float64 | None = None) -> Facets | None:
    """Return the facets of the convex hull of the chosen rows, cut into simplices; None if the hull is flat.

    With a `lift`, shape (n, 1), it is the hull of the rows times these factors, whose simplices fit together: rows that
    lie in a hyperplane through 0 stay there, so factors near 1 cut facets into simplices that are not flat.
    """
    from scipy.spatial import ConvexHull, QhullError

    if len(index) <= x.shape[1]:
        return None
    try:
        hull = ConvexHull(x[index] if lift is None else x[index] * lift[index])
    except QhullError:
        return None
    vertices = index[hull.simplices]
    centers = unit(hull.equations[:, :-1])
    return Facets(vertices, centers, cap_radii(x, vertices, centers))


def lift_of(x: Float64) -> Float64:
    """Return random factors near 1 for the rows, by which no facet keeps more than d vertices, shape (n, 1)."""
    return 1.0 + _LIFT * np.random.default_rng(0).random((len(x), 1))


def have_pieces(facets: Facets) -> bool:
    """Tell whether facets had to be cut, by pieces with the same normal."""
    normals = np.sort(projection(facets.centers))
    return bool((normals[1:] == normals[:-1]).any())


def cap_radii(x: Float64, vertices: Int64, centers: Float64) -> Float64:
    """Return the largest angle from each centre to its simplex's vertices."""
    out = np.empty(len(vertices))
    step = max(1, _VERTICES // vertices.shape[1])
    for i in range(0, len(out), step):
        part = slice(i, i + step)
        out[part] = angles(x[vertices[part]], centers[part, None]).max(axis=1)
    return out


def circumcenters(x: Float64, vertices: Int64) -> Float64:
    """Return the circumcentres of simplices, unit vectors with equal products with the vertices; nan for flat ones.

    Differences of close vertices are exact, so a small simplex loses no digit where a hull's normal does.
    """
    d = x.shape[1]
    out = np.full((len(vertices), d), np.nan)
    right = np.zeros((d, 1))
    right[-1] = 1.0
    step = max(1, _VERTICES // d**2)
    for i in range(0, len(out), step):
        corners = x[vertices[i : i + step]]  # (f, d, d)
        middle = unit(corners.sum(axis=1))[:, None]
        # <b_k - b_1, c> = 0 for k > 1, <middle, c> = 1
        systems = np.concatenate([corners[:, 1:] - corners[:, :1], middle], axis=1)
        regular = np.linalg.matrix_rank(systems) == d
        if regular.any():
            normals = np.linalg.solve(systems[regular], np.broadcast_to(right, (int(regular.sum()), d, 1)))
            out[i : i + step][regular] = unit(normals[..., 0])
    return out


def covers(x: Float64, facets: Facets) -> bool:
    """Tell whether the cones over the simplices are proven to cover the space, all caps being below pi/2.

    Every ridge must belong to an even number of simplices, and some direction to the inside of an odd number of cones
    and to the boundary of none (docs/theorems/5.11-covering-radius.md).
    """
    if not len(facets.radii) or float(facets.radii.max()) >= 0.5 * math.pi * (1.0 - 1e-12):
        return False
    # 5.11 (d): ridges in pairs
    if not _pair_ridges(np.sort(facets.vertices, axis=1), len(x)):
        return False
    # 5.11 (d): a direction inside an odd number of cones
    corners = x[facets.vertices[:: max(1, len(facets.vertices) // 16)]]
    return any(_odd(x, facets, unit(cone.sum(axis=0)[None])[0]) for cone in corners)


def _pair_ridges(vertices: Int64, n: int) -> bool:
    """Tell whether the ridges of simplices (f, d) with sorted vertices were put into pairs of equal ones.

    Sums of random words of the vertices bring equal ridges together, and the vertices are compared.
    """
    d = vertices.shape[1]
    word = np.random.default_rng(0).integers(0, 2**64, size=n, dtype=np.uint64)[vertices]  # (f, d)
    order = np.argsort((word.sum(axis=1, dtype=np.uint64)[:, None] - word).ravel(), kind="stable")
    if len(order) % 2 or (vertices[:, 1:] == vertices[:, :-1]).any():
        return False
    kept = np.array([[j for j in range(d) if j != i] for i in range(d)])
    step = max(2, _VERTICES // d // 2 * 2)
    for i in range(0, len(order), step):
        some = order[i : i + step]
        ridges = np.take_along_axis(vertices[some // d], kept[some % d], axis=1)
        if (ridges[::2] != ridges[1::2]).any():
            return False
    return True


def _odd(x: Float64, facets: Facets, direction: Float64) -> bool:
    """Tell whether a direction is proven to lie inside an odd number of cones, and on the boundary of none."""
    reach = np.cos(facets.radii) - 1e-9
    near = np.flatnonzero(facets.centers @ direction >= reach)  # a cone lies inside its cap
    systems = x[facets.vertices[near]].transpose(0, 2, 1)  # (f, d, d), columns are vertices
    try:
        inverse = np.linalg.inv(systems)
    except np.linalg.LinAlgError:
        return False
    parts = (inverse @ direction)[..., None]  # (f, d, 1)
    # 5.11 (e): what these may be off by
    rounding, size = (len(direction) + 4.0) * 2.0**-52, np.abs(inverse)
    residual = np.abs(systems @ parts - direction[:, None])
    residual += rounding * (np.abs(systems) @ np.abs(parts) + np.abs(direction)[:, None])
    defect = np.abs(inverse @ systems - np.eye(len(direction))) + rounding * (size @ np.abs(systems))
    share = defect.sum(axis=2).max(axis=1)  # (f,)
    error = 2.0 * (size @ residual).max(axis=(1, 2))
    least = parts.min(axis=(1, 2))
    return bool((share < 0.49).all() and (np.abs(least) > error).all() and (least > 0.0).sum() % 2 == 1)
