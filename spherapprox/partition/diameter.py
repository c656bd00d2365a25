"""The largest diameter of a partition's cells, for partitions with few different zones."""

from __future__ import annotations

import numpy as np

from .. import special
from .._types import Int64
from .compiled import diameters
from .levels import inside, level_of

_ZONES = 2e5  # zones, of all the different partitions of lower spheres together, that are gone through: about a second


def largest_diameter(dim: int, n: int) -> float | None:
    """Return the largest cell diameter, or None where there are too many zones: docs/theorems/5.5-diameters.md.

    A cell's diameter grows with that of the cell of S^(m-1) inside it, so a collar needs only the largest of those.
    """
    if dim == 1 or n <= 2:
        return min(np.pi, 2.0 * np.pi / n)
    # Step 1: the different partitions, from the top down to S^2
    levels, counts, zones = [], np.array([n]), 0.0
    for m in range(dim, 2, -1):
        zones += _zones(m, counts)
        if zones > _ZONES:
            return None
        level = level_of(m, counts)
        is_collar = np.ones(len(level.first), dtype=bool)
        is_collar[level.offsets[1:] - 1] = False
        counts, table_of_slot = inside(level, np.flatnonzero(is_collar))
        levels.append((level, table_of_slot))
        if not counts.size:
            break
    if zones + _zones(2, counts) > _ZONES:
        return None
    # Step 2: their largest diameters, from S^2 up
    diameter = np.empty(len(counts))
    diameters.of_counts(counts, diameter)
    for level, table_of_slot in reversed(levels):
        inner = np.append(diameter, np.nan)[table_of_slot]
        diameter = np.empty(len(level.offsets) - 1)
        # 5.5
        diameters.of_tables(level.offsets, level.angle, inner, diameter)
    return float(diameter[0])


def _zones(dim: int, counts: Int64) -> float:
    """Estimate the number of collars of the partitions of S^dim into these counts, together, from above."""
    return float(np.sum(np.pi * np.exp((np.log(counts) - special.log_surface_area(dim)) / dim)))
