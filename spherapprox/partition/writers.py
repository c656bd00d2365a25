"""Writers of the centres of consecutive cells, and of the cells of given points, block after block.

A maker returns the writer and the number of rows that it takes at a time; any thread may take any block.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from .._types import Float64, Int64
from ..special.dispatch import Allowance
from . import kinds
from .compiled import cap, circle, descent, location
from .levels import Level, descend, zones
from .tree import tree_of_points, tree_of_range

_COORDINATES = 2**18  # coordinates of centres or points that one thread takes at a time
_AT_HAND = 512  # cells of the S^2 up to which all centres are made once, to be copied for each cell of the levels above
COMPILE_FROM = 2**16
"""Cells of S^2 from which a process compiles their midpoints, two seconds' work where no other did it before."""
_allowance = Allowance(COMPILE_FROM)
_SCRATCH = 2**22  # coordinates of cells or points that go down together, a level at a time
_CELLS = 2**15  # cells that go down to S^2 and up again together, at most: their scratch stays in the processor's cache
_TABLED = 2**16
"""Boundaries in tables of a whole partition, to locate points, at most: they stay in the processor's cache."""


def center_writer(
    center_kind: str, dim: int, n: int, start: int, stop: int
) -> tuple[Callable[[int, Float64], None], int]:
    """Return a writer of the centres of cells start, ..., stop - 1: it fills rows from a given cell on."""
    if dim == 1 or center_kind == "midpoint":
        return _midpoint_writer(dim, n, start, stop=stop), max(1, _COORDINATES // (dim + 1))

    def write(low: int, out: Float64) -> None:
        kinds.centers(center_kind, dim, *zones(dim, n, low, rows=len(out)), out)

    return write, cells_together(dim)


def cells_together(dim: int) -> int:
    """Return the number of cells that go down together."""
    return min(_CELLS, max(1, _SCRATCH // (dim + 1)))


def _midpoint_writer(dim: int, n: int, start: int, stop: int) -> Callable[[int, Float64], None]:
    """Return a writer of midpoints: arcs and S^2 in closed form, tables of the levels above."""
    if dim == 1:
        return lambda low, out: circle.centers(low, n, out)
    if dim == 2:
        return lambda low, out: _write_on_sphere(n, low, out)
    level, below, counts = tree_of_range(dim, n, start, stop=stop)
    # Step 1: the centres of every small S^2 below, once
    small = np.where(counts <= _AT_HAND, counts, 0)
    at_hand = np.where(small > 0, np.cumsum(small) - small, -1)
    rows = np.empty((int(small.sum()), 3))
    descent.centers_of_counts(counts, at_hand, rows)
    # Step 2: the descent through the tables, which copies them
    tree = descent.Tree(
        level.offsets, level.first, level.cosine, sine=level.sine, below=below, at_hand=at_hand, rows=rows
    )
    return lambda low, out: descent.centers(dim, n, tree, low, out)


def _write_on_sphere(n: int, low: int, out: Float64) -> None:
    """Write consecutive midpoints of S^2, the first in plain Python: the kernel gives the same bits."""
    kernel = inspect.unwrap(cap.centers) if _allowance.covers(len(out)) else cap.centers
    kernel(n, low, 1.0, np.empty(0), out)


def index_writer(dim: int, n: int, rows: int) -> tuple[Callable[[Float64, Int64], None], int]:
    """Return a writer of the numbers of the cells of points, into zeros.

    For points enough the tables of the whole partition are made once; for few, those that they pass through.
    """
    step = max(1, _COORDINATES // (dim + 1))
    if dim == 1:
        return lambda x, index: circle.indices(x, n, index), step
    tree = tree_of_points(dim, n, min(_TABLED, rows // 4))
    if tree is None:
        return lambda x, index: _add_indices(dim, n, x, index=index), max(1, _SCRATCH // (dim + 1))
    level = tree.level
    tables = location.Tables(level.offsets, level.first, level.angle, edge=level.edge, below=tree.below)
    return lambda x, index: location.indices(dim, tables, x, index), step


def _add_indices(dim: int, n: int, x: Float64, index: Int64) -> None:
    """Add to `index` the cells of the points, dim >= 2, descending with all of them level by level."""
    below = np.cumsum(x * x, axis=1) if dim > 2 else x  # (n, dim+1), |(x_0, ..., x_j)|^2

    def step(m: int, level: Level, table: Int64, slot: Int64) -> None:
        tables = location.Tables(level.offsets, level.first, level.angle, edge=level.edge, below=level.offsets[:0])
        location.search(table, tables, x[:, m], below[:, m - 1], index, slot)

    location.indices_below(descend(dim, n, len(x), step=step), x, index)
