"""What operators of variables take, with bounds and arrays that fit, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _checks
from ..._types import Float64


def site(variable: Any) -> str:
    """Return a variable and the line that made it, in words."""
    return f"{variable!r} ({variable.line})"


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


def _refusal(lack: str, remedy: str) -> Any:
    """Return a method that says what to write in place of an operator."""

    def _refuse(self: Any, *operands: Any, **options: Any) -> Any:
        raise TypeError(f"{site(self)} {lack}: {remedy}")

    return _refuse


class Refusals:
    """Operators that a linear recurrent model does not have."""

    line: str

    def __bool__(self) -> bool:
        raise TypeError(f"{site(self)} has a value at each step, and no truth value here: choose by recurrent.gate")

    _not_equal = _refusal("has no value here to compare", "recurrent.equal is 1 where integers are equal")
    __lt__ = __le__ = __gt__ = __ge__ = _refusal(
        "has no value here to compare", "recurrent.step(v - w) is 1 where integers v > w; see maximum and minimum too"
    )
    __pow__ = __rpow__ = _refusal("has no powers", "v * v is a square")
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refusal(
        "has no quotients and remainders", "divide by constants, and count modulo n by recurrent.cycle"
    )
    __rtruediv__ = _refusal("cannot be a divisor", "a recurrent model divides by constants only")
    __matmul__ = _refusal("cannot be on the left of @", "write A @ v, or v * w for entrywise products")
    __and__ = __rand__ = _refusal("has no operator &", "of truth values, ReLU(c + d - 1) is 1 where both are")
    __or__ = __ror__ = _refusal("has no operator |", "of truth values, 1 - ReLU(1 - c - d) is 1 where one is")
    __invert__ = _refusal("has no operator ~", "of a truth value, 1 - c is the opposite")
    __abs__ = _refusal("cannot be given to abs", "use recurrent.absolute")
    if not TYPE_CHECKING:  # or A @ v would count as an array
        __array__ = _refusal("is no array", "programs are run on arrays, and variables stand for values at each step")
