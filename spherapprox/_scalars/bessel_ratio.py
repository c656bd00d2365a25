"""Scalar kernels of the ratios I_{v+n}(x) / I_v(x) of modified Bessel functions: one step, many steps, the inverse.

Plain Python on floats, as in `bessel`. A single step has one formula, Perron's continued fraction, everywhere; many
steps are a product of single ones or a difference of expansions.
"""

from __future__ import annotations

import math
from typing import Any

from . import twofold
from .bessel import TINY, debye_log_sum, radius

FAR = 96.0  # a ratio over n steps is a product of single ones where R is below this ...
FEW = 8.0  # ... or n is at most this, and the exponential of a difference of expansions elsewhere
RESTART = 512  # steps of a running product from one direct value to the next
LONG, SHORT, SHORT_FROM = 48, 20, 128.0  # steps of the continued fraction, fewer where v + x >= 128


def perron_tail(v: float, x: float) -> float:
    """Return s/T_2 of Perron's continued fraction, T_k = s + k - (2v+2k+3) x / T_{k+1} with s = 2v + 2x + 2.

    Gautschi & Slavik (1978), eq. 3.8': x I_v(x) / I_{v+1}(x) = x + 2v + 2 - (2v+3) x / T_1. As quotients of a
    three-term recurrence they need one division in all; from the root of the last step 20 steps suffice to 2e-17 where
    R >= 64.
    """
    steps = SHORT if v + x >= SHORT_FROM else LONG
    a = 2.0 * v + 3.0
    h = 0.5 / (v + 1.0 + x)  # 1/s
    g = (x * h) * h
    # Step 1: the root of T = B - C/T for the last step, over s
    b = 1.0 + (steps + 1.0) * h
    c = (a + 2.0 * (steps + 1.0)) * g
    top, below = 1.0, 2.0 / (b + math.sqrt(b * b - 4.0 * c))
    # Step 2: back to T_2, Gautschi & Slavik (1978), eq. 3.8'
    for k in range(steps, 1, -1):
        top, below = (1.0 + k * h) * top - ((a + 2.0 * k) * g) * below, top
    return below / top


def last_step(v: float, x: float, tail: float) -> twofold.Pair:
    """Return (2v+3) x / T_1 for the `perron_tail` s/T_2, in twice the precision but for the tail's own rounding.

    Else neighbouring orders would round alike, and products of many ratios drift.
    """
    # Step 1: T_1 = s + 1 - (2v+5) x / T_2 = below + low
    head, low = twofold.two_sum(2.0 * v, 2.0 * x)
    head, residual = twofold.two_sum(head, 3.0)
    low += residual
    below, residual = twofold.two_sum(head, -((2.0 * v + 5.0) * (x * (0.5 / (v + 1.0 + x))) * tail))
    low += residual
    # Step 2: the quotient, corrected by its remainder
    a, residual = twofold.two_sum(2.0 * v, 3.0)
    top, lost = twofold.two_product(a, x)
    p = top / below
    back, lack = twofold.two_product(p, below)
    residual = (((top - back) - lack) + (lost + residual * x) - p * low) / below
    huge = x > 1e17 * (v + 1.0)  # where a product above may overflow
    return (v + 1.5 if huge else p), (0.0 if huge else residual)


def gap_from(v: float, p: float, residual: float) -> float:
    """Return e of `gap` from the result of `last_step`."""
    c, low = twofold.two_sum(2.0 * v, 2.0)
    e, carry = twofold.two_sum(c, -p)
    return e + ((carry + low) - residual)


def ratio_from(v: float, x: float, p: float, residual: float) -> float:
    """Return x / (x + e), e the `gap`, from the result of `last_step`."""
    c, low = twofold.two_sum(2.0 * v, 2.0)
    below, carry = twofold.two_sum(c, x)
    below, borrow = twofold.two_sum(below, -p)
    ratio = x / below
    return ratio - ratio * (((low - residual) + (carry + borrow)) / below) if x < math.inf else 1.0


def gap(v: float, x: float) -> float:
    """Return e = x I_v(x) / I_{v+1}(x) - x > 0: I_{v+1}/I_v = x/(x + e) and 1 - I_{v+1}/I_v = e/(x + e)."""
    p, residual = last_step(v, x, perron_tail(v, x))
    return gap_from(v, p, residual)


