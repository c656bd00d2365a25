"""Sums over the unit rows of SciPy's sparse matrices, in the memory of their stored elements; none is made dense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _checks
from .._types import Float64


def is_sparse(x: object) -> bool:
    """Tell whether this is a sparse matrix or array of SciPy, which it does not load."""
    return hasattr(x, "tocsr")


def sparse_rows(x: Any, name: str) -> Any:
    """Return rows of unit length in the CSR format, divided by their lengths in float64."""
    _checks.shaped(x, name, ("n", "dim+1"))
    if x.shape[1] < 2 or x.dtype.kind not in "iuf":
        raise ValueError(f"'{name}' must have at least 2 columns of real numbers, got shape {x.shape} of {x.dtype}")
    tolerance = _checks.UNIT_TOLERANCE.get(x.dtype, 1e-6)
    rows = x.tocsr(copy=True).astype(np.float64)
    rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        raise ValueError(f"'{name}' must be finite, got {rows.data[~np.isfinite(rows.data)][0]}")
    owner = owners(rows)
    length = np.sqrt(np.bincount(owner, rows.data * rows.data, minlength=x.shape[0]))
    if not length.min():
        zeros = np.flatnonzero(length == 0.0)
        raise ValueError(
            f"'{name}' must have rows of unit length, got {len(zeros)} of length 0, row {zeros[0]} first: they have no "
            f"direction; drop them, {name}[abs({name}).sum(axis=1) > 0] of a CSR array"
        )
    worst = int(np.argmax(np.abs(length - 1.0)))
    if abs(length[worst] - 1.0) > tolerance:
        raise ValueError(
            f"'{name}' must have rows of unit length, got length {length[worst]:.9g} in row {worst}: divide by their "
            f"lengths, as sklearn.preprocessing.normalize({name}) does"
        )
    rows.data /= length[owner]
    return rows


def owners(rows: Any) -> Any:
    """Return the row of each stored element."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def sparse_resultant(rows: Any, share: Float64) -> tuple[Float64, float, float]:
    """Return what `fitting.resultant` does; chords are summed over stored elements, and by column over the others."""
    columns, weight = rows.indices, share[owners(rows)]
    d = rows.shape[1]
    # Step 1: the mean direction
    mean = np.bincount(columns, weight * rows.data, minlength=d)
    length = math.sqrt(mean @ mean)
    if length < 1e-300:
        return np.eye(1, d, d - 1)[0], 0.0, 1.0
    direction = mean / length
    # Step 2: the weights of the rows that store nothing in a column, exactly 0 where all do
    stored = np.bincount(columns, weight > 0.0, minlength=d)
    absent = np.where(stored < np.count_nonzero(share), 1.0 - np.bincount(columns, weight, minlength=d), 0.0)
    # Step 3: the weighted means of |x - direction|^2 and of x - direction
    chord = rows.data - direction[columns]
    square = float(weight @ (chord * chord)) + float(np.square(direction) @ absent)
    offset = np.bincount(columns, weight * chord, minlength=d) - direction * absent
    return direction, length, (square - float(offset @ offset)) / (1.0 + length)
