"""Scalar kernels of the logarithm of the modified Bessel function I_v(x), v >= 0, x >= 0, and of 0F1.

They are plain Python on floats, so one call compiles nothing; `loops` runs the same functions compiled.
With R = sqrt(v^2 + x^2) there are two formulas: the power series below R = `SERIES_BELOW` and the uniform (Debye)
expansion above, which agree there to 2e-15.
"""

from __future__ import annotations

import math

from .gamma import HALF_LOG_2PI, STIRLING_FROM, log_gamma, stirling

SERIES_BELOW = 64.0
TINY = 1e-290  # below it a ratio may be subnormal


def debye_log_sum(y: float, h: float) -> float:
    """Return the logarithm of Debye's sum sum_k u_k(p)/v^k (DLMF 10.41.10) as a series in h = 1/R; y = p^2 = (v/R)^2.

    It is taken term by term, in exact fractions. Truncation: 1.4e-15 at R = 64.
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


def series_0f1(v: float, x: float) -> float:
    """Return 0F1(; v+1; x^2/4) - 1 by its power series: all terms are positive."""
    # DLMF 10.25.2 over its first term, less 1
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


def radius(v: float, x: float) -> float:
    """Return R = sqrt(v^2 + x^2), v < 1e150: the same bits in plain Python and compiled, unlike math.hypot."""
    return math.sqrt(v * v + x * x) if x < 1e150 else x


def log_quotient(x: float, y: float) -> float:
    """Return log(x/y) for y >= 1, also where x/y would be subnormal."""
    return math.log(x / y) if x > TINY else math.log(x) - math.log(y)


def log_0f1(v: float, x: float) -> float:
    """Return log 0F1(; v+1; x^2/4) = log[Gamma(v+1) (2/x)^v I_v(x)], relative accuracy also where it is small."""
    if x == math.inf:
        return math.inf
    if by_series(v, x):
        return math.log1p(series_0f1(v, x))
    if v < STIRLING_FROM:
        return log_0f1_scaled(v, x) + x
    z = x / v
    d = z * (z / (1.0 + radius(1.0, z)))  # sqrt(1 + z^2) - 1
    # DLMF 10.41.3, and 5.11.1 for Gamma(v+1)
    r = radius(v, x)
    small = stirling(v) + debye_log_sum((v / r) * (v / r), 1.0 / r)
    return v * (d - math.log1p(0.5 * d)) - 0.5 * math.log1p(d) + small


def log_0f1_scaled(v: float, x: float) -> float:
    """Return log[e^-x 0F1(; v+1; x^2/4)] <= 0 without the cancellation of `log_0f1` minus x."""
    if x == math.inf:
        return -math.inf
    if by_series(v, x):
        return math.log1p(series_0f1(v, x)) - x
    # DLMF 10.41.3
    r = radius(v, x)
    small = debye_log_sum((v / r) * (v / r), 1.0 / r)
    if v < STIRLING_FROM:
        head = v * (v / (r + x)) - v * (math.asinh(v / x) + math.log(0.5 * x)) - 0.5 * math.log(r)
        return head - HALF_LOG_2PI + log_gamma(v) + small
    z = x / v
    w = radius(1.0, z)
    d = z * (z / (1.0 + w))
    return small + stirling(v) - 0.5 * math.log1p(d) - v * ((d + z) / (w + z) + math.log1p(0.5 * d))


def log_iv(v: float, x: float) -> float:
    """Return log I_v(x)."""
    if x == math.inf:
        return math.inf
    if x == 0.0:
        return 0.0 if v == 0.0 else -math.inf
    r = radius(v, x)
    if r < SERIES_BELOW:  # DLMF 10.25.2
        series = math.log1p(series_0f1(v, x))
        if v < STIRLING_FROM:
            return v * log_quotient(x, 2.0) - log_gamma(v) + series
        # v log(x/2) and log Gamma(v+1) would cancel where x is less than v
        return v * (1.0 + log_quotient(x, 2.0 * v)) - 0.5 * math.log(v) - HALF_LOG_2PI - stirling(v) + series
    angle = math.asinh(v / x) if x > 1e-8 * v else math.log(v + r) - math.log(x)
    # DLMF 10.41.3, where v eta = r - v arsinh(v/x)
    return r - v * angle - 0.5 * math.log(r) - HALF_LOG_2PI + debye_log_sum((v / r) * (v / r), 1.0 / r)
