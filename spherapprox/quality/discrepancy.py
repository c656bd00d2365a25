"""The L2 discrepancy of weighted points over the caps of S^m, by Stolarsky's invariance principle."""

from __future__ import annotations

import math

import numpy as np

from .. import _checks
from .._loading import load
from .._threads import in_order, slices
from .._types import Float64
from .nearest import unit


def mean_chord(dim: int) -> float:
    """Return the mean of |x - y| over S^m x S^m, 2^m Gamma((m+1)/2)^2 / (sqrt(pi) Gamma(m + 1/2)), to 1e-15.

    It is 4/pi for m = 1, 4/3 for m = 2, and two dimensions more bring the factor 1 + 1/((2m+1)(2m+3)).
    """
    j = np.arange(2.0 - dim % 2, dim, 2.0)
    return (4.0 / math.pi if dim % 2 else 4.0 / 3.0) * math.exp(math.fsum(np.log1p(1.0 / ((2 * j + 1) * (2 * j + 3)))))


def half_mean_height(dim: int) -> float:
    """Return half the mean of |x_1| over S^m, Gamma((m+1)/2) / (2 sqrt(pi) Gamma(m/2 + 1)), to 1e-15.

    It is 1/pi for m = 1, 1/4 for m = 2, and two dimensions more bring the factor (m+1)/(m+2).
    """
    j = np.arange(2.0 - dim % 2, dim, 2.0)
    return (1.0 / math.pi if dim % 2 else 0.25) * math.exp(math.fsum(np.log1p(-1.0 / (j + 2.0))))


def l2(x: Float64, weights: Float64, *, workers: int | None = None) -> float:
    """Return the L2 cap discrepancy of `PointSet.cap_discrepancy`, of directions (n, dim+1) and weights (n,)."""
    n, dim = len(x), x.shape[1] - 1
    result = f"the cap discrepancy of {n} points of S^{dim}"
    _checks.operations(0.5 * n * n * (dim + 3.0), result, "take fewer points")
    _checks.memory(24.0 * n * (dim + 2.0), result, "take fewer points")
    # Step 1: sum_{j<i} w_j |x_i - x_j| for each point
    columns = np.ascontiguousarray(unit(x).T)  # (dim+1, n)

    def rows(block: slice) -> Float64:
        out = np.empty(block.stop - block.start)
        load("spherapprox._kernels.quality.chords").sums(columns, weights, block.start, out)
        return out

    sums = np.concatenate(list(in_order(rows, slices(n, max(16, n // 256)), workers)))
    excess = math.fsum([*weights.tolist(), -1.0])
    mean = mean_chord(dim)
    # Step 2: (2 W - 1) V_m - sum_jk w_j w_k |x_j - x_k| with W = 1 + excess (5.8)
    difference = math.fsum([mean, 2.0 * excess * mean, *(-2.0 * weights * sums).tolist()])
    return math.sqrt(max(excess**2 + half_mean_height(dim) * difference, 0.0))
