"""Operations on point sets: sums in doubled precision, and isometries of the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64

_ORTHOGONAL = 1e-10  # how far R^T R may be from the identity


def weighted_sum(weights: Float64, values: Float64) -> Float64:
    """Return the weighted sum of values (n, p) over rows, shape (p,), rounded once after the products are.

    Pairs are added again and again, with the exact errors of these additions added along (Knuth's two-sum).
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    terms = weights[:, None] * np.ldexp(values, -exponent)  # no sum overflows unless the result does
    errors = np.zeros(terms.shape[1])
    while len(terms) > 1:  # (terms, p), half as many each time
        odd = terms[len(terms) // 2 * 2 :]  # (0 or 1, p)
        a, b = terms[: len(terms) // 2], terms[len(terms) // 2 : len(terms) // 2 * 2]
        total = a + b
        shadow = total - a  # Knuth's two-sum
        errors += ((a - (total - shadow)) + (b - shadow)).sum(axis=0)
        terms = np.concatenate([total, odd])
    return np.asarray(np.ldexp(terms[0] + errors, exponent))


def isometry(rotation: Any, dim: int) -> Float64:
    """Check a rotation, a matrix or SciPy's `Rotation`, and return its orthogonal matrix (dim+1, dim+1)."""
    matrix: ArrayLike = rotation.as_matrix() if hasattr(rotation, "as_matrix") else rotation
    d = dim + 1
    array = _checks.floating(matrix, "R", (d, d), note=f" for dim = {dim}").astype(np.float64)
    worst = float(np.abs(array.T @ array - np.eye(d)).max())
    if not worst <= _ORTHOGONAL:
        raise ValueError(
            f"'R' must be orthogonal, got entries of R^T R that are {worst:.3g} off the identity's: np.linalg.qr(R)[0] "
            f"is orthogonal, and scipy.stats.special_ortho_group.rvs({d}) is a random rotation"
        )
    return array
