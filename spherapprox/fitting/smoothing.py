"""Regularised least squares for a head's values, for all regularisations at once, with its leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Float64
from ..coefficients.kernel import softmax_weights

GRID = 10.0 ** np.arange(-13.0, 1.0, 0.5)
"""Regularisations that are tried, as multiples of the largest squared singular value."""
_LEAST_LEFT = 1e-6
"""Influences of a row on its own fit that are nearer to 1 leave too few digits of its residual."""
_TIE = 1e-3
"""Errors that differ by less are ties, of which the largest parameter is taken: roundings do not choose it."""
_NOISE = 1e-12
"""Squared singular values below are taken for this in the range of regularisations."""


def largest_of_best(errors: Float64) -> int:
    """Return the last index of the least errors, to a thousandth, by growing parameter; the first if all are."""
    tied = np.flatnonzero(errors <= (1.0 + _TIE) * errors.min())
    return int(tied[-1 if len(tied) < np.isfinite(errors).sum() else 0])


@dataclass(frozen=True)
class Smoother:
    """Ridge regression of y (m, p) on the columns of a matrix, by weights w (m,), diagonal in coordinates of its own.

    The fit is ``offset + u c / (s + mu)`` for the regularisation mu: s (r,) are the squared singular values of the
    matrix times the weights' roots, u (m, r) the matrix times its right singular vectors, ``c = u^T w (y - offset)``.
    `leverage` times a row's weight is what the offset adds to the row's influence on its own fit.
    """

    y: Float64
    w: Float64
    u: Float64
    s: Float64
    c: Float64
    offset: Float64
    leverage: float
    back: Float64
    """Maps coordinates to values, (n, r)."""
    shift: Float64
    """Means of the columns, (r,), that were taken off; all 0 where there is no offset."""
    unit: float = float(np.finfo(np.float64).eps)
    """Spacing of the values' numbers near 1: smaller regularisations make them too large."""

    def errors(self, regularizations: Float64) -> Float64:
        """Return the weighted mean squared leave-one-out errors, rows predicted from the others without refitting.

        A row's residual is divided by 1 less its own influence on its fit; where nothing but rounding is left of that,
        the error is not known: inf.
        """
        damping = 1.0 / (self.s[:, None] + regularizations)  # (r, k)
        margins = 1.0 - self.w[:, None] * (self.leverage + (self.u * self.u) @ damping)  # (m, k)
        rounding = np.finfo(np.float64).eps * self.s.max(initial=0.0) / regularizations
        result, residuals = np.full(len(regularizations), np.inf), self.y - self.offset
        for i in np.flatnonzero(margins.min(axis=0) > np.maximum(_LEAST_LEFT, 4.0 * rounding)):
            misses = (residuals - self.u @ (self.c * damping[:, [i]])) / margins[:, [i]]  # (m, p)
            result[i] = np.average(np.square(misses).sum(axis=1), weights=self.w)
        return result

    def best(self) -> tuple[float, float]:
        """Return the regularisation with the least leave-one-out error, and this error."""
        multiples = GRID[8.0 * self.unit <= GRID]
        grid = multiples * max(float(self.s.max(initial=0.0)), _NOISE)
        errors = self.errors(grid)
        if not np.isfinite(errors).any():
            return float(grid[-1]), np.inf
        fine = grid[largest_of_best(errors)] * 10.0 ** np.array([-0.25, -0.125, 0.125, 0.25])
        grid, errors = np.concatenate([grid, fine]), np.concatenate([errors, self.errors(fine)])
        order = np.argsort(grid)
        i = order[largest_of_best(errors[order])]
        return float(grid[i]), float(errors[i])

    def values(self, regularization: float) -> Float64:
        """Return the values (n, p) of the control points; less regularisation than roundings of s counts as these."""
        least = 8.0 * np.finfo(np.float64).eps * max(float(self.s.max(initial=0.0)), _NOISE)
        solution = self.c / (self.s + max(regularization, least))[:, None]
        return np.asarray(self.back @ solution + (self.offset - self.shift @ solution))


def core_smoother(
    squares: Float64, between: Float64, y: Float64, *, w: Float64, concentration: float, unit: float = Smoother.unit
) -> Smoother:
    """Return ``min sum_i w_i |K v - y|_i^2 + mu v^T A v`` for squared distances to and between control points."""
    from scipy.linalg import cholesky, solve_triangular

    n = len(between)
    kernel = np.exp(-0.5 * concentration * squares)  # (m, n)
    gram = np.exp(-0.5 * concentration * between)  # (n, n)
    gram[np.diag_indices(n)] += n * max(unit, 8.0 * Smoother.unit)  # large values would lose digits to rounding
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    features = solve_triangular(factor, kernel.T, lower=True, check_finite=False).T  # (m, n)
    s, vectors = _squared_singular_values(features, w)
    back = solve_triangular(factor, vectors, lower=True, trans=1, check_finite=False)
    u = features @ vectors
    return Smoother(
        y, w, u, s=s, c=u.T @ (w[:, None] * y), offset=np.zeros((1, y.shape[1])), leverage=0.0, back=back,
        shift=np.zeros(len(s)), unit=unit,
    )  # fmt: skip


def split_smoother(
    squares: Float64, y: Float64, w: Float64, concentration: float, *, unit: float = Smoother.unit
) -> Smoother:
    """Return ``min sum_i w_i |W v - y|_i^2 + mu |v - c 1|^2`` over v and c for the softmax W of squared distances."""
    softmax, share = softmax_weights(squares, concentration), w / w.sum()
    means = share @ softmax  # (n,)
    softmax -= means  # c then is the mean of y less that of the rest, since each row of the softmax sums to 1
    softmax[np.abs(softmax) < 8.0 * np.finfo(np.float64).eps] = 0.0
    s, vectors = _squared_singular_values(softmax, w)
    u, offset = softmax @ vectors, (share @ y)[None]
    return Smoother(
        y, w, u, s=s, c=u.T @ (w[:, None] * (y - offset)), offset=offset, leverage=1.0 / w.sum(), back=vectors,
        shift=means @ vectors, unit=unit,
    )  # fmt: skip


def _squared_singular_values(matrix: Float64, w: Float64) -> tuple[Float64, Float64]:
    """Return the squared singular values of a matrix times the roots of weights, and its right singular vectors."""
    from scipy.linalg import qr, svd

    matrix = np.multiply(np.sqrt(w)[:, None], matrix, order="F")  # which LAPACK need not copy
    if len(matrix) > matrix.shape[1]:
        (matrix,) = qr(matrix, mode="r", overwrite_a=True, check_finite=False)
        matrix = matrix[: matrix.shape[1]]
    _, singular, right = svd(matrix, full_matrices=False, check_finite=False)
    return np.square(singular), right.T
