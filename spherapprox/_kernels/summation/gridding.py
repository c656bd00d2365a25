"""Weights at scattered points spread onto a grid, and values interpolated from it, for non-uniform Fourier transforms.

The window is the product of two functions of one coordinate, 16 or 24 grid cells wide, each given by polynomials.
Points of one patch touch the same few vectors of the grid, 3 for a window of 16 wherever it begins and 4 for one of 24:
their windows, between zeros, are two matrices, whose product is summed in registers and in the cache before it goes to
the grid.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from ..jit import njit, subroutine
from ..simd.vectors import add, load, multiply, multiply_add, operation, spread, store, subtract, zeros
from .grids import ARC, LANES, PATCH, WIDEST

CHAIN = 1024
"""Points whose windows are added one after another: partial sums keep the rounding errors of many points small."""
GROUP = 16
"""Points whose windows are computed before they are used; a divisor of `CHAIN`."""

SPACE = WIDEST + LANES
"""Grid points from the begin of a vector that a window touches at most."""


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
def _windows(polynomials, width, fraction, points, count, weight, shift, across, over, along, beside):
    """Write the windows of some points, one after another, from `over` and `beside` on: four vectors each.

    That of the last coordinate is times a weight. Both begin at a shift, (2, points), between zeros. A window is even,
    so that one half has the other's polynomials, whose even and odd parts are apart.
    """
    nought, angles = zeros(along), fraction.shape[1]
    flat = fraction.reshape(-1)
    lanes = LANES * (width // LANES - 1)
    for i in range(count):
        y, z, w = spread(flat, points[i] * angles), spread(flat, (points[i] + 1) * angles - 1), spread(weight, i)
        yy, zz = multiply(y, y), multiply(z, z)
        here, there = beside + shift[1, i], over + shift[0, i]
        store(along, beside, nought)
        store(along, beside + width, nought)
        if angles == 2:
            store(across, over, nought)
            store(across, over + width, nought)
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
            a, b, d = multiply(a, w), multiply(multiply(b, z), w), multiply(d, y)
            store(along, here + part, add(a, b))
            if part == 0:
                store(along, here + width - LANES, _turned_difference(a, b))
            if angles == 2:
                store(across, there + part, add(c, d))
                if part == 0:
                    store(across, there + width - LANES, _turned_difference(c, d))
        over += SPACE
        beside += SPACE


@njit
def spread_sphere(bands, blocks, chunks, band, starts, place, fraction, polynomials, width, weights, grids):
    """Add the weights times the windows of the points of some patches and chunks to the grid, (1, rows, columns).

    `bands`, `blocks` and `chunks` are pairs of a first one and an end, of `band` patches in each band; `starts`,
    (chunks, patches + 1), says where the points are of each; weights are in their order. With two grids, (2, rows,
    columns), the second is for the sizes of the weights that are negative.
    """
    signs = len(grids)
    tiles, across, along = _buffer(signs * SPACE * SPACE), _buffer(GROUP * SPACE), _buffer(GROUP * SPACE)
    base, over, beside = _offset(tiles), _offset(across), _offset(along)
    points, shift, weight = np.empty((2, GROUP), np.int64), np.empty((2, 2, GROUP), np.int64), np.empty((2, GROUP))
    some = np.empty(2, np.int64)
    for row in range(bands[0], bands[1]):
        for patch in range(row * band + blocks[0], row * band + blocks[1]):
            top, left, waiting = row * PATCH, (patch - row * band) * PATCH, 0
            some[0] = some[1] = 0
            for chunk in range(chunks[0], chunks[1] + 1):
                # Step 1: collect points of one sign; after the last chunk, what is left of them
                last = chunk == chunks[1]
                first, stop = (0, signs) if last else (starts[chunk, patch], starts[chunk, patch + 1])
                for k in range(first, stop):
                    sign = k if last else np.int64(signs == 2 and weights[k] < 0.0)
                    i = some[sign]
                    if not last:
                        points[sign, i], weight[sign, i] = k, abs(weights[k]) if signs == 2 else weights[k]
                        shift[sign, 0, i], shift[sign, 1, i] = place[k, 0] - top, place[k, 1] - left
                        some[sign] = i = i + 1
                    # Step 2: add their windows to a tile
                    if i == GROUP or (last and i > 0):
                        _windows(
                            polynomials, width, fraction, points[sign], i, weight[sign], shift[sign], across, over,
                            along, beside,
                        )  # fmt: skip
                        _add_products(i, tiles, base + sign * SPACE * SPACE, width, across, over, along, beside)
                        some[sign] = 0
                        waiting += i
                    # Step 3: add the tiles to the grids
                    if waiting >= CHAIN or (last and k == signs - 1 and waiting > 0):
                        _flush(tiles, base, grids, top, left)
                        waiting = 0


@subroutine
def _add_products(count, tile, base, width, across, over, along, beside):
    """Add the products of points' windows to a tile, in registers for four of its rows at a time."""
    for row in range(0, width + PATCH, 4):
        at, x, y = base + row * SPACE, over + row, beside
        a0, b0, c0, d0 = load(tile, at), load(tile, at + 8), load(tile, at + 16), load(tile, at + 24)
        a1, b1, c1, d1 = load(tile, at + 32), load(tile, at + 40), load(tile, at + 48), load(tile, at + 56)
        a2, b2, c2, d2 = load(tile, at + 64), load(tile, at + 72), load(tile, at + 80), load(tile, at + 88)
        a3, b3, c3, d3 = load(tile, at + 96), load(tile, at + 104), load(tile, at + 112), load(tile, at + 120)
        for _ in range(count if width == WIDEST else 0):
            s, t, u, v = spread(across, x), spread(across, x + 1), spread(across, x + 2), spread(across, x + 3)
            p, q, r, w = load(along, y), load(along, y + 8), load(along, y + 16), load(along, y + 24)
            a0, b0, c0 = multiply_add(s, p, a0), multiply_add(s, q, b0), multiply_add(s, r, c0)
            a1, b1, c1 = multiply_add(t, p, a1), multiply_add(t, q, b1), multiply_add(t, r, c1)
            a2, b2, c2 = multiply_add(u, p, a2), multiply_add(u, q, b2), multiply_add(u, r, c2)
            a3, b3, c3 = multiply_add(v, p, a3), multiply_add(v, q, b3), multiply_add(v, r, c3)
            d0, d1 = multiply_add(s, w, d0), multiply_add(t, w, d1)
            d2, d3 = multiply_add(u, w, d2), multiply_add(v, w, d3)
            x += SPACE
            y += SPACE
        for _ in range(0 if width == WIDEST else count):
            s, t, u, v = spread(across, x), spread(across, x + 1), spread(across, x + 2), spread(across, x + 3)
            p, q, r = load(along, y), load(along, y + 8), load(along, y + 16)
            a0, b0, c0 = multiply_add(s, p, a0), multiply_add(s, q, b0), multiply_add(s, r, c0)
            a1, b1, c1 = multiply_add(t, p, a1), multiply_add(t, q, b1), multiply_add(t, r, c1)
            a2, b2, c2 = multiply_add(u, p, a2), multiply_add(u, q, b2), multiply_add(u, r, c2)
            a3, b3, c3 = multiply_add(v, p, a3), multiply_add(v, q, b3), multiply_add(v, r, c3)
            x += SPACE
            y += SPACE
        _store_row(tile, at, a0, b0, c0, d0)
        _store_row(tile, at + SPACE, a1, b1, c1, d1)
        _store_row(tile, at + 2 * SPACE, a2, b2, c2, d2)
        _store_row(tile, at + 3 * SPACE, a3, b3, c3, d3)


