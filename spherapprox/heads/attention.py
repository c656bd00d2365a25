"""Softmax attention of one head from the tokens of sequences to a prefix and to their own, by matrices, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .._softmax import softmax
from .._types import Float64

LOGITS = 2**21
"""Logits that are kept at a time."""


def attention(tokens: Float64, prefix: Float64, query: Float64, key: Float64, value: Float64) -> Float64:
    """Return softmax attention, scaled by 1/sqrt(d), from the tokens of sequences to a prefix and to their own.

    Parameters
    ----------
    tokens : ndarray, shape (batch, T, d)
    prefix : ndarray, shape (n, d)
    query, key, value : ndarray, shape (d, d)
        Multiplied by tokens from the left.

    Returns
    -------
    ndarray, shape (batch, T, d)
        The outputs at the inputs; those at the prefix are not computed.
    """
    n, d = prefix.shape
    queries = (tokens @ query) / math.sqrt(d)
    keys, values = tokens @ key, tokens @ value  # (batch, T, d)
    prefix_keys, prefix_values = prefix @ key, prefix @ value  # (n, d)
    out = np.empty_like(tokens)
    for part, rows in _blocks(tokens.shape[0], tokens.shape[1], n):
        rows_of_part = queries[part, rows]  # (batch', T', d)
        shape = rows_of_part.shape[:2]
        far = (rows_of_part.reshape(-1, d) @ prefix_keys.T).reshape(*shape, n)  # (batch', T', n)
        weights = np.concatenate([far, rows_of_part @ keys[part].transpose(0, 2, 1)], axis=-1)  # (batch', T', n + T)
        softmax(weights, out=weights)
        out[part, rows] = (weights[..., :n].reshape(math.prod(shape), n) @ prefix_values).reshape(*shape, d)
        out[part, rows] += weights[..., n:] @ values[part]
    return out


def _blocks(batch: int, length: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Yield sequences and their rows, a block of logits at a time."""
    rows = min(length, max(1, LOGITS // (n + length)))
    several = max(1, LOGITS // (rows * (n + length)))
    for start in range(0, batch, several):
        for row in range(0, length, rows):
            yield slice(start, start + several), slice(row, row + rows)
