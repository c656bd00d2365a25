"""Scalar kernels of the modified Bessel functions I_v(x), v >= 0, x >= 0: logarithms, ratios and the inverse ratio.

They are plain Python on floats, so one call compiles nothing; `compiled` gives the same functions as loops.
Let R = sqrt(v^2 + x^2). The ratio has one formula, Perron's continued fraction, everywhere; the logarithm has two,
the power series below R = `SERIES_BELOW` and the uniform (Debye) expansion above, which agree there to 2e-15.
"""

from __future__ import annotations

import math
from typing import Any

SERIES_BELOW = 64.0
STIRLING_FROM = 16.0
PRODUCT_BELOW = 96.0  # a ratio over n steps is a product of n single ones where R is below this ...
PRODUCT_UP_TO = 8.0  # ... or n is at most this, and the exponential of a difference of expansions elsewhere
TINY = 1e-290  # below it a ratio may be subnormal
HALF_LOG_2PI = 0.9189385332046728


def perron(v: Any, x: float, steps: int) -> Any:
    """Return e = x I_v(x) / I_{v+1}(x) - x by Perron's continued fraction from its tail; v may be an array.

    Gautschi & Slavik (1978), eq. 3.8'. 24 steps suffice to 2e-17 where R >= 64, 43 (at v = 0, x = 10) below.
    """
    tail = x + v + steps
    for k in range(steps, 0, -1):
        tail = (2.0 * v + k + 2.0) + 2.0 * x - (2.0 * (v + k) + 3.0) * (x / tail)
    return 2.0 * v + 2.0 - (2.0 * v + 3.0) * (x / tail)


def gap(v: float, x: float) -> float:
    """Return e = x I_v(x) / I_{v+1}(x) - x > 0: I_{v+1}/I_v = x/(x + e) and 1 - I_{v+1}/I_v = e/(x + e)."""
    if x > 1e17 * (v + 1.0):
        return v + 0.5
    return perron(v, x, 48 if v + x < 2.0 * SERIES_BELOW else 28)


def debye_log_sum(y: float, h: float) -> float:
    """Return the logarithm of Debye's sum sum_k u_k(p)/v^k as a series in h = 1/R; y = p^2 = (v/R)^2.

    The u_k are those of DLMF 10.41.10; the logarithm is taken term by term, in exact fractions. Truncation: 1.4e-15
    at R = 64.
    """
    z = y * y
    q1 = 1 / 8 - 5 / 24 * y
    q2 = 1 / 16 - 3 / 8 * y + 5 / 16 * z
    q3 = (25 / 384 - 531 / 640 * y) + z * (221 / 128 - 1105 / 1152 * y)
    if h < 1e-4:
        return h * (q1 + h * (q2 + h * q3))
    q4 = (13 / 128 - 71 / 32 * y) + z * ((531 / 64 - 339 / 32 * y) + z * (565 / 128))
    q5 = (1073 / 5120 - 50049 / 7168 * y) + z * (
        (186821 / 4608 - 44899 / 512 * y) + z * (82825 / 1024 - 82825 / 3072 * y)
    )
    q6 = (103 / 192 - 405 / 16 * y) + z * (
        (1677 / 8 - 5389 / 8 * y) + z * ((65385 / 64 - 11805 / 16 * y) + z * (19675 / 96))
    )
    q7 = (375733 / 229376 - 3407083 / 32768 * y) + z * (
        (38038059 / 32768 - 168434443 / 32768 * y)
        + z * ((1852155413 / 163840 - 432038457 / 32768 * y) + z * (256406305 / 32768 - 1282031525 / 688128 * y))
    )
    q8 = (23797 / 4096 - 244539 / 512 * y) + z * (
        (7069979 / 1024 - 20526309 / 512 * y)
        + z
        * (
            (243859359 / 2048 - 101540765 / 512 * y)
            + z * ((192309147 / 1024 - 48436755 / 512 * y) + z * (80727925 / 4096))
        )
    )
    return h * (q1 + h * (q2 + h * (q3 + h * (q4 + h * (q5 + h * (q6 + h * (q7 + h * q8)))))))


def stirling(v: float) -> float:
    """Return log Gamma(v+1) - (v + 1/2) log v + v - log(2 pi)/2 for v >= 16, to 1e-17."""
    h = 1.0 / v
    y = h * h
    return h * (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 - y * (691 / 360360))))))


