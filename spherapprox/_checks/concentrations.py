"""Guards of concentrations, one or one for each control point, and how they are printed."""

from __future__ import annotations

import math
from typing import Any

from .._types import Float64
from .arrays import detached, floating, is_vector, reals
from .scalars import concentration


def concentrations(value: Any, n: int, *, maximum: float | None = None) -> float | Float64:
    """Return one concentration lambda >= 0, or a copy of an array of them, one for each of n control points."""
    if type(value) is float and 0.0 <= value <= (math.inf if maximum is None else maximum) < math.inf:
        return value
    value = detached(value)
    if not is_vector(value):
        return concentration(value, maximum=maximum)
    array = floating(value, "concentration", (n,), note=", one for each of the control points, or be a number")
    return reals(array, "concentration", minimum=0.0, maximum=maximum)


def one_concentration(value: float | Float64, treatment: str) -> float:
    """Return the concentration that all control points of a head have, for what treats no other heads."""
    if isinstance(value, float):
        return value
    low, high = float(value.min()), float(value.max())
    if low < high:
        raise ValueError(
            f"'head' must have one concentration: {treatment} no others, got concentrations {low:g} to {high:g}"
        )
    return low


def concentration_text(value: float | Float64, digits: int = 6) -> str:
    """Print a head's concentration, or the range of those of its control points."""
    ends = (value,) if isinstance(value, float) else (value.min(), value.max())
    return " to ".join(f"{end:.{digits}g}" for end in ends)
