"""Euclidean norms of values of any size."""

from __future__ import annotations

import numpy as np

from .._types import Float64, Floats


def lengths(values: Floats) -> Float64:
    """Return Euclidean norms along the last axis; squares of values near either end of floats would leave them."""
    unit = np.ldexp(1.0, np.frexp(np.abs(values).max())[1] - 1)  # a power of 2
    with np.errstate(over="ignore"):
        return np.asarray(unit * np.linalg.norm(values / unit, axis=-1))
