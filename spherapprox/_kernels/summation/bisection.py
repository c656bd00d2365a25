"""An order in which neighbours are together, in many dimensions: points are bisected across their longest direction.

It follows the points: those that fill few of the dimensions, or clusters, are cut where they extend. The direction is
about the first principal axis of a sample, by some steps of the power method; nothing but the time depends on it.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ..jit import njit, subroutine
from ..simd.vectors import load, multiply_add, replicate
from .boxes import BUNDLE, LANES, element
from .layout import NEAR_BLOCK

SAMPLE = 64  # points that tell the direction
STEPS = 3  # of the power method


@subroutine
def _along(rows, at, v):
    """Return the product of a row and a vector (d,), summed in one order on all machines."""
    d = v.size
    whole = d // LANES * LANES
    t, s = replicate(0.0), 0.0
    for j in range(0, whole, LANES):
        t = multiply_add(load(rows, at * d + j), load(v, j), t)
    for j in range(whole, d):
        s += rows[at, j] * v[j]
    for lane in range(LANES):
        s += element(t, lane)
    return s


@subroutine
def _direction(rows, order, sample, mean, v, following):
    """Write about the first principal axis of some of the rows into `v` (d,), of any length; the others are room."""
    n, d = min(order.size, SAMPLE), v.size
    mean[:] = 0.0
    for i in range(n):
        for j in range(d):
            sample[i, j] = rows[order[i * order.size // n], j]
            mean[j] += sample[i, j]
    for i in range(n):
        for j in range(d):
            sample[i, j] -= mean[j] / n
    v[:] = sample[0]
    for _ in range(STEPS):
        following[:] = 0.0
        for i in range(n):
            s = _along(sample, i, v)
            for j in range(d):
                following[j] += s * sample[i, j]
        largest = 0.0
        for j in range(d):
            largest = max(largest, abs(following[j]))
        if largest > 0.0:
            for j in range(d):
                v[j] = following[j] / largest


@subroutine
def _select(along, order, first, last, middle):
    """Put the least numbers of ``along[first:last]`` before `middle`, and the numbers of `order` with them (Hoare)."""
    while last - first > 1:
        pivot = along[(first + last) // 2]
        i, j = first, last - 1
        while i <= j:
            while along[i] < pivot:
                i += 1
            while along[j] > pivot:
                j -= 1
            if i <= j:
                along[i], along[j] = along[j], along[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j + 1
        elif middle >= i:
            first = i
        else:
            return


@njit
def bisect(rows, order, parts):
    """Order each range (first, last) of `parts` of ``order`` by halves of whole blocks, down to a block."""
    d = rows.shape[1]
    along, waiting = np.empty(order.size), np.empty((128, 2), np.int64)
    sample, mean, v, following = np.empty((SAMPLE, d)), np.empty(d), np.empty(d), np.empty(d)
    for s in range(parts.shape[0]):
        waiting[0, 0], waiting[0, 1] = parts[s, 0], parts[s, 1]
        n = 1
        while n > 0:
            n -= 1
            first, last = waiting[n, 0], waiting[n, 1]
            blocks = (last - first + NEAR_BLOCK - 1) // NEAR_BLOCK
            if blocks < 2:
                continue
            _direction(rows, order[first:last], sample, mean, v, following)
            for i in range(first, last):
                along[i] = _along(rows, order[i], v)
            unit = BUNDLE if blocks > BUNDLE else 1
            middle = first + (blocks // unit + 1) // 2 * unit * NEAR_BLOCK
            _select(along, order, first, last, middle)
            waiting[n, 0], waiting[n, 1] = middle, last
            waiting[n + 1, 0], waiting[n + 1, 1] = first, middle
            n += 2
