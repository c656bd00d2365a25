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


@np.errstate(over="ignore", under="ignore")
def lengths(rows: Floats) -> Float64:
    """Return the lengths (...) of rows (..., n), each of any size."""
    scaled, units = _scaled(rows)
    return np.asarray(units[..., 0] * np.linalg.norm(scaled, axis=-1))


@np.errstate(under="ignore")
def directions(rows: Floats) -> Float64:
    """Return rows (..., n), each of any size but 0, over their lengths."""
    scaled, _ = _scaled(rows)
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def _scaled(rows: Floats) -> tuple[Float64, Float64]:
    """Return rows over powers of 2 near their largest sizes, which change no digit, and these powers (..., 1)."""
    largest = np.abs(rows).max(axis=-1, initial=0.0, keepdims=True).astype(np.float64)
    units = np.where(largest > 0.0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)
    return rows / units, units
