"""The ascent through the recursive zonal partition, from arcs of S^1 to cells of S^m, to the centres' colatitudes.

They depend on the size of the cell inside. Consecutive rows mostly share their zones and what is inside; then a row
copies the one before. docs/theorems/5.3-smallest-caps.md and 5.4-centroids.md.
"""

from __future__ import annotations

import math

from ..._types import Float64, Int64
from ..jit import njit
from . import cap, circle, zone

NUMBER, COUNT = range(2)  # columns of an arc of S^1: its number, and of how many


@njit
def base(count: Int64, local: Int64, lower: Float64, upper: Float64, arc: Int64) -> None:
    """Write the zones of cells `local` of S^2 in `count` cells (0: all of it), with the arcs (number, of how many)."""
    n, north, south = 0, 0, 0
    for i in range(len(count)):
        k = local[i]
        if count[i] < 2:
            lower[i], upper[i], arc[i, NUMBER], arc[i, COUNT] = 0.0, math.pi, 0, 1
            n = 0
        elif count[i] == n and north <= k < south:
            lower[i], upper[i], arc[i, NUMBER], arc[i, COUNT] = lower[i - 1], upper[i - 1], k - north, south - north
        else:
            n = count[i]
            north, south = cap.zone_of_index(n, k)
            lower[i] = cap.boundary(n, north) if north > 0 else 0.0
            upper[i] = cap.boundary(n, south) if south < n else math.pi
            arc[i, NUMBER], arc[i, COUNT] = k - north, south - north


@njit
def arcs(arc: Int64, radius: Float64, length: Float64) -> None:
    """Write each arc's half-width and the length of its mean vector."""
    for i in range(len(radius)):
        half = math.pi / arc[i, COUNT]
        radius[i] = half
        # 5.4
        length[i] = math.sin(half) / half if arc[i, COUNT] > 1 else 0.0


@njit
def midpoints(lower: Float64, upper: Float64, center: Float64) -> None:
    """Write the colatitudes of midpoints, the poles for caps."""
    for i in range(len(center)):
        center[i] = zone.midpoint(lower[i], upper[i])


@njit
def smallest_caps(lower: Float64, upper: Float64, radius: Float64, center: Float64) -> None:
    """Write the colatitudes of the smallest caps' centres; `radius` is that of the cell inside the zone."""
    for i in range(len(center)):
        if i > 0 and lower[i] == lower[i - 1] and upper[i] == upper[i - 1] and radius[i] == radius[i - 1]:
            center[i] = center[i - 1]
        else:
            # 5.3
            center[i] = zone.smallest_cap(lower[i], upper[i], radius[i])


@njit
def centroids(dim: int, lower: Float64, upper: Float64, length: Float64, center: Float64) -> None:
    """Write the colatitudes of the mean vectors; `length` goes from the cells inside the zones to those of S^dim."""
    low, high, sine, cosine = -1.0, -1.0, 0.0, 0.0
    for i in range(len(center)):
        if lower[i] != low or upper[i] != high:
            low, high = lower[i], upper[i]
            sine, cosine = zone.means(dim, low, high)
        # 5.4
        center[i], length[i] = zone.toward(low, high, sine, cosine, length[i])


@njit
def fold(lower: Float64, upper: Float64, center: Float64, radius: Float64) -> None:
    """Raise the radii of the cells inside the zones to those of the zones' cells about their centres."""
    inside = 0.0
    for i in range(len(center)):
        before, inside = inside, radius[i]
        equal = i > 0 and lower[i] == lower[i - 1] and upper[i] == upper[i - 1]
        if equal and center[i] == center[i - 1] and inside == before:
            radius[i] = radius[i - 1]
        else:
            # 5.2
            radius[i] = zone.radius(lower[i], upper[i], center[i], inside)


@njit
def place(center: Float64, scale: Float64, column: Float64) -> None:
    """Write the centres' coordinate along one axis, and leave in `scale` the length of the other coordinates."""
    cosine, sine = 1.0, 0.0
    for i in range(len(center)):
        if i == 0 or center[i] != center[i - 1]:
            cosine, sine = math.cos(center[i]), math.sin(center[i])
            if center[i] <= 0.0 or center[i] >= math.pi:
                sine = 0.0
        column[i] = scale[i] * cosine if scale[i] > 0.0 else 0.0
        scale[i] *= sine


@njit
def place_arcs(arc: Int64, scale: Float64, out: Float64) -> None:
    """Write the first two coordinates, those of the middles of the arcs."""
    for i in range(len(scale)):
        out[i, 0] = out[i, 1] = 0.0
        if scale[i] > 0.0:
            c, s = circle.center(arc[i, NUMBER], arc[i, COUNT])
            out[i, 0], out[i, 1] = scale[i] * c, scale[i] * s
