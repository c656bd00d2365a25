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

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from ..simd.alignment import aligned_zeros
from ..simd.vectors import add, load, multiply, multiply_add, operation, spread, store, subtract, zeros
from .grids import ARC, LANES, PATCH, WIDEST

CHAIN = 1024
"""Points whose windows are added one after another: partial sums keep the rounding errors of many points small."""
GROUP = 16  # points whose windows are computed before they are used; a divisor of `CHAIN`
SPACE = WIDEST + LANES  # grid points from the begin of a vector that a window touches at most
_OVER, _BESIDE, _TILES = 2 * GROUP, (2 + SPACE) * GROUP, (2 + 2 * SPACE) * GROUP
"""Where windows of either coordinate and tiles begin in the workspace, after the weights of points of either sign."""
_SHIFT, _BEGIN, _COUNT, _WHOLE = 2 * GROUP, 6 * GROUP, 7 * GROUP, 7 * GROUP + 2
"""Where that of integers has, after the points, their windows' shifts, first grid points, and numbers; its length."""


def _turned(builder: Any, a: Any, b: Any) -> Any:
    """Return a - b with its lanes in the opposite order."""
    difference, count = builder.fsub(a, b), a.type.count
    mask = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count - 1, -1, -1)))
    return builder.shuffle_vector(difference, difference, mask)


_turned_difference = operation(_turned, 2)


def workspace() -> tuple[Float64, Int64]:
    """Return the arrays that kernels write to on their way: NumPy makes them, numba would compile each form."""
    return aligned_zeros((_TILES + max(2 * SPACE * SPACE, 2 * (ARC + SPACE)),)), np.zeros(_WHOLE, np.int64)


