"""Weights at scattered points spread onto a grid, and values interpolated from it, for non-uniform Fourier transforms.

The window is the product of two functions of one coordinate, `WIDTH` grid cells wide, each given by polynomials. Points
are sorted by patches of the grid, in bands of the first coordinate: a patch's windows are summed in the cache before
they go to the grid, and bands of the same parity touch disjoint parts of it, so that threads need no locks and the sums
come in one order whatever their number. Rows are read and written in whole aligned vectors, between zeros.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit, subroutine
from ..simd.alignment import BYTES
from ..simd.vectors import add, load, multiply, multiply_add, spread, store, zeros
from .grids import BAND, PATCH
from .layout import WIDTH

CHAIN = 1024
"""Points whose windows are added one after another: partial sums keep the rounding errors of many points small."""
GROUP = 16
"""Points whose windows are computed before they are used; a divisor of `CHAIN`."""

_LANES = BYTES // 8
_TILE_ROWS, _TILE_COLUMNS = BAND + WIDTH, PATCH + WIDTH
_TAN_EIGHTH = 0.41421356237309503
# atan(sqrt(u)) / sqrt(u) on 0 <= u <= tan(pi/8)^2, at Chebyshev nodes in 60-digit arithmetic; error 2e-18.
_ARCTAN = (
    1.0, -0.3333333333333312, 0.19999999999940893, -0.14285714279250245, 0.11111110744919658, -0.09090896809064027,
    0.07692045330902225, -0.06662951813629191, 0.05846878297330872, -0.05035102456601552, 0.03796525745386593,
    -0.017805397205419446,
)  # fmt: skip


@njit(fastmath={"contract"}, inline="always")
def _cell(y, x, cells):
    """Return the grid cell of a direction's angle, of `cells` (a multiple of 8) in a full turn, and the rest in it.

    The angle is k pi/4 + a, |a| <= pi/8 or so, with an error of about 1e-16 in a; the cell may be negative. Without
    branches, whose outcomes would be random.
    """
    far, near = abs(x), abs(y)
    steep = near > far
    low, high = min(far, near), max(far, near)
    beyond = low > _TAN_EIGHTH * high
    above, below = (low - high if beyond else low), (low + high if beyond else high)
    ratio = above / (below if below > 0.0 else 1.0)
    u = ratio * ratio
    series = _ARCTAN[-1]
    for i in range(len(_ARCTAN) - 2, -1, -1):
        series = series * u + _ARCTAN[i]
    small = ratio * series
    k = 1.0 if beyond else 0.0
    k, small = (2.0 - k if steep else k), (-small if steep else small)
    k, small = (4.0 - k if x < 0.0 else k), (-small if x < 0.0 else small)
    k, small = (-k if y < 0.0 else k), (-small if y < 0.0 else small)
    rest = small * (cells / (2.0 * math.pi))
    whole = np.floor(rest)
    return k * (cells // 8) + whole, rest - whole


@njit(fastmath={"contract"})
def circle_positions(x, cells, place, fraction):
    """Write the grid cells and 2 f - 1 for the rests f of points of the circle."""
    for i in range(len(x)):
        cell, rest = _cell(x[i, 1], x[i, 0], cells)
        place[0, i] = np.int32(cell + cells if cell < 0.0 else cell)
        fraction[0, i] = 2.0 * rest - 1.0


@njit(fastmath={"contract"})
def sphere_positions(x, cells, place, fraction):
    """Write the grid cells and 2 f - 1 for points of the sphere: of colatitude into row 0, of azimuth into row 1."""
    for i in range(len(x)):
        cell, rest = _cell(math.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1]), x[i, 2], cells)
        place[0, i] = np.int32(cell)
        fraction[0, i] = 2.0 * rest - 1.0
        cell, rest = _cell(x[i, 1], x[i, 0], cells)
        place[1, i] = np.int32(cell + cells if cell < 0.0 else cell)
        fraction[1, i] = 2.0 * rest - 1.0


@njit
def sort_points(place, fraction, patches, sorted_place, sorted_fraction, order, starts):
    """Sort points by patch, `patches` of them in a band; `starts` gets the patches' begins, and the end.

    On the circle all patches make one row.
    """
    rows, n = place.shape
    first, second = place[0], place[-1]
    at = np.zeros(len(starts), np.int64)
    for i in range(n):
        at[(first[i] // BAND * patches if rows == 2 else 0) + second[i] // PATCH] += 1
    total = 0
    for key in range(len(starts)):
        starts[key], at[key], total = total, total, total + at[key]
    for i in range(n):
        key = (first[i] // BAND * patches if rows == 2 else 0) + second[i] // PATCH
        to = at[key]
        at[key] += 1
        order[to] = i
        for j in range(rows):
            sorted_place[j, to] = place[j, i]
            sorted_fraction[j, to] = fraction[j, i]


@subroutine
def _buffer(size):
    """Return zeros, with room for an aligned start."""
    return np.zeros(size + _LANES)


@subroutine
def _offset(buffer):
    """Return the index of the first element whose address is a multiple of a vector's size."""
    return -(buffer.ctypes.data // 8) % _LANES


@subroutine
def _windows(polynomials, fraction, first, last, shift, across, over, along, beside):
    """Write the windows of the points from `first` to before `last`, one after another, from `over`, `beside` on.

    Those of the first coordinate have three vectors each; those of the last one four, `shift` columns on between zeros.
    """
    nought = zeros(along)
    for k in range(first, last):
        y, z = spread(fraction[0], k), spread(fraction[-1], k)
        at = len(polynomials) - WIDTH
        a, b, c = load(polynomials, at), load(polynomials, at + _LANES), load(polynomials, at + 2 * _LANES)
        d, e, f = a, b, c
        while at > 0:
            at -= WIDTH
            p, q, r = load(polynomials, at), load(polynomials, at + _LANES), load(polynomials, at + 2 * _LANES)
            a, b, c = multiply_add(a, z, p), multiply_add(b, z, q), multiply_add(c, z, r)
            d, e, f = multiply_add(d, y, p), multiply_add(e, y, q), multiply_add(f, y, r)
        store(across, over, d)
        store(across, over + _LANES, e)
        store(across, over + 2 * _LANES, f)
        store(along, beside, nought)
        store(along, beside + 3 * _LANES, nought)
        move = beside + shift[k - first]
        store(along, move, a)
        store(along, move + _LANES, b)
        store(along, move + 2 * _LANES, c)
        over += WIDTH
        beside += 4 * _LANES


@njit
def spread_patches(first, last, patches, starts, place, fraction, order, polynomials, weights, grids):
    """Add the weights times the windows of the points of some patches to the grid, (1, rows, columns).

    With two grids, (2, rows, columns), the second is for the sizes of the weights that are negative.
    """
    flat, signs, width = len(place) == 1, len(grids), grids.shape[2]
    area = _TILE_ROWS * _TILE_COLUMNS
    tiles, across, along = _buffer(signs * area), _buffer(GROUP * WIDTH), _buffer(GROUP * 4 * _LANES)
    base, over, beside = _offset(tiles), _offset(across), _offset(along)
    shift, at, weight = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP)
    for patch in range(first, last):
        top, left = patch // patches * BAND, patch % patches * PATCH
        for begin in range(starts[patch], starts[patch + 1], GROUP):
            # Step 1: the windows of some points, and where they begin
            end = min(begin + GROUP, starts[patch + 1])
            for k in range(begin, end):
                column, w = place[-1, k] - left, weights[order[k]]
                second = signs == 2 and w < 0.0
                shift[k - begin], weight[k - begin] = column % _LANES, -w if second else w
                row = 0 if flat else place[0, k] - top
                at[k - begin] = base + row * _TILE_COLUMNS + column - column % _LANES + (area if second else 0)
            _windows(polynomials, fraction, begin, end, shift, across, over, along, beside)
            # Step 2: add them to the tiles, times the weights
            _add_rows(end - begin, tiles, at, 1 if flat else WIDTH, across, over, along, beside, weight)
            # Step 3: add the tiles to the grids
            if end == starts[patch + 1] or (end - starts[patch]) % CHAIN == 0:
                for sign in range(signs):
                    _flush(tiles, base + sign * area, grids[sign, top:, left:], 1 if flat else _TILE_ROWS, width - left)


