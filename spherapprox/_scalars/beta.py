"""Scalar kernels of the normalised measure of a spherical cap and of its inverse, in logarithms.

The measure is s_m int_0^phi sin^(m-1) with s_m = Gamma((m+1)/2) / (sqrt(pi) Gamma(m/2)). With c = cos(phi) the integral
is sin^m(phi) over m c T_0, T_0 a continued fraction of positive terms, whose length grows like 1/(m c^2); within two
standard deviations of the equator the cap is a hemisphere less s_m int_0^c (1-t^2)^(m/2-1), by its power series. Plain
Python on floats, as in `bessel`.
"""

from __future__ import annotations

import math

from .gamma import gamma_half_ratio, log_gamma

HALF_PI = 0.5 * math.pi
PI_TAIL = 1.2246467991473532e-16  # pi minus math.pi
LOG_TWO = math.log(2.0)
LOG_PI = math.log(math.pi)
ROOT = 1.0 / math.sqrt(math.pi)
EQUATOR, TERMS = 3.0, 22  # the power series where c^2 max(m, 12) is at most this; its rest is below 1e-17 there
LONG, SHORT, SHORT_FROM = 62, 24, 12.0
"""Steps of the continued fraction, which suffice to 5e-17, and fewer where c^2 max(m, 48) is at least `SHORT_FROM`."""


def log_surface_area(m: float) -> float:
    """Return the log of the area of S^m, 2 pi^a / Gamma(a) with a = (m+1)/2."""
    half = 0.5 * (m + 1.0)
    return LOG_TWO + half * LOG_PI - log_gamma(half - 1.0)


def density(m: float) -> float:
    """Return s_m."""
    return ROOT * gamma_half_ratio(0.5 * m)


def is_near_equator(m: float, c: float) -> bool:
    """Tell whether `belt` gives the measure of a cap of cosine c."""
    return c * c * max(m, 12.0) <= EQUATOR


def belt(m: float, c: float) -> float:
    """Return the integral of (1 - t^2)^(m/2-1) over 0 <= t <= c where `is_near_equator` holds, by its power series."""
    rise, square = 1.0 - 0.5 * m, c * c
    term = total = 1.0
    for k in range(TERMS):
        term *= ((k + rise) * square) * (1.0 / (k + 1.0))
        total += term * (1.0 / (2.0 * k + 3.0))
    return c * total


def tail(h: float, q: float, n: float) -> float:
    """Return T_n of `fraction` roughly: the root of T = d + a/(T + g), g the growth of such roots for g = 0."""
    x = n * h
    d = 1.0 + 2.0 * x
    a = ((n + 1.0) * q) * (1.0 + x)
    root = 0.5 * (d + math.sqrt(d * d + 4.0 * a))
    g = (2.0 * h * root + q * ((1.0 + x) + (n + 1.0) * h)) / (2.0 * root - d)
    b = d - g
    return 0.5 * (b + math.sqrt(b * b + 4.0 * (d * g + a)))


def fraction(m: float, s: float, c: float) -> float:
    """Return T_0 of the continued fraction T_k = 1 + 2 k/m + (k+1) (1 + k/m) q / T_{k+1}, q = (s/c)^2/m.

    With s and c the sine and cosine of phi, s^m / (m c T_0) is the integral of sin^(m-1) from 0 to phi: it is
    s^m/(m c) 2F1(1, 1/2; m/2+1; -(s/c)^2). As quotients of a three-term recurrence the steps need no division.
    """
    steps = SHORT if c * c * max(m, 48.0) >= SHORT_FROM else LONG
    h = 1.0 / m
    # DLMF 15.7.1 for a = 1/2, b = 0, c = m/2
    q = (s / c) * (s / c) * h
    top, below = tail(h, q, float(steps)), 1.0
    for k in range(steps - 1, -1, -1):
        x = k * h
        y = 1.0 + x
        top, below = (y + x) * top + (((k + 1.0) * q) * y) * below, top
    return top / below


