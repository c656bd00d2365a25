"""Variable projection: least squares over keys and values, with the values eliminated (Golub and Pereyra; Kaufman)."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from .._types import Float64, Indices
from .tokens import LONGEST, Tokens

_DROPPED = 1e-13
"""Singular values up to this share of the largest are dropped."""
_APART = 1e-2  # of the triangle's largest diagonal: its least one, from which on the squares of columns are enough
_BLOCK = 64  # columns that one matrix of reflections takes
_DAMPING, _REJECTED, _ACCEPTED, _LEAST_DAMPING = 1e-3, 4.0, 0.2, 1e-10
"""Levenberg and Marquardt's damping at first, its factors after a step that fails or succeeds, and its least value."""
_ATTEMPTS, _SMALL_STEPS = 12, 3
"""Rejected steps before a fit ends, and accepted ones that gain little."""
_LEAST_GAIN = 1e-7
"""Share of the squares that a step on a grid must gain: no rounding is as large."""
_solve = partial(scipy.linalg.solve_triangular, check_finite=False)
Stop = Callable[[], bool]
"""Tells, between steps, whether a fit is no longer wanted."""


def never() -> bool:
    """Return False: a fit is wanted."""
    return False


@dataclass(frozen=True)
class Samples:
    """Points x (n, d), the values y (n, p) to be fitted there, and weights of mean 1 (n,).

    Split heads may be asked for the logarithms of their sums of exponentials, too, `log_masses` (n,): an error of 1 in
    them counts as one of `mass` in the values.
    """

    x: Float64
    y: Float64
    weights: Float64
    log_masses: Float64 | None = None
    mass: float = 0.0

    @classmethod
    def of(cls, x: Float64, y: Float64) -> Samples:
        """Return samples of equal weights."""
        return cls(x, y, np.ones(len(x)))

    @property
    def roots(self) -> Float64:
        """Roots of the weights over n: factors of the rows."""
        return np.asarray(np.sqrt(self.weights / (self.weights.mean() * len(self.x))))

    def extend(self, x: Float64, y: Float64) -> Samples:
        """Return samples with more points, of weight 1."""
        pairs = (self.x, x), (self.y, y), (self.weights, np.ones(len(x)))
        rows, values, weights = (np.concatenate(pair) for pair in pairs)
        return Samples(rows, values, weights)

    def take(self, rows: Indices) -> Samples:
        """Return some of the samples."""
        return Samples(self.x[rows], self.y[rows], self.weights[rows])


class Columns:
    """Weighted columns A = B R, R upper triangular (k, n), with a basis B of k orthonormal columns that is not formed.

    R is Cholesky's factor of ``A^T A`` where columns are well apart, else of blocks of reflections.
    """

    def __init__(self, matrix: Float64) -> None:
        self.matrix, self.reflections = matrix, None
        self.kept: Float64 | None = None  # the left singular vectors of R that count, where some do not
        with suppress(np.linalg.LinAlgError):
            self.triangle = np.linalg.cholesky(matrix.T @ matrix).T
            diagonal = np.diag(self.triangle)
            if diagonal.min() > _APART * diagonal.max():
                return
        count = min(matrix.shape)
        product, self.factors, _ = lapack.dgeqrt(min(count, _BLOCK), matrix)
        self.reflections, self.triangle = product[:, :count], np.triu(product[:count])

    def project(self, y: Float64) -> Float64:
        """Return ``B^T y``, for rows (m, q) that may be less than those of A: the others are 0."""
        if self.reflections is None:
            return np.asarray(_solve(self.triangle, self.matrix[: len(y)].T @ y, trans="T"))
        padded = np.zeros((len(self.matrix), y.shape[1]), order="F")
        padded[: len(y)] = y
        product = lapack.dgemqrt(self.reflections, self.factors, padded, trans="T", overwrite_c=1)[0]
        product = product[: len(self.triangle)]
        return np.asarray(product if self.kept is None else self.kept.T @ product)

    def solve(self, y: Float64) -> Float64:
        """Return the least squares solution of ``A v = y``, (n, q), of all singular values that are not rounding."""
        diagonal = np.abs(np.diag(self.triangle))
        n = self.matrix.shape[1]
        if len(diagonal) < n or diagonal.min() < _DROPPED * diagonal.max():  # with less samples than tokens, too
            left, singular, right = scipy.linalg.svd(self.triangle, full_matrices=False, check_finite=False)
            strong = singular > _DROPPED * singular[0]
            self.kept = left[:, strong]
            return np.asarray(right[strong].T @ (self.project(y) / singular[strong][:, None]))
        values = _solve(self.triangle, self.project(y))
        if self.reflections is None:  # the square of the condition number is in them once, and in what corrects them
            values += _solve(self.triangle, self.project(y - self.matrix @ values))
        return np.asarray(values)