@subroutine
def _store_row(tile, at, a, b, c, d):
    """Write a row of a tile."""
    store(tile, at, a)
    store(tile, at + 8, b)
    store(tile, at + 16, c)
    store(tile, at + 24, d)


@subroutine
def _flush(tiles, base, grids, top, left):
    """Add the tiles to the grids, within the grids' bounds, and clear them."""
    nought, flat, (signs, rows, stride) = zeros(tiles), grids.reshape(-1), grids.shape
    for sign in range(signs):
        for i in range(min(SPACE, rows - top)):
            at, to = base + (sign * SPACE + i) * SPACE, (sign * rows + top + i) * stride + left
            for j in range(0, SPACE, LANES):
                store(flat, to + j, add(load(flat, to + j), load(tiles, at + j)))
                store(tiles, at + j, nought)


@njit
def spread_circle(arcs, chunks, starts, place, fraction, polynomials, width, weights, grids):
    """Add the weights times the windows of the points of some arcs and chunks to the grid, as `spread_sphere` does."""
    signs, stride, flat = len(grids), grids.shape[2], grids.reshape(-1)
    tiles, across, along = _buffer(signs * (ARC + SPACE)), _buffer(GROUP * SPACE), _buffer(GROUP * SPACE)
    base, over, beside = _offset(tiles), _offset(across), _offset(along)
    points, shift, weight = np.empty(GROUP, np.int64), np.zeros((2, GROUP), np.int64), np.empty(GROUP)
    for arc in range(arcs[0], arcs[1]):
        left, waiting = arc * ARC, 0
        reach = min(ARC + SPACE, stride - left)
        for chunk in range(chunks[0], chunks[1]):
            stop = starts[chunk, arc + 1]
            for begin in range(starts[chunk, arc], stop, GROUP):
                # Step 1: the windows of some points
                count = min(GROUP, stop - begin)
                for i in range(count):
                    points[i], weight[i] = begin + i, weights[begin + i]
                    shift[1, i] = place[begin + i, 0] % LANES
                _windows(polynomials, width, fraction, points, count, weight, shift, across, over, along, beside)
                # Step 2: add them to the tiles
                for i in range(count):
                    at, of = base + place[begin + i, 0] - left - shift[1, i], beside + i * SPACE
                    if signs == 2 and weight[i] < 0.0:
                        for j in range(0, SPACE, LANES):
                            to = at + ARC + SPACE + j
                            store(tiles, to, subtract(load(tiles, to), load(along, of + j)))
                    else:
                        for j in range(0, SPACE, LANES):
                            store(tiles, at + j, add(load(tiles, at + j), load(along, of + j)))
                waiting += count
                # Step 3: add the tiles to the grids
                if waiting >= CHAIN or begin + count == stop:
                    for sign in range(signs):
                        at, to = base + sign * (ARC + SPACE), sign * stride + left
                        for j in range(reach):
                            flat[to + j] += tiles[at + j]
                            tiles[at + j] = 0.0
                    waiting = 0


