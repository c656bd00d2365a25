"""A small sum in one call: its arrays are checked, packed and summed by the fused kernel, with the same bits."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit
from .fused import fused_sums
from .packing import powers, write_half_defects, write_points, write_tables
from .tiles import GROUP, aligned

LARGEST, SMALLEST = 2.0**30, 2.0**-300
"""Values below the first and, but for zeros, from the second on are divided by a power of 2 for each column, and that
is all that larger sums do about the size of values."""
POWERS = powers(8)
STRICT = 0.99  # share of the tolerance of unit lengths that is taken: about its end the check of larger sums decides


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
    """Tell whether values are finite, and neither huge nor tiny."""
    for value in values:
        size = abs(value)
        if not (size == 0.0 or SMALLEST <= size < LARGEST):
            return False
    return True


@njit
def _scales(values, p):
    """Return the least power of 2 above each column's values, and 1 where all are 0."""
    scales = np.zeros(p)
    for k in range(values.size):
        scales[k % p] = max(scales[k % p], abs(values[k]))
    for r in range(p):
        scales[r] = math.ldexp(1.0, math.frexp(scales[r])[1])
    return scales


@njit
def _points(b, by_products):
    """Return control points in the layout of `pack_points`."""
    n, d = b.shape
    last = np.zeros(n)
    if by_products:
        write_half_defects(b, last)
    points = np.empty((-(-n // GROUP), d + 1, GROUP))
    write_points(b, last, points)
    return points


@njit
def _columns(values, n, scales, columns):
    """Return values over their scales in the layout of `pack_columns`."""
    p, weights = scales.size, np.zeros((-(-n // GROUP), columns, GROUP))
    for k in range(n):
        for r in range(columns):
            weights[k // GROUP, r, k % GROUP] = values[k * p + r] / scales[r] if r < p else 1.0
    return weights


@njit
def _tables(values, scale):
    """Return values over their scale in the layout of `pack_weights`."""
    tables = aligned(-(-values.size // GROUP) * GROUP, POWERS.size, values)
    write_tables(values, POWERS / scale, tables)
    return tables


@njit
def small_sums(x, b, values, normalize, by_products, rates, tolerance, least, out):
    """Write the sums, or quotients, at rows x (m, d) over b (n, d) to ``out`` (m p,); ``values`` are (n p,).

    Returns False, and `out` is of no use, if something is wrong with the arrays
    or a denominator is below ``least``: then it takes more than a small sum's way.
    """
    if not (_are_unit(x, tolerance) and _are_unit(b, tolerance) and _are_moderate(values)):
        return False
    m, p = x.shape[0], len(values) // b.shape[0]
    columns, scales = p + 1 if normalize else p, _scales(values, p)
    points = _points(b, by_products)
    defects = np.zeros(m)
    if by_products:
        write_half_defects(x, defects)
    sums = np.zeros((m, 2, columns))
    if columns == 1:
        fused_sums(x, defects, points, _tables(values, scales[0]), by_products, rates, sums)
    else:
        fused_sums(x, defects, points, _columns(values, b.shape[0], scales, columns), by_products, rates, sums)
    for i in range(m):
        below = sums[i, 0, p] + sums[i, 1, p] if normalize else 1.0
        if not below >= least:
            return False
        for r in range(p):
            out[i * p + r] = (sums[i, 0, r] + sums[i, 1, r]) / below * scales[r]
    return True
