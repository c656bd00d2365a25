"""The sweep through all different partitions inside a partition: counts of cells down, largest radii up.

docs/theorems/5.6-largest-radius.md.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit
from . import collars, largest


class Collars(NamedTuple):
    """Collars of partitions of one sphere, mirror images once."""

    parent: Int64  # the partition that each belongs to
    lower: Float64
    upper: Float64
    inner: Int64  # its number of cells, then the number of the partition inside among the different ones


@njit
def open_all(m: int, counts: Int64, start: int, caps: Float64, rows: Any) -> Any:
    """Write the collars of partitions `start`, ... of S^m into `rows` until these are full.

    `caps` gets the radius of each polar cap, nan where the count of some collar is too near a tie to be trusted.
    Returns up to which partition there was room, and the number of collars.
    """
    size = 0
    for e in range(start, len(counts)):
        n = counts[e]
        caps[e] = math.pi / n
        if n <= 2:
            continue
        space = collars.room(m, n)
        if size + space > len(rows.parent):
            return e, size
        # Step 1: the boundaries of the northern half
        first, angle = np.empty(space, np.int64), np.empty(space)
        total, close = collars.north(m, n, first, angle)
        caps[e] = math.nan if close else angle[0]
        # Step 2: its collars, and the one about the equator
        half = 0 if close else total // 2
        for i in range(half):
            size = _append(rows, size, e, angle[i], angle[i + 1], first[i + 1] - first[i])
        if total % 2 == 1 and not close:
            size = _append(rows, size, e, angle[half], math.pi - angle[half], n - 2 * first[half])
        elif n % 2 == 1 and not close:  # the mirror image of the last one has one cell less
            last = n - first[half] - first[half - 1]
            size = _append(rows, size, e, angle[half - 1], math.pi - angle[half], last)
    return len(counts), size


@njit
def _append(rows: Any, size: int, parent: int, lower: float, upper: float, count: int) -> int:
    """Append a collar unless it is empty, and return the number of collars."""
    if count <= 0:
        return size
    rows.parent[size], rows.lower[size], rows.upper[size], rows.inner[size] = parent, lower, upper, count
    return size + 1


@njit
def raise_all(center_kind: int, rows: Any, inside: Float64, radius: Float64) -> None:
    """Raise the largest radii inside the collars to the partitions they belong to."""
    for i in range(len(rows.parent)):
        e = rows.parent[i]
        radius[e] = max(radius[e], largest.about(center_kind, rows.lower[i], rows.upper[i], inside[rows.inner[i]]))
