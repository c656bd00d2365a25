"""Regularised least squares for a head's values, for all regularisations at once, with its leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coefficients.kernel import softmax_weights

Float64 = NDArray[np.float64]

GRID = 10.0 ** np.arange(-13.0, 1.0, 0.5)
"""Regularisations that are tried, as multiples of the largest squared singular value."""

_LEAST_LEFT = 1e-6
"""Influences of a row on its own fit that are nearer to 1 leave too few digits of its residual."""
_NOISE = 1e-12
"""Squared singular values below are taken for this in the range of regularisations."""


@dataclass(frozen=True)
class Smoother:
    """Ridge regression of y (m, p) on the columns of a matrix, diagonal in coordinates of its own.

    The fit is ``offset + u c / (s + mu)`` for the regularisation mu: s (r,) are the squared singular values, u (m, r)
    the left singular vectors times the singular values, ``c = u^T (y - offset)``. `leverage` is what the offset adds
    to each row's influence on its own fit.
    """

    y: Float64
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
    """Spacing of the numbers near 1 in which values will be held: smaller regularisations make them too large."""

    def errors(self, regularizations: Float64) -> Float64:
        """Return the mean squared leave-one-out errors, each row predicted from the others: no refitting is needed.

        A row's residual is divided by 1 less its own influence on its fit; where nothing but rounding is left of that,
        the error is not known: inf.
        """
        damping = 1.0 / (self.s[:, None] + regularizations)  # (r, k)
        left = 1.0 - self.leverage - (self.u * self.u) @ damping
        rounding = np.finfo(np.float64).eps * self.s.max(initial=0.0) / regularizations
        result, residuals = np.full(len(regularizations), np.inf), self.y - self.offset
        for i in np.flatnonzero(left.min(axis=0) > np.maximum(_LEAST_LEFT, 4.0 * rounding)):
            rest = (residuals - self.u @ (self.c * damping[:, [i]])) / left[:, [i]]
            result[i] = np.square(rest).sum(axis=1).mean()
        return result

    def best(self) -> tuple[float, float]:
        """Return the regularisation with the least leave-one-out error, and this error."""
        multiples = GRID[8.0 * self.unit <= GRID]
        grid = multiples * max(float(self.s.max(initial=0.0)), _NOISE)
        errors = self.errors(grid)
        if not np.isfinite(errors).any():
            return float(grid[-1]), np.inf
        fine = grid[np.argmin(errors)] * 10.0 ** np.array([-0.25, -0.125, 0.125, 0.25])
        grid, errors = np.concatenate([grid, fine]), np.concatenate([errors, self.errors(fine)])
        order = np.argsort(grid)
        i = order[np.argmax(errors[order] <= errors.min() * (1.0 + 1e-9))]  # of equals the smallest
        return float(grid[i]), float(errors[i])

    def values(self, regularization: float) -> Float64:
        """Return the values (n, p) of the control points; less regularisation than roundings of s counts as these."""
        least = 8.0 * np.finfo(np.float64).eps * max(float(self.s.max(initial=0.0)), _NOISE)
        solution = self.c / (self.s + max(regularization, least))[:, None]
        return np.asarray(self.back @ solution + (self.offset - self.shift @ solution))


def core_smoother(
    squares: Float64, between: Float64, y: Float64, concentration: float, unit: float = Smoother.unit
) -> Smoother:
    """Return ``min |K v - y|^2 + mu v^T A v`` for squared distances (m, n) and (n, n) to and between control points."""
    from scipy.linalg import cholesky, solve_triangular

    n = len(between)
    kernel = np.exp(-0.5 * concentration * squares)
    gram = np.exp(-0.5 * concentration * between)
    gram[np.diag_indices(n)] += n * max(unit, 8.0 * Smoother.unit)  # large values would lose digits to rounding
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    features = solve_triangular(factor, kernel.T, lower=True, check_finite=False).T
    s, vectors = _squared_singular_values(features)
    back = solve_triangular(factor, vectors, lower=True, trans=1, check_finite=False)
    u = features @ vectors
    return Smoother(y, u, s, u.T @ y, np.zeros((1, y.shape[1])), 0.0, back, np.zeros(len(s)), unit)


def split_smoother(squares: Float64, y: Float64, concentration: float, unit: float = Smoother.unit) -> Smoother:
    """Return ``min |W v - y|^2 + mu |v - c 1|^2`` over v and c for the softmax W of squared distances (m, n)."""
    weights = softmax_weights(squares, concentration)
    means = weights.mean(axis=0)
    weights -= means  # c then is the mean of y less that of the rest, since each row's weights sum to 1
    weights[np.abs(weights) < 8.0 * np.finfo(np.float64).eps] = 0.0
    s, vectors = _squared_singular_values(weights)
    u, offset = weights @ vectors, y.mean(axis=0, keepdims=True)
    return Smoother(y, u, s, u.T @ (y - offset), offset, 1.0 / len(y), vectors, means @ vectors, unit)


def _squared_singular_values(matrix: Float64) -> tuple[Float64, Float64]:
    """Return the squared singular values and the right singular vectors of a matrix."""
    from scipy.linalg import eigh

    s, vectors = eigh(matrix.T @ matrix, overwrite_a=True, check_finite=False)
    return np.maximum(s, 0.0), vectors
