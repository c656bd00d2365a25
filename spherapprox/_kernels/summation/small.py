"""A small sum in one call: its arrays are checked, packed and summed by the fused kernel, with the same bits."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..._types import Float64
from ..jit import njit
from .fused import GROUP, Constants, constants, fused_sums, write_half_defects

LARGEST, SMALLEST = 2.0**30, 2.0**-300
"""Values below the first and, but for zeros, from the second on need no scale: products with exponentials that matter
to a denominator of 2^-700 are normal numbers."""
MODERATE = 2.0**-30
"""The largest value at least, unless all are 0."""
STRICT = 0.99
"""Share of the tolerance of unit lengths that is taken: about its end the check of larger sums decides."""


@lru_cache(64)
def kernel_constants(rate: float) -> Float64:
    """Return the fused kernel's constants as an array, which takes less time to pass than a tuple."""
    return np.array(constants(rate, np.dtype(np.float64)))


@njit
def _are_unit(rows, tolerance):
    """Tell whether all rows have finite numbers and unit length."""
    for i in range(rows.shape[0]):
        square = 0.0
        for j in range(rows.shape[1]):
            square += rows[i, j] * rows[i, j]
        if not abs(square - 1.0) < STRICT * tolerance:
            return False
    return True


@njit
def _are_moderate(values):
    """Tell whether sums with these values need no scale, and are finite."""
    largest = 0.0
    for value in values:
        size = abs(value)
        if not (size == 0.0 or SMALLEST <= size < LARGEST):
            return False
        largest = max(largest, size)
    return largest == 0.0 or largest >= MODERATE


@njit
def _packed(b, values, p, columns, by_products):
    """Return control points and weights in the layout of `fused.pack`."""
    n, d = b.shape
    size = -(-n // GROUP) * GROUP
    last = np.zeros(n)
    if by_products:
        write_half_defects(b, last)
    points = np.empty((size // GROUP, d + 1, GROUP))
    for k in range(size):
        row = min(k, n - 1)
        for j in range(d):
            points[k // GROUP, j, k % GROUP] = b[row, j]
        points[k // GROUP, d, k % GROUP] = last[row]
    c = 1 if columns <= 2 else GROUP
    weights = np.zeros((-(-columns // c), size, c))
    for k in range(n):
        for r in range(columns):
            weights[r // c, k, r % c] = values[k * p + r] if r < p else 1.0
    return points, weights


@njit
def small_sums(x, b, values, normalize, by_products, numbers, tolerance, least, out):
    """Write the sums, or quotients, at rows x (m, d) over b (n, d) to ``out`` (m p,); ``values`` are (n p,).

    ``numbers`` are the `kernel_constants`. Returns False, and `out` is of no use, if something is wrong with the arrays
    or a denominator is below ``least``: then it takes more than a small sum's way.
    """
    if not (_are_unit(x, tolerance) and _are_unit(b, tolerance) and _are_moderate(values)):
        return False
    m, p = x.shape[0], len(values) // b.shape[0]
    columns = p + 1 if normalize else p
    points, weights = _packed(b, values, p, columns, by_products)
    defects = np.zeros(m)
    if by_products:
        write_half_defects(x, defects)
    sums = np.zeros((m, 2, columns))
    of_rate = Constants(numbers[0], numbers[1], numbers[2], numbers[3])
    fused_sums(x, defects, points, weights, by_products, of_rate, sums)
    for i in range(m):
        below = sums[i, 0, p] + sums[i, 1, p] if normalize else 1.0
        if not below >= least:
            return False
        for r in range(p):
            out[i * p + r] = (sums[i, 0, r] + sums[i, 1, r]) / below
    return True
