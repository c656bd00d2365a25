"""Attention that separates the contexts of each token, and directions along which points stay apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._norms import directions
from ..._threads import one_blas_thread
from ..._types import Float64
from .weights import least_size, vocabulary

_GAP = 1.5
"""The distance of scores from which Boltzmann operators of different sets of them differ by what 8.9 says."""
_SLACK = 0.01
"""Share of the distance of scores that the directions after the first may take away."""


def separating_direction(
    x: ArrayLike, *, rng: np.random.Generator | int | None = None, tries: int = 1000
) -> tuple[Float64, float]:
    """Find a direction along which points stay apart, relative to their distances.

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    x : array_like, shape (n, d)
        Different points, at least 2.
    rng : None, int or numpy.random.Generator
        Source of the directions; the same seed gives the same result.
    tries : int, default 1000
        Directions that are tried; the best is taken.

    Returns
    -------
    u : ndarray, shape (d,)
        A unit vector.
    ratio : float
        The least ``abs(u @ (x[i] - x[j])) / norm(x[i] - x[j])`` over i != j, right to about 1e-15. A try has less than
        r with a probability of at most n (n - 1) / 2 I_{r^2}(1/2, (d - 1)/2); `bounds.prompts.separating_ratio` is the
        r at which this is 1, a ratio that some direction reaches.

    Raises
    ------
    TypeError, ValueError
        If points are not finite, fewer than 2, or not different.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import separating_direction
    >>> u, ratio = separating_direction([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], rng=0)
    >>> 0.7 < ratio < 0.7072  # the best one is sin(pi / 4)
    True
    """
    points = _checks.floating(_checks.detached(x), "x", ("n", "d")).astype(np.float64)
    n, d = points.shape
    if n < 2:
        raise ValueError(f"'x' must hold at least 2 points, got shape {points.shape}")
    count = _checks.integer(tries, "tries", minimum=1)
    _checks.operations(float(n) * n * d * count, "the search for a direction", "take fewer points or tries")
    _checks.memory(8.0 * count * (n + d), "the projections of points", "take fewer points or tries")
    candidates = _checks.generator(rng).standard_normal((count, d))
    octaves = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, min(-octaves, 1020) if octaves < 0 else -1)  # chords neither overflow nor vanish
    if n == 2 and not np.array_equal(points[0], points[1]):
        candidates[-1] = directions(points[1:] - points[:1])  # the best one there is
    candidates = directions(candidates)
    ratios = np.full(count, np.inf)
    with one_blas_thread():
        for i in range(n - 1):
            chords = points[i + 1 :] - points[i]
            if not chords.any(axis=1).all():
                duplicate = i + 1 + int(np.argmin(chords.any(axis=1)))
                raise ValueError(
                    f"'x' must hold different points, got rows {i} and {duplicate} alike: np.unique drops them"
                )
            np.minimum(ratios, np.abs(directions(chords) @ candidates.T).min(axis=0), out=ratios)
    best = int(np.argmax(ratios))
    return candidates[best], min(float(ratios[best]), 1.0)


@dataclass(frozen=True, eq=False)
class ContextualAttention:
    """One head of attention that separates the contexts of a token.

    Parameters
    ----------
    query, key, value : ndarray, shape (rank, d)
        Weights; scores are ``(query @ x) @ (key @ y)``, without a scale.
    output : ndarray, shape (d, rank)
        Weights from values to tokens; attention adds to a token at most a fourth of the least distance of two tokens.
    ratio : float
        The ratio of the separating direction.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import contextual_attention
    >>> attention = contextual_attention([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]], rank=2, rng=0)
    >>> attention.query.shape, attention.output.shape
    ((2, 2), (2, 2))
    """

    query: Float64
    key: Float64
    value: Float64
    output: Float64
    ratio: float

    def __repr__(self) -> str:
        return f"ContextualAttention(rank={len(self.query)}, d={self.query.shape[1]}, ratio={self.ratio:.3g})"


def contextual_attention(
    sequences: Any, *, rank: int = 1, rng: np.random.Generator | int | None = None
) -> ContextualAttention:
    """Construct an attention head of a given rank that separates the contexts of each token.

    Scores of different tokens are apart by 3/2 or more under every token of the vocabulary. Outputs ``x + attention``
    of one token in sequences with different sets of tokens are then different (`context_separation` says by how much),
    and those of different tokens half the distance of these apart.
    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences; the tokens of each are different, none is 0. (A position, added to the tokens, makes them so.)
    rank : int, default 1
        Rank of each of the four matrices, at most d.
    rng : None, int or numpy.random.Generator
        Source of the directions; the same seed gives the same weights.

    Raises
    ------
    TypeError, ValueError
        If tokens are not finite, 0, or repeated in a sequence, there are fewer than 2, or the rank is above d.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import context_separation, contextual_attention
    >>> sequences = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]]
    >>> w = contextual_attention(sequences, rng=0)
    >>> -40.0 < context_separation(sequences, w.query, w.key, w.value, output=w.output) < 0.0
    True
    """
    tokens, counts, *_ = vocabulary(sequences)
    d = tokens.shape[1]
    width = _checks.integer(rank, "rank", minimum=1, maximum=d)
    _check_distinct(tokens, counts)
    generator = _checks.generator(rng)
    size = float(np.linalg.norm(tokens, axis=1).max())
    u, ratio = separating_direction(np.concatenate([tokens, np.zeros((1, d))]), rng=generator)
    apart = least_size(tokens, lambda chords: np.abs(chords @ u)) * float(np.abs(tokens @ u).min())
    slack = _SLACK * _GAP if width > 1 else 0.0
    factor = (_GAP + slack) / apart if apart > 0.0 else math.inf
    if not math.isfinite(factor):
        raise ValueError("'sequences' must hold tokens that 16 digits tell apart: some are almost the same")
    draws = generator.standard_normal((d, width - 1))
    frame = np.linalg.qr(np.concatenate([u[:, None], draws], axis=1))[0].T  # (rank, d)
    frame[0] = u
    scales = np.append(factor, np.full(width - 1, 0.5 * slack / size**2))
    output = 0.25 * least_size(tokens, lambda chords: np.linalg.norm(chords, axis=1)) / size * np.eye(d, width)
    return ContextualAttention(frame, scales[:, None] * frame, frame, output=output, ratio=ratio)


def _check_distinct(tokens: Float64, counts: Float64) -> None:
    """Check that the tokens of every sequence are different ones, and none is 0, and that there are at least 2."""
    if len(tokens) < 2:
        raise ValueError("'sequences' must hold at least 2 different tokens, got 1")
    if counts.max() > 1.0:
        i = int(np.argmax(counts.max(axis=1)))
        raise ValueError(f"'sequences' must repeat no token, got one twice in sequence {i}: add positions")
    if not tokens.any(axis=1).all():
        i = int(np.argmax(counts[:, ~tokens.any(axis=1)].any(axis=1)))
        raise ValueError(f"'sequences' must not hold the token 0, got it in sequence {i}: add a constant to the tokens")
