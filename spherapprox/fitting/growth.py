"""Starts of a fit: points of equal measure, tokens of a longer or a shorter head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..partition import EqualMeasurePartition
from .projection import Samples, Stop, never, solve_values
from .sup import errors
from .tokens import Tokens


def start_length(dim: int, n: int, unit: bool, start: int) -> float:
    """Return the length of the keys that a fit of n tokens starts from; starts differ."""
    # any from n/4 to 4 n ends alike with unit keys; free ones stall above n^(2/m) / 4
    return n * (1.0, 4.0)[start % 2] if unit else 0.25 * float(n) ** (2.0 / dim)


def equal_measure(
    dim: int, n: int, outputs: int, *, normalize: bool, unit: bool, start: int = 0, seed: int = 0
) -> Tokens:
    """Return tokens at the centres of an equal-measure partition, rotated or reflected at random."""
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim + 1, dim + 1)))[0]
    b = EqualMeasurePartition(dim, n).centers() @ rotation
    return Tokens(start_length(dim, n, unit, start=start) * b, np.zeros((n, outputs)), normalize, unit=unit)


def insert_tokens(tokens: Tokens, samples: Samples, count: int) -> Tokens:
    """Return tokens with more of them at the worst samples, apart from each other."""
    size, keys, length = errors(tokens, samples), [tokens.keys], tokens.concentration
    rate = 2.0 * max(length, 0.25 * len(tokens))
    for _ in range(count):
        at = samples.x[int(size.argmax())]
        keys.append(length * at[None])
        size = size * -np.expm1(-rate * np.maximum(1.0 - samples.x @ at, 0.0))
    values = np.concatenate([tokens.values, np.zeros((count, tokens.values.shape[1]))])
    return replace(tokens, keys=np.concatenate(keys), values=values)


def prune_tokens(
    tokens: Tokens, samples: Samples, count: int, ridge: float, *, at_once: int = 1, stop: Stop = never
) -> Tokens:
    """Return tokens without those whose loss raises the squares least, some after others; all at once if stopped."""
    left = len(tokens) - count
    while len(tokens) > left:
        matrix = tokens.matrix(samples.x) * samples.roots[:, None]
        gram = matrix.T @ matrix + max(ridge, 1e-16) * np.eye(len(tokens))
        inverse = np.diag(np.linalg.pinv(gram, hermitian=True))
        loss = np.square(tokens.values).sum(axis=1) / inverse
        lost = len(tokens) - left if stop() else min(at_once, len(tokens) - left)
        rows = np.sort(np.argsort(loss, kind="stable")[lost:])
        tokens = solve_values(tokens.take(rows), samples, ridge).tokens
    return tokens