def first_ratio(v: float, x: float) -> float:
    """Return I_{v+1}(x) / I_v(x), to 3e-16."""
    p, residual = last_step(v, x, perron_tail(v, x))
    return ratio_from(v, x, p, residual=residual)


def first_complement(v: float, x: float) -> float:
    """Return 1 - I_{v+1}(x) / I_v(x)."""
    e = gap(v, x)
    return e / (x + e)


def first_log_ratio(v: float, x: float) -> float:
    """Return log[I_{v+1}(x) / I_v(x)]."""
    return minus_log(x, gap(v, x)) if x < math.inf else 0.0


def minus_log(x: float, e: float) -> float:
    """Return -log[(x + e)/x]."""
    if e < x:
        return -math.log1p(e / x)
    if x > TINY:
        return math.log(x / (x + e))
    return math.log(x) - math.log(x + e) if x > 0.0 else -math.inf


def all_ratios(v: float, x: float, out: Any) -> None:
    """Fill out[k] with I_{v+k}(x) / I_v(x), to 1e-14."""
    multiply_up(v, x, [gap(v + k, x) for k in range(len(out) - 1)], out=out)


def all_log_ratios(v: float, x: float, out: Any) -> None:
    """Fill out[k] with log[I_{v+k}(x) / I_v(x)], to 1e-14."""
    add_up([first_log_ratio(v + k, x) for k in range(len(out) - 1)], out)


def multiply_up(v: float, x: float, gaps: Any, out: Any) -> None:
    """Fill out[k] with I_{v+k}(x) / I_v(x) from the gaps of the orders v, v + 1, ...

    The product of single ratios keeps its rounding in `excess`, and starts from a direct value now and then.
    """
    out[0] = 1.0
    product, excess = 1.0, 0.0
    for k in range(len(gaps)):
        if k % RESTART == 0 and k > 0:
            product, excess = iv_ratio(v, x, float(k)), 0.0
        below, residual = twofold.two_sum(x, gaps[k])
        ratio = x / below
        step, error = twofold.two_product(product, ratio)
        if step == 0.0:
            out[k + 1 :] = 0.0
            break
        if step > TINY:  # else the errors underflow, and so does the product soon
            back, lost = twofold.two_product(ratio, below)
            excess += error / step + (((x - back) - lost) - ratio * residual) / x
        product = step
        out[k + 1] = step + step * excess


def add_up(terms: Any, out: Any) -> None:
    """Fill out[k] with the sum of the first k terms, rounded once (Kahan-Babuska); a term of -inf makes the rest so."""
    total, residual = 0.0, 0.0
    out[0] = 0.0
    for k in range(len(terms)):
        if terms[k] == -math.inf:
            out[k + 1 :] = -math.inf
            break
        total, error = twofold.two_sum(total, terms[k])
        residual += error
        out[k + 1] = total + residual


def radii(v: float, x: float, n: float) -> tuple[float, float, float]:
    """Return R = sqrt(u^2 + x^2) at u = v and at u = v + n, and their difference."""
    bottom, top = radius(v, x), radius(v + n, x)
    return bottom, top, n * ((v + n + v) / (bottom + top))


def log_ratio_rest(v: float, x: float, n: float) -> float:
    """Return log[I_{v+n}(x) / I_v(x)] + the integral of arsinh(u/x) over u from v to v + n, where R >= 96."""
    r1, r2, rise = radii(v, x, n)
    y1 = v / r1
    y2 = (v + n) / r2
    sums = debye_log_sum(y2 * y2, 1.0 / r2) - debye_log_sum(y1 * y1, 1.0 / r1)
    return sums - 0.5 * math.log1p(rise / r1)


def log_ratio_far(v: float, x: float, n: float) -> float:
    """Return log[I_{v+n}(x) / I_v(x)] where R >= 96, by differences of Debye's terms taken without subtraction."""
    r1, _, rise = radii(v, x, n)
    angle = math.asinh(v / x) if x > 1e-8 * v else math.log(v + r1) - math.log(x)
    # 1.4: the integral of arsinh(u/x) is u arsinh(u/x) - R
    action = n * angle + ((v + n) * math.log1p((n + rise) / (v + r1)) - rise)
    return log_ratio_rest(v, x, n) - action