@subroutine
def _windows(polynomials, width, fraction, count, slot, integers, work):
    """Write the windows of points from `slot` on, four vectors each between zeros, from `_OVER` and `_BESIDE` on.

    That of the last coordinate is times a weight. A window is even: one half has the other's polynomials, whose even
    and odd parts are apart.
    """
    nought, angles, lanes = zeros(work), fraction.shape[1], LANES * (width // LANES - 1)
    over, beside = np.int64(_OVER), np.int64(_BESIDE)
    for i in range(slot, slot + count):
        at, w = integers[i] * angles, spread(work, i)
        y, z = spread(fraction, at), spread(fraction, at + angles - 1)
        yy, zz = multiply(y, y), multiply(z, z)
        there, here = over + integers[_SHIFT + i], beside + integers[_SHIFT + 2 * GROUP + i]
        store(work, beside, nought)
        store(work, beside + width, nought)
        store(work, over, nought)
        store(work, over + width, nought)
        for part in range(0, lanes, LANES):
            at = len(polynomials) - 2 * lanes + part
            a, b = load(polynomials, at), load(polynomials, at + lanes)
            c, d = a, b
            while at >= 2 * lanes:
                at -= 2 * lanes
                p, q = load(polynomials, at), load(polynomials, at + lanes)
                a, b = multiply_add(a, zz, p), multiply_add(b, zz, q)
                if angles == 2:
                    c, d = multiply_add(c, yy, p), multiply_add(d, yy, q)
            a, b, d = multiply(a, w), multiply(multiply(b, z), w), multiply(d, y)
            store(work, here + part, add(a, b))
            store(work, there + part, add(c, d))
            if part == 0:
                store(work, here + width - LANES, _turned_difference(a, b))
                store(work, there + width - LANES, _turned_difference(c, d))
        over += SPACE
        beside += SPACE


@njit
def spread_sphere(
    bands, blocks, chunks, band, starts, place, fraction, polynomials, width, weights, grids, work, integers
):  # fmt: skip
    """Add the weights times the windows of the points of some patches and chunks to the grid, (1, rows, columns).

    `bands`, `blocks` and `chunks` are pairs of a first one and an end, of `band` patches in each band; `starts`,
    (chunks, patches + 1), says where the points are of each; weights are in their order. With two grids, (2, rows,
    columns), the second is for the sizes of the weights that are negative.
    """
    signs, tiles = len(grids), np.int64(_TILES)
    for row in range(bands[0], bands[1]):
        for patch in range(row * band + blocks[0], row * band + blocks[1]):
            top, left, waiting = row * PATCH, (patch - row * band) * PATCH, 0
            integers[_COUNT] = integers[_COUNT + 1] = 0
            for chunk in range(chunks[0], chunks[1] + 1):
                # Step 1: collect points of one sign; after the last chunk, what is left of them
                last = chunk == chunks[1]
                first, stop = (0, signs) if last else (starts[chunk, patch], starts[chunk, patch + 1])
                for k in range(first, stop):
                    sign = k if last else np.int64(signs == 2 and weights[k] < 0.0)
                    i, slot = integers[_COUNT + sign], sign * GROUP
                    if not last:
                        integers[slot + i], work[slot + i] = k, abs(weights[k]) if signs == 2 else weights[k]
                        integers[_SHIFT + slot + i] = place[k, 0] - top
                        integers[_SHIFT + 2 * GROUP + slot + i] = place[k, 1] - left
                        i += 1
                        integers[_COUNT + sign] = i
                    # Step 2: add their windows to a tile
                    if i == GROUP or (last and i > 0):
                        _windows(polynomials, width, fraction, i, slot, integers, work)
                        _add_products(i, width, tiles + sign * SPACE * SPACE, work)
                        integers[_COUNT + sign] = 0
                        waiting += i
                    # Step 3: add the tiles to the grids
                    if waiting >= CHAIN or (last and k == signs - 1 and waiting > 0):
                        _flush(grids, top, left, work)
                        waiting = 0


@subroutine
def _add_products(count, width, tile, work):
    """Add the products of points' windows to a tile, in registers for eight rows of a vector at a time."""
    for row in range(0, width + PATCH, 8):
        for column in range(0, width + PATCH, LANES):
            x, y, at = _OVER + row, _BESIDE + column, tile + row * SPACE + column
            a, b, c, d = load(work, at), load(work, at + SPACE), load(work, at + 2 * SPACE), load(work, at + 3 * SPACE)
            e, f = load(work, at + 4 * SPACE), load(work, at + 5 * SPACE)
            g, h = load(work, at + 6 * SPACE), load(work, at + 7 * SPACE)
            for _ in range(count):
                p = load(work, y)
                a, b = multiply_add(spread(work, x), p, a), multiply_add(spread(work, x + 1), p, b)
                c, d = multiply_add(spread(work, x + 2), p, c), multiply_add(spread(work, x + 3), p, d)
                e, f = multiply_add(spread(work, x + 4), p, e), multiply_add(spread(work, x + 5), p, f)
                g, h = multiply_add(spread(work, x + 6), p, g), multiply_add(spread(work, x + 7), p, h)
                x += SPACE
                y += SPACE
            store(work, at, a)
            store(work, at + SPACE, b)
            store(work, at + 2 * SPACE, c)
            store(work, at + 3 * SPACE, d)
            store(work, at + 4 * SPACE, e)
            store(work, at + 5 * SPACE, f)
            store(work, at + 6 * SPACE, g)
            store(work, at + 7 * SPACE, h)


@subroutine
def _flush(grids, top, left, work):
    """Add the tiles to the grids, within the grids' bounds, and clear them."""
    nought, (signs, rows, stride) = zeros(work), grids.shape
    reach = SPACE if rows - top > SPACE else rows - top
    for sign in range(signs):
        for i in range(reach):
            at, to = _TILES + (sign * SPACE + i) * SPACE, (sign * rows + top + i) * stride + left
            for j in range(0, SPACE, LANES):
                store(grids, to + j, add(load(grids, to + j), load(work, at + j)))
                store(work, at + j, nought)


@njit
def spread_circle(arcs, chunks, starts, place, fraction, polynomials, width, weights, grids, work, integers):
    """Add the weights times the windows of the points of some arcs and chunks to the grid, as `spread_sphere` does."""
    signs, stride, nought = len(grids), grids.shape[2], zeros(work)
    for arc in range(arcs[0], arcs[1]):
        left, waiting = arc * ARC, 0
        reach = ARC + SPACE if stride - left > ARC + SPACE else stride - left
        for chunk in range(chunks[0], chunks[1]):
            begin, stop = starts[chunk, arc], starts[chunk, arc + 1]
            while begin < stop:
                # Step 1: the windows of some points
                count = GROUP if stop - begin > GROUP else stop - begin
                for i in range(count):
                    integers[i], work[i] = begin + i, weights[begin + i]
                    integers[_SHIFT + 2 * GROUP + i] = place[begin + i, 0] % LANES
                _windows(polynomials, width, fraction, count, np.int64(0), integers, work)
                # Step 2: add them to the tiles
                for i in range(count):
                    at, of = _TILES + place[begin + i, 0] - left - integers[_SHIFT + 2 * GROUP + i], _BESIDE + i * SPACE
                    negative = signs == 2 and work[i] < 0.0
                    at += ARC + SPACE if negative else 0
                    for j in range(0, SPACE, LANES):
                        sums, window = load(work, at + j), load(work, of + j)
                        store(work, at + j, subtract(sums, window) if negative else add(sums, window))
                waiting += count
                begin += count
                # Step 3: add the tiles to the grids
                if waiting >= CHAIN or begin == stop:
                    for sign in range(signs):
                        at, to = _TILES + sign * (ARC + SPACE), sign * stride + left
                        for j in range(0, reach, LANES):
                            store(grids, to + j, add(load(grids, to + j), load(work, at + j)))
                            store(work, at + j, nought)
                    waiting = 0


@njit
def interpolate_points(start, stop, place, fraction, polynomials, width, grid, out, work, integers):
    """Write the sums of grid values times the window at each point from `start` on."""
    angles, stride = place.shape[1], grid.shape[1]
    height = width if angles == 2 else 1
    for i in range(GROUP):
        work[i] = 1.0
    for begin in range(start, stop, GROUP):
        # Step 1: the windows of some points, and where they begin
        count = GROUP if stop - begin > GROUP else stop - begin
        for i in range(count):
            k = begin + i
            column = place[k, angles - 1]
            shift = column % LANES
            integers[i], integers[_SHIFT + 2 * GROUP + i] = k, shift
            integers[_BEGIN + i] = (place[k, 0] * stride if angles == 2 else 0) + column - shift
        _windows(polynomials, width, fraction, count, np.int64(0), integers, work)
        # Step 2: sums of products with the grid's values, lane by lane
        _read_rows(count, grid, stride, height, width, integers, work)
        # Step 3: sum over lanes
        for i in range(count):
            at = _BESIDE + i * SPACE
            near = (work[at] + work[at + 1]) + (work[at + 2] + work[at + 3])
            out[begin - start + i] = near + ((work[at + 4] + work[at + 5]) + (work[at + 6] + work[at + 7]))


@subroutine
def _read_rows(count, values, stride, height, width, integers, work):
    """Write the products of grid values and two windows, summed but for the lanes, into the windows' first vectors.

    Every other row has sums of its own: each waits for the one before it.
    """
    over, beside, two, three = np.int64(_OVER), np.int64(_BESIDE), 2 * LANES, 3 * LANES
    for i in range(count):
        at, below = integers[_BEGIN + i], integers[_BEGIN + i] + (stride if height > 1 else 0)
        a = b = c = d = p = q = r = s = zeros(work)
        if height == 1:
            work[over], work[over + 1] = 1.0, 0.0  # no window of another coordinate
        for j in range(over, over + height, 2):
            tap, other = spread(work, j), spread(work, j + 1)
            a, b = multiply_add(load(values, at), tap, a), multiply_add(load(values, at + LANES), tap, b)
            p, q = multiply_add(load(values, below), other, p), multiply_add(load(values, below + LANES), other, q)
            c, r = multiply_add(load(values, at + two), tap, c), multiply_add(load(values, below + two), other, r)
            if width == WIDEST:
                d = multiply_add(load(values, at + three), tap, d)
                s = multiply_add(load(values, below + three), other, s)
            at += 2 * stride
            below += 2 * stride
        a, c = multiply(add(a, p), load(work, beside)), multiply(add(c, r), load(work, beside + two))
        a = multiply_add(add(b, q), load(work, beside + LANES), a)
        c = multiply_add(add(d, s), load(work, beside + three), c)
        store(work, beside, add(a, c))
        over += SPACE
        beside += SPACE
