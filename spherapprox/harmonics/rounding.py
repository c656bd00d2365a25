"""Proven bounds of rounding errors of sums of harmonics on S^2."""

from __future__ import annotations

import math

import numpy as np

from .._types import Float64
from .columns import degrees

PROVEN_DEGREE = 256
"""The degree to which the lemma on the growth of errors was computed: tests/reference/legendre_growth.py."""
_UNIT = 2.0**-53


def sum_rounding(degree: int) -> float:
    """Return a bound of the rounding error of sums of harmonics to a degree, term by term, over their `mean_size`.

    docs/theorems/6.1-polynomial-maximum.md (rounding): proven to degree `PROVEN_DEGREE`, beyond it an estimate.
    """
    k = np.arange(degree + 1.0)
    functions = 33.0 * np.cumsum(np.sqrt(k + 1.0)) + 26.0 * k  # each Legendre function's error in the mean square
    return float((degree + 1.0) * _UNIT * (np.linalg.norm(functions) + 12.0 * degree + 100.0))


def transform_rounding(size: int) -> float:
    """Return a bound of the rounding error of a Fourier transform of so many values, over the largest of these."""
    return 16.0 * math.log2(size) * math.sqrt(size) * _UNIT


def mean_size(coefficients: Float64, order: int = 0) -> float:
    """Return the root of the mean square, over S^2, of a function with Schmidt's coefficients ((K+1)^2,) or (.., p).

    With order 1 that of its gradient.
    """
    k = degrees(math.isqrt(len(coefficients)) - 1)
    squares = np.square(coefficients.reshape(len(k), -1)).sum(axis=1)
    return math.sqrt(float(squares @ ((k * (k + 1.0)) ** order / (2.0 * k + 1.0))))
