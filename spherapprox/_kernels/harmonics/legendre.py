"""Zonal filters on the sphere, order by order, from values on parallels to values on the same parallels; sums there.

Each is a sum over degrees of an eigenvalue times a pair of associated Legendre functions. With ``P_lm = N_lm
sin(theta)^m G_{l-m}(cos theta)``, G the Gegenbauer polynomial of index m + 1/2 with G(1) = 1, degrees go up by
Reinsch's form of the recurrence, in ``v = 1 - cos theta`` and the differences ``G_k - G_{k-1}``: it keeps the digits
near the pole. Values below the range of floats carry an exponent.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64
from ..jit import njit, subroutine
from ..simd.alignment import BYTES, aligned_zeros
from ..simd.vectors import load, multiply, multiply_add, spread, store, zeros

LANES = BYTES // 8
MARGIN = 100.0  # orders m above ``1.01 degree sin(theta)`` by this, where P_lm is below 1e-30, are left out

_CONSTANTS = 16 + 8 * LANES
"""Numbers of a block of four degrees that are the same for all parallels: of its steps, and sums or coefficients."""
_STEP = 2.0**900
_LOW, _HIGH = 2.0**-450, 2.0**450


def padded_size(n: int) -> int:
    """Return the number of parallels, in whole vectors, that `filter_orders` takes for n."""
    return -(-n // LANES) * LANES


def filter_orders(
    start: int, stop: int, degree: int, versine: Float64, sine: Float64, eigenvalues: Float64, data: Float64
) -> None:
    """Apply the filter to the orders from `start` to before `stop`, or sum with coefficients.

    `data`, (orders, 4, I), I a multiple of `LANES`: real and imaginary parts on the parallels from pole to equator,
    even about the equator, then odd; the result takes their place. `eigenvalues` has 4 zeros after degree + 1 entries.
    If it has axes, (orders, degree + 5, 2), it has the coefficients of sums instead, real and imaginary parts: the data
    do not matter.
    """
    # NumPy makes the arrays that the kernel needs on its way: numba would compile each form
    work, powers = aligned_zeros((11 * len(versine) + _CONSTANTS,)), np.zeros(2 * len(versine), np.int64)
    stride = 2 * (degree + 5) if eigenvalues.ndim > 1 else 0
    _filter_orders(
        start, stop, degree, versine, sine, eigenvalues.reshape(-1), stride, data.reshape(-1), work, powers
    )  # fmt: skip


@njit
def _filter_orders(start, stop, degree, versine, sine, eigenvalues, stride, data, work, powers):
    """Apply the filter to some orders, or sum with coefficients, `stride` of each.

    `work` has the values P, differences D, four degrees' values, P_mm, sums in four parts, and what all parallels
    share.
    """
    size = len(versine)
    diagonal, out, steps = 6 * size, 7 * size, 11 * size
    for i in range(size):
        work[diagonal + i] = 1.0
    for m in range(stop):
        if m > 0:
            factor = math.sqrt((2.0 * m + 1.0) / (2.0 * m))
            for i in range(size):
                work[diagonal + i] *= sine[i] * factor
                if work[diagonal + i] < _LOW:
                    work[diagonal + i] *= _STEP
                    powers[i] -= 1
        if m >= start:
            # Step 1: leave out the parallels where P_lm is negligible, and begin with P_mm
            first, here = 0, 4 * (m - start) * size
            while first < size and 1.01 * degree * sine[first + LANES - 1] + MARGIN < m:
                first += LANES
            _start(first, size, work, powers)
            # Step 2: four degrees: functions and coefficients, times the eigenvalues, and their sums back
            for lowest in range(m, degree + 1, 4):
                _steps(m, lowest, work, steps)
                _analyse(first, size, versine, powers, work, data, here)
                _coefficients(steps + 16, eigenvalues, lowest, (m - start) * stride if stride > 0 else -1, work)
                _synthesise(first, size, work)
            for i in range(4 * size):  # as copies of slices take long to compile
                data[here + i] = work[out + i]


@subroutine
def _start(first, size, work, powers):
    """Write P_mm, the differences, which are 0, and for each vector of parallels the exponent, in units of `_STEP`."""
    for i in range(7 * size, 11 * size):
        work[i] = 0.0
    for i in range(first, size, LANES):
        top = powers[i + LANES - 1]
        powers[size + i] = top
        for j in range(i, i + LANES):
            value = work[6 * size + j]
            work[j] = value if powers[j] == top else value / _STEP if powers[j] == top - 1 else 0.0
            work[size + j] = 0.0


@subroutine
def _steps(m, lowest, work, at):
    """Write the coefficients q, a, -b of four steps: D := a D - b v P, P := q P + D."""
    for j in range(4):
        degree = lowest + j
        k = degree - m
        q = math.sqrt((2.0 * degree + 3.0) * (degree + 1.0 + m) / ((2.0 * degree + 1.0) * (degree + 1.0 - m)))
        work[at + 3 * j] = q
        work[at + 3 * j + 1] = q * k / (k + 2.0 * m + 1.0)
        work[at + 3 * j + 2] = -q * (2.0 * degree + 1.0) / (k + 2.0 * m + 1.0)


@subroutine
def _analyse(first, size, versine, powers, work, data, here):
    """Write four degrees' functions into the table and, lane by lane, their sums with the data; go on to the next."""
    at, to = 11 * size, 11 * size + 16
    q0, a0, b0 = spread(work, at), spread(work, at + 1), spread(work, at + 2)
    q1, a1, b1 = spread(work, at + 3), spread(work, at + 4), spread(work, at + 5)
    q2, a2, b2 = spread(work, at + 6), spread(work, at + 7), spread(work, at + 8)
    q3, a3, b3 = spread(work, at + 9), spread(work, at + 10), spread(work, at + 11)
    nought = zeros(work)
    s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = nought
    for i in range(first, size, LANES):
        v, p0, d0 = load(versine, i), load(work, i), load(work, size + i)
        d1 = multiply_add(multiply(b0, v), p0, multiply(a0, d0))
        p1 = multiply_add(q0, p0, d1)
        d2 = multiply_add(multiply(b1, v), p1, multiply(a1, d1))
        p2 = multiply_add(q1, p1, d2)
        d3 = multiply_add(multiply(b2, v), p2, multiply(a2, d2))
        p3 = multiply_add(q2, p2, d3)
        d4 = multiply_add(multiply(b3, v), p3, multiply(a3, d3))
        store(work, size + i, d4)
        store(work, i, multiply_add(q3, p3, d4))
        if powers[size + i] < 0:
            p0 = p1 = p2 = p3 = nought
            _rescale(i, size, powers, work)
        store(work, 2 * size + i, p0)
        store(work, 3 * size + i, p1)
        store(work, 4 * size + i, p2)
        store(work, 5 * size + i, p3)
        j = here + i
        even, even_i = load(data, j), load(data, j + size)
        odd, odd_i = load(data, j + 2 * size), load(data, j + 3 * size)
        s0, t0 = multiply_add(p0, even, s0), multiply_add(p0, even_i, t0)
        s1, t1 = multiply_add(p1, odd, s1), multiply_add(p1, odd_i, t1)
        s2, t2 = multiply_add(p2, even, s2), multiply_add(p2, even_i, t2)
        s3, t3 = multiply_add(p3, odd, s3), multiply_add(p3, odd_i, t3)
    store(work, to, s0)
    store(work, to + LANES, t0)
    store(work, to + 2 * LANES, s1)
    store(work, to + 3 * LANES, t1)
    store(work, to + 4 * LANES, s2)
    store(work, to + 5 * LANES, t2)
    store(work, to + 6 * LANES, s3)
    store(work, to + 7 * LANES, t3)