def series_0f1(v: float, x: float) -> float:
    """Return 0F1(; v+1; x^2/4) - 1 by its power series: all terms are positive."""
    q = 0.25 * x * x
    term = q / (v + 1.0)
    total = term
    k = 1.0
    while term > 1e-17 * total:
        k += 1.0
        term *= q / (k * (v + k))
        total += term
    return total


def by_series(v: float, x: float) -> bool:
    """Tell whether the power series is short and accurate: R < 64, or a small argument of 0F1."""
    return v * v + x * x < SERIES_BELOW * SERIES_BELOW or x * x <= 4.0 * (v + 1.0)


def log_0f1(v: float, x: float) -> float:
    """Return log 0F1(; v+1; x^2/4) = log[Gamma(v+1) (2/x)^v I_v(x)], relative accuracy also where it is small."""
    if x == math.inf:
        return math.inf
    if by_series(v, x):
        return math.log1p(series_0f1(v, x))
    if v < STIRLING_FROM:
        return log_0f1_scaled(v, x) + x
    z = x / v
    d = z * (z / (1.0 + math.hypot(1.0, z)))  # sqrt(1 + z^2) - 1
    r = math.hypot(v, x)
    small = stirling(v) + debye_log_sum((v / r) * (v / r), 1.0 / r)
    return v * (d - math.log1p(0.5 * d)) - 0.5 * math.log1p(d) + small


def log_0f1_scaled(v: float, x: float) -> float:
    """Return log[e^-x 0F1(; v+1; x^2/4)] <= 0 without the cancellation of `log_0f1` minus x."""
    if x == math.inf:
        return -math.inf
    if by_series(v, x):
        return math.log1p(series_0f1(v, x)) - x
    r = math.hypot(v, x)
    small = debye_log_sum((v / r) * (v / r), 1.0 / r)
    if v < STIRLING_FROM:
        head = v * (v / (r + x)) - v * (math.asinh(v / x) + math.log(0.5 * x)) - 0.5 * math.log(r)
        return head - HALF_LOG_2PI + math.lgamma(v + 1.0) + small
    z = x / v
    w = math.hypot(1.0, z)
    d = z * (z / (1.0 + w))
    return small + stirling(v) - 0.5 * math.log1p(d) - v * ((d + z) / (w + z) + math.log1p(0.5 * d))


def log_iv(v: float, x: float) -> float:
    """Return log I_v(x)."""
    if x == math.inf:
        return math.inf
    if x == 0.0:
        return 0.0 if v == 0.0 else -math.inf
    r = math.hypot(v, x)
    if r < SERIES_BELOW:
        return v * math.log(0.5 * x) - math.lgamma(v + 1.0) + math.log1p(series_0f1(v, x))
    angle = math.asinh(v / x) if x > 1e-8 * v else math.log(v + r) - math.log(x)
    return r - v * angle - 0.5 * math.log(r) - HALF_LOG_2PI + debye_log_sum((v / r) * (v / r), 1.0 / r)


def log_ratio_far(v: float, x: float, n: float) -> float:
    """Return log[I_{v+n}(x) / I_v(x)] where R >= 96, by differences of Debye's terms taken without subtraction."""
    top = v + n
    r1 = math.hypot(v, x)
    r2 = math.hypot(top, x)
    rise = n * ((top + v) / (r1 + r2))  # r2 - r1
    angle = math.asinh(v / x) if x > 1e-8 * v else math.log(v + r1) - math.log(x)
    action = n * angle + (top * math.log1p((n + rise) / (v + r1)) - rise)
    y1 = v / r1
    y2 = top / r2
    sums = debye_log_sum(y2 * y2, 1.0 / r2) - debye_log_sum(y1 * y1, 1.0 / r1)
    return sums - action - 0.5 * math.log1p(rise / r1)


def step_by_step(v: float, x: float, n: float) -> bool:
    """Tell whether the ratio over n steps is a product of single ratios rather than the exponential of a log."""
    return n <= PRODUCT_UP_TO or v * v + x * x < PRODUCT_BELOW * PRODUCT_BELOW