def part(m: float, s: float, c: float) -> float:
    """Return what `from_part` takes for a cap of sine s and cosine c: `belt` near the equator, `fraction` elsewhere."""
    return belt(m, c) if is_near_equator(m, c) else fraction(m, s, c)


def from_part(m: float, factor: float, s: float, c: float, part: float) -> tuple[float, float]:
    """Return the log measure of a cap up to a hemisphere, and measure over s_m s^(m-1), for `factor` = s_m."""
    log = math.log(s) if c * c > 0.5 else 0.5 * math.log1p(-c * c)  # log s, without rounding s near 1
    if is_near_equator(m, c):
        measure = 0.5 - factor * part
        return math.log(measure), measure / factor * math.exp((1.0 - m) * log)
    inverse = m * c * part
    return m * log + math.log(factor / inverse), s / inverse


def log_half_cap(m: float, angle: float, factor: float) -> tuple[float, float]:
    """Return the log measure of a cap of radius 0 < angle <= pi/2 and its `rim_mean`, for `factor` = s_m."""
    s, c = math.sin(angle), math.cos(angle)
    log, width = from_part(m, factor, s, c, part=part(m, s, c))
    return log, width / angle


def rim_mean(m: float, angle: float) -> float:
    """Return the mean of (sin t / sin angle)^(m-1) over 0 <= t <= angle, for 0 < angle <= pi/2."""
    return log_half_cap(m, angle, density(m))[1]


def is_closed(m: float, angle: float) -> bool:
    """Tell whether `closed` gives the log measure of a cap."""
    return m <= 2.0 or angle <= 0.0 or angle >= math.pi


def closed(m: float, angle: float) -> float:
    """Return the log measure of a cap where `is_closed` holds."""
    if angle <= 0.0 or angle >= math.pi:
        return -math.inf if angle <= 0.0 else 0.0
    if angle > HALF_PI:
        root = math.cos(0.5 * angle)
        return math.log1p(-(((math.pi - angle) + PI_TAIL) / math.pi if m == 1.0 else root * root))
    if angle < 1e-300:  # a quotient would be subnormal
        return math.log(angle) - LOG_PI if m == 1.0 else 2.0 * (math.log(angle) - LOG_TWO)
    return math.log(angle / math.pi) if m == 1.0 else 2.0 * math.log(math.sin(0.5 * angle))


def whole_cap(log: float, angle: float) -> float:
    """Return the log measure of a cap from that of the smaller one of it and its complement."""
    return log if angle <= HALF_PI else math.log1p(-math.exp(log))


def log_cap_measure(m: float, angle: float) -> float:
    """Return log sigma(C(angle)) on S^m for 0 <= angle <= pi."""
    if is_closed(m, angle):
        return closed(m, angle)
    s, c = math.sin(angle), abs(math.cos(angle))
    return whole_cap(from_part(m, density(m), s, c, part=part(m, s, c))[0], angle)


def cap_angle(m: float, log_measure: float) -> float:
    """Return the angle of a cap of log measure in [-inf, 0]."""
    if log_measure > -LOG_TWO:
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
    factor = density(m)
    # Step 1: a start right of the root, by sin^m/m <= int_0^angle sin^(m-1)
    rim = (log_measure + math.log(m / factor)) / m
    angle = math.asin(math.exp(rim)) if rim < 0.0 else HALF_PI
    if angle == 0.0:
        return 0.0
    # Step 2: Newton's steps in log angle, of which the log measure is a concave and increasing function: they cross the
    # root once and then climb to it
    for _ in range(60):
        log, mean = log_half_cap(m, angle, factor)
        step = (log_measure - log) * mean
        new = min(HALF_PI, angle * math.exp(step))
        if abs(step) < 4e-16 or new == angle:
            return new
        small = abs(step) < 1e-9  # the next error is its square: one more round would only move the last bit
        angle = new
        if small:
            break
    return angle