@subroutine
def _coefficients(at, eigenvalues, lowest, given, work):
    """Write four degrees' coefficients: the sums over all lanes times the eigenvalues, or those given from there on."""
    for j in range(8):
        total = 0.0
        for i in range(at + j * LANES, at + (j + 1) * LANES):
            total += work[i]
        work[at + j] = total * eigenvalues[lowest + j // 2] if given < 0 else eigenvalues[given + 2 * lowest + j]


@subroutine
def _rescale(i, size, powers, work):
    """Raise a vector's exponent where its values have grown into the range of floats."""
    largest = 0.0
    for j in range(i, i + LANES):
        value = abs(work[j])
        largest = value if value > largest else largest
    if largest > _HIGH:
        powers[size + i] += 1
        for j in range(i, i + LANES):
            work[j] /= _STEP
            work[size + j] /= _STEP


@subroutine
def _synthesise(first, size, work):
    """Add four degrees' functions times their coefficients to the values on the parallels."""
    at, out = 11 * size + 16, 7 * size
    c0, c1, c2, c3 = spread(work, at), spread(work, at + 2), spread(work, at + 4), spread(work, at + 6)
    e0, e1, e2, e3 = spread(work, at + 1), spread(work, at + 3), spread(work, at + 5), spread(work, at + 7)
    for i in range(first, size, LANES):
        p0, p1 = load(work, 2 * size + i), load(work, 3 * size + i)
        p2, p3 = load(work, 4 * size + i), load(work, 5 * size + i)
        a, b, c, d = out + i, out + size + i, out + 2 * size + i, out + 3 * size + i
        store(work, a, multiply_add(p2, c2, multiply_add(p0, c0, load(work, a))))
        store(work, b, multiply_add(p2, e2, multiply_add(p0, e0, load(work, b))))
        store(work, c, multiply_add(p3, c3, multiply_add(p1, c1, load(work, c))))
        store(work, d, multiply_add(p3, e3, multiply_add(p1, e1, load(work, d))))
