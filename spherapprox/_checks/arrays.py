"""Guards of arrays: numbers, points of the sphere, and values at points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._loading import session
from .._types import Array, Float64, Floats
from .scalars import digits, inside, is_real, show
from .shapes import Shape, shaped

UNIT_TOLERANCE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""How far a row's length may be from 1: it catches mistakes, it is no statement of accuracy."""
_PLACES = "sphere.from_latitude_longitude(*{name}.T) makes rows of places in degrees"
_ROWS = 2**12  # rows whose lengths are checked at a time, in the inner caches


def reals(
    value: ArrayLike,
    name: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    finite: bool = False,
    nan: bool = True,
    why: str = "",
) -> Float64:
    """Return a float64 array of any shape whose elements are inside the range; nan passes through when `nan`."""
    raw = numeric(value, name)
    with np.errstate(over="ignore"):  # a long double may be too large
        array = raw.astype(np.float64)
    ends = (float(array.min()), float(array.max())) if array.size else (math.nan,)
    if all(inside(end, minimum=minimum, maximum=maximum, finite=finite) for end in ends):
        return array
    with np.errstate(invalid="ignore"):
        bad = np.zeros(array.shape, dtype=bool) if nan else np.isnan(array)
        if finite:
            bad |= np.isinf(array)
        if minimum is not None:
            bad |= array < minimum
        if maximum is not None:
            bad |= array > maximum
    if bad.any():
        number = array[bad].flat[0]
        remedy = f": {why}" if why and math.isfinite(number) else ""
        limits = (("at least", minimum), ("at most", maximum))
        words = ["finite"] * finite + [f"{text} {digits(limit)}" for text, limit in limits if limit is not None]
        raise ValueError(f"'{name}' must be {' and '.join(words) or 'a number'}, got {digits(number)}{remedy}")
    return array


def numeric(value: Any, name: str) -> Array:
    """Return an array of integers or floats of any shape, without a mask."""
    if is_masked(value):
        raise ValueError(f"'{name}' must not have masked elements: fill or drop them first")
    try:
        raw = np.asarray(value)
    except ValueError as error:
        text = "lists of different lengths" if isinstance(value, list | tuple) else str(error)
        raise ValueError(f"'{name}' must be an array of numbers with one shape, got {show(value)}: {text}") from None
    except (RuntimeError, TypeError) as error:  # tensors on another device, or with a graph
        remedy = ": pass its .float(), rows of points divided by their length" * ("BFloat16" in str(error))
        raise TypeError(f"'{name}' must be an array that NumPy can read: {error}{remedy}") from None
    if raw.dtype.kind == "O" and raw.size and all(is_real(element) for element in raw.flat):
        try:
            raw = raw.astype(np.float64)
        except OverflowError:
            raise ValueError(f"'{name}' must be within the range of floats, got {show(value)}") from None
    if raw.dtype.kind not in "iuf" and (raw.size or raw.dtype.kind not in "OV"):
        raise TypeError(f"'{name}' must hold real numbers, got {_other(value, raw)}")
    return raw


def _other(value: Any, raw: Array) -> str:
    """Word what was given instead of an array of numbers, and the remedy where there is one."""
    if raw.dtype.kind == "O" and raw.ndim == 0:
        remedies = {
            "base_layer": ": merge the adapter first, model.merge_and_unload()",
            "weight": ": take its .weight",
            "centers": ": pass its centers()",
            "points": ": pass its points",
            "toarray": ": pass its .toarray(), since sparse matrices are not taken",
        }
        remedy = next((text for attribute, text in remedies.items() if hasattr(value, attribute)), "")
        remedy = remedy or (
            ": pass what it returns at the points" if callable(value) and not hasattr(value, "parameters") else ""
        )
        return f"{show(value)} of type {type(value).__name__}{remedy}"
    remedy = ": .astype(float) makes them 0.0 and 1.0" if raw.dtype.kind == "b" else ""
    return f"an array of {raw.dtype}{remedy}"


def is_masked(value: object) -> bool:
    """Tell whether an array, or one inside lists, has masked elements."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    if not isinstance(value, list | tuple):
        return False
    nested = any(issubclass(kind, list | tuple | np.ma.MaskedArray) for kind in set(map(type, value)))
    return nested and any(map(is_masked, value))


def is_vector(value: object) -> bool:
    """Tell whether a value is meant as an array, and not as a number."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def floating(value: ArrayLike, name: str, *shapes: Shape, note: str = "", remedy: str = "") -> Floats:
    """Return a float32 or float64 array (float32 stays, integers become float64), finite, not empty, of a shape."""
    array = _floats(value, name)
    _check_finite(array, name)
    return shaped(array, name, *shapes, note=note, remedy=remedy) if shapes else array


