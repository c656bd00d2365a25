"""`context_separation`: the least distance between the outputs of attention at one token in different contexts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._softmax import exponentiate
from ..._threads import one_blas_thread
from ..._types import Float64, Indices
from .weights import EPS, Weights, vocabulary

_LOG_ERROR = 1e-9
"""What a measured logarithm may be off by, relative to itself or absolutely where it is below 1."""
_LOST = 1e-290
"""Weights relative to the largest, and what they weigh, may vanish below this."""


class _Comparison(NamedTuple):
    """A context, others of another set (k,), and the logarithms of distances (k,): measured, or inf beside a floor."""

    context: int
    partners: Indices
    log_distances: Float64
    log_floors: Float64


def context_separation(
    sequences: Any, query: ArrayLike, key: ArrayLike, value: ArrayLike, *, output: ArrayLike | None = None,
    scale: float = 1.0, log: bool = True,
) -> float:  # fmt: skip
    """Measure the least distance between the outputs of attention at one token in different contexts.

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences of tokens.
    query, key : array_like, shape (s, d)
        Weights of the scores ``scale * (query @ x) @ (key @ y)``.
    value : array_like, shape (p, d)
        Weights of the values.
    output : array_like, shape (q, p), optional
        Weights that are applied to the mean of the values; the identity by default.
    scale : float, default 1.0
        Factor of the scores, above 0.
    log : bool, default True
        Return the natural logarithm: separations are often below the smallest float.

    Returns
    -------
    float
        The least Euclidean distance between the outputs (those of attention alone, nothing added) at a token in two
        sequences that both have it, and have different sets of tokens; or its logarithm, which is right to 1e-9 of its
        size, or absolutely below 1. 0 (-inf) where two are equal, inf if no token occurs in two such sequences.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, or if more than 1e5 digits are needed to tell two points apart.

    Notes
    -----
    Differences of two means are summed from what the sequences do not share, in logarithms: no digits are lost to
    cancellation, unless terms cancel. Where they do, mpmath takes as many digits as are needed. 200 sequences of 8
    tokens take 0.2 s.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import context_separation
    >>> sequences = [[[1.0], [2.0]], [[1.0], [3.0]]]
    >>> round(context_separation(sequences, [[1.0]], [[1.0]], [[1.0]], log=False), 6)
    1.030536
    >>> context_separation(sequences, [[50.0]], [[-50.0]], [[1.0]])
    -2500.0
    """
    tokens, counts, *_ = vocabulary(sequences)
    weights = Weights.checked(query, key, value, output=output, scale=scale, d=tokens.shape[1])
    as_log = _checks.flag(log, "log")
    counts = np.unique(counts, axis=0)
    number = (counts > 0.0).sum(axis=0, dtype=np.float64)
    work = 100.0 * np.square(number) * np.minimum(number * counts.sum(axis=1).max(), len(tokens))
    _checks.operations(float(work.sum()), "the comparison of all contexts", "take fewer sequences")
    least, doubtful = math.inf, []
    with one_blas_thread():
        for t in range(len(tokens)):
            for i, partners, log_distances, low in _compare(t, tokens, counts, weights=weights):
                least = min(least, float(log_distances.min()))
                doubtful += [(low[k], t, i, partners[k]) for k in np.flatnonzero(low < least)]
    for low, t, i, j in sorted(doubtful):
        if low < least:
            least = min(least, weights.exact(tokens, counts[i], counts[j], t))
    return least if as_log else math.exp(least)


def _compare(t: int, tokens: Float64, counts: Float64, weights: Weights) -> Iterator[_Comparison]:
    """Yield each context of a token with the later ones that have another set."""
    rows = np.flatnonzero(counts[:, t])
    columns = np.flatnonzero(counts[rows].any(axis=0))
    tokens, counts, t = tokens[columns], counts[np.ix_(rows, columns)], int(np.searchsorted(columns, t))
    scores, blur = weights.scores(tokens, t)
    values, sizes = weights.values(tokens, t)
    unit = float(sizes.max()) or 1.0
    values, sizes = values / unit, sizes / unit
    rounding = 8.0 * blur + (4 * len(tokens) + tokens.shape[1] + len(weights.value) + 20) * EPS
    rounding *= math.sqrt(values.shape[1])
    for i in range(len(rows) - 1):
        partners = i + 1 + np.flatnonzero(((counts[i + 1 :] > 0.0) != (counts[i] > 0.0)).any(axis=1))
        if len(partners):
            log_distances, low = _log_distances(
                counts[i], counts[partners], scores, values=values, sizes=sizes, rounding=rounding
            )
            yield _Comparison(
                int(rows[i]), rows[partners], log_distances + math.log(unit), log_floors=low + math.log(unit)
            )


def _log_distances(
    mine: Float64, theirs: Float64, scores: Float64, values: Float64, *, sizes: Float64, rounding: float
) -> tuple[Float64, Float64]:
    """Return log distances of the mean over one context from those over others, inf in doubt, and floors, else inf."""
    # 8.9 (difference)
    shared = np.minimum(mine, theirs)  # (n, V)
    log_mine, log_theirs, log_shared = (_log_sums(c, scores) for c in (mine[None], theirs, shared))
    factor = log_shared - log_mine - log_theirs
    first = np.where(mine > shared, scores - log_mine[:, None], -np.inf)
    second = np.where(theirs > shared, scores + factor[:, None], -np.inf)
    shift = np.maximum(first.max(axis=1), second.max(axis=1))
    first = (mine - shared) * np.exp(first - shift[:, None])
    second = (theirs - shared) * np.exp(second - shift[:, None])
    second_weights = theirs * np.exp(np.minimum(scores - log_theirs[:, None], 0.0))
    shared_weights = shared * np.exp(np.minimum(scores - log_shared[:, None], 0.0))
    weights = first - second, first.sum(axis=1)[:, None] * second_weights, second.sum(axis=1)[:, None] * shared_weights
    difference = (weights[0] - weights[1] + weights[2]) @ values
    distance = np.abs(difference).max(axis=1)
    error = rounding * ((first + second + weights[1] + weights[2]) @ sizes).max(axis=1) + _LOST * sizes.max()
    resolved = error <= _LOG_ERROR * np.clip(-shift, 1.0, 0.1 / _LOG_ERROR) * distance
    with np.errstate(divide="ignore"):
        low = shift + np.log(np.maximum(distance - error, 0.0))
        scaled = difference / np.where(distance > 0.0, distance, 1.0)[:, None]
        log_distances = shift + np.log(distance) + np.log(np.maximum(np.linalg.norm(scaled, axis=1), 1.0))
    return np.where(resolved, log_distances, np.inf), np.where(resolved, np.inf, low)


def _log_sums(counts: Float64, scores: Float64) -> Float64:
    """Return the log of sum(counts * exp(scores)) over each row."""
    top, masses = exponentiate(np.where(counts > 0.0, scores, -np.inf))
    return np.asarray(top[:, 0] + np.log((counts * masses).sum(axis=1)))
