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
from ..simd.vectors import load, multiply, multiply_add, spread, store

LANES = BYTES // 8
BLOCK = 4 * LANES  # parallels that go up the degrees together, in registers
DEGREES = 32  # degrees that they go up before others do: an even number
MARGIN = 100.0  # orders m above ``1.01 degree sin(theta)`` by this, where P_lm is below 1e-30, are left out

_DIAGONAL, _OUT = 2, 3  # rows of the table, after the next degree's values P and differences D: P_mm, four of sums
_ALPHA, _BETA, _SCALES, _SUMS = (i * (DEGREES + LANES) for i in range(4))
"""Where in the workspace coefficients of steps begin, what P is to be times, and sums over parallels lane by lane."""
_STEP = 2.0**900
_LOW, _HIGH = 2.0**-450, 2.0**450


def padded_size(n: int) -> int:
    """Return the number of parallels, in whole blocks, that `filter_orders` takes for n."""
    return -(-n // BLOCK) * BLOCK


def filter_orders(
    start: int, stop: int, degree: int, versine: Float64, sine: Float64, eigenvalues: Float64, data: Float64
) -> None:
    """Apply the filter to the orders from `start` to before `stop`, or sum with coefficients.

    `data`, (orders, 4, I), I a multiple of `BLOCK`: real and imaginary parts on the parallels from pole to equator,
    even about the equator, then odd; the result takes their place. `eigenvalues` has a 0 after degree + 1 entries. If
    it has axes, (orders, degree + 2, 2), it has the coefficients of sums instead, real and imaginary parts: the data do
    not matter.
    """
    # NumPy makes the arrays that the kernel needs on its way: numba would compile each form
    table = aligned_zeros(((_OUT + 4) * (len(versine) + LANES),))  # rows that no power of 2 is apart, for the cache
    work, powers = aligned_zeros((_SUMS + 2 * DEGREES * LANES,)), np.zeros(2 * len(versine), np.int64)
    given = 2 * (degree + 2) if eigenvalues.ndim > 1 else 0
    _filter_orders(
        start, stop, degree, versine, sine, eigenvalues.reshape(-1), given, data.reshape(-1), table, powers, work
    )  # fmt: skip


@njit
def _filter_orders(start, stop, degree, versine, sine, eigenvalues, given, data, table, powers, work):
    """Apply the filter to some orders, or sum with coefficients, so many `given` for each.

    `powers` has the exponents of P_mm and, block by block, of P, in units of `_STEP`.
    """
    size = len(versine)
    stride = size + LANES
    diagonal, out = _DIAGONAL * stride, _OUT * stride
    for i in range(size):
        table[diagonal + i] = 1.0
    for m in range(stop):
        if m > 0:
            factor = math.sqrt((2.0 * m + 1.0) / (2.0 * m))
            for i in range(size):
                table[diagonal + i] *= sine[i] * factor
                if table[diagonal + i] < _LOW:
                    table[diagonal + i] *= _STEP
                    powers[i] -= 1
        if m >= start:
            # Step 1: leave out the parallels where P_lm is negligible, and begin with P_mm
            first, here = 0, 4 * (m - start) * size
            while first < size and 1.01 * degree * sine[first + BLOCK - 1] + MARGIN < m:
                first += BLOCK
            _start(first, size, table, powers)
            # Step 2: some degrees' coefficients, times the eigenvalues, and their sums back
            for lowest in range(m, degree + 1, DEGREES):
                count = min(DEGREES, (degree + 2 - lowest) // 2 * 2)
                _steps(m, lowest, count, work)
                if given == 0:
                    _analyse(first, here, count, versine, powers, data, table, work)
                _coefficients(count, eigenvalues, lowest, (m - start) * given if given > 0 else -1, work)
                _synthesise(first, count, versine, powers, table, work)
            for j in range(4):
                for i in range(size):  # as copies of slices take long to compile
                    data[here + j * size + i] = table[out + j * stride + i]


@subroutine
def _start(first, size, table, powers):
    """Write P_mm, the differences and sums, which are 0, and for each block of parallels the exponent."""
    stride = size + LANES
    for i in range(_OUT * stride, (_OUT + 4) * stride):
        table[i] = 0.0
    for i in range(first, size, BLOCK):
        top = powers[i + BLOCK - 1]
        powers[size + i] = top
        for j in range(i, i + BLOCK):
            value = table[_DIAGONAL * stride + j]
            table[j] = value if powers[j] == top else value / _STEP if powers[j] == top - 1 else 0.0
            table[stride + j] = 0.0


@subroutine
def _steps(m, lowest, count, work):
    """Write the coefficients of steps up, D := D + beta v P, P := P + alpha D, the scales, and begin sums.

    Without scales they are D := q (k D - (2 l + 1) v P) / (k + 2 m + 1), P := q P + D, k = l - m.
    """
    scale, ratio = 1.0, 1.0
    for j in range(count):
        k, turns, below = float(lowest + j - m), 2.0 * (lowest + j) + 1.0, float(lowest + j + m + 1)
        ratio *= (k if k > 0.0 else below) / below  # as D begins with 0
        work[_ALPHA + j], work[_BETA + j], work[_SCALES + j] = ratio, -turns / (below * ratio), scale
        scale *= math.sqrt((turns + 2.0) * below / (turns * (k + 1.0)))
    work[_SCALES + count], work[_SCALES + count + 1] = scale, scale * ratio
    for j in range(2 * count * LANES):
        work[_SUMS + j] = 0.0


@subroutine
def _analyse(first, here, count, versine, powers, data, table, work):
    """Add, lane by lane, the products of some degrees' functions with the data to the sums."""
    size, stride, two, three = len(versine), len(versine) + LANES, 2 * LANES, 3 * LANES
    for i in range(first, size, BLOCK):
        if powers[size + i] < 0:
            continue
        p0, p1, p2, p3 = load(table, i), load(table, i + LANES), load(table, i + two), load(table, i + three)
        d0, d1 = load(table, stride + i), load(table, stride + i + LANES)
        d2, d3 = load(table, stride + i + two), load(table, stride + i + three)
        v0, v1, v2, v3 = load(versine, i), load(versine, i + LANES), load(versine, i + two), load(versine, i + three)
        for j in range(count):
            real, to = here + i + j % 2 * 2 * size, _SUMS + two * j
            imaginary = real + size
            s, t = load(work, to), load(work, to + LANES)
            s, t = multiply_add(p0, load(data, real), s), multiply_add(p0, load(data, imaginary), t)
            s = multiply_add(p1, load(data, real + LANES), s)
            t = multiply_add(p1, load(data, imaginary + LANES), t)
            s = multiply_add(p2, load(data, real + two), s)
            t = multiply_add(p2, load(data, imaginary + two), t)
            s = multiply_add(p3, load(data, real + three), s)
            t = multiply_add(p3, load(data, imaginary + three), t)
            store(work, to, s)
            store(work, to + LANES, t)
            alpha, beta = spread(work, _ALPHA + j), spread(work, _BETA + j)
            d0, d1 = multiply_add(multiply(beta, v0), p0, d0), multiply_add(multiply(beta, v1), p1, d1)
            d2, d3 = multiply_add(multiply(beta, v2), p2, d2), multiply_add(multiply(beta, v3), p3, d3)
            p0, p1 = multiply_add(alpha, d0, p0), multiply_add(alpha, d1, p1)
            p2, p3 = multiply_add(alpha, d2, p2), multiply_add(alpha, d3, p3)


@subroutine
def _coefficients(count, eigenvalues, lowest, given, work):
    """Write the coefficients: the sums over all lanes times the eigenvalues, or those given from there on."""
    for j in range(2 * count):
        at, scale = _SUMS + j * LANES, work[_SCALES + j // 2]
        near, far = (work[at] + work[at + 1]) + (work[at + 2] + work[at + 3]), work[at + 6] + work[at + 7]
        total = scale * (near + ((work[at + 4] + work[at + 5]) + far))
        total = total * eigenvalues[lowest + j // 2] if given < 0 else eigenvalues[given + 2 * lowest + j]
        work[at] = scale * total


@subroutine
def _synthesise(first, count, versine, powers, table, work):
    """Add some degrees' functions times their coefficients to the values on the parallels, and go on to the next."""
    size, stride, two = len(versine), len(versine) + LANES, 2 * LANES
    scale_p, scale_d = spread(work, _SCALES + count), spread(work, _SCALES + count + 1)
    for i in range(first, size, two):
        k, a = stride + i, _OUT * stride + i
        b, c, f = a + stride, a + 2 * stride, a + 3 * stride
        p, q, d, e = load(table, i), load(table, i + LANES), load(table, k), load(table, k + LANES)
        v, w = load(versine, i), load(versine, i + LANES)
        s0, s1, t0, t1 = load(table, a), load(table, a + LANES), load(table, b), load(table, b + LANES)
        u0, u1, w0, w1 = load(table, c), load(table, c + LANES), load(table, f), load(table, f + LANES)
        for j in range(0, count, 2):
            at = _SUMS + two * j
            real, imaginary = spread(work, at), spread(work, at + LANES)
            s0, s1 = multiply_add(p, real, s0), multiply_add(q, real, s1)
            t0, t1 = multiply_add(p, imaginary, t0), multiply_add(q, imaginary, t1)
            alpha, beta = spread(work, _ALPHA + j), spread(work, _BETA + j)
            d, e = multiply_add(multiply(beta, v), p, d), multiply_add(multiply(beta, w), q, e)
            p, q = multiply_add(alpha, d, p), multiply_add(alpha, e, q)
            real, imaginary = spread(work, at + two), spread(work, at + two + LANES)
            u0, u1 = multiply_add(p, real, u0), multiply_add(q, real, u1)
            w0, w1 = multiply_add(p, imaginary, w0), multiply_add(q, imaginary, w1)
            alpha, beta = spread(work, _ALPHA + 1 + j), spread(work, _BETA + 1 + j)
            d, e = multiply_add(multiply(beta, v), p, d), multiply_add(multiply(beta, w), q, e)
            p, q = multiply_add(alpha, d, p), multiply_add(alpha, e, q)
        store(table, i, multiply(scale_p, p))
        store(table, i + LANES, multiply(scale_p, q))
        store(table, k, multiply(scale_d, d))
        store(table, k + LANES, multiply(scale_d, e))
        if powers[size + i // BLOCK * BLOCK] == 0:
            store(table, a, s0)
            store(table, a + LANES, s1)
            store(table, b, t0)
            store(table, b + LANES, t1)
            store(table, c, u0)
            store(table, c + LANES, u1)
            store(table, f, w0)
            store(table, f + LANES, w1)
    for i in range(first, size, BLOCK):
        if powers[size + i] < 0:
            _rescale(i, size, table, powers)


@subroutine
def _rescale(i, size, table, powers):
    """Raise a block's exponent where its values have grown into the range of floats."""
    largest = 0.0
    for j in range(i, i + BLOCK):
        value = abs(table[j])
        largest = value if value > largest else largest
    if largest > _HIGH:
        powers[size + i] += 1
        for j in range(i, i + BLOCK):
            table[j] /= _STEP
            table[size + LANES + j] /= _STEP
