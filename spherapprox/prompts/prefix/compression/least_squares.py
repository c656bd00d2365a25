"""Linear least squares of many rows: with a ridge, and with nonnegative weights, from products that come in blocks."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...._types import Bools, Float64
from ....fitting.projection import Stop, never

_AT_ONCE = 2**33
"""Operations of one product, which nothing interrupts."""
_RIDGES = 1e-12, 1e-9, 1e-6, 1e-3
"""Ridges over the squared length of a column and their number, in turns: with one sets of columns do not recur."""
_EXCHANGES, _CHANCES = 50, 3
"""Exchanges with a ridge, and those of all wrong columns that may leave as many wrong before one is exchanged alone."""
_TOLERANCE = 1e-10
"""Part of the length of what is fitted that a column's slope may be off by."""


def gram(matrix: Float64) -> Float64:
    """Return ``A^T A`` (n, n)."""
    n = matrix.shape[1]
    step, product = max(_AT_ONCE // n**2, 1), np.zeros((n, n))
    for start in range(0, len(matrix), step):
        part = matrix[start : start + step]
        product += part.T @ part
    return product


def solve_ridge(matrix: Float64, y: Float64, ridge: float) -> Float64:
    """Return the v (n, p) of least ``|A v - y|^2 + ridge |v|^2``."""
    product = gram(matrix)
    product.flat[:: len(product) + 1] += ridge
    factor = scipy.linalg.cho_factor(product, overwrite_a=True, check_finite=False)
    return np.asarray(scipy.linalg.cho_solve(factor, matrix.T @ y, check_finite=False))


def solve_nonnegative(matrix: Float64, y: Float64, stop: Stop = never) -> Float64:
    """Return the weights w >= 0 (n,) of least ``|A w - y|``, by block principal pivoting (Kim and Park 2011).

    What is fitted has the least squares but for one part in 1e9, or a larger ridge if columns nearly depend on others
    and sets of them recur. Weights are then some of many. When it is stopped they are the best ones so far.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    scales = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    product, right = gram(matrix) * scales * scales[:, None], scales * (y @ matrix)
    least, best = np.inf, np.zeros(len(right))
    for ridge in _RIDGES:
        damped = product + ridge * len(right) * np.eye(len(right))
        passive, wrong, fewest, chances = right > 0.0, np.ones(len(right), dtype=bool), len(right) + 1, _CHANCES
        for _ in range(_EXCHANGES):
            weights, wrong = _solve_passive(damped, right, passive, _TOLERANCE * float(np.linalg.norm(y)))
            feasible = np.maximum(weights, 0.0)
            square = float(feasible @ (product @ feasible - 2.0 * right))
            if square < least:
                least, best = square, feasible
            count = int(wrong.sum())
            if count == 0 or stop():
                return scales * best
            chances = _CHANCES if count < fewest else chances - 1
            fewest = min(count, fewest)
            passive = passive ^ (wrong if chances >= 0 else np.arange(len(wrong)) == np.flatnonzero(wrong)[-1])
    return scales * best


def _solve_passive(product: Float64, right: Float64, passive: Bools, tolerance: float) -> tuple[Float64, Bools]:
    """Return the least squares over some columns, and which columns should change sides."""
    weights, rows = np.zeros(len(right)), np.flatnonzero(passive)
    factor = scipy.linalg.cho_factor(product[np.ix_(rows, rows)], overwrite_a=True, check_finite=False)
    weights[rows] = scipy.linalg.cho_solve(factor, right[rows], check_finite=False)
    slope = product @ weights - right
    return weights, np.where(passive, weights < 0.0, slope < -tolerance)
