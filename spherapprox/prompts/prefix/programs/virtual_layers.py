"""The attention layers of `VirtualToken`, and what stands between and behind them."""

from __future__ import annotations

import numpy as np

from ...._types import Float64
from ..layer.layer import AttentionLayer

Head = tuple[Float64, Float64, Float64]
"""Weights of queries (k, d), keys (k, d) and values (p, d)."""


def sequence_layers(length: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that adds the virtual token and the place of the row that asks; rows hold token and place."""
    none, places = np.zeros((length, length)), np.eye(length)
    here = np.hstack([none, places])
    first = np.hstack([np.zeros(length), places[0]])[None]
    anywhere = np.hstack([np.zeros(length), np.ones(length)])[None]
    return (_summed([(anywhere, first, np.hstack([places, none])), (here, here, here)], gap),)


def response_layers(vocabulary: int, length: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that adds the user's token and the virtual token `length` rows back."""
    places = np.eye(2 * length)
    blank = np.zeros((2 * length, vocabulary))
    tokens = np.eye(vocabulary, vocabulary + 2 * length)
    anywhere = np.hstack([np.zeros(vocabulary), np.ones(2 * length)])[None]
    user = np.hstack([np.zeros(vocabulary), places[length]])[None]
    back = np.hstack([blank, np.eye(2 * length, k=length)])
    return (_summed([(anywhere, user, tokens), (back, np.hstack([blank, places]), tokens)], gap),)


def pair_layers(vocabulary: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that picks the code for the user's first token, and the one that picks a digit of it.

    Rows of the first are a token and one of four places, the first of them a token of zeros, for those that should see
    nothing; rows of the second are digits and the user's second token.
    """
    v = vocabulary
    token, zeros = np.eye(v, v + 4), np.zeros((v, v + 4))
    upper, lower = np.vstack([token, zeros]), np.vstack([zeros, 2.0 * token])

    def sees(source: int, target: int) -> tuple[Float64, Float64]:
        """Return queries and keys with which one place sees another, and all others the first."""
        query, key = np.zeros((2, v + 4)), np.zeros((2, v + 4))
        query[0, v:], query[0, v + source], query[1, v + source] = 1.0, 0.0, 1.0
        key[0, v], key[1, v + target] = 1.0, 1.0
        return query, key

    first = _summed([(*sees(2, 1), upper), (*sees(2, 2), upper), (*sees(3, 3), lower)], gap)
    digits = np.hstack([np.ones(v), np.zeros(v)])[None]
    second = digits[:, ::-1]
    picks = [(second, digits, np.eye(v, 2 * v)), (second, second, np.eye(v, 2 * v, k=v))]
    return first, _summed(picks, gap)


def excess(rows: Float64) -> Float64:
    """Return what exceeds 1: the layer of ReLUs that leaves what both heads have."""
    return np.maximum(rows - 1.0, 0.0)


def decoded(number: float, vocabulary: int) -> int:
    """Return the symbol i whose i / vocabulary is nearest: the largest of the tangents of (x - 1/2)^2 there."""
    i = np.arange(vocabulary)
    return int(np.argmax((2.0 * i / vocabulary - 1.0) * number + 0.25 - np.square(i / vocabulary)))


def unpacked(codes: Float64, vocabulary: int) -> Float64:
    """Return the digits of codes (n,), over the vocabulary, (n, V): V stages of V - 1 steps of two ReLUs each."""
    remainder = float(vocabulary**vocabulary) * codes  # whole numbers, up to 1/4
    digits = np.empty((len(codes), vocabulary))
    for i in reversed(range(vocabulary)):
        unit = float(vocabulary**i)
        ramps = np.maximum(2.0 * (remainder[:, None] - unit * np.arange(1, vocabulary)) + 1.5, 0.0)
        digits[:, i] = (1.0 - np.maximum(1.0 - ramps, 0.0)).sum(axis=1)
        remainder = remainder - unit * digits[:, i]
    return digits / vocabulary


def _summed(heads: list[Head], gap: float) -> AttentionLayer:
    """Return a layer that adds its heads, with logits of `gap` times the inner products."""
    rows = max(len(head[0]) for head in heads)
    query, key = (np.vstack([_padded(head[i], rows) for head in heads]) for i in (0, 1))
    value = np.vstack([head[2] for head in heads])
    out = np.tile(np.eye(len(heads[0][2])), len(heads))
    return AttentionLayer(query, key, value, out, heads=len(heads), scale=gap)


def _padded(weights: Float64, rows: int) -> Float64:
    return np.vstack([weights, np.zeros((rows - len(weights), weights.shape[1]))])