def log_iv_ratio(v: float, x: float, n: float) -> float:
    """Return log[I_{v+n}(x) / I_v(x)] <= 0 for an integer n >= 0."""
    if n == 0.0 or x == math.inf:
        return 0.0
    if x == 0.0:
        return -math.inf
    if not step_by_step(v, x, n):
        return log_ratio_far(v, x, n)
    if n > PRODUCT_BELOW:
        return log_iv(v + n, x) - log_iv(v, x)
    total = 0.0
    for j in range(int(n)):
        e = gap(v + j, x)
        if e < x:
            total -= math.log1p(e / x)
        else:
            total += math.log(x / (x + e)) if x > TINY else math.log(x) - math.log(x + e)
    return total


def iv_ratio(v: float, x: float, n: float) -> float:
    """Return I_{v+n}(x) / I_v(x) for an integer n >= 0."""
    if n == 0.0 or x == math.inf:
        return 1.0
    if n > 1.0 and not step_by_step(v, x, n):
        log = log_ratio_far(v, x, n)
        if log > -16.0 or n > 256.0:  # exp carries an error of eps |log|, the product one of about eps sqrt(n)
            return math.exp(log)
    ratio = 1.0
    j = 0.0
    while j < n and ratio > 0.0:
        ratio *= x / (x + gap(v + j, x))
        j += 1.0
    return ratio


def iv_ratio_complement(v: float, x: float, n: float) -> float:
    """Return 1 - I_{v+n}(x) / I_v(x) = sum_j (I_{v+j} - I_{v+j+1}) / I_v, a sum of positive terms."""
    if n == 0.0 or x == math.inf:
        return 0.0
    if n > 1.0 and not step_by_step(v, x, n):
        return -math.expm1(log_ratio_far(v, x, n))
    ratio = 1.0
    total = 0.0
    j = 0.0
    while j < n and ratio > 1e-17:
        e = gap(v + j, x)
        total += ratio * (e / (x + e))
        ratio *= x / (x + e)
        j += 1.0
    return total


def iv_ratio_inverse(v: float, r: float, c: float) -> float:
    """Return x with I_{v+1}(x) / I_v(x) = r; c = 1 - r is passed beside r, since it may carry more digits.

    The equation is x / e(x) = r / c with e = `gap`. Both ends behave like a power of x, so fixed-point Newton steps
    in log x with the slope of the uniform leading terms converge in a few rounds from any start; the start is
    Banerjee et al. (2005), eq. 4.4.
    """
    if r == 0.0 or c == 0.0:
        return 0.0 if r == 0.0 else math.inf
    if r < 1e-8:  # x = 2 (v + 1) r [1 + r^2 (v+1)/(v+2) + ...], where e/x may overflow
        return (2.0 * v + 2.0) * r
    x = r * (2.0 * v + 2.0 - r * r) / (c * (1.0 + r))
    a = v + 0.5
    for _ in range(40):
        e = gap(v, x)
        p = a / math.hypot(a, x)
        slope = (a * (1.0 + p) + 0.5 * p * (1.0 + p) + 0.5 * (1.0 - p * p) * p * (1.0 + 2.0 * p)) / e
        step = math.log((r / c) * (e / x)) / slope
        x *= math.exp(step)
        if abs(step) < 2e-16 or x == math.inf:
            break
    return x


def compiled() -> dict[str, Any]:
    """Return the kernels as compiled loops over flat float64 arrays: name -> loop(arguments..., out)."""
    from numba.extending import register_jitable

    from .jit import njit

    helpers = (perron, gap, debye_log_sum, stirling, series_0f1, by_series, log_0f1_scaled, log_ratio_far, step_by_step)
    for function in (*helpers, log_iv, iv_ratio, iv_ratio_complement, log_iv_ratio, iv_ratio_inverse):
        register_jitable(function)

    @njit
    def log_iv_loop(v, x, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = log_iv(v[i], x[i])

    @njit
    def iv_ratio_loop(v, x, n, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = iv_ratio(v[i], x[i], n[i])

    @njit
    def iv_ratio_complement_loop(v, x, n, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = iv_ratio_complement(v[i], x[i], n[i])

    @njit
    def log_iv_ratio_loop(v, x, n, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = log_iv_ratio(v[i], x[i], n[i])

    @njit
    def iv_ratio_inverse_loop(v, r, c, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = iv_ratio_inverse(v[i], r[i], c[i])

    return {
        "log_iv": log_iv_loop,
        "iv_ratio": iv_ratio_loop,
        "iv_ratio_complement": iv_ratio_complement_loop,
        "log_iv_ratio": log_iv_ratio_loop,
        "iv_ratio_inverse": iv_ratio_inverse_loop,
    }
