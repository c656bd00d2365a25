"""Attention by a low-rank factor that follows the data: pivoted Cholesky, with an error for each query that is proven.

``exp(<x, y>)`` is ``exp(|x|^2/2) exp(|y|^2/2) exp(-|x - y|^2/2)``: the last is a positive definite kernel, whose
remainder after some pivots is bounded by its diagonal, and the first cancels (docs/theorems/4.16-attention.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _checks
from ..._threads import one_blas_thread
from ..._types import Float64

LEAST = 1e-14  # the diagonal below which no pivot is taken: its digits are lost
NOISE = 1e-13  # what roundings may add to an entry of the remainder: far more than was ever seen
_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Factored:
    """Outputs (m, p) by a factor of some rank, and the certificate (m,) of their error, relative to the largest value.

    The certificate, inf where there is none, holds for the rows as given, with the roundings of all sums. Half of it is
    that of the sums themselves, relative to these, of which `logarithms` (2, m) add up to the logarithm.
    """

    output: Float64
    logarithms: Float64
    certificate: Float64
    rank: int


def attention(x: Float64, y: Float64, values: Float64, rtol: float, rank: int) -> Factored:
    """Compute attention of queries x (m, s) to keys y (n, s) by pivots until certificates are at most `rtol`.

    Logits are ``<x, y>``; `values` (n, p) are at most 1. There are at most `rank` pivots.
    """
    m, rows = len(x), np.concatenate([x, y])
    _checks.memory(8.0 * len(rows) * rank, "the factor", 'take a smaller rank, or method="auto"')
    half_squares = 0.5 * np.einsum("ij,ij->i", y, y)
    top = float(half_squares.max())
    weights = np.exp(half_squares - top)  # (n,)
    rounding = (len(y) + min(rank, len(rows)) + 8.0) * _UNIT * float(weights.sum())
    with one_blas_thread():
        factor, remainder = _factor(rows, weights, m, rtol=rtol, rank=rank, rounding=rounding)
        columns = np.column_stack([values, np.ones(len(y))]) * weights[:, None]  # (n, p+1)
        sums = factor[:, :m].T @ (factor[:, m:] @ columns)  # (m, p+1)
    below = sums[:, -1]
    with np.errstate(all="ignore"):  # where there is no certificate
        output = sums[:, :-1] / below[:, None]
        logarithms = np.stack([0.5 * np.einsum("ij,ij->i", x, x) + top, np.log(below)])
    return Factored(
        output, logarithms, _certificate(remainder, weights, m, below=below, rounding=rounding), len(factor)
    )


def _factor(
    rows: Float64, weights: Float64, m: int, rtol: float, rank: int, rounding: float
) -> tuple[Float64, Float64]:
    """Return L (rank, m+n) with ``L^T L`` near the kernel of all rows (m+n, s), and the diagonal that is left."""
    factor, remainder = np.empty((min(rank, len(rows)), len(rows))), np.ones(len(rows))
    below = np.zeros(m)
    for r in range(len(factor)):
        pivot = int(remainder.argmax())
        certificate = _certificate(remainder, weights, m, below=below, rounding=rounding)
        if remainder[pivot] < LEAST or certificate.max() <= rtol:
            return factor[:r], remainder
        # 4.16, certificate: differences, so that the kernel is right to its last digits
        difference = rows - rows[pivot]
        column = np.exp(-0.5 * np.einsum("ij,ij->i", difference, difference))
        column -= factor[:r, pivot] @ factor[:r]
        column /= np.sqrt(remainder[pivot])
        factor[r] = column
        np.maximum(remainder - column * column, 0.0, out=remainder)
        remainder[pivot] = 0.0
        below += column[:m] * float(column[m:] @ weights)
    return factor, remainder


def _certificate(remainder: Float64, weights: Float64, m: int, below: Float64, rounding: float) -> Float64:
    """Return 2 rho / den (m,) from the diagonal that is left (m+n,) and the denominators as computed (m,)."""
    root = np.sqrt(remainder + 2.0 * NOISE)
    # 4.16 (certificate): rho_i = sqrt(d_i) sum_j sqrt(d_j) w_j
    rho = root[:m] * float(root[m:] @ weights) + rounding
    bound = np.full(m, np.inf)
    with np.errstate(over="ignore"):
        np.divide(2.0 * rho, below, out=bound, where=below > 0.0)
    return bound
