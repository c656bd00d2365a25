"""Weights and biases of attention layers, checked, and rows split among heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64


def matrix(value: ArrayLike, name: str, columns: int | None, heads: int) -> Float64:
    """Return a matrix of weights, with rows for so many heads."""
    wanted = ("rows", "d" if columns is None else columns)
    array = _checks.floating(_checks.detached(value), name, wanted).astype(np.float64)
    if len(array) % heads:
        raise ValueError(f"'{name}' must have as many rows for each of {heads} heads, got {len(array)} rows")
    return array


def vector(value: ArrayLike | None, name: str, length: int) -> Float64:
    """Return a bias of a length; None is 0."""
    if value is None:
        return np.zeros(length)
    return _checks.floating(_checks.detached(value), name, (length,)).astype(np.float64)


def by_head(rows: Float64, heads: int) -> Float64:
    """Return rows (..., T, heads * s) as (..., heads, T, s)."""
    return np.moveaxis(rows.reshape(*rows.shape[:-1], heads, rows.shape[-1] // heads), -2, -3)
