"""Sums of harmonics on S^2 order by order, some points at a time: each number as `harmonics.sums` makes it in NumPy."""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine

LANES = 64  # points that are summed side by side, in the first cache


@subroutine
def begin(m: int, s: Float64, cos: Float64, sin: Float64, seed: Float64, x: Float64, y: Float64) -> None:
    """Take seed, cosine and sine from the order m - 1 to m."""
    factor = math.sqrt((2 * m - 1) / (2 * m)) if m > 1 else 1.0
    for i in range(len(s)):
        if m == 0:
            seed[i], x[i], y[i] = 1.0, 1.0, 0.0
        else:
            seed[i] = (factor * s[i]) * seed[i]
            x[i], y[i] = x[i] * cos[i] - y[i] * sin[i], y[i] * cos[i] + x[i] * sin[i]


@njit
def add(z: Float64, s: Float64, cos: Float64, sin: Float64, roots: Float64, weights: Float64, out: Float64) -> None:
    """Add to out (p, n) the sums at n points with these cosines and sines of the colatitude and of the longitude.

    roots (K+1, K+1) of k^2 - m^2 by order and degree, weights (K+1, K+1, p, 2) of cosines and sines.
    """
    work = np.empty((5, LANES))
    seed, x, y, before, last = work[0], work[1], work[2], work[3], work[4]
    columns, orders = len(out), len(roots)
    sums = np.empty((columns, 2, LANES))
    for start in range(0, len(z), LANES):
        stop = min(start + LANES, len(z))
        size, height = stop - start, z[start:stop]
        for m in range(orders):
            # Step 1: the seed, cosine and sine of this order
            begin(m, s[start:stop], cos[start:stop], sin[start:stop], seed, x, y)
            for i in range(size):
                before[i], last[i] = 0.0, seed[i]
            for column in range(columns):
                for i in range(size):
                    sums[column, 0, i], sums[column, 1, i] = 0.0, 0.0
            # Step 2: the sums over the degrees
            for k in range(m, orders):
                factor, root, root_before = 2.0 * k - 1.0, roots[m, k], roots[m, k - 1] if k else 0.0
                for i in range(size if k > m else 0):
                    ahead = (factor * height[i]) * last[i] - root_before * before[i]
                    before[i], last[i] = last[i], ahead / root
                for column in range(columns):
                    even, odd = weights[m, k, column, 0], weights[m, k, column, 1]
                    for i in range(size):
                        sums[column, 0, i] += even * last[i]
                        sums[column, 1, i] += odd * last[i]
            # Step 3: times the cosine and the sine
            for column in range(columns):
                for i in range(size):
                    out[column, start + i] += sums[column, 0, i] * x[i] + sums[column, 1, i] * y[i]
