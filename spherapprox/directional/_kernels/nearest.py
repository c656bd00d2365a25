"""The nearest centre of each row, by the largest of its cosines."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ..._kernels.jit import njit

LANES = 256  # rows side by side, whose numbers stay in the first cache


@njit
def label_columns(cosines, labels, best, second):
    """Write the two largest numbers of each column of (k, n), and where the largest is, the first of equal ones."""
    best[:], second[:] = -np.inf, -np.inf
    for first in range(0, len(labels), LANES):
        stop = first + LANES
        own, top, next_top = labels[first:stop], best[first:stop], second[first:stop]
        for j in range(len(cosines)):
            block = cosines[j, first : first + len(own)]
            for lane in range(len(own)):
                own[lane] = j if block[lane] > top[lane] else own[lane]
                next_top[lane] = max(next_top[lane], min(top[lane], block[lane]))
                top[lane] = max(top[lane], block[lane])


@njit
def label_rows(rows, centers, labels):
    """Write the numbers of the centres (k, p) that have the largest products with rows (n, p) of few columns."""
    (k, p), kind = centers.shape, rows.dtype
    table, products, best = np.empty((p, LANES), kind), np.empty(LANES, kind), np.empty(LANES, kind)
    for first in range(0, len(labels), LANES):
        own = labels[first : first + LANES]
        for lane in range(len(own)):
            for a in range(p):
                table[a, lane] = rows[first + lane, a]
        best[:] = -np.inf
        for j in range(k):
            products[:] = 0.0
            for a in range(p):
                number = centers[j, a]
                for lane in range(LANES):
                    products[lane] += number * table[a, lane]
            for lane in range(len(own)):
                own[lane] = j if products[lane] > best[lane] else own[lane]
                best[lane] = max(best[lane], products[lane])
