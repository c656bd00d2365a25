"""The scalar kernels as compiled loops over flat float64 arrays.

The plain Python kernels and these loops give the same bits.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._scalars import angle, bessel, bessel_ratio, beta, divergence, gegenbauer, gegenbauer_zeros
from ..._scalars.bessel_ratio import LONG, SHORT, SHORT_FROM
from ..jit import njit, subroutine
from . import subroutines  # noqa: F401

FRACTIONS = 128  # continued fractions that run side by side, as vectors in the first cache


@subroutine
def perron_block(v, x, p, residual):  # type: ignore[no-untyped-def]
    """Fill p and rest with `last_step` of up to FRACTIONS pairs: the same operations, each on all pairs at once."""
    n = p.size
    top, below = np.empty(FRACTIONS), np.empty(FRACTIONS)
    a, h, g = np.empty(FRACTIONS), np.empty(FRACTIONS), np.empty(FRACTIONS)
    short = 0
    for i in range(n):
        a[i] = 2.0 * v[i] + 3.0
        h[i] = 0.5 / (v[i] + 1.0 + x[i])
        g[i] = (x[i] * h[i]) * h[i]
        steps = SHORT if v[i] + x[i] >= SHORT_FROM else LONG
        b = 1.0 + (steps + 1.0) * h[i]
        c = (a[i] + 2.0 * (steps + 1.0)) * g[i]
        top[i] = 1.0
        below[i] = 2.0 / (b + math.sqrt(b * b - 4.0 * c))
        short += v[i] + x[i] >= SHORT_FROM
    # pairs for which SHORT steps suffice wait through the first ones
    if short < n:
        for k in range(LONG, SHORT, -1):
            for i in range(n):
                new = (1.0 + k * h[i]) * top[i] - ((a[i] + 2.0 * k) * g[i]) * below[i]
                waits = v[i] + x[i] >= SHORT_FROM
                below[i] = below[i] if waits else top[i]
                top[i] = top[i] if waits else new
    for k in range(SHORT, 1, -1):
        for i in range(n):
            new = (1.0 + k * h[i]) * top[i] - ((a[i] + 2.0 * k) * g[i]) * below[i]
            below[i] = top[i]
            top[i] = new
    for i in range(n):
        p[i], residual[i] = bessel_ratio.last_step(v[i], x[i], below[i] / top[i])


@subroutine
def gap_block(v, x, out):  # type: ignore[no-untyped-def]
    """Fill out with `gap` of up to FRACTIONS pairs."""
    residual = np.empty(FRACTIONS)
    perron_block(v, x, out, residual)
    for i in range(out.size):
        out[i] = bessel_ratio.gap_from(v[i], out[i], residual[i])


@subroutine
def first_ratio_block(v, x, out):  # type: ignore[no-untyped-def]
    """Fill out with `first_ratio` of up to FRACTIONS pairs."""
    residual = np.empty(FRACTIONS)
    perron_block(v, x, out, residual)
    for i in range(out.size):
        out[i] = bessel_ratio.ratio_from(v[i], x[i], out[i], residual[i])


@subroutine
def gap_loop(v, x, out):  # type: ignore[no-untyped-def]
    """Fill out with `gap` of any number of pairs."""
    for start in range(0, out.size, FRACTIONS):
        block = slice(start, start + FRACTIONS)
        gap_block(v[block], x[block], out[block])


@njit
def all_ratios(v, x, out):  # type: ignore[no-untyped-def]
    gaps, xs = np.empty(out.size - 1), np.full(FRACTIONS, x)
    for start in range(0, gaps.size, FRACTIONS):
        block = gaps[start : start + FRACTIONS]
        gap_block(v + np.arange(start, start + block.size), xs, block)
    bessel_ratio.multiply_up(v, x, gaps, out)


@njit
def first_ratio_loop(v, x, out):  # type: ignore[no-untyped-def]
    for start in range(0, out.size, FRACTIONS):
        block = slice(start, start + FRACTIONS)
        first_ratio_block(v[block], x[block], out[block])


@njit
def first_complement_loop(v, x, out):  # type: ignore[no-untyped-def]
    gap_loop(v, x, out)
    for i in range(out.size):
        out[i] = out[i] / (x[i] + out[i])


@njit
def first_log_ratio_loop(v, x, out):  # type: ignore[no-untyped-def]
    gap_loop(v, x, out)
    for i in range(out.size):
        out[i] = bessel_ratio.minus_log(x[i], out[i]) if x[i] < np.inf else 0.0


@njit
def all_log_ratios(v, x, out):  # type: ignore[no-untyped-def]
    logs, xs = v + np.arange(out.size - 1), np.full(out.size - 1, x)
    first_log_ratio_loop(logs.copy(), xs, logs)
    bessel_ratio.add_up(logs, out)


@subroutine
def gegenbauer_block(k, m, t, out):  # type: ignore[no-untyped-def]
    """Fill out with G_k of S^m at up to FRACTIONS points: the recurrences of `gegenbauer`, each step on all of them."""
    x, value, companion = np.empty(FRACTIONS), np.empty(FRACTIONS), np.empty(FRACTIONS)
    index = np.empty(FRACTIONS, np.int64)
    for near in (True, False):
        # Step 1: the points of this recurrence; `gegenbauer` where its formulas are short
        n = 0
        for i in range(t.size):
            size = abs(t[i])
            if gegenbauer.is_short(k, m, 1.0 - size):
                out[i] = gegenbauer.gegenbauer(k, m, t[i])
            elif (size > 0.5) == near:
                x[n], index[n], value[n], companion[n] = 1.0 - size if near else size, i, 1.0, 0.0
                n += 1
        # Step 2: the recurrence, in differences (`near_pole`) or of three terms (`near_equator`)
        for j in range(int(k) if n > 0 else 0):
            a = j / (j + m - 1.0)
            for i in range(n):
                if near:
                    second = a * companion[i] - ((1.0 + a) * x[i]) * value[i]
                    first = value[i] + second
                else:
                    second = value[i]
                    first = ((1.0 + a) * x[i]) * value[i] - a * companion[i]
                lives = abs(first) + abs(second) >= gegenbauer.TINY
                value[i] = first if lives else 0.0
                companion[i] = second if lives else 0.0
        # Step 3: back to the points' own places and signs
        for i in range(n):
            out[index[i]] = -value[i] if t[index[i]] < 0.0 and k % 2.0 == 1.0 else value[i]


@njit
def gegenbauer_loop(k, m, t, out):  # type: ignore[no-untyped-def]
    start = 0
    while start < out.size:
        stop = start + 1
        while stop < min(out.size, start + FRACTIONS) and k[stop] == k[start] and m[stop] == m[start]:
            stop += 1
        if stop - start < 8:
            for i in range(start, stop):
                out[i] = gegenbauer.gegenbauer(k[i], m[i], t[i])
        else:
            gegenbauer_block(k[start], m[start], t[start:stop], out[start:stop])
        start = stop


@subroutine
def cap_parts(m, s, c, part):  # type: ignore[no-untyped-def]
    """Fill part with `beta.part` of up to FRACTIONS caps: the same operations, each on all caps at once."""
    n = part.size
    x, y, short = np.empty(FRACTIONS), np.empty(FRACTIONS), np.empty(FRACTIONS, np.bool_)
    top, below = np.empty(FRACTIONS), np.empty(FRACTIONS)
    near = 0
    # Step 1: the power series of all caps, if one is near the equator
    for i in range(n):
        near += beta.is_near_equator(m[i], c[i])
        x[i], y[i] = 1.0 - 0.5 * m[i], c[i] * c[i]
        top[i] = below[i] = 1.0
    for k in range(beta.TERMS if near > 0 else 0):
        first, second = 1.0 / (k + 1.0), 1.0 / (2.0 * k + 3.0)
        for i in range(n):
            below[i] = below[i] * (((k + x[i]) * y[i]) * first)
            top[i] = top[i] + below[i] * second
    for i in range(n):
        part[i] = c[i] * top[i]
    if near == n:
        return
    # Step 2: the continued fraction of all caps; those of SHORT steps wait through the first ones
    long = 0
    for i in range(n):
        short[i] = c[i] * c[i] * max(m[i], 48.0) >= beta.SHORT_FROM
        is_near = beta.is_near_equator(m[i], c[i])
        long += not (short[i] or is_near)
        x[i] = 1.0 / m[i]
        y[i] = 0.0 if is_near else (s[i] / c[i]) * (s[i] / c[i]) * x[i]
        top[i] = beta.tail(x[i], y[i], float(beta.SHORT if short[i] else beta.LONG))
        below[i] = 1.0
    for k in range((beta.LONG if long > 0 else beta.SHORT) - 1, -1, -1):
        for i in range(n):
            first = k * x[i]
            second = 1.0 + first
            new = (second + first) * top[i] + (((k + 1.0) * y[i]) * second) * below[i]
            waits = k >= beta.SHORT and short[i]
            below[i] = below[i] if waits else top[i]
            top[i] = top[i] if waits else new
    for i in range(n):
        if not beta.is_near_equator(m[i], c[i]):
            part[i] = top[i] / below[i]


@njit
def cap_loop(m, angle, out):  # type: ignore[no-untyped-def]
    dim, s, c, part = np.empty(FRACTIONS), np.empty(FRACTIONS), np.empty(FRACTIONS), np.empty(FRACTIONS)
    index = np.empty(FRACTIONS, np.int64)
    known, factor = 0.0, 0.0
    start = 0
    while start < out.size:
        # Step 1: the next caps that have no closed form
        n = 0
        while start < out.size and n < FRACTIONS:
            if beta.is_closed(m[start], angle[start]):
                out[start] = beta.closed(m[start], angle[start])
            else:
                index[n], dim[n] = start, m[start]
                s[n], c[n] = math.sin(angle[start]), abs(math.cos(angle[start]))
                n += 1
            start += 1
        # Step 2: their measures
        cap_parts(dim[:n], s[:n], c[:n], part[:n])
        for j in range(n):
            i = index[j]
            if m[i] != known:
                known, factor = m[i], beta.density(m[i])
            out[i] = beta.whole_cap(beta.from_part(m[i], factor, s[j], c[j], part[j])[0], angle[i])


def over(kernel: Callable[..., float]) -> Any:
    """Return the loop that applies a scalar kernel of one to four arguments."""

    def unary(a, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = kernel(a[i])

    def binary(a, b, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = kernel(a[i], b[i])

    def ternary(a, b, c, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = kernel(a[i], b[i], c[i])

    def quaternary(a, b, c, d, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = kernel(a[i], b[i], c[i], d[i])

    return njit((unary, binary, ternary, quaternary)[len(inspect.signature(kernel).parameters) - 1])


BESSEL = (
    bessel.log_iv,
    bessel.log_0f1,
    bessel.log_0f1_scaled,
    bessel_ratio.iv_ratio,
    bessel_ratio.iv_ratio_complement,
    bessel_ratio.log_iv_ratio,
    bessel_ratio.iv_ratio_inverse,
)
DISTRIBUTION = (divergence.ratio_slope, divergence.bregman, angle.log_tail, angle.quantile)
CAPS = (beta.cap_angle, beta.log_surface_area)
POLYNOMIALS = (
    gegenbauer.derivative,
    gegenbauer.derivative_bound,
    gegenbauer.log_derivative_bound,
    gegenbauer_zeros.max_zero,
    gegenbauer_zeros.max_zero_angle,
    gegenbauer_zeros.lipschitz,
)

LOOPS: dict[Callable[..., Any], Any] = {
    kernel: over(kernel) for kernel in (*BESSEL, *DISTRIBUTION, *CAPS, *POLYNOMIALS)
} | {
    bessel_ratio.first_ratio: first_ratio_loop,
    bessel_ratio.first_complement: first_complement_loop,
    bessel_ratio.first_log_ratio: first_log_ratio_loop,
    bessel_ratio.all_ratios: all_ratios,
    bessel_ratio.all_log_ratios: all_log_ratios,
    gegenbauer.gegenbauer: gegenbauer_loop,
    beta.log_cap_measure: cap_loop,
}