@dataclass(frozen=True)
class Solution:
    """Tokens with their best values: their matrix, its weighted columns as a product, and the residuals."""

    tokens: Tokens
    weights: Float64
    columns: Columns
    residuals: Float64
    mass_residuals: Float64
    """Those of the log masses, (n,); (0,) if these are not asked for."""

    @property
    def square(self) -> float:
        """Sum of the squared residuals, those of the ridge and of the log masses included."""
        return float(np.square(self.residuals).sum() + np.square(self.mass_residuals).sum())


def solve_values(tokens: Tokens, samples: Samples, ridge: float) -> Solution:
    """Return the tokens with the values of least ``sum_i w_i |h(x_i) - y_i|^2 / n + ridge |v|^2``."""
    n, roots = len(tokens), samples.roots
    weights = tokens.matrix(samples.x)
    matrix, y = weights * roots[:, None], samples.y * roots[:, None]
    if ridge > 0.0:
        matrix = np.concatenate([matrix, math.sqrt(ridge) * np.eye(n)])
        y = np.concatenate([y, np.zeros((n, y.shape[1]))])
    columns = Columns(matrix)
    values = columns.solve(y)
    masses = np.empty(0)
    if samples.log_masses is not None and samples.mass > 0.0:
        masses = samples.mass * roots * (samples.log_masses - tokens.log_masses(samples.x))
    return Solution(
        replace(tokens, values=values), weights, columns, residuals=y - matrix @ values, mass_residuals=masses
    )


def gradient(solution: Solution, samples: Samples) -> Float64:
    """Return minus half the derivative of the squares along the keys as vectors, (N, d)."""
    roots, residuals, tokens = samples.roots[:, None], solution.residuals[: len(samples.x)], solution.tokens
    factors = residuals @ tokens.values.T  # (n, N)
    if tokens.normalize:
        factors -= (solution.weights * factors).sum(axis=1, keepdims=True)
    if len(solution.mass_residuals):
        factors += samples.mass * solution.mass_residuals[:, None]
    factors *= roots * solution.weights
    slope = factors.T @ samples.x
    if not tokens.normalize:
        lengths = tokens.lengths[:, None]
        slope -= factors.sum(axis=0)[:, None] * tokens.keys / np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(slope)


def normal_equations(solution: Solution, samples: Samples) -> tuple[Float64, Float64]:
    """Return Kaufman's normal equations of the keys: the matrix (P, P) and the right-hand side (P,)."""
    if solution.tokens.normalize and not solution.tokens.unit:
        return _free_key_matrix(solution, samples), gradient(solution, samples).T.ravel()
    count, roots = solution.tokens.parameters, samples.roots
    matrix, right = np.zeros((count, count)), np.zeros(count)
    for column in range(samples.y.shape[1]):
        part = solution.tokens.jacobian(samples.x, solution.weights, column)
        part *= roots[:, None]
        projected = solution.columns.project(part)
        matrix += part.T @ part - projected.T @ projected
        right += part.T @ solution.residuals[: len(samples.x), column]
    return matrix, right