@subroutine
def _add_rows(count, tile, begins, height, across, over, along, beside, weight):
    """Add the weights times the products of two windows to the rows of a tile from where they begin."""
    for i in range(count):
        at, w = begins[i], spread(weight, i)
        a, b = multiply(w, load(along, beside)), multiply(w, load(along, beside + _LANES))
        c, d = multiply(w, load(along, beside + 2 * _LANES)), multiply(w, load(along, beside + 3 * _LANES))
        if height == 1:
            across[over] = 1.0
        for j in range(height):
            tap = spread(across, over + j)
            store(tile, at, multiply_add(a, tap, load(tile, at)))
            store(tile, at + _LANES, multiply_add(b, tap, load(tile, at + _LANES)))
            store(tile, at + 2 * _LANES, multiply_add(c, tap, load(tile, at + 2 * _LANES)))
            store(tile, at + 3 * _LANES, multiply_add(d, tap, load(tile, at + 3 * _LANES)))
            at += _TILE_COLUMNS
        over += WIDTH
        beside += 4 * _LANES


@subroutine
def _flush(tile, at, grid, height, width):
    """Add a tile to the grid, within the grid's bounds, and clear it."""
    for i in range(min(height, len(grid))):
        for j in range(min(_TILE_COLUMNS, width)):
            grid[i, j] += tile[at + j]
            tile[at + j] = 0.0
        at += _TILE_COLUMNS


