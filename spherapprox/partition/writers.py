"""What writes the centres of consecutive cells, or the cells of given points, block after block on any thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._kernels.partition import cap, circle, descent, location
from .._types import Float64, Int64
from . import kinds
from .levels import Level, descend, zones
from .tree import tree_of_points, tree_of_range

BLOCK = 2**18
"""Coordinates of centres or points that one thread takes at a time."""

_AT_HAND = 512
"""Cells of the S^2 up to which all centres are made once, to be copied for each cell of the levels above."""

_SCRATCH = 2**22
"""Coordinates of points that go down together, a level at a time."""

_TABLED = 2**16
"""Boundaries in tables of a whole partition, to locate points, at most: they stay in the processor's cache."""


def midpoint_writer(dim: int, n: int, start: int, stop: int) -> Callable[[int, Float64], None]:
    """Return what writes the midpoints of consecutive cells between start and stop, from one on, into rows."""
    if dim == 1:
        return lambda low, out: circle.centers(low, n, out)
    if dim == 2:
        return lambda low, out: cap.centers(n, low, 1.0, np.empty(0), out)
    level, below, counts = tree_of_range(dim, n, start, stop)
    small = np.where(counts <= _AT_HAND, counts, 0)
    at_hand = np.where(small > 0, np.cumsum(small) - small, -1)
    rows = np.empty((int(small.sum()), 3))
    descent.centers_of_counts(counts, at_hand, rows)
    tree = descent.Tree(level.offsets, level.first, level.cosine, level.sine, below, at_hand, rows)
    return lambda low, out: descent.centers(dim, n, tree, low, out)


def ascended_writer(kind: str, dim: int, n: int) -> Callable[[int, Float64], None]:
    """Return what writes centres of any kind of consecutive cells, dim >= 2, from one on, into rows."""
    return lambda low, out: kinds.centers(kind, dim, *zones(dim, n, low, len(out)), out)


def index_writer(dim: int, n: int, rows: int) -> tuple[Callable[[Float64, Int64], None], int]:
    """Return what writes the cells of points into zeros, and for how many coordinates at a time.

    Where there are points enough, tables of the whole partition serve them all.
    """
    if dim == 1:
        return lambda x, index: circle.indices(x, n, index), BLOCK
    tree = tree_of_points(dim, n, min(_TABLED, rows // 4))
    if tree is None:
        return lambda x, index: _add_indices(dim, n, x, index), _SCRATCH
    level = tree.level
    tables = location.Tables(level.offsets, level.first, level.angle, level.edge, tree.below)
    return lambda x, index: location.indices(dim, tables, x, index), BLOCK


def _add_indices(dim: int, n: int, x: Float64, index: Int64) -> None:
    """Add to `index` the cells of the points, going down a level with all of them together, dim >= 2."""
    below = np.cumsum(x * x, axis=1) if dim > 2 else x

    def step(m: int, level: Level, table: Int64, slot: Int64) -> None:
        tables = location.Tables(level.offsets, level.first, level.angle, level.edge, level.offsets[:0])
        location.search(table, tables, x[:, m], below[:, m - 1], index, slot)

    location.indices_below(descend(dim, n, len(x), step), x, index)
