"""Hyperspherical harmonics level by level: solid ones of one more coordinate, and functions of the last colatitude.

Both are orthonormal Gegenbauer polynomials, by b_{n+1} p_{n+1} = t p_n - b_n p_{n-1}: stable upwards on [-1, 1].
Inner loops run over points, side by side in memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine

_TINY = -900  # powers below 2^_TINY are carried with an exponent of their own, until they grow
_STEP = 300  # the exponent takes over so many binary digits at a time


@subroutine
def coefficient(n: int, order: float) -> float:
    """Return b_n of the orthonormal polynomials for the weight (1 - t^2)^(order - 1/2)."""
    # 5.7, beta_n
    return math.sqrt(n * (n + 2.0 * order - 1.0) / (4.0 * (n + order) * (n + order - 1.0)))


@njit
def extend(k: int, x: Float64, squares: Float64, offsets: Int64, sizes: Int64, scale: Float64, table: Float64) -> None:
    """Add to solid harmonics of k coordinates those that also take coordinate x; `squares` are the norms' squares.

    Rows offsets[l], ..., offsets[l] + sizes[l] - 1 of the table (columns, n) are those of degree l, over scale[l].
    """
    degree, count = len(sizes) - 1, len(x)
    sizes_before = sizes.copy()
    value, before, factor = np.empty(count), np.empty(count), np.empty(count)
    for low in range(degree):
        value[:], before[:], last = 1.0, 0.0, 0.0
        source = offsets[low]
        for high in range(low + 1, degree + 1):
            b = coefficient(high - low, low + 0.5 * (k - 1))
            inverse = 1.0 / b
            ratio = scale[low] / scale[high]
            # Step 1: r^n p_n(x/r)/p_0 for n = high - low, over the scales
            for j in range(count):
                ahead = (x[j] * value[j] - last * squares[j] * before[j]) * inverse
                before[j], value[j], factor[j] = value[j], ahead, ratio * ahead
            last = b
            # Step 2: times the harmonics of degree `low` of the coordinates before
            target = offsets[high] + sizes[high]
            for i in range(sizes_before[low]):
                into, of = table[target + i], table[source + i]
                for j in range(count):
                    into[j] = factor[j] * of[j]
            sizes[high] += sizes_before[low]


@subroutine
def power(base: float, n: int) -> Any:
    """Return f and e with base^n = f 2^e and f in [1/2, 1) or 0."""
    fraction, exponent, bit = 1.0, 0, 1
    while 2 * bit <= n:
        bit *= 2
    while bit > 0 and n > 0:
        fraction, shift = math.frexp(fraction * fraction)
        exponent = 2 * exponent + shift
        if n & bit:
            fraction, shift = math.frexp(fraction * base)
            exponent += shift
        bit >>= 1
    return fraction, exponent


@njit
def of_colatitude(dim: int, low: int, scale: float, cosine: Float64, sine: Float64, out: Float64) -> None:
    """Write scale sin^low p_n(cos)/p_0 in row n of out, p_n orthonormal for the weight sin^(2 low + dim - 1)."""
    # Step 1: sin^low, 0 for now where it is tiny
    steps, count = out.shape
    b = np.zeros(steps)
    for n in range(1, steps):
        b[n] = coefficient(n, low + 0.5 * (dim - 1))
    tiny = np.zeros(count, dtype=np.bool_)
    for j in range(count):
        fraction, exponent = power(sine[j], low)
        tiny[j] = exponent < _TINY and fraction > 0.0
        out[0, j] = 0.0 if tiny[j] else scale * math.ldexp(fraction, exponent)
    # Step 2: the recurrence of 5.7
    for n in range(1, steps):
        inverse, last, before = 1.0 / b[n], b[n - 1], out[max(n - 2, 0)]
        for j in range(count):
            out[n, j] = (cosine[j] * out[n - 1, j] - last * before[j]) * inverse
    # Step 3: points where sin^low is tiny
    for j in range(count):
        if tiny[j]:
            _carry_exponent(low, scale, cosine[j], sine[j], b, out[:, j])


@subroutine
def _carry_exponent(low: int, scale: float, cosine: float, sine: float, b: Float64, out: Float64) -> None:
    """Write one column of `of_colatitude` that starts below the floats."""
    value, exponent = power(sine, low)
    value, before = value * scale, 0.0
    for n in range(1, len(out)):
        value, before = (cosine * value - b[n - 1] * before) / b[n], value
        if abs(value) > 2.0**_STEP:
            value, before, exponent = value * 2.0**-_STEP, before * 2.0**-_STEP, exponent + _STEP
        out[n] = math.ldexp(value, exponent)
