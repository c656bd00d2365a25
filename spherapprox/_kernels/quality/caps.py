"""The largest differences between caps' weights and measures about given centres."""

from __future__ import annotations

import math

from ..._types import Float64
from ..jit import njit, subroutine


@njit
def cosines(centers: Float64, x: Float64, out: Float64) -> None:
    """Write -<center, point>, a row for each center; x holds a coordinate in each row."""
    for row in range(len(centers)):
        out[row] = 0.0
        for axis in range(len(x)):
            c = centers[row, axis]
            for j in range(x.shape[1]):
                out[row, j] -= c * x[axis, j]


@subroutine
def measure(dim: int, t: float) -> float:
    """Return the measure of the cap {y: <c, y> >= t} of S^m to 1e-15 sqrt(m), from that of S^1 or S^0 upwards."""
    square = (1.0 - t) * (1.0 + t)
    if dim % 2 == 0:
        total, factor, first = 0.5, 0.5 * t, 2
    else:
        total, factor, first = math.acos(t) / math.pi, t * math.sqrt(square) / math.pi, 3
    for k in range(first, dim + 1, 2):
        total -= factor
        factor *= square * ((k - 1.0) / k)
    return total


@njit
def differences(dim: int, t: Float64, share: Float64, radii: Float64, lower: Float64, upper: Float64) -> None:
    """Write the largest difference about each center and its bound about all centres up to the radius away.

    Row by row t has the cosines' negatives, rising, and share the points' weights (docs/theorems.md, 5.8).
    """
    for row in range(len(t)):
        c, s = math.cos(radii[row]), math.sin(radii[row])
        below, above, before, carry = 0.0, 0.0, 0.0, 0.0
        for j in range(t.shape[1]):
            cosine = min(max(-t[row, j], -1.0), 1.0)
            sine = math.sqrt((1.0 - cosine) * (1.0 + cosine))
            given = share[row, j] - carry
            after = before + given
            carry = (after - before) - given
            here = measure(dim, cosine)
            smaller = 0.0 if cosine > c else measure(dim, min(cosine * c + sine * s, 1.0))
            larger = 1.0 if cosine < -c else measure(dim, max(cosine * c - sine * s, -1.0))
            below = max(below, after - here, here - before)
            above = max(above, after - smaller, larger - before)
            before = after
        lower[row], upper[row] = below, above
