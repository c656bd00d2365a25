"""Guards of numbers, words and other single values, and how complaints show what was passed."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable
from typing import TypeGuard

import numpy as np

MAX_COUNT = 2**53  # largest count where no other limit is stated: products with it are floats
WHAT_DIM_IS = "'dim' is m of the sphere S^m in R^(m+1), one less than the number of columns"
"""The remedy for a wrong dimension."""
MAX_DIM = 10**12  # largest dimension of a sphere where no other limit is stated


def show(value: object) -> str:
    """Print a value briefly enough for an error message."""
    try:
        text = repr(value).replace("\n", " ")
    except ValueError:  # Python prints no int of more than 4300 digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    if isinstance(value, int) and len(text) > 20:
        return f"{text[:10]}... of {len(text)} digits"
    if len(text) > 80 and isinstance(shape := getattr(value, "shape", None), tuple):
        return f"an array of shape {tuple(shape)}"
    return text if len(text) <= 80 else text[:77] + "..."


def digits(number: float) -> str:
    """Print a float in six digits where these are all it has, else in as many as tell it from its neighbours."""
    short = f"{number:g}"
    return short if float(short) == number or math.isnan(number) else repr(float(number))


def wrong_type(value: object, name: str, kind: str, remedy: str = "") -> TypeError:
    """Return the complaint about a value of the wrong type."""
    text = f"'{name}' must be {kind}, got {show(value)} of type {type(value).__name__}"
    return TypeError(text + (f": {remedy}" if remedy else ""))


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

    `why` explains both ends of the range, `limit` the upper one in its place.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if type(value) is int and (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
        return value
    if not is_real(value):
        raise wrong_type(value, name, "an integer")
    if not isinstance(value, numbers.Integral) and not float(value).is_integer():
        raise ValueError(f"'{name}' must be an integer, got {show(value)}")
    result = int(value) if isinstance(value, numbers.Integral) else int(float(value))
    if minimum is not None and result < minimum:
        raise ValueError(f"'{name}' must be at least {show(minimum)}, got {show(result)}" + (f": {why}" if why else ""))
    if maximum is not None and result > maximum:
        reason = limit or why
        raise ValueError(
            f"'{name}' must be at most {show(maximum)}, got {show(result)}" + (f": {reason}" if reason else "")
        )
    return result


def dimension(dim: object, *, maximum: int = MAX_DIM) -> int:
    """Return the manifold's dimension m of the sphere S^m in R^(m+1)."""
    return integer(dim, "dim", minimum=1, maximum=maximum, why=WHAT_DIM_IS)


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
    if type(value) is float and inside(
        value, above=above, minimum=minimum, below=below, maximum=maximum, finite=finite
    ):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not is_real(value):
        raise wrong_type(value, name, "a real number")
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


def inside(
    number: float,
    *,
    above: float | None = None,
    minimum: float | None = None,
    below: float | None = None,
    maximum: float | None = None,
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


def is_real(value: object) -> TypeGuard[numbers.Real]:
    """Tell whether a Python object is a real number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def concentration(value: object, *, maximum: float | None = None) -> float:
    """Return the concentration lambda >= 0; 0 is the uniform case."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        raise ValueError(f"'concentration' must be one number here, got {show(value)}: only heads and sums take more")
    return real(value, "concentration", minimum=0.0, maximum=maximum)


def flag(value: object, name: str) -> bool:
    """Return a bool; other values that Python would take for true or false are refused."""
    if type(value) is bool:
        return value
    if not isinstance(value, bool | np.bool_):
        raise wrong_type(value, name, "True or False")
    return bool(value)


def choice(value: object, name: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the words in `choices`."""
    words = tuple(choices)
    if not isinstance(value, str) or value not in words:
        names = ", ".join(map(repr, words))
        raise ValueError(f"'{name}' must be one of {names}, got {show(value)}{did_you_mean(value, words)}")
    return value


def did_you_mean(value: object, words: Iterable[str]) -> str:
    """Suggest the word nearest to a misspelt one, as the end of a complaint; nothing if none is near."""
    import difflib  # 3 ms that only complaints need

    close = difflib.get_close_matches(value, words, 1) if isinstance(value, str) else []
    return f": did you mean {close[0]!r}?" if close else ""


def path(value: object, name: str = "path") -> str:
    """Return the path of a file, which need not exist."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise wrong_type(value, name, "a path, str or os.PathLike")
    if not os.path.basename(text) or "\0" in text:
        raise ValueError(f"'{name}' must name a file, got {show(text)}")
    if os.path.exists(text) and not os.path.isfile(text):
        kind = "a folder" if os.path.isdir(text) else "no regular file"
        raise ValueError(f"'{name}' must name a file, got {text!r}, which is {kind}")
    return text


def generator(rng: object, name: str = "rng") -> np.random.Generator:
    """Return a NumPy Generator from None, an int seed, a Generator, or one that a RandomState gives the seed of."""
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**32, size=4, dtype=np.uint32))
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    return np.random.default_rng(integer(rng, name, minimum=0, maximum=None))


def upper_text(value: float, digits: int = 4) -> str:
    """Write an upper end with so many digits, rounded up: it stays one."""
    text = f"{value:.{digits}g}"
    if float(text) >= value:
        return text
    return f"{value + 10.0 ** (math.floor(math.log10(value)) + 1 - digits):.{digits}g}"
