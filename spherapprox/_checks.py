"""Argument guards: the only module that words a `ValueError` or `TypeError` about what a user passed.

Every guard returns the value in the form that the computation wants (a Python int or float, a contiguous array), so
that a public function reads: check, compute, wrap.
"""

from __future__ import annotations

import inspect
import math
import numbers
import os
import warnings
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from . import _threads
from ._types import Array, Float64, Floats

UNIT_TOLERANCE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""How far a row's length may be from 1: it catches mistakes, it is no statement of accuracy."""

MEMORY_LIMIT = 8 * 2**30
"""Bytes that one result may take before a function refuses to make it."""

OPERATION_LIMIT = 1e13
"""Operations that one call may take before a function refuses to begin: some hours."""

MAX_COUNT = 2**53
"""Largest count where no other limit is stated: products with it are floats."""

MAX_DIM = 10**12
"""Largest dimension of a sphere where no other limit is stated."""


def show(value: object) -> str:
    """Print a value briefly enough for an error message."""
    try:
        text = repr(value).replace("\n", " ")
    except ValueError:  # Python prints no int of more than 4300 digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    if isinstance(value, int) and len(text) > 20:
        return f"{text[:10]}... of {len(text)} digits"
    return text if len(text) <= 80 else text[:77] + "..."


def digits(number: float) -> str:
    """Print a float in six digits where these are all it has, else in as many as tell it from its neighbours."""
    short = f"{number:g}"
    return short if float(short) == number or math.isnan(number) else repr(float(number))


def integer(
    value: object,
    name: str,
    *,
    minimum: int | None = None,
    maximum: int | None = MAX_COUNT,
    why: str = "",
    limit: str = "",
) -> int:
    """Return `value` as an int; integral floats such as ``1e6`` pass, bools and fractions do not.

    `why` explains both ends of the range, `limit` the upper one alone.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if type(value) is int and (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
        return value
    if not _is_real(value):
        raise TypeError(f"'{name}' must be an integer, got {show(value)} of type {type(value).__name__}")
    if not isinstance(value, numbers.Integral) and not float(value).is_integer():
        raise ValueError(f"'{name}' must be an integer, got {show(value)}")
    result = int(value) if isinstance(value, numbers.Integral) else int(float(value))
    if minimum is not None and result < minimum:
        raise ValueError(f"'{name}' must be at least {show(minimum)}, got {show(result)}" + (f": {why}" if why else ""))
    if maximum is not None and result > maximum:
        reason = why or limit
        raise ValueError(
            f"'{name}' must be at most {show(maximum)}, got {show(result)}" + (f": {reason}" if reason else "")
        )
    return result


def dimension(dim: object, *, minimum: int = 1, maximum: int = MAX_DIM) -> int:
    """Return the manifold's dimension m of the sphere S^m in R^(m+1)."""
    why = "'dim' is m of the sphere S^m in R^(m+1), one less than the number of columns"
    return integer(dim, "dim", minimum=minimum, maximum=maximum, why=why)


