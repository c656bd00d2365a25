"""Control points for data on the sphere: centres of k-means, started from rows that lie far apart."""

from __future__ import annotations

import numpy as np

from .._threads import slices
from .._types import Float64, Indices

_ROUNDS = 10
"""Rounds of k-means: later ones move little."""
_NUMBERS = 2**22
"""Products that are held at once."""
_TIE = 1e-12
"""Products that differ by less are ties, which the order of rows breaks: roundings do not choose control points."""


def select(x: Float64, weights: Float64, n: int, rng: np.random.Generator) -> Float64:
    """Return n control points for distinct rows x (m, d) of unit length, or the rows if these are no more than n."""
    return x if len(x) <= n else k_means(x, weights, x[farthest_rows(x, n, rng)])


def farthest_rows(x: Float64, n: int, rng: np.random.Generator) -> Indices:
    """Return the indices (n,) of rows, each the farthest from those before it; the first is drawn."""
    rows = np.empty(n, dtype=np.intp)
    rows[0] = rng.integers(len(x))
    distances = np.full(len(x), np.inf)
    for k in range(1, n):
        np.minimum(distances, 2.0 - 2.0 * (x @ x[rows[k - 1]]), out=distances)
        distances[rows[k - 1]] = -1.0
        rows[k] = np.argmax(distances > distances.max() - _TIE)
    return rows


def k_means(x: Float64, weights: Float64, centres: Float64) -> Float64:
    """Return centres (n, d) of unit length after rounds of spherical k-means; one without rows stays where it is."""
    handicap = _TIE * np.arange(len(centres))
    for _ in range(_ROUNDS):
        sums = np.zeros_like(centres)
        for part in slices(len(x), max(1, _NUMBERS // len(centres))):
            np.add.at(sums, np.argmax(x[part] @ centres.T - handicap, axis=1), weights[part, None] * x[part])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        directed = lengths > 1e-8  # else the mean has no direction
        centres = np.where(directed, sums / np.where(directed, lengths, 1.0), centres)
    return centres
