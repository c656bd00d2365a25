"""Largest diameters of cells of the recursive zonal partition: docs/theorems/5.5-diameters.md."""

from __future__ import annotations

import math

from ..._types import Float64, Int64
from ..jit import njit
from . import cap, zone


@njit
def of_counts(counts: Int64, diameter: Float64) -> None:
    """Write the largest cell diameter of S^2 in n cells, for each n of `counts`."""
    for i in range(len(counts)):
        n = counts[i]
        if n <= 2:
            diameter[i] = math.pi
            continue
        angle, fitting, collars = cap.layout(n)
        largest = min(2.0 * angle, math.pi)
        north, lower = 1, angle
        for j in range(collars):
            south = cap.first_of(n, angle, fitting, collars, j + 1)
            upper = cap.boundary(n, south)
            # 5.5
            largest = max(largest, zone.diameter(lower, upper, min(2.0 * math.pi / (south - north), math.pi)))
            north, lower = south, upper
        diameter[i] = largest


@njit
def of_tables(offsets: Int64, angle: Float64, inner: Float64, diameter: Float64) -> None:
    """Write the largest cell diameter of each table, `inner` being that of the partition inside each collar."""
    for t in range(len(diameter)):
        largest = min(2.0 * angle[offsets[t]], math.pi)
        for j in range(offsets[t], offsets[t + 1] - 1):
            # 5.5
            largest = max(largest, zone.diameter(angle[j], angle[j + 1], inner[j]))
        diameter[t] = largest
