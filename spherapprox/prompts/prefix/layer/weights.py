"""Weights and biases of attention layers, checked, and rows split among heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from .rows import array


def head_counts(heads: int, key_value_heads: int | None) -> tuple[int, int]:
    """Return the checked numbers of heads of queries, and of keys and values."""
    h = _checks.integer(heads, "heads", minimum=1)
    g = h if key_value_heads is None else _checks.integer(key_value_heads, "key_value_heads", minimum=1)
    if h % g:
        raise ValueError(f"'heads' must be a multiple of 'key_value_heads', got {h} and {g}")
    return h, g


def matrix(value: ArrayLike, name: str, columns: int | None, heads: int) -> Float64:
    """Return a matrix of weights, with rows for so many heads."""
    rows = array(value, name, ("rows", "d" if columns is None else columns))
    if len(rows) % heads:
        raise ValueError(
            f"'{name}' must have as many rows for each of {heads} heads, got {len(rows)} rows: "
            "transpose what is stored as x @ weight, as GPT-2's are"
        )
    return rows


def vector(value: ArrayLike | None, name: str, length: int) -> Float64:
    """Return a bias of a length; None is 0."""
    return np.zeros(length) if value is None else array(value, name, (length,))


def product(rows: Float64, weight: Float64, bias: Float64, name: str) -> Float64:
    """Return ``rows @ weight.T + bias``, finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows @ weight.T + bias
    if not np.isfinite(products).all():
        raise ValueError(
            f"'{name}' must have finite products with the layer's weights, got entries up to {np.abs(rows).max():.3g} "
            f"and weights up to {np.abs(weight).max():.3g}: scale one of them down"
        )
    return np.asarray(products)


def by_head(rows: Float64, heads: int) -> Float64:
    """Return rows (..., T, heads * s) as (..., heads, T, s)."""
    return np.moveaxis(rows.reshape(*rows.shape[:-1], heads, rows.shape[-1] // heads), -2, -3)


def side_by_side(heads: Float64) -> Float64:
    """Return rows (..., heads, T, p) of heads as (..., T, heads * p)."""
    rows = np.moveaxis(heads, -3, -2)
    return rows.reshape(*rows.shape[:-2], rows.shape[-2] * rows.shape[-1])
