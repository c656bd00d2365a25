"""The floor of coverings by the angles and measures of empty simplices: docs/theorems/4.L-simplex-floor.md."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import wofz

from ..records.bound import Hypothesis
from ._method import Method, inverse

LARGEST_RADIUS = math.pi / 4.0

STEP = 0.125
_PLACES = STEP * np.arange(29)  # what this leaves out is below 1e-16 of the sum (4.L, rounding)


def log_facets(dim: int, radius: float) -> float:
    """Return the log of the floor for 0 < radius <= pi/4 and dim >= 2, to 1e-14 max(1, |log|)."""
    m, square = float(dim), math.sin(radius) ** 2
    gap = (m + 1.0) / m * square  # 1 - c
    # 4.L: the integral of exp(-pi y^2) w(y sqrt(pi c))^m along y = x + i sqrt(m/(2 pi)), over its integrand at x = 0
    y = _PLACES + 1j * math.sqrt(0.5 * m / math.pi)
    logs = m * np.log(wofz(y * math.sqrt(math.pi * (1.0 - gap)))) - math.pi * y * y
    top = float(logs[0].real)
    terms = np.exp(logs - top).real
    log_integral = top + math.log(STEP * float(2.0 * terms.sum() - terms[0]))
    counts = math.log(2.0 * (m + 1.0) * (m + 2.0)) + math.lgamma(0.5 * m + 1.0)
    largest = float(np.logaddexp(math.log(m + 1.0) - 0.5 * (m + 1.0) * math.log1p(-square), 0.0))
    return counts + 0.5 * m * (math.log(math.pi) - math.log(gap)) + log_integral - largest


def _least_radius(n: int, dim: int) -> float:
    if log_facets(dim, LARGEST_RADIUS) > math.log(n):
        return LARGEST_RADIUS
    return inverse(log_facets, n, dim, top=LARGEST_RADIUS)


METHOD = Method(
    "coxeter-few-rogers", log_facets, "lower", needs=lambda dim: (Hypothesis("dim >= 2", dim >= 2),),
    needs_radius=lambda _dim, radius: (Hypothesis("radius <= pi/4", radius <= LARGEST_RADIUS),),
    least_radius=_least_radius,
)  # fmt: skip
