"""Softmax and log-sum-exp over the last axis, from exponentials relative to the largest: none overflows."""

from __future__ import annotations

import numpy as np

from ._types import Float64


def exponentiate(logits: Float64, out: Float64 | None = None) -> tuple[Float64, Float64]:
    """Return the largest logits (..., 1), and the exponentials (..., n) of logits over theirs; `out` may be logits."""
    largest = logits.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        masses = np.subtract(logits, largest, out=out)
        return largest, np.exp(masses, out=masses)


def softmax(logits: Float64, out: Float64 | None = None) -> Float64:
    """Return the weights of logits (..., n), which sum to 1 over the last axis."""
    _, weights = exponentiate(logits, out)
    with np.errstate(under="ignore"):
        weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def log_sum_exp(logits: Float64, out: Float64 | None = None) -> Float64:
    """Return the logarithms (...) of sums of exponentials over the last axis, -inf of none."""
    if not logits.shape[-1]:
        return np.full(logits.shape[:-1], -np.inf)
    largest, masses = exponentiate(logits, out)
    return np.asarray(largest[..., 0] + np.log(masses.sum(axis=-1)))
