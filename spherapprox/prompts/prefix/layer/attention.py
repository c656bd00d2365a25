"""Attention over a prefix, alone and beside content: outputs and log masses."""

from __future__ import annotations

import numpy as np

from .... import _checks
from ...._softmax import exponentiate, softmax
from ...._types import Bools, Float64

_AT_ONCE = 2**22
"""Logits that are held at once."""


def attend(x: Float64, key: Float64, value: Float64, bias: Float64 | None = None) -> tuple[Float64, Float64]:
    """Return the outputs (m, p) and the log masses (m,) of queries, times their scale, at keys with values."""
    outputs, masses = np.empty((len(x), value.shape[1])), np.empty(len(x))
    step = max(_AT_ONCE // len(key), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            logits = x[part] @ key.T  # (step, n)
            if bias is not None:
                logits += bias
            largest, weights = exponentiate(logits, out=logits)
            sums = weights.sum(axis=1)
            outputs[part] = (weights @ value) / sums[:, None]
            masses[part] = largest[:, 0] + np.log(sums)
    if not (np.isfinite(outputs).all() and np.isfinite(masses).all()):
        raise ValueError("'queries' must have finite logits and outputs: scale * <q, k> or sums of values overflow")
    return outputs, masses


def beside(
    query: Float64, key: Float64, value: Float64, *, prefix_key: Float64, prefix_value: Float64, scale: float,
    mask: Bools | None = None,
) -> Float64:  # fmt: skip
    """Return attention (..., T, p) over a prefix (..., L, s) and the content (..., n, s) that is seen, (T, n)."""
    logits = log_weights(query, key, prefix_key, scale=scale, mask=mask)  # (..., T, L + n)
    length = prefix_key.shape[-2]
    weights = softmax(logits, out=logits)
    return np.asarray(weights[..., :length] @ prefix_value + weights[..., length:] @ value)


def log_weights(
    query: Float64, key: Float64, prefix_key: Float64, *, scale: float, mask: Bools | None = None
) -> Float64:
    """Return the logits (..., T, L + n) of a prefix and content; -inf at content that is not seen."""
    leading = {"queries": query.shape[:-2], "keys": key.shape[:-2], "prefix": prefix_key.shape[:-2]}
    _checks.broadcast_shape("sequences and heads; prefix.repeated(heads) has its keys for each that shares", **leading)
    with np.errstate(over="ignore", invalid="ignore"):
        own = scale * (query @ np.swapaxes(key, -1, -2))  # (..., T, n)
        far = scale * (query @ np.swapaxes(prefix_key, -1, -2))  # (..., T, L)
    if not (np.isfinite(own).all() and np.isfinite(far).all()):
        raise ValueError("logits scale * <query, key> must be finite: they overflow for these queries and keys")
    if mask is not None:
        own = np.where(mask, own, -np.inf)
    axes = np.broadcast_shapes(own.shape[:-2], far.shape[:-2])
    logits = np.concatenate([np.broadcast_to(part, axes + part.shape[-2:]) for part in (far, own)], axis=-1)
    if not logits.shape[-1] or not np.isfinite(logits).any(axis=-1).all():
        raise ValueError("every query must see a token: neither the prefix nor the content has one")
    return logits
