"""A sum in one call: control points and weights packed, summed by the fused kernel, and rounded.

Larger sums are packed in parts, for several tasks each: the same packing and the same kernel, with the same bits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ..jit import njit
from ..simd.registers import lanes
from .fused import fused_sums
from .packing import write_half_defects, write_points, write_tables
from .tiles import GROUP, VECTORS, aligned


@njit
def _columns(w, columns):
    """Return weights (n, p) in the layout of `pack_columns`, with ones in the columns beyond them."""
    n, p = w.shape
    groups = np.zeros((-(-n // GROUP), columns, GROUP), w.dtype)
    for k in range(n):
        for r in range(columns):
            groups[k // GROUP, r, k % GROUP] = w[k, r] if r < p else 1.0
    return groups


@njit
def whole_sums(x, b, w, by_products, rates, powers, numerators, denominator):
    """Write the sums at rows x (m, d) over b (n, d) with weights w: (n,) without denominators, or (n, p).

    To `numerators` (m, p), and to `denominator` (m,) unless it is empty; ``powers`` are those of `packing.powers`.
    """
    (m, d), n = x.shape, b.shape[0]
    p = numerators.shape[1]
    columns = p + 1 if denominator.size else p
    defects, last = np.zeros(m, x.dtype), np.zeros(n, x.dtype)
    if by_products:
        write_half_defects(x, defects)
        write_half_defects(b, last)
    points = np.empty((-(-n // GROUP), d + 1, GROUP), x.dtype)
    write_points(b, last, points)
    size = VECTORS * lanes(x)
    sums = np.zeros((-(-m // size), 2, columns, size), x.dtype)
    if w.ndim == 1:
        tables = aligned(points.shape[0] * GROUP, powers.size, x)
        write_tables(w, powers, tables)
        fused_sums(x, defects, points, tables, by_products, rates, sums)
    else:
        fused_sums(x, defects, points, _columns(w, columns), by_products, rates, sums)
    for i in range(m):
        totals, residuals, at = sums[i // size, 0], sums[i // size, 1], i % size
        for r in range(p):
            numerators[i, r] = float(totals[r, at]) + float(residuals[r, at])
        if denominator.size:
            denominator[i] = float(totals[p, at]) + float(residuals[p, at])
