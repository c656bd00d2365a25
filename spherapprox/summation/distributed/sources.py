"""Where control points and values come from: arrays, partitions, functions, Dask; checked before any work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ... import _checks
from ..._types import Floats
from .tasks import values_at


@dataclass(frozen=True)
class Points:
    """The control points: `rows` are an array of NumPy or Dask, or `centers(start, stop)` makes them."""

    n: int
    dtype: np.dtype[Any]
    first: Floats
    rows: Any = None
    centers: Callable[[int, int], Any] | None = None


@dataclass(frozen=True)
class Values:
    """The values: `table` is an array of NumPy or Dask, or `rule` is a number or a function of the control points."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    table: Any = None
    rule: Any = None


class Piece(NamedTuple):
    """A range of control points, and what of it has to be sent; None for what the task makes."""

    start: int
    stop: int
    rows: Any
    table: Any


def is_dask(value: object) -> bool:
    """Tell whether something is an array of Dask."""
    return hasattr(value, "__dask_graph__") and hasattr(value, "chunks")


def points(control_points: Any, n: object, dim: int) -> Points:
    """Return the control points' source, after a look at the first of them."""
    if is_dask(control_points):
        shape, dtype = dask_table(control_points, "control_points", "(n, dim+1)")
        if len(shape) != 2 or shape[1] != dim + 1 or shape[0] == 0:
            raise ValueError(f"'control_points' must have shape (n, {dim + 1}) for dim = {dim}, got {shape}")
        found = Points(shape[0], dtype, np.eye(dim + 1, dtype=dtype)[-1:], rows=control_points)
    elif hasattr(control_points, "centers") and hasattr(control_points, "__len__"):
        found = _made(control_points.centers, len(control_points), dim)
    elif callable(control_points):
        if n is None:
            raise ValueError("'n' must be the number of control points if 'control_points' is a function, got None")
        return _made(control_points, _checks.integer(n, "n", minimum=1), dim)
    elif isinstance(control_points, Iterator):
        raise TypeError(
            "'control_points' must be rows or a function of start and stop, for tasks may be done again, "
            f"got {_checks.show(control_points)}"
        )
    else:
        rows = _checks.rows(control_points, "control_points", dim=dim)
        found = Points(len(rows), rows.dtype, rows[:1], rows=rows)
    if n is not None and _checks.integer(n, "n", minimum=1) != found.n:
        raise ValueError(f"'n' must be the number of control points, {found.n}, got {n}: leave it out")
    return found


def values(given: Any, controls: Points, log: bool) -> Values:
    """Return the values' source; a function is called at one control point."""
    if is_dask(given):
        shape, dtype = dask_table(given, "values", "(n,) or (n, p)")
        if len(shape) not in (1, 2) or shape[0] != controls.n or 0 in shape:
            raise ValueError(f"'values' must have shape ({controls.n},) or ({controls.n}, p), got {shape}")
        return Values(dtype, shape[1:], table=given)
    if callable(given):
        first = values_at(given, controls.first)
        return Values(first.dtype, first.shape[1:], rule=given)
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        number = _checks.real(given, "values", minimum=0.0 if log else None)
        return Values(controls.dtype, (), rule=number)
    table = _checks.values_for(given, "values", controls.n, "the control points")
    if log and table.min() < 0.0:
        raise ValueError(f"'values' must be at least 0 for log=True, got {table.min():g}: use log=False")
    return Values(table.dtype, table.shape[1:], table=table)


def edges(controls: Points, values: Values, step: int) -> Sequence[int]:
    """Return where the tasks' ranges of control points begin, and n or more: whole chunks of Dask's where they are."""
    for array in (controls.rows, values.table):
        if is_dask(array):
            ends = np.concatenate([[0], np.cumsum(array.chunks[0])]).tolist()
            kept = [0]
            for end, after in pairwise([*ends[1:], None]):
                if end > kept[-1] and (after is None or after - kept[-1] > step):  # Dask's chunks may be empty
                    kept.append(end)
            return kept
    return range(0, controls.n + step, step)


def pieces(controls: Points, values: Values, ends: Sequence[int]) -> Iterator[Piece]:
    """Yield the ranges between the edges, with slices of arrays."""
    for start, edge in pairwise(ends):
        stop = min(edge, controls.n)
        rows, table = (None if array is None else array[start:stop] for array in (controls.rows, values.table))
        yield Piece(start, stop, rows, table)


def dask_table(array: Any, name: str, shape: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type that a Dask array will have as float32 or float64."""
    if any(np.isnan(length) for length in array.shape):
        raise ValueError(f"'{name}' must have known shape {shape}, got {array.shape}: call compute_chunk_sizes() first")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"'{name}' must hold real numbers, got an array of {array.dtype}")
    single = array.dtype in (np.float16, np.float32)
    return tuple(int(length) for length in array.shape), np.dtype(np.float32 if single else np.float64)


def _made(centers: Callable[[int, int], Any], n: int, dim: int) -> Points:
    """Return control points that tasks make, after making the first."""
    first = _checks.rows(centers(0, 1), "control_points", dim=dim)
    if len(first) != 1:
        raise ValueError(f"'control_points' must return rows start, ..., stop - 1, got {len(first)} for 0, 1")
    return Points(n, first.dtype, first, centers=centers)
