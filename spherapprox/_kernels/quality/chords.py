"""Weighted sums of the chords |x_i - x_j| between points."""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit

_LANES = 256
"""Points side by side, each lane with a sum of its own: that vectorises, and keeps the rounding of short sums."""


@njit
def sums(x: Float64, weights: Float64, start: int, out: Float64) -> None:
    """Write sum_{j<i} w_j |x_i - x_j| for i = start, ...; x holds a coordinate in each row."""
    squares, lanes = np.empty(_LANES), np.empty(_LANES)
    for i in range(start, start + len(out)):
        lanes[:] = 0.0
        for first in range(0, i, _LANES):
            count = min(_LANES, i - first)
            # Step 1: squared chords, coordinate by coordinate
            squares[:] = 0.0
            for axis in range(len(x)):
                own, block = x[axis, i], x[axis, first : first + count]
                for lane in range(count):
                    squares[lane] += (block[lane] - own) * (block[lane] - own)
            # Step 2: their weighted roots, each into its lane
            shares = weights[first : first + count]
            for lane in range(count):
                lanes[lane] += shares[lane] * math.sqrt(squares[lane])
        out[i - start] = lanes.sum()
