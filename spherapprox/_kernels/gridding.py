"""Weights at scattered points spread onto a grid, and values interpolated from it, for non-uniform Fourier transforms.

The window is the product of two functions of one coordinate, `WIDTH` grid cells wide, each given by polynomials. Points
are sorted by bands of the first coordinate; bands of the same parity touch disjoint parts of the grid, so that threads
need no locks and the sums come in one order whatever their number.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from .jit import njit
from .vectors import BYTES, load, multiply, multiply_add, spread, store, zeros

WIDTH = 24
"""Grid points that a window touches in each direction: three vectors of float64."""
PATCH = 64
"""Grid cells, along the second coordinate, within which the order of points does not matter."""

_LANES = BYTES // 8
_TAN_EIGHTH = 0.41421356237309503
# atan(sqrt(u)) / sqrt(u) on 0 <= u <= tan(pi/8)^2, at Chebyshev nodes in 60-digit arithmetic; error 2e-18.
_ARCTAN = (
    1.0, -0.3333333333333312, 0.19999999999940893, -0.14285714279250245, 0.11111110744919658, -0.09090896809064027,
    0.07692045330902225, -0.06662951813629191, 0.05846878297330872, -0.05035102456601552, 0.03796525745386593,
    -0.017805397205419446,
)  # fmt: skip


@njit
def _turn(y, x):
    """Return k and a small angle, |a| <= pi/8 or so, such that the direction of (x, y) is k pi/4 + a.

    The error is about 1e-16, however large the whole angle.
    """
    far, near = abs(x), abs(y)
    steep = near > far
    if steep:
        far, near = near, far
    if far == 0.0:
        return 0, 0.0
    k = 0
    if near > _TAN_EIGHTH * far:
        k, ratio = 1, (near - far) / (near + far)
    else:
        ratio = near / far
    u = ratio * ratio
    series = _ARCTAN[-1]
    for i in range(len(_ARCTAN) - 2, -1, -1):
        series = series * u + _ARCTAN[i]
    small = ratio * series
    if steep:
        k, small = 2 - k, -small
    if x < 0.0:
        k, small = 4 - k, -small
    if y < 0.0:
        k, small = -k, -small
    return k, small


@njit
def _split(k, small, cells, place, at, fraction):
    """Write the angle's grid cell, of `cells` (a multiple of 8) in a full turn, and 2 f - 1 for the rest f in it."""
    rest = small * (cells / (2.0 * math.pi))
    whole = math.floor(rest)
    place[at] = k * (cells // 8) + int(whole)
    fraction[at] = 2.0 * (rest - whole) - 1.0


@njit
def circle_positions(x, cells, start, stop, place, fraction):
    """Write the grid cells and fractions of points of the circle."""
    for i in range(start, stop):
        k, small = _turn(x[i, 1], x[i, 0])
        _split(k, small, cells, place[0], i, fraction[0])
        if place[0, i] < 0:
            place[0, i] += cells


@njit
def sphere_positions(x, cells, start, stop, place, fraction):
    """Write the grid cells and fractions of points of the sphere: of colatitude into row 0, of azimuth into row 1."""
    for i in range(start, stop):
        across = math.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        k, small = _turn(across, x[i, 2])
        _split(k, small, cells, place[0], i, fraction[0])
        k, small = _turn(x[i, 1], x[i, 0])
        _split(k, small, cells, place[1], i, fraction[1])
        if place[1, i] < 0:
            place[1, i] += cells


@njit
def sort_order(first, second, band, patches, order, starts):
    """Sort points by band of the first cell, then by patch of the second; `starts` gets where the bands begin."""
    bands = len(starts) - 1
    count = np.zeros(bands * patches + 1, np.int64)
    n = len(first)
    for i in range(n):
        count[(first[i] // band) * patches + second[i] // PATCH % patches + 1] += 1
    for key in range(bands * patches):
        count[key + 1] += count[key]
    for j in range(bands + 1):
        starts[j] = count[j * patches]
    for i in range(n):
        key = (first[i] // band) * patches + second[i] // PATCH % patches
        order[count[key]] = i
        count[key] += 1


@njit
def _window(polynomials, fraction, k):
    """Return the window at its `WIDTH` grid points as three vectors."""
    z = spread(fraction, k)
    at = len(polynomials) - WIDTH
    a, b, c = load(polynomials, at), load(polynomials, at + _LANES), load(polynomials, at + 2 * _LANES)
    while at > 0:
        at -= WIDTH
        a = multiply_add(a, z, load(polynomials, at))
        b = multiply_add(b, z, load(polynomials, at + _LANES))
        c = multiply_add(c, z, load(polynomials, at + 2 * _LANES))
    return a, b, c


@njit
def spread_points(start, stop, place, fraction, polynomials, weights, corner, stride, grid):
    """Add each point's weight times the window to the part of the grid that begins at `corner`.

    Its rows are `stride` apart; it is one row if `place` has one.
    """
    flat = len(place) == 1
    row, column, across, along = place[0], place[-1], fraction[0], fraction[-1]
    taps = np.ones(WIDTH)
    for k in range(start, stop):
        a, b, c = _window(polynomials, along, k)
        weight = spread(weights, k)
        a, b, c = multiply(a, weight), multiply(b, weight), multiply(c, weight)
        at, height = column[k] - corner[1], 1
        if not flat:
            d, e, f = _window(polynomials, across, k)
            store(taps, 0, d)
            store(taps, _LANES, e)
            store(taps, 2 * _LANES, f)
            at, height = at + (row[k] - corner[0]) * stride, WIDTH
        for j in range(height):
            tap = spread(taps, j)
            store(grid, at, multiply_add(a, tap, load(grid, at)))
            store(grid, at + _LANES, multiply_add(b, tap, load(grid, at + _LANES)))
            store(grid, at + 2 * _LANES, multiply_add(c, tap, load(grid, at + 2 * _LANES)))
            at += stride


@njit
def interpolate_points(start, stop, place, fraction, polynomials, stride, grid, out):
    """Write the sums of grid values times the window at each point."""
    flat = len(place) == 1
    row, column, across, along = place[0], place[-1], fraction[0], fraction[-1]
    taps = np.ones(WIDTH)
    lanes = np.empty(_LANES)
    for k in range(start, stop):
        at, height = column[k], 1
        if not flat:
            d, e, f = _window(polynomials, across, k)
            store(taps, 0, d)
            store(taps, _LANES, e)
            store(taps, 2 * _LANES, f)
            at, height = at + row[k] * stride, WIDTH
        d = e = f = zeros(taps)
        for j in range(height):
            tap = spread(taps, j)
            d = multiply_add(load(grid, at), tap, d)
            e = multiply_add(load(grid, at + _LANES), tap, e)
            f = multiply_add(load(grid, at + 2 * _LANES), tap, f)
            at += stride
        a, b, c = _window(polynomials, along, k)
        store(lanes, 0, multiply_add(a, d, multiply_add(b, e, multiply(c, f))))
        out[k] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