def _floats(value: ArrayLike, name: str) -> Floats:
    """Return a float32 or float64 array, finite or not."""
    if type(value) is np.ndarray and value.dtype in UNIT_TOLERANCE:
        return value
    raw = numeric(value, name)
    is_float = raw.dtype.kind == "f" and raw.itemsize <= 4
    with np.errstate(over="ignore"):  # a long double may be too large, and is infinite then
        array: Floats = raw.astype(np.float32 if is_float else np.float64, copy=False)
    return array


def _check_finite(array: Floats, name: str) -> None:
    """Raise unless there are elements, and all are finite."""
    if array.size == 0:
        raise ValueError(f"'{name}' must not be empty, got shape {array.shape}")
    if array.flags.carray and is_finite(array):
        return
    once = array[tuple(slice(None if stride else 1) for stride in array.strides)]  # what is broadcast may be huge
    if not np.isfinite(once).all():
        wrong = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        where = {1: f" at index {wrong[0]}", 2: f" in row {wrong[0]}"}.get(array.ndim, "") if array.size > 1 else ""
        raise ValueError(f"'{name}' must be finite, got {array[wrong]}{where}")


def is_finite(array: Floats) -> bool:
    """Tell whether all elements are finite."""
    if session.ranges is not None and array.flags.carray:
        return bool(session.ranges.are_finite(array.reshape(-1)))
    return bool(np.isfinite(array).all())


def rows(x: ArrayLike, name: str = "x", *, dim: int | None = None) -> Floats:
    """Return points of S^m as rows, shape (n, m+1), after checking that they have unit length."""
    array = _floats(x, name)
    if array.ndim != 2 or array.shape[1] < 2 or dim not in (None, array.shape[1] - 1) or not _have_unit_length(array):
        _explain_rows(array, name, dim)
    return array


def _have_unit_length(array: Floats) -> bool:
    """Tell whether all rows have finite numbers and unit length, strictly within the tolerance."""
    tolerance = UNIT_TOLERANCE[array.dtype]
    if session.ranges is not None and array.flags.carray and session.ranges.are_unit(array, 0.99 * tolerance):
        return array.size > 0
    for first in range(0, len(array), _ROWS):
        rows = array[first : first + _ROWS]
        short = len(rows) < 500  # for which every call counts
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64) if short else _squared_lengths(rows)
        if not (squares.min() > 1.0 - tolerance and squares.max() < 1.0 + tolerance):
            return False
    return array.size > 0


def _explain_rows(array: Floats, name: str, dim: int | None) -> None:
    """Raise unless the array holds points of S^m as rows of unit length, within the tolerance."""
    _check_finite(array, name)
    columns, note = ("dim+1", "") if dim is None else (dim + 1, f" for dim = {dim}")
    shaped(array, name, ("n", columns), note=note, remedy=_remedy_of_shape(array.shape, name, dim))
    if array.shape[1] < 2:
        raise ValueError(f"'{name}' must have at least 2 columns (the circle S^1), got shape {array.shape}")
    length = np.sqrt(_squared_lengths(array))
    if not length.min():
        zeros = np.flatnonzero(length == 0.0)
        raise ValueError(
            f"'{name}' must have rows of unit length, got {len(zeros)} of length 0, row {zeros[0]} first: they have no "
            f"direction; drop them, {name}[np.any({name} != 0, axis=1)]"
        )
    if max(length.max() - 1.0, 1.0 - length.min()) > UNIT_TOLERANCE[array.dtype]:
        worst = int(np.argmax(np.abs(length - 1.0)))
        remedy = f"divide by np.linalg.norm({name}, axis=1, keepdims=True)"
        if name == "control_points":
            remedy += "; of keys of attention, these lengths times its scale are the 'concentration'"
        if len(array) > 1 and np.abs(_squared_lengths(array.T) - 1.0).max() < UNIT_TOLERANCE[array.dtype]:
            remedy = f"its columns have, so pass {name}.T"
        if array.shape[1] == 2 and length[worst] > 4.0:  # longer than an angle in radians
            remedy += f"; {_PLACES.format(name=name)}"
        raise ValueError(
            f"'{name}' must have rows of unit length, got length {length[worst]:.9g} in row {worst}: {remedy}"
        )


