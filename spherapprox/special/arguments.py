"""Guards of the arguments, which keep scalars floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks

MAX_ORDER = 1e12

MAX_STEP = 10**15  # largest distance of two orders; all integers up to it are floats
MAX_DEGREE = 10**6  # largest degree of a zonal polynomial: its recurrence takes as many steps, some 4 ms at the limit


def real(value: Any, name: str, *, minimum: float | None = None, maximum: float | None = None, why: str = "") -> Any:
    """Return a float for a scalar in range, without building an array, and a checked float64 array else."""
    if type(value) in (float, np.float64) or (type(value) is int and abs(value) <= _checks.MAX_COUNT):
        number = float(value)
        if (minimum is None or number >= minimum) and (maximum is None or number <= maximum):
            return number
    array = _checks.reals(value, name, minimum=minimum, maximum=maximum, why=why)
    return float(array) if array.ndim == 0 else array


def integers(value: ArrayLike, name: str, *, minimum: int, maximum: int, why: str = "") -> Any:
    """Return integers of a range as a float or a float64 array."""
    try:
        scalar = np.ndim(value) == 0
    except ValueError:  # lists of different lengths: `_checks.reals` says which argument they are
        scalar = False
    if scalar:
        return float(_checks.integer(value, name, minimum=minimum, maximum=maximum, why=why))
    array = _checks.reals(value, name, minimum=minimum, maximum=maximum, nan=False)
    fractional = array != np.floor(array)
    if fractional.any():
        raise ValueError(f"'{name}' must hold integers, got {array[fractional].flat[0]:g}")
    return array


def bessel_order(order: ArrayLike) -> Any:
    """Return orders of Bessel functions, 0 to 1e12."""
    return real(order, "order", minimum=0.0, maximum=MAX_ORDER)


def steps(step: ArrayLike) -> Any:
    """Return distances of two orders, integers from 0 to 1e15."""
    return integers(step, "step", minimum=0, maximum=MAX_STEP)


def degrees(degree: ArrayLike, minimum: int = 0) -> Any:
    """Return degrees of zonal polynomials, integers to 1e6."""
    return integers(degree, "degree", minimum=minimum, maximum=MAX_DEGREE)


def derivative_orders(order: ArrayLike) -> Any:
    """Return orders of derivatives, integers from 0 to 1e6."""
    return integers(order, "order", minimum=0, maximum=MAX_DEGREE)


def dims(dim: ArrayLike) -> Any:
    """Return dimensions m of spheres S^m, integers from 1 to 1e12."""
    return integers(dim, "dim", minimum=1, maximum=_checks.MAX_DIM, why=_checks.WHAT_DIM_IS)
