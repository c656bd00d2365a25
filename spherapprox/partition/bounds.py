"""Bounds of the radii of all partitions that a search may meet: docs/theorems.md, 5.6."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._kernels.partition import collars, ranges, search
from .._kernels.partition import largest as kernel
from .._types import Float64

__all__ = ["Tables", "bounds_of"]


_DEPTH = 64
"""Spheres for which bounds are made, from the highest."""

_LIFTS = 10
"""Bundles that take as long as a collar."""


class Tables(NamedTuple):
    """Bounds for each cell of counts: of radii, and of 1 - l^2, l the length of a cell's mean vector."""

    radius: Float64
    spread: Float64


def bounds_of(kind: int, dim: int, n: int) -> tuple[dict[int, Tables], tuple[float, float]]:
    """Return bounds for the spheres below S^dim, for all cells of counts, and the two for S^dim in n cells."""
    most = {dim: n}
    for m in range(dim, 2, -1):
        # the broadest collar at the equator, and no collar is broader than 3/2 of the ideal angle
        top = most[m] * math.exp(collars.log_density(m)) * 1.5 * collars.ideal_angle(m, float(most[m]))
        most[m - 1] = min(most[m], 3 + int(top))
        if dim - m == _DEPTH:
            break
    low = min(most)
    if low == 2:
        most[1], low = 2, 1
    size = search.cell_of(most[low]) + 2
    bounds = {low: Tables(np.full(size, math.pi), np.ones(size))}
    for m in range(low + 1, dim):
        size = search.cell_of(most[m]) + 2
        bounds[m] = Tables(np.empty(size), np.empty(size))
        ranges.of_level(kind, m, _with_growth(m - 1, bounds[m - 1]), *bounds[m])
    radius, spread = ranges.of_range(kind, dim, float(n), float(n), _with_growth(dim - 1, bounds[dim - 1]))
    return bounds, (min(math.pi, radius * (1.0 + kernel.ROUNDING)), spread)


def _with_growth(m: int, tables: Tables) -> tuple[Float64, Float64, Float64, Float64]:
    growth = np.full((2, len(tables.radius)), np.inf)
    ranges.growths(1.0 / m, tables.radius, growth[0])
    ranges.growths(2.0 / m, tables.spread, growth[1])
    return *tables, *growth
