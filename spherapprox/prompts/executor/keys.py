"""Keys of an executor's records: unit vectors, and the margin by which attention tells them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._norms import directions
from ..._types import Float64


def key_margin(keys: ArrayLike) -> float:
    """Return by how much a key's inner product with itself exceeds those with all others, and with 0.

    See docs/theorems/9.2-routing.md.

    Parameters
    ----------
    keys : array_like, shape (m, dim+1), or PointSet
        Rows of unit length.

    Returns
    -------
    float
        ``min(1, 1 - max <k_i, k_j>)``: 1 for one key, at most 0 where two are equal.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox import points
    >>> from spherapprox.prompts.executor import key_margin
    >>> round(key_margin([[1.0, 0.0], [0.0, 1.0], [-0.6, -0.8]]), 12), round(key_margin(points.fibonacci(33)), 3)
    (1.0, 0.144)
    """
    return _margin(unit_rows(keys))


def unit_rows(keys: Any) -> Float64:
    """Return rows of unit length, to the last digit."""
    rows = _checks.rows(_checks.detached(getattr(keys, "points", keys)), "keys").astype(np.float64)
    return directions(rows)


def _margin(rows: Float64, block: int = 2048) -> float:
    largest = -np.inf
    for start in range(0, len(rows), block):
        products = rows[start : start + block] @ rows.T  # (block, m)
        own = np.arange(len(products))
        products[own, start + own] = 0.0
        largest = max(largest, float(products.max()))
    return 1.0 - largest


def record_keys(rows: Float64 | None, count: int) -> tuple[Float64, float]:
    """Return the keys (m, d) of so many records, those of a basis where none are given, and their margin."""
    if rows is None:
        return np.eye(count), 1.0
    if len(rows) != count:
        raise ValueError(f"'keys' must have {count} rows, one for each neuron, got {len(rows)}")
    if rows.shape[1] > max(count, 2):
        raise ValueError(f"'keys' must have at most {max(count, 2)} columns, as a basis has, got {rows.shape[1]}")
    margin = _margin(rows)
    if not margin > 0.0:
        raise ValueError(f"'keys' must be different rows, got two at a margin of {margin:.3g}")
    return rows, margin