@njit
def interpolate_points(start, stop, place, fraction, order, polynomials, grid, out):
    """Write the sums of grid values times the window at each point, in the points' own order."""
    flat, values, stride = len(place) == 1, grid.reshape(-1), grid.shape[1]
    across, along = _buffer(GROUP * WIDTH), _buffer(GROUP * 4 * _LANES)
    over, beside = _offset(across), _offset(along)
    shift, at = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    for begin in range(start, stop, GROUP):
        # Step 1: the windows of some points, and where they begin
        end = min(begin + GROUP, stop)
        for k in range(begin, end):
            column = place[-1, k]
            shift[k - begin] = column % _LANES
            at[k - begin] = (0 if flat else place[0, k] * stride) + column - column % _LANES
        _windows(polynomials, fraction, begin, end, shift, across, over, along, beside)
        # Step 2: sums of products with the grid's values, lane by lane
        if flat:
            _read_row(end - begin, values, at, along, beside)
        else:
            _read_rows(end - begin, values, at, stride, across, over, along, beside)
        for k in range(begin, end):
            # Step 3: sum over lanes
            out[order[k]] = _total(along, beside + 4 * _LANES * (k - begin))


@subroutine
def _read_rows(count, values, begins, stride, across, over, along, beside):
    """Write the products of grid values and two windows, summed but for the lanes, into the windows' first vectors."""
    for i in range(count):
        at = begins[i]
        a = b = c = d = e = f = g = h = zeros(along)
        for j in range(0, WIDTH, 2):
            y, z = spread(across, over + j), spread(across, over + j + 1)
            a, b = multiply_add(load(values, at), y, a), multiply_add(load(values, at + _LANES), y, b)
            c = multiply_add(load(values, at + 2 * _LANES), y, c)
            d = multiply_add(load(values, at + 3 * _LANES), y, d)
            at += stride
            e, f = multiply_add(load(values, at), z, e), multiply_add(load(values, at + _LANES), z, f)
            g = multiply_add(load(values, at + 2 * _LANES), z, g)
            h = multiply_add(load(values, at + 3 * _LANES), z, h)
            at += stride
        p, q = load(along, beside), load(along, beside + _LANES)
        r, s = load(along, beside + 2 * _LANES), load(along, beside + 3 * _LANES)
        near, far = (
            multiply_add(add(b, f), q, multiply(add(a, e), p)),
            multiply_add(add(d, h), s, multiply(add(c, g), r)),
        )
        store(along, beside, add(near, far))
        over += WIDTH
        beside += 4 * _LANES


@subroutine
def _read_row(count, values, begins, along, beside):
    """Write the products of one row of grid values and one window, summed but for the lanes, into its first vector."""
    for i in range(count):
        at = begins[i]
        a, b = multiply(load(values, at), load(along, beside)), load(along, beside + _LANES)
        c, d = load(along, beside + 2 * _LANES), load(along, beside + 3 * _LANES)
        a = multiply_add(load(values, at + _LANES), b, a)
        c = multiply(load(values, at + 2 * _LANES), c)
        store(along, beside, add(a, multiply_add(load(values, at + 3 * _LANES), d, c)))
        beside += 4 * _LANES


@subroutine
def _total(lanes, at):
    """Return the sum of a vector's lanes."""
    near = (lanes[at] + lanes[at + 1]) + (lanes[at + 2] + lanes[at + 3])
    return near + ((lanes[at + 4] + lanes[at + 5]) + (lanes[at + 6] + lanes[at + 7]))
