"""Matrices of multiplication by a harmonic between the harmonics up to a degree."""

from __future__ import annotations

import numpy as np

from ..._types import Float64
from ...harmonics.hyperspherical import sizes
from .triples import circle_products, colatitude_factors, columns, order_of_degree


def product_matrices(dim: int, rows: int, degree: int, top: int, coefficients: Float64, absolute: bool) -> Float64:
    """Return the integrals of ``f Y_i Y_j`` for f of one degree, all harmonics Y up to `rows`: (p, n, n).

    `coefficients` (p, dim H_degree) are those of f in the order of the harmonics (`triples.columns`). With `absolute`
    every term counts with its absolute value, the coefficients' included.
    """
    if absolute:
        coefficients = np.abs(coefficients)
    if dim == 1:
        of = np.s_[0:1] if degree == 0 else np.s_[2 * degree - 1 : 2 * degree + 1]
        table = circle_products(rows, top)[of]
        return np.asarray(np.einsum("pk,kij->pij", coefficients, np.abs(table) if absolute else table))
    factors = colatitude_factors(dim, rows, top)
    _, pair, below = columns(dim, rows)
    size = sizes(degree, dim - 1)
    matrices = np.zeros((len(coefficients), len(pair), len(pair)))
    start = 0
    for low in order_of_degree(degree):
        part = coefficients[:, start : start + int(size[low])]
        start += int(size[low])
        inner = product_matrices(dim - 1, rows, low, top, part, absolute)
        factor = np.abs(factors[degree, low]) if absolute else factors[degree, low]
        matrices += factor[pair[:, None], pair] * inner[:, below[:, None], below]
    return matrices
