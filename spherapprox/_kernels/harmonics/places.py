"""Places of scattered points on a grid, sorted by patches of it.

Rows go through short arrays of one coordinate each, so that the arithmetic is of whole vectors.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..._types import Float64, Floats, Int32, Int64
from ..jit import njit, subroutine
from ..simd.vectors import larger, load, store, zeros
from .grids import PATCH

CHUNK = 256  # points whose places are computed together; a multiple of a vector's lanes

_LANES = 8
_PATCH_BITS = PATCH.bit_length() - 1
_TAN_EIGHTH = 0.41421356237309503
_ROUND = 1.5 * 2.0**52  # a number whose sums with small ones are whole
_HALF_DIGITS = 1.5 * 2.0**26  # a number whose sums with numbers of about 1 are multiples of 2^-26
# atan(sqrt(u)) / sqrt(u) on 0 <= u <= tan(pi/8)^2, at Chebyshev nodes in 60-digit arithmetic; error 2e-18.
_ARCTAN = (
    1.0, -0.3333333333333312, 0.19999999999940893, -0.14285714279250245, 0.11111110744919658, -0.09090896809064027,
    0.07692045330902225, -0.06662951813629191, 0.05846878297330872, -0.05035102456601552, 0.03796525745386593,
    -0.017805397205419446,
)  # fmt: skip


def sort_points(
    x: Floats, first: int, cells: int, patches: int, columns: int, place: Int32, fraction: Float64, order: Int64,
    starts: Int64,
) -> float:  # fmt: skip
    """Write points' places sorted by patch, and where the patches begin; return the largest ``|1 - |x|^2| / 2``.

    The rows `x` are those from `first` on of all points; a place is a grid cell, of `cells` (a multiple of 8) in a full
    turn, and 2 f - 1 for the rest f in it. `patches`, of so many columns (a power of 2), make a band; `starts` gets one
    number more than there are patches.
    """
    # NumPy makes the arrays that the kernels need on their way: numba would compile each form
    cell, remainder, keys = np.empty(place.size, np.int32), np.empty(place.size), np.empty(len(x), np.int32)
    work, at = np.zeros(4 * CHUNK + _LANES), np.zeros(len(starts), np.int64)
    _find_places(x, cells, cell, remainder, work)
    _sort_places(first, patches, columns.bit_length() - 1, cell, remainder, keys, place, fraction, order, starts, at)
    return float(work[4 * CHUNK :].max())


@njit
def _sort_places(first, patches, bits, cell, remainder, keys, place, fraction, order, starts, at):
    """Sort places by patches of 2^bits columns."""
    n, angles = place.shape
    last = (angles - 1) * n
    # Step 1: number the patches, and count the points of each
    for i in range(n):
        keys[i] = cell[last + i] >> bits
        if angles == 2:
            keys[i] += (cell[i] >> _PATCH_BITS) * patches
        at[keys[i]] += 1
    total = 0
    for key in range(len(starts)):
        count = at[key]
        starts[key] = first + total
        at[key] = total
        total += count
    # Step 2: sort
    for i in range(n):
        to = at[keys[i]]
        at[keys[i]] = to + 1
        order[to] = first + i
        place[to, 0], fraction[to, 0] = cell[i], remainder[i]
        if angles == 2:
            place[to, 1], fraction[to, 1] = cell[n + i], remainder[n + i]


@njit
def _find_places(x, cells, cell, remainder, work):
    """Write the cells and remainders, one row for each angle, one after the other.

    `work` has four rows of `CHUNK`, three for coordinates, and ends with the largest ``|1 - |x|^2| / 2`` of each lane.
    """
    (n, d), top, nought = x.shape, zeros(work), np.int64(0)
    for begin in range(0, n, CHUNK):
        count = CHUNK if n - begin > CHUNK else n - begin
        for i in range(count):
            work[i], work[CHUNK + i] = x[begin + i, 0], x[begin + i, 1]
            work[2 * CHUNK + i] = x[begin + i, 2] if d == 3 else 0.0
        for i in range(count, CHUNK):
            work[3 * CHUNK + i] = 0.0
        # Step 1: half the defects of the lengths
        _half_defects(work, count)
        for i in range(0, count, _LANES):
            top = larger(load(work, 3 * CHUNK + i), top)
        # Step 2: the colatitude's cells, of the height and the distance from the axis, and the azimuth's
        for i in range(count):
            work[3 * CHUNK + i] = math.sqrt(work[i] * work[i] + work[CHUNK + i] * work[CHUNK + i])
        for j in range(3 - d, 2):
            across, along = (nought, nought + CHUNK) if j == 1 else (nought + 2 * CHUNK, nought + 3 * CHUNK)
            _cells(work, along, across, count, cells, cell, remainder, (j + d - 3) * n + begin)
    store(work, 4 * CHUNK, top)


@subroutine
def _half_defects(work, count):
    """Write ``|1 - |row|^2| / 2``: squares of multiples of 2^-26 add up exactly, what they leave is small."""
    for i in range(count):
        a, b, c = work[i], work[CHUNK + i], work[2 * CHUNK + i]
        # 4.8, proof: |x|^2 - 1 = (sum h_i^2 - 1) + sum (x_i - h_i) (x_i + h_i)
        p, q, r = (
            (a + _HALF_DIGITS) - _HALF_DIGITS,
            (b + _HALF_DIGITS) - _HALF_DIGITS,
            (c + _HALF_DIGITS) - _HALF_DIGITS,
        )
        low = (a - p) * (a + p) + (b - q) * (b + q) + (c - r) * (c + r)
        work[3 * CHUNK + i] = 0.5 * abs((1.0 - (p * p + q * q + r * r)) - low)


@partial(subroutine, fastmath={"contract"})
def _cells(work, y, x, count, cells, place, fraction, to):
    """Write the grid cells of directions' angles and 2 f - 1 for the rests f in them, without branches at random.

    An angle is k pi/4 + a, |a| <= pi/8 or so, with an error of about 1e-16 in a.
    """
    eighth, scale = cells // 8, cells / (2.0 * math.pi)
    for i in range(count):
        horizontal, vertical = work[x + i], work[y + i]
        far, near = abs(horizontal), abs(vertical)
        steep = near > far
        low, high = (far if steep else near), (near if steep else far)
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
        k, small = (4.0 - k if horizontal < 0.0 else k), (-small if horizontal < 0.0 else small)
        k, small = (-k if vertical < 0.0 else k), (-small if vertical < 0.0 else small)
        remainder = small * scale
        integer = ((remainder - 0.5) + _ROUND) - _ROUND
        cell = k * eighth + integer
        place[to + i] = np.int32(cell + cells if cell < 0.0 else cell)
        fraction[to + i] = 2.0 * (remainder - integer) - 1.0
