"""Weights at scattered points spread onto a grid, and values interpolated from it, for non-uniform Fourier transforms.

The window is the product of two functions of one coordinate, 16 or 24 grid cells wide, each given by polynomials. A
patch's windows are summed in the cache before they go to the grid, and bands of the same parity touch disjoint parts of
it, so that threads need no locks and the sums come in one order whatever their number. Rows are read and written in
whole aligned vectors, between zeros: 3 of them hold a window of 16 wherever it begins, 4 one of 24.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from ..jit import njit, subroutine
from ..simd.vectors import add, load, multiply, multiply_add, operation, spread, store, zeros
from .grids import BAND, LANES, WIDEST

CHAIN = 1024
"""Points whose windows are added one after another: partial sums keep the rounding errors of many points small."""
GROUP = 16
"""Points whose windows are computed before they are used; a divisor of `CHAIN`."""

_TILE_ROWS = BAND + WIDEST


def _turned(builder: Any, a: Any, b: Any) -> Any:
    """Return a - b with its lanes in the opposite order."""
    difference, count = builder.fsub(a, b), a.type.count
    mask = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count - 1, -1, -1)))
    return builder.shuffle_vector(difference, difference, mask)


_turned_difference = operation(_turned, 2)


@subroutine
def _buffer(size):
    """Return zeros, with room for an aligned start."""
    return np.zeros(size + LANES)


@subroutine
def _offset(buffer):
    """Return the index of the first element whose address is a multiple of a vector's size."""
    return -(buffer.ctypes.data // 8) % LANES


@subroutine
def _windows(polynomials, width, fraction, first, last, shift, across, over, along, beside):
    """Write the windows of the points from `first` to before `last`, one after another, from `over`, `beside` on.

    Those of the first coordinate take `WIDEST` numbers each; those of the last one four vectors, `shift` columns on
    between zeros. A window is even, so that one half has the other's polynomials: even part and odd part apart.
    """
    nought, angles = zeros(along), fraction.shape[1]
    flat = fraction.reshape(-1)
    lanes = LANES * (width // LANES - 1)
    for k in range(first, last):
        y, z = spread(flat, k * angles), spread(flat, (k + 1) * angles - 1)
        yy, zz = multiply(y, y), multiply(z, z)
        for j in range(4):
            store(along, beside + j * LANES, nought)
        move = beside + shift[k - first]
        for part in range(0, lanes, LANES):
            at = len(polynomials) - 2 * lanes + part
            a, b = load(polynomials, at), load(polynomials, at + lanes)
            c, d = a, b
            if angles == 1:
                while at >= 2 * lanes:
                    at -= 2 * lanes
                    a = multiply_add(a, zz, load(polynomials, at))
                    b = multiply_add(b, zz, load(polynomials, at + lanes))
            while at >= 2 * lanes:
                at -= 2 * lanes
                p, q = load(polynomials, at), load(polynomials, at + lanes)
                a, b = multiply_add(a, zz, p), multiply_add(b, zz, q)
                c, d = multiply_add(c, yy, p), multiply_add(d, yy, q)
            b, d = multiply(b, z), multiply(d, y)
            store(along, move + part, add(a, b))
            store(across, over + part, add(c, d))
            if part == 0:
                store(along, move + width - LANES, _turned_difference(a, b))
                store(across, over + width - LANES, _turned_difference(c, d))
        over += WIDEST
        beside += 4 * LANES


@njit
def spread_patches(
    patches, chunks, band, columns, starts, place, fraction, order, polynomials, width, weights, grids, cells
):
    """Add the weights times the windows of the points of some patches and chunks to the grid, (1, rows, columns).

    `patches` and `chunks` are pairs of a first one and an end; `starts`, (chunks, patches + 1), says where the points
    are of each. With two grids, (2, rows, columns), the second is for the sizes of the weights that are negative.
    """
    angles, signs, stride = place.shape[1], len(grids), grids.shape[2]
    flat, height = grids.reshape(-1), width if angles == 2 else 1
    tile_columns = min(columns, cells) + WIDEST
    area = (_TILE_ROWS if angles == 2 else 1) * tile_columns
    tiles, across, along = _buffer(signs * area), _buffer(GROUP * WIDEST), _buffer(GROUP * 4 * LANES)
    base, over, beside = _offset(tiles), _offset(across), _offset(along)
    shift, at, weight = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP)
    for patch in range(patches[0], patches[1]):
        top, left, waiting = patch // band * BAND, patch % band * columns, 0
        for chunk in range(chunks[0], chunks[1]):
            stop = starts[chunk, patch + 1]
            for begin in range(starts[chunk, patch], stop, GROUP):
                # Step 1: the windows of some points, and where they begin
                end = min(begin + GROUP, stop)
                for k in range(begin, end):
                    column, w = place[k, angles - 1] - left, weights[order[k]]
                    second = signs == 2 and w < 0.0
                    shift[k - begin], weight[k - begin] = column % LANES, -w if second else w
                    row = place[k, 0] - top if angles == 2 else 0
                    at[k - begin] = base + row * tile_columns + column - column % LANES + (area if second else 0)
                _windows(polynomials, width, fraction, begin, end, shift, across, over, along, beside)
                # Step 2: add them to the tiles, times the weights
                if angles == 1:
                    for i in range(end - begin):
                        across[over + i * WIDEST] = 1.0
                _add_rows(end - begin, tiles, at, tile_columns, height, width, across, over, along, beside, weight)
                waiting += end - begin
                # Step 3: add the tiles to the grids
                if waiting >= CHAIN:
                    _flush(tiles, base, area, tile_columns, flat, signs, stride, top, left, grids.shape[1])
                    waiting = 0
        if waiting:
            _flush(tiles, base, area, tile_columns, flat, signs, stride, top, left, grids.shape[1])


@subroutine
def _add_rows(count, tile, begins, stride, height, width, across, over, along, beside, weight):
    """Add the weights times the products of two windows to the rows of a tile from where they begin."""
    for i in range(count):
        at, w = begins[i], spread(weight, i)
        a, b = multiply(w, load(along, beside)), multiply(w, load(along, beside + LANES))
        c, d = multiply(w, load(along, beside + 2 * LANES)), multiply(w, load(along, beside + 3 * LANES))
        if width == WIDEST:
            for j in range(over, over + height):
                tap = spread(across, j)
                store(tile, at, multiply_add(a, tap, load(tile, at)))
                store(tile, at + LANES, multiply_add(b, tap, load(tile, at + LANES)))
                store(tile, at + 2 * LANES, multiply_add(c, tap, load(tile, at + 2 * LANES)))
                store(tile, at + 3 * LANES, multiply_add(d, tap, load(tile, at + 3 * LANES)))
                at += stride
        else:
            for j in range(over, over + height):
                tap = spread(across, j)
                store(tile, at, multiply_add(a, tap, load(tile, at)))
                store(tile, at + LANES, multiply_add(b, tap, load(tile, at + LANES)))
                store(tile, at + 2 * LANES, multiply_add(c, tap, load(tile, at + 2 * LANES)))
                at += stride
        over += WIDEST
        beside += 4 * LANES


@subroutine
def _flush(tiles, base, area, columns, grids, signs, stride, top, left, rows):
    """Add the tiles to the grids, within the grids' bounds, and clear them."""
    nought = zeros(tiles)
    for sign in range(signs):
        for i in range(min(area // columns, rows - top)):
            at, to = base + sign * area + i * columns, ((sign * rows) + top + i) * stride + left
            for j in range(0, min(columns, stride - left), LANES):
                store(grids, to + j, add(load(grids, to + j), load(tiles, at + j)))
                store(tiles, at + j, nought)


@njit
def interpolate_points(start, stop, place, fraction, order, polynomials, width, grid, out):
    """Write the sums of grid values times the window at each point, in the points' own order."""
    angles, values, stride = place.shape[1], grid.reshape(-1), grid.shape[1]
    height = width if angles == 2 else 1
    across, along = _buffer(GROUP * WIDEST), _buffer(GROUP * 4 * LANES)
    over, beside = _offset(across), _offset(along)
    shift, at = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    for begin in range(start, stop, GROUP):
        # Step 1: the windows of some points, and where they begin
        end = min(begin + GROUP, stop)
        for k in range(begin, end):
            column = place[k, angles - 1]
            shift[k - begin] = column % LANES
            at[k - begin] = (place[k, 0] * stride if angles == 2 else 0) + column - column % LANES
        _windows(polynomials, width, fraction, begin, end, shift, across, over, along, beside)
        # Step 2: sums of products with the grid's values, lane by lane
        if angles == 1:
            for i in range(end - begin):
                across[over + i * WIDEST] = 1.0
        _read_rows(end - begin, values, at, stride, height, width, across, over, along, beside)
        for k in range(begin, end):
            # Step 3: sum over lanes
            out[order[k]] = _total(along, beside + 4 * LANES * (k - begin))


@subroutine
def _read_rows(count, values, begins, stride, height, width, across, over, along, beside):
    """Write the products of grid values and two windows, summed but for the lanes, into the windows' first vectors."""
    for i in range(count):
        at = begins[i]
        a = b = c = d = zeros(along)
        if width == WIDEST:
            for j in range(over, over + height):
                tap = spread(across, j)
                a, b = multiply_add(load(values, at), tap, a), multiply_add(load(values, at + LANES), tap, b)
                c = multiply_add(load(values, at + 2 * LANES), tap, c)
                d = multiply_add(load(values, at + 3 * LANES), tap, d)
                at += stride
        else:
            for j in range(over, over + height):
                tap = spread(across, j)
                a, b = multiply_add(load(values, at), tap, a), multiply_add(load(values, at + LANES), tap, b)
                c = multiply_add(load(values, at + 2 * LANES), tap, c)
                at += stride
        a, c = multiply(a, load(along, beside)), multiply(c, load(along, beside + 2 * LANES))
        a = multiply_add(b, load(along, beside + LANES), a)
        c = multiply_add(d, load(along, beside + 3 * LANES), c)
        store(along, beside, add(a, c))
        over += WIDEST
        beside += 4 * LANES


@subroutine
def _total(lanes, at):
    """Return the sum of a vector's lanes."""
    near = (lanes[at] + lanes[at + 1]) + (lanes[at + 2] + lanes[at + 3])
    return near + ((lanes[at + 4] + lanes[at + 5]) + (lanes[at + 6] + lanes[at + 7]))
