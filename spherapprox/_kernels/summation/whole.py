"""A sum in one call: control points and weights packed, summed by the fused kernel, and rounded.

Larger sums are packed in parts, for several tasks each: the same packing and the same kernel, with the same bits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ..jit import njit
from .fused import fused_sums
from .packing import write_half_defects, write_points, write_tables
from .tiles import GROUP, aligned


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
def _tables(w, powers):
    """Return weights (n,) in the layout of `pack_weights`."""
    tables = aligned(-(-w.size // GROUP) * GROUP, powers.size, w)
    write_tables(w, powers, tables)
    return tables


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
    sums = np.zeros((m, 2, columns), x.dtype)
    if w.ndim == 1:
        fused_sums(x, defects, points, _tables(w, powers), by_products, rates, sums)
    else:
        fused_sums(x, defects, points, _columns(w, columns), by_products, rates, sums)
    for i in range(m):
        for r in range(p):
            numerators[i, r] = float(sums[i, 0, r]) + float(sums[i, 1, r])
        if denominator.size:
            denominator[i] = float(sums[i, 0, p]) + float(sums[i, 1, p])
