"""Scalar kernels of the normalised measure of a spherical cap and of its inverse, in logarithms.

The measure is s_m int_0^phi sin^(m-1) with s_m = Gamma((m+1)/2) / (sqrt(pi) Gamma(m/2)). A series gives the integral of
small caps. Near the hemisphere it would take hundreds of terms; the integrand, referred to the cap's rim, falls from 1
without a scale that Gauss's rule could miss, so there one rule serves every dimension. Plain Python on floats, as in
`bessel`.
"""

from __future__ import annotations

import math

from .gamma import log_gamma, log_gamma_half_ratio
from .gauss import gauss_legendre

HALF_PI = 0.5 * math.pi
PI_TAIL = 1.2246467991473532e-16  # pi minus math.pi
LOG_HALF = -math.log(2.0)
SERIES = 0.85  # sin^2 of the angle below which a series is faster than Gauss's rule
CUT = 40.0  # the integrand is dropped below e^-40 of its value at the rim

RULE = 32
_nodes, _weights = gauss_legendre(RULE)
# on [0, 1]; tuples of floats, for plain Python and for compiled loops
NODES = tuple((0.5 + 0.5 * _nodes).tolist())
WEIGHTS = tuple((0.5 * _weights).tolist())


def log_surface_area(m: float) -> float:
    """Return the log of the area of S^m, 2 pi^a / Gamma(a) with a = (m+1)/2."""
    half = 0.5 * (m + 1.0)
    return math.log(2.0) + half * math.log(math.pi) - log_gamma(half - 1.0)


def log_sin(angle: float) -> float:
    """Return log sin(angle) for 0 < angle <= pi/2, without rounding sin near 1."""
    if angle < 0.8:
        return math.log(math.sin(angle))
    c = math.cos(angle)
    return 0.5 * math.log1p(-c * c)


def rim_series(m: float, z: float) -> float:
    """Return the hypergeometric 2F1(1, (m+1)/2; m/2+1; z) for 0 <= z < 1, by its series of positive terms."""
    total = term = 1.0
    k = 0.5 * m
    while term * z > 1e-17 * (1.0 - z) * total:  # the rest is below a geometric series
        term *= z * ((k + 0.5) / (k + 1.0))
        total += term
        k += 1.0
    return total


def rim_mean(m: float, angle: float) -> float:
    """Return the mean of (sin t / sin angle)^(m-1) over 0 <= t <= angle, for 0 < angle <= pi/2."""
    s = math.sin(angle)
    if s * s < SERIES:
        return s * math.cos(angle) / (m * angle) * rim_series(m, s * s)
    cot = math.cos(angle) / s
    width = angle
    if m > 1.0:
        width = angle - math.asin(s * math.exp(-CUT / (m - 1.0)))
        if width < 1e-3 * angle:  # the difference above has no digits left to give: its leading terms
            q = CUT / (m - 1.0)
            width = 2.0 * q / (cot + math.sqrt(cot * cot + 2.0 * q))
    # Gauss's rule in u = angle - t on [0, width]
    total = 0.0
    for i in range(RULE):
        u = width * NODES[i]
        half = math.sin(0.5 * u)
        # sin(angle - u)/sin(angle) = cos u - cot sin u = 1 - (cot sin u + 2 sin^2(u/2))
        total += WEIGHTS[i] * math.exp((m - 1.0) * math.log1p(-(cot * math.sin(u) + 2.0 * half * half)))
    return (width / angle) * total


def log_half_cap(m: float, angle: float, low: float = 0.0) -> float:
    """Return the log measure of a cap of angular radius 0 < angle + low <= pi/2, |low| a rounding of angle."""
    if angle > 1e-300:
        if m == 1.0:
            return math.log(angle / math.pi)
        if m == 2.0:
            return 2.0 * math.log(math.sin(0.5 * angle))
    scale = log_gamma_half_ratio(0.5 * m) - 0.5 * math.log(math.pi)  # log s_m
    mean = rim_mean(m, angle)
    result = scale + (m - 1.0) * log_sin(angle) + (math.log(angle) + math.log(mean))
    return result if low == 0.0 else result + low / (angle * mean)


def log_cap_measure(m: float, angle: float) -> float:
    """Return log sigma(C(angle)) on S^m for 0 <= angle <= pi."""
    if angle <= 0.0:
        return -math.inf
    if angle <= HALF_PI:
        return log_half_cap(m, angle)
    if angle >= math.pi:
        return 0.0
    remainder = math.pi - angle  # exact, but for the tail of pi
    opposite = remainder + PI_TAIL
    return math.log1p(-math.exp(log_half_cap(m, opposite, (remainder - opposite) + PI_TAIL)))


def cap_angle(m: float, log_measure: float) -> float:
    """Return the angle of a cap of log measure in [-inf, 0]."""
    if log_measure > LOG_HALF:
        if log_measure >= 0.0:
            return math.pi
        return min(math.pi, math.pi - (half_cap_angle(m, math.log(-math.expm1(log_measure))) - PI_TAIL))
    return half_cap_angle(m, log_measure)


def half_cap_angle(m: float, log_measure: float) -> float:
    """Return the angle in [0, pi/2] of a cap of log measure <= log(1/2)."""
    if log_measure == -math.inf:
        return 0.0
    if m == 1.0:
        return math.pi * math.exp(log_measure)
    if m == 2.0:
        return 2.0 * math.asin(min(1.0, math.exp(0.5 * log_measure)))
    scale = log_gamma_half_ratio(0.5 * m) - 0.5 * math.log(math.pi)  # log s_m
    # Step 1: a start right of the root, by sin^m/m <= int_0^angle sin^(m-1)
    log_sine = (log_measure - scale + math.log(m)) / m
    angle = math.asin(math.exp(log_sine)) if log_sine < 0.0 else HALF_PI
    if angle == 0.0:
        return 0.0
    # Step 2: Newton's steps in log angle, of which the log measure is a concave and increasing function: they cross the
    # root once and then climb to it
    for _ in range(60):
        mean = rim_mean(m, angle)
        miss = log_measure - (scale + (m - 1.0) * log_sin(angle) + (math.log(angle) + math.log(mean)))
        step = miss * mean
        new = min(HALF_PI, angle * math.exp(step))
        if abs(step) < 4e-16 or new == angle:
            return new
        small = abs(step) < 1e-9  # the next error is its square: one more round would only move the last bit
        angle = new
        if small:
            break
    return angle
