"""The radius of a partition: the largest distance from a cell's centre to a point of its closure."""

from __future__ import annotations

import numpy as np

from .._kernels import radii
from .levels import inside, level_of


def largest(dim: int, n: int) -> float:
    """Return the largest cell radius: down through the distinct counts of each sphere, then up through their maxima.

    A cell's radius grows with that of the cell of S^(m-1) inside it, so a collar needs only the largest of those.
    """
    if dim == 1 or n == 1:
        return np.pi / n
    levels, counts = [], np.array([n])
    for m in range(dim, 2, -1):
        level = level_of(m, counts)
        is_collar = np.ones(len(level.first), dtype=bool)
        is_collar[level.offsets[1:] - 1] = False
        counts, table_of_slot = inside(level, np.flatnonzero(is_collar))
        levels.append((level, table_of_slot))
        if not counts.size:
            break
    radius = np.empty(len(counts))
    radii.of_counts(counts, radius)
    for level, table_of_slot in reversed(levels):
        inner = np.append(radius, np.nan)[table_of_slot]
        radius = np.empty(len(level.offsets) - 1)
        radii.of_tables(level.offsets, level.angle, inner, radius)
    return float(radius[0])