@njit
def interpolate_points(start, stop, place, fraction, order, polynomials, width, grid, out):
    """Write the sums of grid values times the window at each point, in the points' own order."""
    angles, values, stride = place.shape[1], grid.reshape(-1), grid.shape[1]
    across, along = _buffer(GROUP * SPACE), _buffer(GROUP * SPACE)
    over, beside = _offset(across), _offset(along)
    points, shift, at = np.empty(GROUP, np.int64), np.zeros((2, GROUP), np.int64), np.empty(GROUP, np.int64)
    weight = np.ones(GROUP)
    if angles == 1:
        for i in range(len(across)):
            across[i] = 1.0
    for begin in range(start, stop, GROUP):
        # Step 1: the windows of some points, and where they begin
        count = min(GROUP, stop - begin)
        for i in range(count):
            k = points[i] = begin + i
            shift[1, i] = place[k, angles - 1] % LANES
            at[i] = (place[k, 0] * stride if angles == 2 else 0) + place[k, angles - 1] - shift[1, i]
        _windows(polynomials, width, fraction, points, count, weight, shift, across, over, along, beside)
        # Step 2: sums of products with the grid's values, lane by lane
        _read_rows(count, values, at, stride, width if angles == 2 else 1, width, across, over, along, beside)
        # Step 3: sum over lanes
        for i in range(count):
            out[order[begin + i]] = _total(along, beside + i * SPACE)


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
        over += SPACE
        beside += SPACE


@subroutine
def _total(lanes, at):
    """Return the sum of a vector's lanes."""
    near = (lanes[at] + lanes[at + 1]) + (lanes[at + 2] + lanes[at + 3])
    return near + ((lanes[at + 4] + lanes[at + 5]) + (lanes[at + 6] + lanes[at + 7]))
