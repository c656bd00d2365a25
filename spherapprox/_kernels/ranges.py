"""Tests of arrays in one pass: unit lengths, finite numbers, sizes of values."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
import sys

import numpy as np

from .._loading import session
from .jit import njit

LARGEST = 1.7976931348623157e308
ROWS = 32  # of values that are in the first cache while their columns are measured


@njit
def are_unit(rows, tolerance):
    """Tell whether all rows have finite numbers and a squared length within the tolerance of 1."""
    for i in range(rows.shape[0]):
        square = 0.0
        for j in range(rows.shape[1]):
            number = float(rows[i, j])
            square += number * number
        if not abs(square - 1.0) < tolerance:
            return False
    return True


@njit
def are_finite(numbers):
    """Tell whether all numbers are finite."""
    for number in numbers:  # noqa: SIM110 - numba has no all()
        if not abs(number) <= LARGEST:
            return False
    return True


@njit
def measure(values, octaves, nothing):
    """Write the exponents of the columns' largest sizes, `nothing` for zeros.

    Returns that of the smallest size but 0, and that of the largest.
    """
    n, p = values.shape
    smallest, most, largest = math.inf, nothing, np.zeros(p)
    for first in range(0, n, ROWS):
        for r in range(p):
            top = largest[r]
            for k in range(first, min(first + ROWS, n)):
                size = abs(float(values[k, r]))
                top = max(top, size)
                smallest = min(smallest, size if size > 0.0 else math.inf)
            largest[r] = top
    for r in range(p):
        octaves[r] = math.frexp(largest[r])[1] if largest[r] > 0.0 else nothing
        most = max(most, octaves[r])
    return math.frexp(smallest)[1] if smallest < math.inf else 0, most


session.ranges = sys.modules[__name__]
