"""Arguments of variables: bounds, and arrays that fit the variables beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _checks
from ..._types import Float64
from .refusals import site


def bound_of(value: object) -> float | None:
    """Return a bound of values as a float above 0, or None."""
    return None if value is None else _checks.real(value, "bound", above=0.0, maximum=1e300)


def keep_promise(node: Any, values: Float64, bound: float, of: str = "") -> None:
    """Raise where values are larger than a bound promises, by more than roundings."""
    if not np.abs(values).max() <= bound * (1.0 + 1e-9):
        raise ValueError(f"{of}{site(node)} must be at most {bound:g} in size, its bound, got {np.abs(values).max():g}")


def common(v: Any, w: Any, verb: str) -> int:
    """Return the number of entries of what two variables make together."""
    if v.dim != w.dim and 1 not in (v.dim, w.dim):
        raise ValueError(f"cannot {verb} {site(v)} and {site(w)}: they must have as many entries, or one")
    return int(max(v.dim, w.dim))


def vector(value: Any, name: str, verb: str, v: Any) -> Float64:
    """Return a constant beside a variable, one number for each entry; more for a variable of one entry."""
    array = np.asarray(_checks.floating(value, name), dtype=np.float64)
    if array.ndim > 1 or (array.ndim and v.dim not in (1, len(array)) and len(array) != 1):
        raise ValueError(f"cannot {verb} {site(v)} and an array of shape {array.shape}: they must have as many entries")
    return np.broadcast_to(array, (v.dim,)) if array.size == 1 else array


def matrix(value: Any, name: str, inputs: Sequence[Any], rows: int | None = None) -> Float64:
    """Return a matrix with a column for each entry of the inputs; a number stands for a multiple of the identity."""
    columns = sum(v.dim for v in inputs)
    array = np.asarray(_checks.floating(value, name), dtype=np.float64)
    if array.ndim == 0 and rows in (None, columns):
        return array * np.eye(columns)
    if array.ndim != 2 or array.shape[1] != columns or rows not in (None, len(array)):
        shape = f"({'n' if rows is None else rows}, {columns})"
        raise ValueError(
            f"'{name}' must have shape {shape} for {', '.join(map(site, inputs))}, got {array.shape or 'a number'}"
        )
    return array.copy()


def column(value: Any, name: str, rows: int) -> Float64:
    """Return a vector of so many numbers, or one number so often."""
    array = np.asarray(_checks.floating(value, name), dtype=np.float64)
    if array.shape not in ((), (rows,), (rows, 1)):
        raise ValueError(f"'{name}' must be a number or have shape ({rows},), got {array.shape}")
    return np.broadcast_to(array.ravel() if array.ndim else array, (rows,)).copy()
