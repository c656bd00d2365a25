"""A lower bound of the inner product with the nearest point, from moments of the points up to the third.

docs/theorems/5.11-covering-radius.md.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64

_EPS = float(np.finfo(np.float64).eps)
_TABLE_ELEMENTS = 2**22
"""Elements of a block of a table of products."""


def least_support(x: Float64, work: float = 2e10) -> float:
    """Return a lower bound of min over unit u of max_k <u, x_k>, for unit rows about 0; 0 if none is found.

    Moments take at most `work` multiplications each; without the third the bound is weaker.
    """
    n, d = x.shape
    if n <= d or 10.0 * n * d * d > work or 10.0 * d**3 > work:
        return 0.0
    # Step 1: weights of mean nearly 0
    weights = _centering_weights(x)  # (n,)
    mean = float(np.linalg.norm(weights @ x))
    slack = _EPS * (n + 64.0 * d)
    # Step 2: the smallest second moment
    values = np.linalg.eigvalsh((x.T * weights) @ x)
    low, mean = float(values[0]) - slack, mean + slack
    if low <= mean:
        return 0.0
    # Step 3: the bounds 5.11 (e) by the second and the third moment
    second = (low - mean) / (1.0 - mean)
    return max(float(second), _from_third(low, mean, _third_moment(x, weights, work) + d * slack))


def _from_third(low: float, mean: float, third: float) -> float:
    """Maximise (2 s low - third - s^2 mean) / (low + s^2 + 2 s mean) over s: 5.11 (e)."""
    best, span = 2.0 * math.sqrt(low), 8.0
    for _ in range(4):  # the largest of a grid, then of a finer one about it
        s = best * np.geomspace(1.0 / span, span, 129)
        value = (2.0 * s * low - third - s * s * mean) / (low + s * s + 2.0 * s * mean)
        best, span = float(s[np.argmax(value)]), span ** (1.0 / 32.0)
    return float(value.max())


def _centering_weights(x: Float64) -> Float64:
    """Return weights proportional to exp(<y, x_k>) with mean nearly 0, by Newton's method for log sum exp(<y, x_k>)."""
    y, value = np.zeros(x.shape[1]), math.log(len(x))
    weights = np.full(len(x), 1.0 / len(x))
    for _ in range(60):
        mean = weights @ x
        if float(mean @ mean) < 1e-30:
            break
        covariance = (x.T * weights) @ x - np.outer(mean, mean)
        step = np.linalg.lstsq(covariance, -mean, rcond=1e-12)[0]
        for _ in range(30):
            score = x @ (y + step)
            top = float(score.max())
            terms = np.exp(score - top)
            total = float(terms.sum())
            new = top + math.log(total)
            if new <= value + 1e-4 * float(mean @ step) + 4.0 * _EPS * abs(value):
                break
            step = 0.5 * step
        else:
            break
        y, value, weights = y + step, new, terms / total
    return weights


def _third_moment(x: Float64, weights: Float64, work: float) -> float:
    """Return an upper bound of max over unit u of sum_k w_k <u, x_k>^3: the norm of its unfolding (d, d (d+1)/2)."""
    n, d = x.shape
    unfolding, products = 0.5 * n * float(d) ** 3, 2.0 * d * float(n) ** 2
    if unfolding <= max(0.05 * work, min(work, products)):
        square, slack = _squared_unfolding(x, weights), 0.0
    elif products <= work:  # its square is right to rounding only: 1e-7 where the moment is 0
        square, slack = _squared_products(x, weights), 4.0 * _EPS * (n + 64.0 * d)
    else:
        return 1.0
    return math.sqrt(max(float(np.linalg.eigvalsh(square)[-1]), 0.0) + slack)


def _squared_unfolding(x: Float64, weights: Float64) -> Float64:
    """Return U U^T, shape (d, d), of the unfolding U."""
    n, d = x.shape
    i, j = np.triu_indices(d)
    scale = np.where(i == j, 1.0, math.sqrt(2.0))
    unfolded = np.zeros((d, len(i)))  # (d, d (d+1)/2)
    step = max(1, _TABLE_ELEMENTS // len(i))
    for start in range(0, n, step):
        part = x[start : start + step]
        unfolded += (part.T * weights[start : start + step]) @ (part[:, i] * part[:, j] * scale)
    return np.asarray(unfolded @ unfolded.T)


def _squared_products(x: Float64, weights: Float64) -> Float64:
    """Return U U^T as sum_jk w_j w_k <x_j, x_k>^2 x_j x_k^T, for fewer points than U has columns."""
    weighted, total = weights[:, None] * x, np.zeros((x.shape[1], x.shape[1]))
    step = max(1, _TABLE_ELEMENTS // len(x))
    for start in range(0, len(x), step):
        total += weighted[start : start + step].T @ (np.square(x[start : start + step] @ x.T) @ weighted)
    return 0.5 * (total + total.T)