def ratio_far(v: float, skip: float, x: float, n: float) -> float:
    """Return I_{v+n}(x) / I_{v+skip}(x) where R >= 96 at v + skip; its logarithm is made twofold where it is large."""
    start = v + skip
    log = log_ratio_far(start, x, n - skip)
    if log > -2.0 or log < -800.0:
        return math.exp(log)
    high, low = twofold.action(v, skip, x, n=n)
    log, error = twofold.two_sum(-high, log_ratio_rest(start, x, n - skip))
    return math.exp(log) * (1.0 + (error - low))


def single_steps(v: float, x: float, n: float) -> float:
    """Return the number of the n steps to take one by one: all of a few, else those up to R = 96."""
    room = FAR * FAR - x * x
    if n <= FEW:
        return n
    return min(n, math.ceil(math.sqrt(room) - v)) if room > v * v else 0.0


def log_iv_ratio(v: float, x: float, n: float) -> float:
    """Return log[I_{v+n}(x) / I_v(x)] <= 0 for an integer n >= 0."""
    if n == 0.0 or x == math.inf:
        return 0.0
    if x == 0.0:
        return -math.inf
    single = single_steps(v, x, n)
    total = 0.0
    for j in range(int(single)):
        total += minus_log(x, gap(v + j, x))
    return total if single == n else total + log_ratio_far(v + single, x, n - single)


def iv_ratio(v: float, x: float, n: float) -> float:
    """Return I_{v+n}(x) / I_v(x) for an integer n >= 0."""
    if n == 0.0 or x in (0.0, math.inf):
        return 0.0 if n > 0.0 and x == 0.0 else 1.0
    single = single_steps(v, x, n)
    ratio = 1.0
    j = 0.0
    while j < single and ratio > 0.0:
        ratio *= first_ratio(v + j, x)
        j += 1.0
    return ratio if single == n or ratio == 0.0 else ratio * ratio_far(v, single, x, n=n)


def iv_ratio_complement(v: float, x: float, n: float) -> float:
    """Return 1 - I_{v+n}(x) / I_v(x) = sum_j (I_{v+j} - I_{v+j+1}) / I_v, a sum of positive terms."""
    if n == 0.0 or x in (0.0, math.inf):
        return 1.0 if n > 0.0 and x == 0.0 else 0.0
    single = single_steps(v, x, n)
    ratio = 1.0
    total = 0.0
    j = 0.0
    while j < single and ratio > 1e-17:
        e = gap(v + j, x)
        total += ratio * (e / (x + e))
        ratio *= x / (x + e)
        j += 1.0
    if single < n and ratio > 1e-17:
        total -= ratio * math.expm1(log_ratio_far(v + single, x, n - single))
    return min(total, 1.0)


def iv_ratio_inverse(v: float, r: float, c: float) -> float:
    """Return x with I_{v+1}(x) / I_v(x) = r; c = 1 - r is passed beside r, since it may carry more digits.

    Newton's steps in log x for x / e(x) = r / c, e = `gap`, from Banerjee et al. (2005), eq. 4.4.
    """
    if r == 0.0 or c == 0.0:
        return 0.0 if r == 0.0 else math.inf
    if r < 1e-8:  # x = 2 (v + 1) r [1 + r^2 (v+1)/(v+2) + ...], where e/x may overflow
        return (2.0 * v + 2.0) * r
    # Step 1: Banerjee et al. (2005), eq. 4.4
    x = r * (2.0 * v + 2.0 - r * r) / (c * (1.0 + r))
    # Step 2: Newton's method for log(x/e) = log(r/c) in log x
    a = v + 0.5
    for _ in range(40):
        e = gap(v, x)
        root = radius(v + 1.0, x)
        bend = (v + 1.0) * ((v + 1.0) / (root + x))  # e is about a + bend
        slope = 1.0 + (x / root) * (bend / (a + bend))
        if root < 1e4:  # by r' = 1 - 2 a r/x - r^2, the proof of 1.4
            slope = (2.0 * x + e) - 2.0 * a * ((x + e) / e)
        step = math.log((r / c) * (e / x)) / slope
        x *= math.exp(step)
        if abs(step) < 1e-11 or x == math.inf:  # the next one would be smaller by 1e4 or more
            break
    return x