def real(
    value: object,
    name: str,
    *,
    above: float | None = None,
    minimum: float | None = None,
    below: float | None = None,
    maximum: float | None = None,
    finite: bool = True,
    why: str = "",
) -> float:
    """Return `value` as a float inside the stated range: ``above < minimum <= value <= maximum < below``."""
    if type(value) is float and _inside(value, above, minimum, below, maximum, finite):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not _is_real(value):
        raise TypeError(f"'{name}' must be a real number, got {show(value)} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a Python int above the largest float
        number = -math.inf if value < 0 else math.inf
    limits = {
        "a number": not math.isnan(number),
        "finite": math.isfinite(number) or not finite,
        f"greater than {above}": above is None or number > above,
        f"at least {minimum}": minimum is None or number >= minimum,
        f"less than {below}": below is None or number < below,
        f"at most {maximum}": maximum is None or number <= maximum,
    }
    for limit, holds in limits.items():
        if not holds:
            raise ValueError(f"'{name}' must be {limit}, got {digits(number)}" + (f": {why}" if why else ""))
    return number


def _inside(
    number: float,
    above: float | None,
    minimum: float | None,
    below: float | None,
    maximum: float | None,
    finite: bool,
) -> bool:
    """Tell whether a float is a number in range."""
    return (
        not math.isnan(number)
        and not (finite and math.isinf(number))
        and (above is None or number > above)
        and (minimum is None or number >= minimum)
        and (below is None or number < below)
        and (maximum is None or number <= maximum)
    )


def concentration(value: object, *, maximum: float | None = None) -> float:
    """Return the concentration lambda >= 0; 0 is the uniform case."""
    return real(value, "concentration", minimum=0.0, maximum=maximum)


def reals(
    value: ArrayLike,
    name: str,
    *,
    above: float | None = None,
    minimum: float | None = None,
    below: float | None = None,
    maximum: float | None = None,
    finite: bool = False,
    nan: bool = True,
) -> Float64:
    """Return a float64 array of any shape whose elements are inside the range; nan passes through when `nan`."""
    raw = numeric(value, name)
    with np.errstate(over="ignore"):  # a long double may be too large
        array = raw.astype(np.float64)
    if _within(array, above, minimum, below, maximum, finite):
        return array
    with np.errstate(invalid="ignore"):
        bad = np.zeros(array.shape, dtype=bool) if nan else np.isnan(array)
        if finite:
            bad |= np.isinf(array)
        if above is not None:
            bad |= array <= above
        if minimum is not None:
            bad |= array < minimum
        if below is not None:
            bad |= array >= below
        if maximum is not None:
            bad |= array > maximum
    if bad.any():
        range_text = _range_text(above, minimum, below, maximum, finite)
        raise ValueError(f"'{name}' must be {range_text}, got {digits(array[bad].flat[0])}")
    return array


def _within(
    array: Float64,
    above: float | None,
    minimum: float | None,
    below: float | None,
    maximum: float | None,
    finite: bool,
) -> bool:
    """Tell, by the least and the largest element, whether all are numbers in range."""
    low, high = (float(array.min()), float(array.max())) if array.size else (math.nan, math.nan)
    limits = above, minimum, below, maximum, finite
    return _inside(low, *limits) and _inside(high, *limits)


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
        raise TypeError(f"'{name}' must be an array that NumPy can read: {error}") from None
    if raw.dtype.kind == "O" and raw.size and all(_is_real(element) for element in raw.flat):
        try:
            raw = raw.astype(np.float64)
        except OverflowError:
            raise ValueError(f"'{name}' must be within the range of floats, got {show(value)}") from None
    if raw.dtype.kind not in "iuf" and (raw.size or raw.dtype.kind not in "OV"):
        remedy = ": .astype(float) makes them 0.0 and 1.0" if raw.dtype.kind == "b" else ""
        raise TypeError(f"'{name}' must hold real numbers, got an array of {raw.dtype}{remedy}")
    return raw


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


def _is_real(value: object) -> TypeGuard[numbers.Real]:
    """Tell whether a Python object is a real number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def flag(value: object, name: str) -> bool:
    """Return a bool; other values that Python would take for true or false are refused."""
    if type(value) is bool:
        return value
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"'{name}' must be True or False, got {show(value)} of type {type(value).__name__}")
    return bool(value)


def no_bar(progress: object) -> bool | None:
    """Return tqdm's `disable`: False and True of `progress` are taken at their word, None means on a terminal only."""
    return None if progress is None else not flag(progress, "progress")


def _range_text(
    above: float | None, minimum: float | None, below: float | None, maximum: float | None, finite: bool
) -> str:
    """Put a range into words."""
    words = ["finite"] if finite else []
    words += [
        f"{text} {digits(limit)}"
        for text, limit in (
            ("greater than", above), ("at least", minimum), ("less than", below), ("at most", maximum)
        )
        if limit is not None
    ]  # fmt: skip
    return " and ".join(words) or "a number"


def floating(value: ArrayLike, name: str) -> Floats:
    """Return a float32 or float64 array (float32 stays, integers become float64), finite, not empty."""
    array = _floats(value, name)
    _check_finite(array, name)
    return array


def _floats(value: ArrayLike, name: str) -> Floats:
    """Return a float32 or float64 array of any numbers."""
    raw = numeric(value, name)
    kept = raw.dtype.kind == "f" and raw.itemsize <= 4
    array: Floats = raw.astype(np.float32 if kept else np.float64, copy=False)
    return array


def _check_finite(array: Floats, name: str) -> None:
    """Raise unless there are elements, and all are finite."""
    if array.size == 0:
        raise ValueError(f"'{name}' must not be empty, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' must be finite, got {array[~np.isfinite(array)].flat[0]}")


def rows(x: ArrayLike, name: str = "x", *, dim: int | None = None) -> Floats:
    """Return points of S^m as rows, shape (n, m+1), after checking that they have unit length."""
    array = _floats(x, name)
    if array.ndim != 2 or array.shape[1] < 2 or dim not in (None, array.shape[1] - 1) or not _have_unit_length(array):
        _explain_rows(array, name, dim)
    return array


def _have_unit_length(array: Floats) -> bool:
    """Tell whether all rows have finite numbers and unit length, strictly within the tolerance."""
    if array.size == 0:
        return False
    tolerance = UNIT_TOLERANCE[array.dtype]
    squares = np.einsum("ij,ij->i", array, array, dtype=np.float64)
    return bool(squares.min() > 1.0 - tolerance and squares.max() < 1.0 + tolerance)


def _explain_rows(array: Floats, name: str, dim: int | None) -> None:
    """Raise unless the array holds points of S^m as rows of unit length, within the tolerance."""
    _check_finite(array, name)
    if array.ndim != 2:
        remedy = ": one point is x[None, :]" if array.ndim == 1 else ""
        raise ValueError(f"'{name}' must have shape (n, dim+1), got {array.shape}{remedy}")
    if array.shape[1] < 2:
        raise ValueError(f"'{name}' must have at least 2 columns (the circle S^1), got shape {array.shape}")
    if dim is not None and array.shape[1] != dim + 1:
        raise ValueError(f"'{name}' must have shape (n, {dim + 1}) for dim = {dim}, got {array.shape}")
    length = np.sqrt(_squared_lengths(array))
    if max(length.max() - 1.0, 1.0 - length.min()) > UNIT_TOLERANCE[array.dtype]:
        worst = int(np.argmax(np.abs(length - 1.0)))
        raise ValueError(
            f"'{name}' must have rows of unit length, got length {length[worst]:.9g} in row {worst}: "
            f"divide by np.linalg.norm({name}, axis=1, keepdims=True)"
        )


def _squared_lengths(array: Floats) -> Float64:
    """Return the squared length of each row; a few columns are faster one by one."""
    if array.shape[1] > 8:
        return np.asarray(np.einsum("ij,ij->i", array, array, dtype=np.float64))
    squares = np.square(array[:, 0], dtype=np.float64)
    for column in array.T[1:]:
        squares += np.square(column, dtype=np.float64)
    return squares


def sequences(x: ArrayLike, name: str = "x", *, dim: int) -> Floats:
    """Return sequences of points of S^m, shape (T, m+1) or (batch, T, m+1), after checking their unit length."""
    array = _floats(x, name)
    if array.ndim not in (2, 3) or array.shape[-1] != dim + 1:
        raise ValueError(
            f"'{name}' must have shape (T, {dim + 1}) or (batch, T, {dim + 1}) for dim = {dim}, got {array.shape}"
        )
    flat = array.reshape(-1, dim + 1)
    if not _have_unit_length(flat):
        _explain_rows(flat, name, dim)
    return array


def one_row(x: ArrayLike, name: str, *, dim: int | None = None) -> Floats:
    """Return one point of S^m, shape (m+1,)."""
    array = floating(x, name)
    if array.ndim != 1:
        raise ValueError(f"'{name}' must be one point of shape (dim+1,), got shape {array.shape}")
    if dim is not None and array.size != dim + 1:
        raise ValueError(f"'{name}' must have shape ({dim + 1},) for dim = {dim}, got {array.shape}")
    length = math.sqrt(float(np.dot(array.astype(np.float64), array.astype(np.float64))))
    if abs(length - 1.0) > UNIT_TOLERANCE[array.dtype]:
        raise ValueError(f"'{name}' must have unit length, got length {length:.9g}: divide by np.linalg.norm({name})")
    return rows(array[None, :], name, dim=dim)[0]  # type: ignore[no-any-return]


def values_for(values: ArrayLike, name: str, n: int, owner: str) -> Floats:
    """Return values of shape (n,) or (n, p), one row for each of the n `owner` points."""
    array = floating(detached(values), name)
    if array.ndim not in (1, 2) or array.shape[0] != n:
        raise ValueError(f"'{name}' must have shape ({n},) or ({n}, p), one row for each of {owner}, got {array.shape}")
    return array


def detached(values: Any) -> Any:
    """Return what a function has computed; a tensor of torch without its graph and on the CPU, as NumPy reads it."""
    return values.detach().cpu() if hasattr(values, "detach") else values


def called(function: Any, x: Floats) -> Any:
    """Return what a user's function makes of points, a copy: it may write into them."""
    return detached(function(x.copy()))


def choice(value: object, name: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the words in `choices`."""
    words = tuple(choices)
    if not isinstance(value, str) or value not in words:
        known = ", ".join(map(repr, words))
        raise ValueError(f"'{name}' must be one of {known}, got {show(value)}{did_you_mean(value, words)}")
    return value


def did_you_mean(value: object, words: Iterable[str]) -> str:
    """Return the end of a complaint: the word that is nearest to a misspelt one, if any is near."""
    import difflib  # 3 ms that only complaints need

    close = difflib.get_close_matches(value, words, 1) if isinstance(value, str) else []
    return f": did you mean {close[0]!r}?" if close else ""


def memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse a result larger than `MEMORY_LIMIT` before any of it is made."""
    if n_bytes > MEMORY_LIMIT:
        raise ValueError(
            f"{what} would take {n_bytes / 2**30:.3g} GiB, above the limit of {MEMORY_LIMIT / 2**30:.3g} GiB: {remedy}"
        )


def path(value: object) -> str:
    """Return the path of a file."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise TypeError(f"'path' must be a path, str or os.PathLike, got {show(value)} of type {type(value).__name__}")
    if not os.path.basename(text) or "\0" in text:
        raise ValueError(f"'path' must name a file, got {show(text)}")
    return text


def destination(out: object, shape: tuple[int, ...]) -> Float64:
    """Return an array that a result of this shape can be written into as it is."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"'out' must be a NumPy array, got {show(out)} of type {type(out).__name__}")
    if is_masked(out):
        raise ValueError("'out' must not have masked elements, which the result would not show: pass out.data")
    flags = out.flags
    if out.shape != shape or out.dtype != np.float64 or not (flags.writeable and flags.c_contiguous and flags.aligned):
        raise ValueError(
            f"'out' must be a writeable, C-contiguous array of shape {shape} and float64, got shape {out.shape} and "
            f"{out.dtype}, writeable: {flags.writeable}, C-contiguous: {flags.c_contiguous}; np.empty(shape) makes one"
        )
    return out


def operations(count: float, what: str, remedy: str, limit: float = OPERATION_LIMIT) -> None:
    """Refuse work of more operations than the limit before any of it is done."""
    if count > limit:
        raise ValueError(f"{what} would take {count:.3g} operations, above the limit of {limit:.3g}: {remedy}")


def workers(value: object) -> int | None:
    """Return the number of threads; -1 means all cores that this process may use, None leaves it to the work."""
    if value is None:
        _threads.most(None)  # refuses what the environment variable may say
        return None
    number = integer(value, "workers", minimum=-1)
    if number == 0:
        raise ValueError("'workers' must be at least 1, -1 for all cores, or None, got 0")
    return _threads.cores() if number < 0 else number


def generator(rng: object) -> np.random.Generator:
    """Return a NumPy Generator from None, an int seed, a Generator, or one that a RandomState gives the seed of."""
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**32, size=4, dtype=np.uint32))
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    return np.random.default_rng(integer(rng, "rng", minimum=0, maximum=None))


def callable_(value: object, name: str) -> None:
    """Check that `value` can be called."""
    if not callable(value):
        raise TypeError(f"'{name}' must be callable, got {show(value)} of type {type(value).__name__}")


def renamed(old: str, new: str) -> Any:
    """Return a property of an old name, which warns and gives what the method or attribute `new` does."""

    def get(self: object) -> Any:
        value = getattr(self, new)
        warn(f"'{old}' is deprecated: use '{new}{'()' if callable(value) else ''}'", DeprecationWarning)
        return value() if callable(value) else value

    return property(get, doc=f"Deprecated name of `{new}`.")


def warn_inaccurate(message: str) -> None:
    """Warn of lost accuracy, at the line that called this package."""
    warn(message, RuntimeWarning)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package."""
    frame, level = inspect.currentframe(), 0
    package = __name__.partition(".")[0] + "."
    while frame is not None and frame.f_globals["__name__"].startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
