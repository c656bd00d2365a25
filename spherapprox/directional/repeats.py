"""Rows that repeat, as rounded data do: each of the different ones with the weight of all that are equal to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Float64
from ..vmf.sparse import is_sparse


def merge_equal(unit: Any, weights: Float64, decimals: int | None = None) -> tuple[Any, Float64]:
    """Return the different rows of positive weight, and their weights, in an order that depends on them alone.

    Rows that are equal when rounded to so many decimals count as equal. They are told apart by a random projection:
    that of two different ones among n is equal with a probability of some n^2 2^-54.
    """
    if not weights.all():
        unit, weights = unit[weights > 0.0], weights[weights > 0.0]
    axis = np.random.default_rng(0).standard_normal(unit.shape[1])
    rounded = unit if decimals is None else np.rint(unit * 10.0**decimals)
    keys = rounded @ axis if is_sparse(unit) else np.einsum("ij,j->i", rounded, axis)  # of equal rows equal to the bit
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return unit[first], np.bincount(group, weights).astype(np.float64, copy=False)
