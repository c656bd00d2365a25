"""Places of scattered points on a grid, sorted by patches of it.

Rows go through short arrays of one coordinate each, so that the arithmetic is of whole vectors.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit, subroutine
from ..simd.vectors import larger, load, store, zeros
from .grids import PATCH

CHUNK = 256
"""Points whose places are computed together; a multiple of a vector's lanes."""

_LANES = 8
_TAN_EIGHTH = 0.41421356237309503
_ROUND = 1.5 * 2.0**52
"""A number whose sums with small ones are whole."""
_HALF_DIGITS = 1.5 * 2.0**26
"""A number whose sums with numbers of about 1 are multiples of 2^-26."""
# atan(sqrt(u)) / sqrt(u) on 0 <= u <= tan(pi/8)^2, at Chebyshev nodes in 60-digit arithmetic; error 2e-18.
_ARCTAN = (
    1.0, -0.3333333333333312, 0.19999999999940893, -0.14285714279250245, 0.11111110744919658, -0.09090896809064027,
    0.07692045330902225, -0.06662951813629191, 0.05846878297330872, -0.05035102456601552, 0.03796525745386593,
    -0.017805397205419446,
)  # fmt: skip


@njit
def sort_points(x, first, cells, patches, columns, place, fraction, order, starts):
    """Write points' places sorted by patch, and where the patches begin; return the largest ``|1 - |x|^2| / 2``.

    The rows `x` are those from `first` on of all points; a place is a grid cell, of `cells` (a multiple of 8) in a full
    turn, and 2 f - 1 for the rest f in it: on S^1 of the angle, on S^2 of colatitude and azimuth. `order` gets the
    points' numbers among all. `patches`, of so many columns, make a band; `starts` gets one number more than there are
    patches.
    """
    n, angles = len(x), x.shape[1] - 1
    cell, rest, keys = np.empty((angles, n), np.int32), np.empty((angles, n)), np.empty(n, np.int32)
    # Step 1: places
    off = _places(x, cells, cell, rest)
    # Step 2: count the points of each patch
    for i in range(n):
        keys[i] = cell[angles - 1, i] // columns
    if angles == 2:
        for i in range(n):
            keys[i] += cell[0, i] // PATCH * patches
    at = np.empty(len(starts), np.int64)
    for key in range(len(starts)):
        at[key] = 0
    for i in range(n):
        at[keys[i]] += 1
    total = 0
    for key in range(len(starts)):
        starts[key], at[key], total = first + total, total, total + at[key]
    # Step 3: sort
    for i in range(n):
        to = at[keys[i]]
        at[keys[i]] += 1
        order[to] = first + i
        for j in range(angles):
            place[to, j] = cell[j, i]
            fraction[to, j] = rest[j, i]
    return off


@subroutine
def _places(x, cells, cell, rest):
    """Write the cells and rests, one row for each angle; return the largest ``|1 - |x|^2| / 2``."""
    n, sphere = len(x), x.shape[1] == 3
    a, b, c, d = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    worst = np.empty(_LANES)
    top = zeros(worst)
    for begin in range(0, n, CHUNK):
        count = min(CHUNK, n - begin)
        for i in range(count):
            a[i], b[i] = x[begin + i, 0], x[begin + i, 1]
        for i in range(count):
            c[i] = x[begin + i, 2] if sphere else 0.0
        _half_defects(a, b, c, count, d)
        for i in range(0, count, _LANES):
            top = larger(load(d, i), top)
        if sphere:
            for i in range(count):
                d[i] = math.sqrt(a[i] * a[i] + b[i] * b[i])
            _cells(d, c, count, cells, cell[0, begin:], rest[0, begin:])
        _cells(b, a, count, cells, cell[-1, begin:], rest[-1, begin:])
    store(worst, 0, top)
    off = 0.0
    for i in range(_LANES):
        off = max(off, worst[i])
    return off


@subroutine
def _half_defects(a, b, c, count, out):
    """Write ``|1 - |row|^2| / 2``: squares of multiples of 2^-26 add up exactly, what they leave is small."""
    for i in range(count, CHUNK):
        out[i] = 0.0
    for i in range(count):
        # 4.8, proof: |x|^2 - 1 = (sum h_i^2 - 1) + sum (x_i - h_i) (x_i + h_i)
        p, q = (a[i] + _HALF_DIGITS) - _HALF_DIGITS, (b[i] + _HALF_DIGITS) - _HALF_DIGITS
        r = (c[i] + _HALF_DIGITS) - _HALF_DIGITS
        low = (a[i] - p) * (a[i] + p) + (b[i] - q) * (b[i] + q) + (c[i] - r) * (c[i] + r)
        out[i] = 0.5 * abs((1.0 - (p * p + q * q + r * r)) - low)


@njit(fastmath={"contract"})
def _cells(y, x, count, cells, place, fraction):
    """Write the grid cells of directions' angles and 2 f - 1 for the rests f in them.

    An angle is k pi/4 + a, |a| <= pi/8 or so, with an error of about 1e-16 in a. Without branches, whose outcomes would
    be random.
    """
    eighth, scale = cells // 8, cells / (2.0 * math.pi)
    for i in range(count):
        far, near = abs(x[i]), abs(y[i])
        steep = near > far
        low, high = min(far, near), max(far, near)
        beyond = low > _TAN_EIGHTH * high
        above, below = (low - high if beyond else low), (low + high if beyond else high)
        ratio = above / (below if below > 0.0 else 1.0)
        u = ratio * ratio
        series = _ARCTAN[-1]
        for j in range(len(_ARCTAN) - 2, -1, -1):
            series = series * u + _ARCTAN[j]
        small = ratio * series
        k = 1.0 if beyond else 0.0
        k, small = (2.0 - k if steep else k), (-small if steep else small)
        k, small = (4.0 - k if x[i] < 0.0 else k), (-small if x[i] < 0.0 else small)
        k, small = (-k if y[i] < 0.0 else k), (-small if y[i] < 0.0 else small)
        rest = small * scale
        whole = ((rest - 0.5) + _ROUND) - _ROUND
        cell = k * eighth + whole
        place[i] = np.int32(cell + cells if cell < 0.0 else cell)
        fraction[i] = 2.0 * (rest - whole) - 1.0
