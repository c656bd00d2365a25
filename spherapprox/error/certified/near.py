"""Control points near to groups of cells: what is far from a cell does not enter its moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._threads import slices
from ..._types import Float64, Indices
from ...summation.near import NearBlocks

_FEW = 300
"""Cells or control points below which groups would take longer than all pairs. Tuned."""
_CELLS = 128
"""Cells of a group. Tuned."""


def call_groups(
    call: Callable[..., None], x: Float64, chords: Float64, columns: Float64, rate: float, cut: float,
    arrays: Sequence[Float64], results: Sequence[Float64],
) -> None:  # fmt: skip
    """Call ``call(x, chords, near, arrays, results)`` for groups of cells, with `near` their control points.

    Cells have centres x (n, d) and the largest chords q (n,) from there, control points are columns (d, N). Those are
    near that `list_near` of the kernels would list for any of the cells. Of arrays and results, n rows each, the calls
    take the group's rows.
    """
    for cells, near in _groups(x, chords, columns, rate, cut):
        parts = [result[cells] for result in results]
        # in one order, as each other one would be compiled too
        own, *rows = (np.ascontiguousarray(array[cells]) for array in (x, *arrays))
        call(own, chords[cells], near, rows, parts)
        for result, part in zip(results, parts, strict=True):
            result[cells] = part


def _groups(
    x: Float64, chords: Float64, columns: Float64, rate: float, cut: float
) -> Iterator[tuple[Indices | slice, Indices | slice]]:
    """Yield cells and their control points, all where groups do not pay."""
    blocks = None
    if rate > 0.0 and min(len(x), columns.shape[1]) > _FEW:
        # list_near's reach: |o - c|^2 <= cut / rate + least
        blocks = NearBlocks(x, columns, cut / rate, 2.0 * float(chords.max()))
    if blocks is None or blocks.tree is None:
        yield slice(None), slice(None)
        return
    for block in slices(len(x), _CELLS):
        yield from blocks.parts(block)


def take(array: Any, near: Indices | slice, axis: int) -> Float64:
    """Return an array's part at near control points, as compiled code takes it."""
    return array if isinstance(near, slice) else np.take(array, near, axis=axis)
