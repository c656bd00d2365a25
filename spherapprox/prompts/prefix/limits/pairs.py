"""Shares of masses from their logarithms, and the pairs of contexts that are farthest apart."""

from __future__ import annotations

import numpy as np

from ...._norms import lengths
from ...._types import Float64, Indices

_SPREAD = 600.0
"""Log masses that differ by less keep all digits as masses over the largest one."""
_ABOVE = 1.0 + 1e-15
"""So much above a ratio the ends of large intervals have the right sign, and do not hide the small ones."""


def share(gap: Float64) -> Float64:
    """Return 1 / (1 + exp(-gap)), right to some units in the last place, also at infinity."""
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(gap))
    return np.asarray(np.where(gap < 0.0, small, 1.0) / (1.0 + small))


def farthest_pairs(y: Float64, log_radius: Float64, euclidean: bool) -> tuple[Indices, Indices]:
    """Return pairs i, j with the largest ``|r_i y_i - r_j y_j| / (r_i + r_j)``, of each coordinate or each row i."""
    if euclidean:  # the farthest row of each
        partners = [int(np.argmax(lengths(_differences(y, log_radius, row)))) for row in range(len(y))]
        return np.arange(len(y)), np.array(partners)
    spread = float(log_radius.max() - log_radius.min())
    return _of_coordinates(y, log_radius) if spread < _SPREAD else _of_all(y, log_radius)


def _of_coordinates(y: Float64, log_radius: Float64) -> tuple[Indices, Indices]:
    """Find them in some passes over the rows: a ratio falls where intervals about r_i y_i all meet (8.2, pairs)."""
    radius = np.exp(log_radius - log_radius.max())[:, None]
    middle, columns, error = radius * y, np.arange(y.shape[1]), np.zeros(y.shape[1])
    best = np.zeros((2, len(columns)), dtype=np.intp)
    while True:
        above = radius * (error * _ABOVE)
        i, j = np.argmax(middle - above, axis=0), np.argmin(middle + above, axis=0)
        ratios = (middle[i, columns] - middle[j, columns]) / (radius[i, 0] + radius[j, 0])
        better = ratios > error
        if not better.any():
            return best[0], best[1]
        best[:, better], error[better] = np.stack([i, j])[:, better], ratios[better]


def _of_all(y: Float64, log_radius: Float64) -> tuple[Indices, Indices]:
    """Find those of coordinates by all pairs, whatever the radii are."""
    columns = np.arange(y.shape[1])
    best, i, j = np.full(len(columns), -1.0), np.zeros_like(columns), np.zeros_like(columns)
    for row in range(len(y)):
        ratios = np.abs(_differences(y, log_radius, row))
        k = np.argmax(ratios, axis=0)
        better = ratios[k, columns] > best
        best[better], i[better], j[better] = ratios[k, columns][better], row, k[better]
    return i, j


def _differences(y: Float64, log_radius: Float64, row: int) -> Float64:
    """Return ``(r_i y_i - r_j y_j) / (r_i + r_j)`` for one i."""
    gap = log_radius[row] - log_radius
    return np.asarray(share(gap)[:, None] * y[row] - share(-gap)[:, None] * y)
