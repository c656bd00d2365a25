"""The kinds of a cell's centre: the middle of its intervals, the centre of its smallest cap, or its centroid.

The last two depend on the size of the cell of S^(m-1) inside the zone, so that they are found from S^1 upwards.
"""

from __future__ import annotations

import numpy as np

from .._types import Float64, Int64
from .compiled import ascent

Zone = tuple[int, Float64, Float64]  # a sphere's dimension, and the bounding colatitudes of each row's zone there
KINDS = ("midpoint", "smallest-cap", "centroid")


def centers(
    center_kind: str, dim: int, zones: list[tuple[Float64, Float64]], count: Int64, local: Int64, out: Float64
) -> None:
    """Write the centres of cells, dim >= 2 (midpoints come faster by the descent alone).

    `zones` are the colatitudes from the top down to where each row has ended or S^3, `count` and `local` the number of
    cells in the S^2 below and the row's own.
    """
    spheres, arc = _spheres(dim, zones, count, local=local)
    # Step 1: up from S^1, the colatitudes of the centres
    angles, _ = _ascend(center_kind, spheres, arc)
    # Step 2: down again, their coordinates
    scale = np.ones(len(out))
    out[:, 3 : dim + 1 - len(zones)] = 0.0
    for (m, _, _), center in zip(spheres, angles, strict=True):
        ascent.place(center, scale, out[:, m])
    ascent.place_arcs(arc, scale, out)


def radii(center_kind: str, dim: int, zones: list[tuple[Float64, Float64]], count: Int64, local: Int64) -> Float64:
    """Return the radii of cells about their centres, dim >= 2; the arguments are those of `centers`."""
    return _ascend(center_kind, *_spheres(dim, zones, count, local=local))[1]


def _spheres(dim: int, zones: list[tuple[Float64, Float64]], count: Int64, local: Int64) -> tuple[list[Zone], Int64]:
    """Return the zones on each sphere from the top to S^2, and each row's arc on S^1: (number, of how many)."""
    lower, upper = np.empty(len(count)), np.empty(len(count))
    arc = np.empty((len(count), 2), dtype=np.int64)
    ascent.base(count, local, lower, upper, arc)
    return [(dim - k, *zone) for k, zone in enumerate(zones)] + [(2, lower, upper)], arc


def _ascend(center_kind: str, spheres: list[Zone], arc: Int64) -> tuple[list[Float64], Float64]:
    """Return the centres' colatitudes on each sphere from the top to S^2, and the cells' radii about the centres."""
    radius, length = np.empty(len(arc)), np.empty(len(arc))
    ascent.arcs(arc, radius, length)
    angles = []
    for m, lower, upper in reversed(spheres):
        center = np.empty(len(arc))
        if center_kind == "midpoint":
            ascent.midpoints(lower, upper, center)
        elif center_kind == "smallest-cap":
            ascent.smallest_caps(lower, upper, radius, center)  # 5.3
        else:
            ascent.centroids(m, lower, upper, length, center)  # 5.4
        ascent.fold(lower, upper, center, radius)  # 5.2
        angles.append(center)
    return angles[::-1], radius
