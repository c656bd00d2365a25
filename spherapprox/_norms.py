"""Euclidean norms of values of any size, and the unit in which their squares are floats."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ._types import Float64, Floats


def unit_of(values: ArrayLike) -> float:
    """Return a power of 2 near the largest size of values, 1 for zeros: over it no square overflows or vanishes."""
    largest = float(np.abs(values).max(initial=0.0))
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def lengths(values: Floats) -> Float64:
    """Return Euclidean norms along the last axis; squares of values near either end of floats would leave them."""
    unit = unit_of(values)
    with np.errstate(over="ignore"):
        return np.asarray(unit * np.linalg.norm(values / unit, axis=-1))
