"""Sources of control points and values: an array, or a rule by which tasks make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Floats


@dataclass(frozen=True)
class Source:
    """The n rows of control points or values: in `array`, or made in tasks by `rule`; `first` is one of them."""

    n: int
    first: Floats  # (1, ...)
    array: Floats | None = None
    rule: Callable[..., ArrayLike] | None = None

    def sent(self, part: slice) -> Floats | None:
        """Return the rows that go with a task, None for those that it makes."""
        return None if self.array is None else self.array[part]


def in_memory(array: Any, name: str) -> Any:
    """Return the argument, unless it is an array of Dask."""
    if hasattr(array, "__dask_graph__"):
        raise TypeError(
            f"'{name}' must be in memory, got an array of Dask: call its compute(), or pass control points that tasks "
            'are to load, Rows(n, lambda start, stop: array[start:stop].compute(scheduler="threads"))'
        )
    return array


class Rows:
    """Control points that a function makes, part by part.

    Parameters
    ----------
    n : int
        Their number.
    function : callable
        Returns rows ``start``, ..., ``stop - 1`` of them, shape (stop - start, dim+1), the same each time.

    Raises
    ------
    TypeError, ValueError
        If n is no integer above 0, or the function cannot be called.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> from spherapprox.summation.distributed import Rows
    >>> rows = Rows(10**6, lambda start, stop: sphere.uniform(2, stop - start, rng=start))
    >>> len(rows), rows.centers(0, 2).shape
    (1000000, (2, 3))
    """

    def __init__(self, n: int, function: Callable[[int, int], ArrayLike]) -> None:
        self._n = _checks.integer(n, "n", minimum=1)
        _checks.callable_(function, "function")
        self.centers = function

    def __len__(self) -> int:
        return self._n


def points(control_points: Any, dim: int) -> Source:
    """Return the control points' source; a rule makes the first of them."""
    if not (hasattr(control_points, "centers") and hasattr(control_points, "__len__")):
        if callable(control_points):
            raise TypeError("'control_points' must be rows, got a function: Rows(n, function) says how many it makes")
        rows = _checks.rows(in_memory(control_points, "control_points"), "control_points", dim=dim)
        return Source(len(rows), rows[:1], rows)
    with _tried("control_points", "for start, stop = 0, 1"):
        center = control_points.centers(0, 1)
    first = _checks.rows(center, "control_points", dim=dim)
    _checks.shaped(first, "control_points", (1, dim + 1), note=" for start, stop = 0, 1", verb="return")
    return Source(len(control_points), first, rule=control_points.centers)


@contextmanager
def _tried(name: str, where: str) -> Iterator[None]:
    """Add to what a function raises on trial whose it is."""
    try:
        yield
    except Exception as error:
        error.add_note(f"when the function '{name}' was tried {where}")
        raise


def values(array: Any, controls: Source, log: bool) -> Source:
    """Return the values' source; a function is called at one control point."""
    if isinstance(array, int | float | np.integer | np.floating) and not isinstance(array, bool):
        array = partial(_constant, _checks.real(array, "values", minimum=0.0 if log else None))
    if callable(array):
        with _tried("values", "at the first control point"):
            return Source(controls.n, values_at(array, controls.first), rule=array)
    table = _checks.values_for(in_memory(array, "values"), "values", controls.n, owner="the control points")
    if log:
        _checks.non_negative_for_log(table)
    return Source(controls.n, table[:1], table)


def _constant(number: float, b: Floats) -> Floats:
    """Return the same value for all control points."""
    return np.full(len(b), number, b.dtype)


def values_at(rule: Any, b: Floats) -> Floats:
    """Return the checked values of a function at control points."""
    return _checks.values_for(rule(b), "values", len(b), owner="the control points")
