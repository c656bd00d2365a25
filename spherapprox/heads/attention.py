"""Softmax attention of one head from the tokens of sequences to a prefix and to their own, by matrices, in NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .._softmax import softmax
from .._types import Float64


def attention(
    tokens: Float64, prefix: Float64, query: Float64, key: Float64, value: Float64, *, logits: int = 2**21
) -> Float64:
    """Return softmax attention, scaled by 1/sqrt(d), from tokens (batch, T, d) to a prefix (n, d) and to their own.

    Tokens multiply the matrices (d, d) from the left. The outputs (batch, T, d) are those at the inputs; so many
    logits are computed at a time.
    """
    n, d = prefix.shape
    queries = (tokens @ query) / math.sqrt(d)
    keys, values = tokens @ key, tokens @ value  # (batch, T, d)
    prefix_keys, prefix_values = prefix @ key, prefix @ value  # (n, d)
    out = np.empty_like(tokens)
    batch, length, _ = tokens.shape
    step = min(length, max(1, logits // (n + length)))
    sequences = max(1, logits // (step * (n + length)))
    for start, row in itertools.product(range(0, batch, sequences), range(0, length, step)):
        part, rows = slice(start, start + sequences), slice(row, row + step)
        rows_of_part = queries[part, rows]  # (batch', T', d)
        shape = rows_of_part.shape[:2]
        far = (rows_of_part.reshape(-1, d) @ prefix_keys.T).reshape(*shape, n)  # (batch', T', n)
        weights = np.concatenate([far, rows_of_part @ keys[part].transpose(0, 2, 1)], axis=-1)  # (batch', T', n + T)
        softmax(weights, out=weights)
        out[part, rows] = (weights[..., :n].reshape(math.prod(shape), n) @ prefix_values).reshape(*shape, d)
        out[part, rows] += weights[..., n:] @ values[part]
    return out
