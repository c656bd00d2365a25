"""Linear least squares of many rows, from products that come in blocks: with a ridge, and with nonnegative weights.

Those of many heads at once, on their device, are in torch_modules/heads/solving.py.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy.linalg

from ...._types import Bools, Float64, Floats
from ....fitting.projection import Stop, never

_AT_ONCE = 2**33
"""Operations of one product, which nothing interrupts."""
_PRECISE, _RIDGES = (1e-12, 8.0), (1.0, 1e3, 1e6, 1e9)
"""Precision of products at least, and over the roundings of their type; ridges over it and the number of columns, which
are of length 1, in turns: with one sets of columns do not recur."""
_EXCHANGES, _CHANCES = 50, 3
"""Exchanges with a ridge, and those of all wrong columns that may leave as many wrong before one is exchanged alone."""
_TOLERANCE = 1e-10
"""Part of the largest slope at no weights that another may be off by, if that precision is not more."""


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


def solve_nonnegative(product: Floats, moment: Floats, passive: Bools | None = None, stop: Stop = never) -> Floats:
    """Return the weights w >= 0 (n,) of least ``|A w - y|`` from ``A^T A`` and ``A^T y``.

    By block principal pivoting (Kim and Park 2011), from columns that may be `passive`, not 0. What is fitted has the
    least squares but for one part in 1e9 if products are in float64, or a larger ridge if columns nearly depend on
    others and sets of them recur. Weights are then some of many. When it is stopped they are the best ones so far.
    """
    count, precision = len(moment), max(_PRECISE[0], _PRECISE[1] * float(np.finfo(product.dtype).eps))
    lengths = np.sqrt(product.diagonal())
    scales = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    damped, right = product * scales * scales[:, None], scales * moment
    tolerance = max(_TOLERANCE, precision) * float(np.abs(right).max())
    first, least, best = right > 0.0 if passive is None else passive, np.inf, np.zeros_like(right)
    for factor in _RIDGES:
        ridge = factor * precision * count
        damped.flat[:: count + 1] = 1.0 + ridge
        passive, fewest, chances = first, count + 1, _CHANCES
        with suppress(np.linalg.LinAlgError):  # the ridge is less than roundings in float32
            for _ in range(_EXCHANGES):
                weights, wrong = _solve_passive(damped, right, passive, tolerance)
                feasible = np.maximum(weights, 0.0)
                square = float(feasible @ (damped @ feasible - ridge * feasible - 2.0 * right))
                if square < least:
                    least, best = square, feasible
                changes = int(wrong.sum())
                if changes == 0 or stop() or (chances == 0 and precision > _TOLERANCE):  # roundings recur
                    return scales * best
                chances = _CHANCES if changes < fewest else chances - 1
                fewest = min(changes, fewest)
                passive = passive ^ (wrong if chances >= 0 else np.arange(count) == np.flatnonzero(wrong)[-1])
    return scales * best


def _solve_passive(product: Floats, right: Floats, passive: Bools, tolerance: float) -> tuple[Floats, Bools]:
    """Return the least squares over some columns, and which columns should change sides."""
    weights, rows = np.zeros_like(right), np.flatnonzero(passive)
    factor = scipy.linalg.cho_factor(product[np.ix_(rows, rows)], overwrite_a=True, check_finite=False)
    weights[rows] = scipy.linalg.cho_solve(factor, right[rows], check_finite=False)
    slope = product @ weights - right
    return weights, np.where(passive, weights < 0.0, slope < -tolerance)