def _free_key_matrix(solution: Solution, samples: Samples) -> Float64:
    """Return the matrix of Kaufman's normal equations of a split head's free keys, whose Jacobian is a product."""
    x, values, (m, n) = samples.x, solution.tokens.values, solution.weights.shape
    d, scaled = x.shape[1], samples.roots[:, None] * solution.weights
    head, gram = solution.weights @ values, values @ values.T
    products = head @ values.T  # (m, N)
    base = np.square(head).sum(axis=1, keepdims=True) + samples.mass**2 * (len(solution.mass_residuals) > 0)
    matrix = np.empty((d, n, d, n))
    for k in range(n):
        factors = gram[k, k:] - products[:, k:] - products[:, k, None] + base  # <v_k - h, v_l - h>
        factors *= scaled[:, k:] * scaled[:, k, None]
        part = (factors[:, None, :] * x[:, :, None]).reshape(m, -1)
        matrix[:, k, :, k:] = (x.T @ part).reshape(d, d, n - k)
        matrix[:, k:, :, k] = matrix[:, k, :, k:].transpose(1, 2, 0)
    flat = matrix.reshape(n * d, n * d)
    for column in range(values.shape[1]):
        factors = scaled * (values[:, column] - head[:, column, None])
        projected = solution.columns.project((factors[:, None, :] * x[:, :, None]).reshape(m, -1))
        flat -= projected.T @ projected
    return flat


def fit_tokens(
    tokens: Tokens, samples: Samples, ridge: float, steps: int, tolerance: float = 1e-4, stop: Stop = never,
    grain: float = 0.0,
) -> Tokens:  # fmt: skip
    """Return tokens whose keys and values are a local minimum of the weighted squares, by Levenberg and Marquardt.

    With a grain all steps end on its grid: what roundings do to a step is rounded away before the next.
    """
    if grain:
        tokens = tokens.snap(grain)
    solution, damping, small = solve_values(tokens, samples, ridge), _DAMPING, 0
    for _ in range(steps):
        matrix, right = normal_equations(solution, samples)
        diagonal = np.diag(matrix)
        scale = np.maximum(diagonal, 1e-12 * float(diagonal.max()) + 1e-300)
        trial, step, damping = _damp_step(
            solution, samples, ridge, matrix=matrix, right=right, scale=scale, damping=damping, grain=grain
        )
        if trial is None:
            break
        gain = solution.square - trial.square
        expected = 2.0 * float(right @ step) - float(step @ matrix @ step)
        ratio = gain / max(expected, 1e-300)
        damping = max(damping * (_ACCEPTED if ratio > 0.6 else 1.0 if ratio > 0.2 else 2.0), _LEAST_DAMPING)
        small = small + 1 if gain < tolerance * solution.square else 0
        solution = trial
        if small >= _SMALL_STEPS or stop():
            break
    return solution.tokens


def _damp_step(
    solution: Solution, samples: Samples, ridge: float, *, matrix: Float64, right: Float64, scale: Float64,
    damping: float, grain: float,
) -> tuple[Solution | None, Float64, float]:  # fmt: skip
    """Return the first of more and more damped steps that lowers the squares, None if none does."""
    step, bound = right, (1.0 - _LEAST_GAIN if grain else 1.0) * solution.square
    for _ in range(_ATTEMPTS):
        try:
            factor = scipy.linalg.cho_factor(matrix + np.diag(damping * scale), check_finite=False)
            step = scipy.linalg.cho_solve(factor, right, check_finite=False)
        except np.linalg.LinAlgError:
            damping *= 2.0 * _REJECTED
            continue
        tokens = solution.tokens.move(step)
        if np.abs(tokens.keys).max() <= LONGEST:  # nan is not
            tokens = tokens.snap(grain) if grain else tokens
            trial = solve_values(tokens, samples, ridge)
            if trial.square < bound:
                return trial, step, damping
        damping *= _REJECTED
    return None, step, damping
