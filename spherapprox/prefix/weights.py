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


def product(rows: Float64, weight: Float64, bias: Float64, name: str) -> Float64:
    """Return ``rows @ weight.T + bias``, finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = rows @ weight.T + bias
    if not np.isfinite(found).all():
        raise ValueError(
            f"'{name}' must have finite products with the layer's weights, got entries up to {np.abs(rows).max():.3g} "
            f"and weights up to {np.abs(weight).max():.3g}: scale one of them down"
        )
    return np.asarray(found)


def lengths(rows: Float64) -> Float64:
    """Return the Euclidean lengths (...) of rows (..., n); squares neither overflow nor vanish."""
    largest = np.abs(rows).max(axis=-1, initial=0.0)
    units = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(units * np.linalg.norm(rows / units[..., None], axis=-1))


def by_head(rows: Float64, heads: int) -> Float64:
    """Return rows (..., T, heads * s) as (..., heads, T, s)."""
    return np.moveaxis(rows.reshape(*rows.shape[:-1], heads, rows.shape[-1] // heads), -2, -3)
