"""Zonal filters on the sphere, order by order, from values on parallels to values on the same parallels.

Each is a sum over degrees of an eigenvalue times a pair of associated Legendre functions. With ``P_lm = N_lm
sin(theta)^m G_{l-m}(cos theta)``, G the Gegenbauer polynomial of index m + 1/2 with G(1) = 1, degrees go up by
Reinsch's form of the recurrence, in ``v = 1 - cos theta`` and the differences ``G_k - G_{k-1}``: it keeps the digits
near the pole. Values below the range of floats carry an exponent.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit, subroutine
from ..simd.alignment import BYTES
from ..simd.vectors import load, multiply, multiply_add, spread, store, zeros

LANES = BYTES // 8
MARGIN = 100.0
"""Orders m above ``1.01 degree sin(theta)`` by this, where P_lm is below 1e-30, are left out."""

_STEP = 2.0**900
_LOW, _HIGH = 2.0**-450, 2.0**450


def padded_size(n: int) -> int:
    """Return the number of parallels, in whole vectors, that `filter_orders` takes for n."""
    return -(-n // LANES) * LANES


@njit
def filter_orders(start, stop, degree, versine, sine, eigenvalues, data):
    """Apply the filter to the orders from `start` to before `stop`.

    `data`, (degree + 1, 4, I), holds for each order real and imaginary parts on the parallels from pole to equator,
    first those even about the equator, then those odd; the result takes their place. `eigenvalues` has 4 zeros more
    than degree + 1 entries; I is a multiple of `LANES`.
    """
    size = len(versine)
    value, power = np.ones(size), np.zeros(size, np.int64)
    for m in range(stop):
        if m > 0:
            factor = math.sqrt((2.0 * m + 1.0) / (2.0 * m))
            for i in range(size):
                value[i] *= sine[i] * factor
                if value[i] < _LOW:
                    value[i] *= _STEP
                    power[i] -= 1
        if m >= start:
            _filter_order(m, degree, versine, sine, eigenvalues, value, power, data[m].reshape(-1))


@subroutine
def _filter_order(m, degree, versine, sine, eigenvalues, value, power, data):
    """Apply the filter to one order, four degrees at a time."""
    size = len(versine)
    first = 0
    # Step 1: leave out the parallels where P_lm is negligible, and begin with P_mm
    while first < size and 1.01 * degree * sine[first + LANES - 1] + MARGIN < m:
        first += LANES
    p, d, scale = _starts(first, value, power)
    table, out = np.empty(4 * size), np.zeros(4 * size)
    step = np.empty(12)
    sums = np.empty(8 * LANES)
    c = np.empty(8)
    # Step 2: four degrees: functions and coefficients, times the eigenvalues, and their sums back
    for degree_0 in range(m, degree + 1, 4):
        _steps(m, degree_0, step)
        _analyse(first, versine, scale, step, p, d, table, data, sums)
        for j in range(8):
            total = 0.0
            for i in range(LANES):
                total += sums[j * LANES + i]
            c[j] = total * eigenvalues[degree_0 + j // 2]
        _synthesise(first, size, table, c, out)
    for i in range(out.size):  # as copies of slices take long to compile
        data[i] = out[i]


@subroutine
def _starts(first, value, power):
    """Return P_mm, the differences, which are 0, and for each vector of parallels the exponent, in units of `_STEP`."""
    size = len(value)
    p, d = np.zeros(size), np.zeros(size)
    scale = np.zeros(size // LANES, np.int64)
    for i in range(first, size, LANES):
        top = power[i + LANES - 1]
        scale[i // LANES] = top
        for j in range(i, i + LANES):
            p[j] = value[j] if power[j] == top else value[j] / _STEP if power[j] == top - 1 else 0.0
    return p, d, scale


@subroutine
def _steps(m, degree_0, step):
    """Write the coefficients q, a, -b of four steps: D := a D - b v P, P := q P + D."""
    for j in range(4):
        degree = degree_0 + j
        k = degree - m
        q = math.sqrt((2.0 * degree + 3.0) * (degree + 1.0 + m) / ((2.0 * degree + 1.0) * (degree + 1.0 - m)))
        step[3 * j] = q
        step[3 * j + 1] = q * k / (k + 2.0 * m + 1.0)
        step[3 * j + 2] = -q * (2.0 * degree + 1.0) / (k + 2.0 * m + 1.0)


@subroutine
def _analyse(first, versine, scale, step, p, d, table, data, sums):
    """Write four degrees' functions into the table and, lane by lane, their sums with the data; go on to the next."""
    size = len(versine)
    q0, a0, b0 = spread(step, 0), spread(step, 1), spread(step, 2)
    q1, a1, b1 = spread(step, 3), spread(step, 4), spread(step, 5)
    q2, a2, b2 = spread(step, 6), spread(step, 7), spread(step, 8)
    q3, a3, b3 = spread(step, 9), spread(step, 10), spread(step, 11)
    nought = zeros(p)
    s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = nought
    for i in range(first, size, LANES):
        v, p0, d0 = load(versine, i), load(p, i), load(d, i)
        d1 = multiply_add(multiply(b0, v), p0, multiply(a0, d0))
        p1 = multiply_add(q0, p0, d1)
        d2 = multiply_add(multiply(b1, v), p1, multiply(a1, d1))
        p2 = multiply_add(q1, p1, d2)
        d3 = multiply_add(multiply(b2, v), p2, multiply(a2, d2))
        p3 = multiply_add(q2, p2, d3)
        d4 = multiply_add(multiply(b3, v), p3, multiply(a3, d3))
        store(d, i, d4)
        store(p, i, multiply_add(q3, p3, d4))
        if scale[i // LANES] < 0:
            p0 = p1 = p2 = p3 = nought
            _rescale(i, scale, p, d)
        store(table, i, p0)
        store(table, size + i, p1)
        store(table, 2 * size + i, p2)
        store(table, 3 * size + i, p3)
        even, even_i = load(data, i), load(data, size + i)
        odd, odd_i = load(data, 2 * size + i), load(data, 3 * size + i)
        s0, t0 = multiply_add(p0, even, s0), multiply_add(p0, even_i, t0)
        s1, t1 = multiply_add(p1, odd, s1), multiply_add(p1, odd_i, t1)
        s2, t2 = multiply_add(p2, even, s2), multiply_add(p2, even_i, t2)
        s3, t3 = multiply_add(p3, odd, s3), multiply_add(p3, odd_i, t3)
    store(sums, 0, s0)
    store(sums, LANES, t0)
    store(sums, 2 * LANES, s1)
    store(sums, 3 * LANES, t1)
    store(sums, 4 * LANES, s2)
    store(sums, 5 * LANES, t2)
    store(sums, 6 * LANES, s3)
    store(sums, 7 * LANES, t3)


@subroutine
def _rescale(i, scale, p, d):
    """Raise a vector's exponent where its values have grown into the range of floats."""
    largest = 0.0
    for j in range(i, i + LANES):
        largest = max(largest, abs(p[j]))
    if largest > _HIGH:
        scale[i // LANES] += 1
        for j in range(i, i + LANES):
            p[j] /= _STEP
            d[j] /= _STEP


@subroutine
def _synthesise(first, size, table, c, out):
    """Add four degrees' functions times their coefficients to the values on the parallels."""
    c0, c1, c2, c3 = spread(c, 0), spread(c, 2), spread(c, 4), spread(c, 6)
    e0, e1, e2, e3 = spread(c, 1), spread(c, 3), spread(c, 5), spread(c, 7)
    for i in range(first, size, LANES):
        p0, p1 = load(table, i), load(table, size + i)
        p2, p3 = load(table, 2 * size + i), load(table, 3 * size + i)
        store(out, i, multiply_add(p2, c2, multiply_add(p0, c0, load(out, i))))
        store(out, size + i, multiply_add(p2, e2, multiply_add(p0, e0, load(out, size + i))))
        store(out, 2 * size + i, multiply_add(p3, c3, multiply_add(p1, c1, load(out, 2 * size + i))))
        store(out, 3 * size + i, multiply_add(p3, e3, multiply_add(p1, e1, load(out, 3 * size + i))))
