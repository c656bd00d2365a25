"""Points of S^m far apart, from a shell of a dense lattice: docs/theorems/4.E-lower-without-sampling.md (iv)."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from ..covering.lattice import log_ball
from ..records.bound import EXACT

_DETERMINANTS = (
    1, 4, 12, 32, 64, 128, 192, 256, 256, 512, 768, 1024, 729, 1024, 768, 512, 256, 256, 192, 128, 64, 32, 12, 4, 1,
    2, 3, 4, 4, 4, 3, 2, 1,
)  # fmt: skip
"""Determinants of lattices of minimal norm 4 in dimensions 0 to 32: sections of the Leech lattice but in dimension 12
(Coxeter and Todd), then root lattices glued to it."""

_UNIMODULAR = {48: 6, 56: 6, 72: 8, 80: 8}
"""Dimension -> minimal norm of extremal even unimodular lattices."""

LARGEST_RATIONAL = 96
"""Beyond this dimension Ball's lattices are denser than those named here, and their sums."""

_HALVINGS = 64


@functools.cache
def squared_density(d: int) -> Fraction:
    """Return the square of the greatest centre density known here of a lattice of R^d, 0 <= d <= 96 (4.E, iv)."""
    if d < len(_DETERMINANTS):
        return Fraction(1, _DETERMINANTS[d])
    sums = [squared_density(a) * squared_density(d - a) for a in range(1, d // 2 + 1)]
    sections = [
        Fraction(norm, 4) ** n * Fraction(2, norm) ** (2 * (n - d)) for n, norm in _UNIMODULAR.items() if n >= d
    ]
    return max(sums + sections)


def log_density(d: int) -> float:
    """Return the log of the greatest density known here of a lattice packing of R^d (4.E, iv)."""
    if d > LARGEST_RATIONAL:
        return math.log(d - 1.0) - (d - 1.0) * math.log(2.0)
    square = squared_density(d)
    return log_ball(d) + 0.5 * (math.log(square.numerator) - math.log(square.denominator))


def tilt(dim: int, angle: float) -> float:
    """Maximise cos(phi)^d - cos(phi + t)_+^d, d = m+1, over phi >= t/2, by which the shell gets its radii (4.E, iv).

    The derivative has the sign of w(phi + t) - w(phi), w = cos^m sin, which rises to its peak at arctan(1/sqrt(m)) and
    then falls: phi lies before the peak, phi + t beyond it.
    """
    low, high = 0.5 * angle, min(math.atan(1.0 / math.sqrt(dim)), 0.5 * math.pi - angle)
    loss, sine = 2.0 * math.sin(0.5 * angle) ** 2, math.sin(angle)
    for _ in range(_HALVINGS if low < high else 0):
        phi = 0.5 * (low + high)
        # log w(phi + t)/w(phi), exact to rounding at the smallest t too
        rise = dim * math.log1p(-loss - sine * math.tan(phi)) + math.log1p(-loss + sine / math.tan(phi))
        low, high = (phi, high) if rise > 0.0 else (low, phi)
    return low


def log_shell(dim: int, angle: float) -> float:
    """Return log M, M points of S^m pairwise more than 0 < angle < pi apart, from the best shell known (4.E, iv)."""
    d, phi = dim + 1, tilt(dim, angle)
    # 4.E, iv: R = 2 cos(phi)/sin t, log(r/R) with r/R = cos(phi + t)_+/cos(phi)
    log_outer = math.log(math.cos(phi) / math.cos(0.5 * angle)) - math.log(math.sin(0.5 * angle))
    gap = 2.0 * math.sin(0.5 * angle) ** 2 + math.sin(angle) * math.tan(phi)
    log_share = math.log(-math.expm1(d * math.log1p(-gap))) if gap < 1.0 else 0.0
    # 4.E, iv: Delta (R^d - r^d), rounded up where its units are known
    log = log_density(d) + d * log_outer + log_share
    return log if log > EXACT else math.log(max(math.ceil(math.exp(log) * (1.0 - 1e-12)), 1))