def _remedy_of_shape(shape: tuple[int, ...], name: str, dim: int | None) -> str:
    """Word what to do with an array of a shape that points do not have."""
    if len(shape) == 1:
        if dim in (None, 1):
            return f"one point is {name}[None, :], and sphere.from_polar({name}[:, None]) makes points of angles"
        single = shape[0] == dim + 1
        return f"one point is {name}[None, :]" if single else "points come before values, one row for each"
    if len(shape) > 2:
        return f"{name}.reshape(-1, {shape[-1]}) has one point in each row"
    return _PLACES.format(name=name) if shape[1:] == (2,) and dim == 2 else remedy_of_dim(shape, dim)


def remedy_of_dim(shape: tuple[int, ...], dim: int | None) -> str:
    """Word what to do with as many columns as another library's dimension counts."""
    if dim is None or dim < 2 or shape[-1:] != (dim,):
        return ""
    return f"dim is one less than the number of columns, dim = {dim - 1} for {dim} columns"


def _squared_lengths(array: Floats) -> Float64:
    """Return the squared length of each row, which may be inf; a few columns are added faster one by one."""
    if array.shape[1] > 6:
        return np.asarray(np.einsum("ij,ij->i", array, array, dtype=np.float64))
    with np.errstate(over="ignore"):
        squares = np.square(array, dtype=np.float64).T
        lengths = squares[0] + squares[1]
        for column in squares[2:]:
            lengths += column
    return np.asarray(lengths)


def sequences(x: ArrayLike, name: str = "x", *, dim: int, length: int | str = "T") -> Floats:
    """Return sequences of points of S^m, shape (T, m+1) or (batch, T, m+1), after checking their unit length."""
    array = shaped(_floats(x, name), name, (length, dim + 1), ("batch", length, dim + 1), note=f" for dim = {dim}")
    flat = array.reshape(-1, dim + 1)
    if not _have_unit_length(flat):
        _explain_rows(flat, name, dim)
    return array


def one_row(x: ArrayLike, name: str, *, dim: int | None = None) -> Floats:
    """Return one point of S^m, shape (m+1,)."""
    d, note = ("dim+1", "") if dim is None else (dim + 1, f" for dim = {dim}")
    array = floating(x, name)
    shaped(array, name, (d,), note=f"{note}, as one point has", remedy=remedy_of_dim(array.shape, dim))
    if array.size < 2:
        raise ValueError(f"'{name}' must have at least 2 elements (the circle S^1), got shape {array.shape}")
    length = math.sqrt(float(_squared_lengths(array[None, :])[0]))
    if abs(length - 1.0) > UNIT_TOLERANCE[array.dtype]:
        remedy = f"divide by np.linalg.norm({name})" if length else "a row of zeros has no direction"
        raise ValueError(f"'{name}' must have unit length, got length {length:.9g}: {remedy}")
    return rows(array[None, :], name, dim=dim)[0]  # type: ignore[no-any-return]


def values_for(values: ArrayLike, name: str, n: int, owner: str) -> Floats:
    """Return values of shape (n,) or (n, p), one row for each of the n `owner` points."""
    if type(values) is np.ndarray and values.dtype in UNIT_TOLERANCE and _are_plain(values, n):
        return values
    return floating(detached(values), name, (n,), (n, "p"), note=f", one row for each of {owner}")


def _are_plain(values: Floats, n: int) -> bool:
    """Tell at once that an array has all that values need, where it has."""
    fits = values.ndim in (1, 2) and len(values) == n and values.size > 0
    return fits and values.flags.carray and is_finite(values)


def weights_for(weights: ArrayLike | None, name: str, n: int, owner: str = "row") -> Float64:
    """Return the weights of n rows, at least 0 and not all 0; None stands for ones."""
    if weights is None:
        return np.ones(n)
    array = floating(detached(weights), name, (n,), note=f", one for each {owner}").astype(np.float64)
    if array.min() < 0.0 or array.max() == 0.0:
        raise ValueError(f"'{name}' must be at least 0 and not all zero, got {array.min():g} to {array.max():g}")
    return array


def non_negative_for_log(values: Floats) -> None:
    """Check that sums with these values have logarithms."""
    if values.min() < 0.0:
        raise ValueError(f"'values' must be at least 0 to have a logarithm, got {values.min():g}: evaluate their sum")


def detached(values: Any) -> Any:
    """Detach a tensor of torch from its graph and move it to the CPU, so that NumPy can read it; pass on all else."""
    if not hasattr(values, "detach") or getattr(values, "is_meta", False):  # which has no numbers
        return values
    tensor = values.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor  # which NumPy has not
