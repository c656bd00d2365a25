"""Tails of singular values, with a bound of their error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg

from ..._types import Float64


def tails(matrix: Float64, verified: bool, symmetric: bool, *, unit: float = 2.0**-53) -> tuple[Float64, float]:
    """Return ``(sum_(k>N) s_k^2)^(1/2)``, N = 0, 1, ..., of a matrix's singular values s, and a bound of their error.

    The error is proven if `verified`, by the residual of the decomposition and the unit of roundings; else 8 n units in
    the last place of the matrix' norm are taken.
    """
    columns = max(matrix.shape)
    if not verified:
        values = np.linalg.eigvalsh(matrix) if symmetric else scipy.linalg.svdvals(matrix, check_finite=False)
        return _sum_tails(values), 8.0 * columns * unit * float(np.linalg.norm(matrix))
    if symmetric:
        signed, left = np.linalg.eigh(matrix)
        values, right = np.abs(signed), (left * np.where(signed < 0.0, -1.0, 1.0)).T
    else:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
    # 4.K, verified tails
    step = (columns + 8.0) * unit
    size = float(np.linalg.norm((np.abs(left) * values) @ np.abs(right) + np.abs(matrix)))
    residual = float(np.linalg.norm(matrix - (left * values) @ right)) + step * size
    defects = [_defect(left, step), _defect(right.T, step)]
    error = residual + float(np.linalg.norm(values)) * (sum(defects) + math.prod(defects))
    return _sum_tails(values), error * (1.0 + 1e-6)


def _sum_tails(values: Any) -> Float64:
    ordered = np.sort(np.square(values))
    return np.asarray(np.sqrt(np.cumsum(ordered))[::-1])


def _defect(basis: Float64, step: float) -> float:
    """Bound the Frobenius norm of ``B^T B - 1``."""
    size = np.abs(basis)
    return float(np.linalg.norm(basis.T @ basis - np.eye(basis.shape[1])) + step * np.linalg.norm(size.T @ size))
