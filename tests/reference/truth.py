"""Reference values for the accuracy tables, in mpmath: right to 30 digits, by other formulas than the library's.

Every function takes exact floats and integers and returns an mpf. Where digits cancel, more are carried from the start,
and every expansion, fraction and integral watches its own convergence: it raises `Doubtful` rather than guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
from mpmath.calculus.quadrature import GaussLegendre

DIGITS = 34
"""Relative (of a logarithm near 0: relative too) or absolute digits that every function aims at; 30 are promised."""

Number = float | int


class Doubtful(ArithmeticError):
    """A value that cannot be guaranteed to 30 digits."""


# Bessel functions ----------------------------------------------------------------------------------------------------


@cache
def debye_coefficients(k: int) -> tuple[Fraction, ...]:
    """Return c_0..c_k with u_k(p) = sum_j c_j p^(k+2j), by the recurrence of DLMF 10.41.9."""
    if k == 0:
        return (Fraction(1),)
    c = [Fraction(0)] * (k + 1)
    for j, a in enumerate(debye_coefficients(k - 1)):
        e = k - 1 + 2 * j
        c[j] += a * (Fraction(e, 2) + Fraction(1, 8 * (e + 1)))
        c[j + 1] -= a * (Fraction(e, 2) + Fraction(5, 8 * (e + 3)))
    return tuple(c)


@cache
def fixed_coefficients(k: int, bits: int) -> tuple[int, ...]:
    """Return `debye_coefficients` times 2^bits, rounded, highest power first."""
    return tuple((c.numerator << bits) // c.denominator for c in reversed(debye_coefficients(k)))


def series_factor(v: Any, x: Any) -> Any:
    """Return (0F1(; v+1; x^2/4) - 1) (v+1) / (x^2/4) >= 1 by its power series, in integers scaled by 2^bits."""
    bits = mp.mp.prec + 32
    one = 1 << bits
    q, order = int(mp.ldexp(x * x / 4, bits)), int(mp.ldexp(v, bits))
    total = term = one
    k = 1
    while term:
        k += 1
        term = term * q // (k * (order + k * one))
        total += term
        if k > 4_000:
            raise Doubtful(f"the power series at order {v}, x {x} is too long")
    return mp.ldexp(mp.mpf(total), -bits)


def log_iv_by_series(v: Any, x: Any) -> Any:
    """Return log I_v(x) at the working precision."""
    rest = mp.log1p(x * x / (4 * (v + 1)) * series_factor(v, x))
    return (v * mp.log(x / 2) - mp.loggamma(v + 1) if v else 0) + rest


def log_iv_by_debye(v: Any, x: Any) -> Any:
    """Return log I_v(x) at the working precision by the uniform expansion, DLMF 10.41.3.

    Its k-th term is of size Gamma(k)/F^k with F >= 2R, the distance of the nearest other saddle of x cosh t - v t: as
    many are taken as that estimate asks for and one more, and the last two must be as small.
    """
    r = mp.sqrt(v * v + x * x)
    bits = mp.mp.prec + 16
    h, y = int(mp.ldexp(1 / r, bits)), int(mp.ldexp((v / r) ** 2, bits))
    tolerance = mp.ldexp(1, -mp.mp.prec - 8)
    size, count = 1 / (2 * r), 1
    while size > tolerance or count < 3:
        size *= count / (2 * r)
        count += 1
        if count > min(r, 200):
            raise Doubtful(f"Debye's expansion at order {v}, x {x} does not reach {mp.mp.dps} digits")
    count += 1
    total = 0
    for k in range(count, 0, -1):
        polynomial = 0
        for c in fixed_coefficients(k, bits):
            polynomial = (polynomial * y >> bits) + c
        if k > count - 2 and abs(mp.ldexp(mp.mpf(polynomial), -bits)) > 100 * tolerance * r**k:
            raise Doubtful(f"Debye's expansion at order {v}, x {x} has not settled after {k} terms")
        total = (total + polynomial) * h >> bits
    total += 1 << bits
    main = r - (v * mp.log((v + r) / x) if v else 0) - mp.log(2 * mp.pi * r) / 2
    return main + mp.log(mp.ldexp(mp.mpf(total), -bits))


def near(v: Any, x: Any) -> bool:
    """Tell whether the power series is taken: where R = hypot(v, x) is too small for Debye at this precision."""
    return bool(v * v + x * x < (1.5 * mp.mp.dps + 50) ** 2)


def log_iv_here(v: Any, x: Any) -> Any:
    """Return log I_v(x) at the working precision."""
    return log_iv_by_series(v, x) if near(v, x) else log_iv_by_debye(v, x)


def decades(value: Number) -> int:
    """Return the decimal digits before the point, at least 0."""
    return max(0, math.frexp(value)[1] * 1234 // 4096 + 1)


def log_iv(order: float, x: float) -> Any:
    """Return log I_order(x) for x > 0, to an absolute 1e-34."""
    with mp.workdps(DIGITS + 8 + decades(math.hypot(order, x))):
        return log_iv_here(mp.mpf(order), mp.mpf(x))


@cache
def log_iv_ratio(order: float, x: float, step: int = 1) -> Any:
    """Return log[I_{order+step}(x) / I_order(x)] for x > 0, as a difference: |it| > step/(2x) is what remains."""
    if step == 0:
        return mp.mpf(0)
    with mp.workdps(DIGITS + 12 + decades(math.hypot(order + step, x)) + decades(x)):
        v, z = mp.mpf(order), mp.mpf(x)
        return log_iv_here(v + int(step), z) - log_iv_here(v, z)


def iv_ratio(order: float, x: float, step: int = 1) -> Any:
    """Return I_{order+step}(x) / I_order(x)."""
    log = log_iv_ratio(order, x, step)
    with mp.workdps(DIGITS + 4 + decades(float(log))):
        return mp.exp(log)


def iv_ratio_complement(order: float, x: float, step: int = 1) -> Any:
    """Return 1 - I_{order+step}(x) / I_order(x)."""
    with mp.workdps(DIGITS + 4):
        return -mp.expm1(log_iv_ratio(order, x, step))


def iv_ratio_inverse(order: float, ratio: float) -> Any:
    """Return x > 0 with I_{order+1}(x) / I_order(x) = ratio, 0 < ratio < 1.

    Newton's steps in log x for the log of ratio / (1 - ratio), whose slope is between 1 and 1.25 everywhere.
    """
    with mp.workdps(DIGITS + 10):
        v, r = mp.mpf(order), mp.mpf(ratio)
        target = mp.log(r) - mp.log1p(-r)
        x = r * (2 * v + 2 - r * r) / (1 - r * r)
        for _ in range(60):
            log = log_iv_ratio.__wrapped__(order, x)
            here, rest = mp.exp(log), -mp.expm1(log)
            slope = x * ((2 - rest) * rest - (2 * v + 1) / x * here) / (here * rest) if x > 1e-9 else 1
            step = (target - log + mp.log(rest)) / slope
            x *= mp.exp(step)
            if abs(step) < mp.mpf(10) ** (2 - DIGITS):
                return x
    raise Doubtful(f"the inverse at order {order}, ratio {ratio} does not settle")


def log_0f1(order: float, x: float) -> Any:
    """Return log 0F1(; order+1; x^2/4), also to relative digits where it is small."""
    if x == 0.0:
        return mp.mpf(0)
    with mp.workdps(DIGITS + 12 + decades(math.hypot(order, x))):
        v, z = mp.mpf(order), mp.mpf(x)
        if near(v, z) or z * z <= 256 * (v + 1):
            return mp.log1p(z * z / (4 * (v + 1)) * series_factor(v, z))
        return mp.loggamma(v + 1) - v * mp.log(z / 2) + log_iv_by_debye(v, z)


def log_peak(order: float, x: float) -> Any:
    """Return x - log 0F1(; order+1; x^2/4), the log density of the kernel at its mode."""
    with mp.workdps(DIGITS + 12 + 2 * decades(x)):
        return mp.mpf(x) - log_0f1(order, x)


def entropy(dim: int, concentration: float) -> Any:
    """Return the entropy for the normalised measure, log 0F1 - lambda a_1."""
    order = (dim - 1) / 2
    if concentration == 0.0:
        return mp.mpf(0)
    with mp.workdps(DIGITS + 12 + 2 * decades(concentration)):
        return log_0f1(order, concentration) - mp.mpf(concentration) * mp.exp(log_iv_ratio(order, concentration))


# The sphere ----------------------------------------------------------------------------------------------------------


def log_surface_area(dim: int) -> Any:
    """Return log[2 pi^((m+1)/2) / Gamma((m+1)/2)]."""
    with mp.workdps(DIGITS + 4 + decades(dim)):
        half = mp.mpf(dim + 1) / 2
        return mp.log(2) + half * mp.log(mp.pi) - mp.loggamma(half)


def log_incomplete_beta(a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return log I_x(a, b) by the continued fraction DLMF 8.17.22 (Lentz); y = 1 - x; for x <= (a+1)/(a+b+2)."""
    f = c = mp.mpf(1)
    d = mp.mpf(0)
    k = 0
    while True:
        k += 1
        j = k // 2
        if k % 2:
            e = -(a + j) * (a + b + j) * x / ((a + 2 * j) * (a + 2 * j + 1))
        else:
            e = j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j))
        d = 1 / (1 + e * d)
        c = 1 + e / c
        f *= c * d
        if k > 4 and abs(c * d - 1) < mp.ldexp(1, 4 - mp.mp.prec):
            break
        if k > 50_000:
            raise Doubtful(f"the fraction of I_x({a}, {b}) at {x} does not converge")
    beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return a * mp.log(x) + b * mp.log(y) - mp.log(a) - beta - mp.log(f)


def log_half_cap(dim: int, angle: Any) -> Any:
    """Return log of I_{sin^2 angle}(m/2, 1/2) / 2 for 0 < angle <= pi/2, at the working precision."""
    a, half = mp.mpf(dim) / 2, mp.mpf(1) / 2
    cos, sin = mp.cos_sin(angle)
    x, y = sin * sin, cos * cos
    if x <= (a + 1) / (a + mp.mpf(5) / 2):
        return log_incomplete_beta(a, half, x, y) - mp.log(2)
    return mp.log1p(-mp.exp(log_incomplete_beta(half, a, y, x)) if y else 0) - mp.log(2)


def log_cap_measure(dim: int, angle: float) -> Any:
    """Return the log of the normalised measure of a cap of angular radius 0 < angle < pi, in relative digits."""
    with mp.workdps(DIGITS + 26 + decades(dim)):
        t = mp.mpf(angle)
        if t <= mp.pi / 2:
            return log_half_cap(dim, t)
        return mp.log1p(-mp.exp(log_half_cap(dim, mp.pi - t)))


def half_cap_angle(dim: int, log_measure: Any) -> Any:
    """Return the angle <= pi/2 of a cap of log measure <= log(1/2): Newton's steps in log angle, from the right.

    The log measure is concave and increasing in log angle, so that they cannot miss; the residual is checked.
    """
    scale = mp.loggamma(mp.mpf(dim + 1) / 2) - mp.loggamma(mp.mpf(dim) / 2) - mp.log(mp.pi) / 2
    log_sine = (log_measure - scale + mp.log(dim)) / dim
    angle = mp.asin(mp.exp(log_sine)) if log_sine < 0 else mp.pi / 2
    for _ in range(80):
        log = log_half_cap(dim, angle)
        slope = mp.exp(scale + (dim - 1) * mp.log(mp.sin(angle)) - log) * angle
        step = (log_measure - log) / slope
        angle = min(mp.pi / 2, angle * mp.exp(step))
        if abs(step) < mp.mpf(10) ** -(DIGITS - 2):
            return angle
    raise Doubtful(f"the angle of dim {dim}, log measure {log_measure} does not settle")


def cap_angle(dim: int, log_measure: float) -> Any:
    """Return the angle of the cap of log measure -inf < log_measure < 0."""
    with mp.workdps(DIGITS + 16 + decades(dim) + decades(log_measure)):
        log = mp.mpf(log_measure)
        if log <= -mp.log(2):
            return half_cap_angle(dim, log)
        return mp.pi - half_cap_angle(dim, mp.log(-mp.expm1(log)))


@cache
def gegenbauer_pair(degree: int, dim: int, t: float | Any) -> tuple[Any, Any]:
    """Return the zonal polynomials of a degree >= 1 and of the one below at t, to 1e-40 of the larger.

    The three-term recurrence in integers, which are scaled up where they get small: on [-1, 1] a rounding grows at most
    like degree^2 beside the solution.
    """
    bits = 160 + 4 * degree.bit_length()
    previous = 1 << bits
    cosine = value = int(mp.ldexp(mp.mpf(t), bits))
    shift = 0
    for k in range(1, degree):
        numerator = (2 * k + dim - 1) * (cosine * value >> bits) - k * previous
        previous, value = value, numerator // (k + dim - 1)
        if max(abs(value), abs(previous)) >> (bits - 60) == 0:
            value, previous, shift = value << 60, previous << 60, shift + 60
    with mp.workdps(DIGITS + 16):
        return mp.ldexp(mp.mpf(value), -bits - shift), mp.ldexp(mp.mpf(previous), -bits - shift)


def gegenbauer_slope(degree: int, dim: int, t: float | Any) -> Any:
    """Return dG/dtheta at cos(theta) = t."""
    value, below = gegenbauer_pair(degree, dim, t)
    return -degree * (below - t * value) / mp.sqrt((1 - mp.mpf(t)) * (1 + mp.mpf(t)))


def gegenbauer_amplitude(degree: int, dim: int, t: float) -> Any:
    """Return sqrt(G^2 + (dG/dtheta)^2 / (k(k+m-1))), 1 at the poles."""
    if degree == 0 or abs(t) == 1.0:
        return mp.mpf(1)
    with mp.workdps(DIGITS + 16):
        value, slope = gegenbauer_pair(degree, dim, t)[0], gegenbauer_slope(degree, dim, t)
        return mp.sqrt(value * value + slope * slope / (degree * (degree + dim - 1)))


def gegenbauer(degree: int, dim: int, t: float) -> Any:
    """Return the zonal polynomial at t, to 1e-40 of its amplitude."""
    return gegenbauer_pair(degree, dim, t)[0] if degree else mp.mpf(1)


def gegenbauer_derivative_bound(degree: int, dim: int, order: int = 1) -> Any:
    """Return the derivative at 1, exactly rounded."""
    product = Fraction(1)
    for i in range(order):
        product *= Fraction((degree - i) * (degree + dim - 1 + i), dim + 2 * i)
    with mp.workdps(DIGITS + 16):
        return mp.mpf(product.numerator) / product.denominator


def gegenbauer_derivative(degree: int, dim: int, t: float, order: int = 1) -> Any:
    """Return a derivative: the polynomial of degree k - j on S^(m+2j), times its value at 1."""
    if order > degree:
        return mp.mpf(0)
    with mp.workdps(DIGITS + 16):
        return gegenbauer(degree - order, dim + 2 * order, t) * gegenbauer_derivative_bound(degree, dim, order)


def gegenbauer_lipschitz(degree: int, dim: int, zero_angle: float) -> Any:
    """Return the largest |dG/dtheta| before the angle of the first zero of G, where it is largest.

    It is where d2G/dtheta2 = 0, between 0 and that angle: a secant search in a bracket.
    """
    if degree == 1:
        return mp.mpf(1)
    with mp.workdps(DIGITS + 26):

        def bend(angle: Any) -> Any:
            """Return G''/G' at an angle, by the differential equation."""
            t = mp.cos(angle)
            ratio = gegenbauer_pair(degree, dim, t)[0] / gegenbauer_slope(degree, dim, t)
            return -(dim - 1) * mp.cot(angle) - degree * (degree + dim - 1) * ratio

        bracket = mp.mpf(zero_angle) / 100, mp.mpf(zero_angle) * (1 + mp.mpf(10) ** -12)
        margin = mp.mpf(zero_angle) * mp.mpf(10) ** -18  # the maximum has the square of the angle's error
        angle = mp.findroot(bend, bracket, solver="illinois", tol=margin / 100, maxsteps=100, verify=False)
        if bend(angle - margin) > 0 > bend(angle + margin):
            return abs(gegenbauer_slope(degree, dim, mp.cos(angle)))
    raise Doubtful(f"the steepest angle of degree {degree}, dim {dim} does not settle")


def gegenbauer_max_zero(degree: int, dim: int, start: float) -> Any:
    """Return the largest zero of the zonal polynomial, by Newton's steps from a value near it.

    The ratios G_{k+1}/G_k are all positive right of it and exactly one is negative just left of it (Sturm), which
    proves that it is the one that was asked for.
    """
    if degree == 1:
        return mp.mpf(0)
    bits = 180 + 4 * degree.bit_length()
    one = 1 << bits

    def last(t: int) -> tuple[int, int, int]:
        """Return G_n/G_{n-1} at t, its derivative, and the number of negative ratios."""
        ratio, slope, negative = t, one, int(t < 0)
        for k in range(1, degree):
            inverse = one * one // ratio
            slope = ((2 * k + dim - 1) * one + k * (slope * (inverse * inverse >> bits) >> bits)) // (k + dim - 1)
            ratio = ((2 * k + dim - 1) * t - k * inverse) // (k + dim - 1)
            negative += ratio < 0
        return ratio, slope, negative

    zero = int(mp.ldexp(mp.mpf(start), bits))
    for _ in range(30):
        value, slope, _ = last(zero)
        step = value * one // slope
        zero -= step
        if abs(step) < 1 << (bits - 150):
            break
    margin = 1 << (bits - 120)
    if last(zero + margin)[2] != 0 or last(zero - margin)[2] != 1:
        raise Doubtful(f"the largest zero of degree {degree}, dim {dim} was not found from {start}")
    with mp.workdps(DIGITS + 16):
        return mp.ldexp(mp.mpf(zero), -bits)


# Integrals over the sphere -------------------------------------------------------------------------------------------

LEVEL = 5
NODES = 3 * 2 ** (LEVEL - 1)
RISE = 24.0  # how far the log of the integrand may vary over a panel
CUT = 85.0  # what lies e^-CUT below the largest value is dropped


@cache
def gauss(bits: int) -> tuple[tuple[Any, Any, list[Any]], ...]:
    """Return node, weight and weight (2j+1)/2 P_j(node) of Gauss's rule on [-1, 1], P_j Legendre's, j < NODES."""
    rule = []
    with mp.workprec(bits + 20):
        for x, weight in GaussLegendre(mp.mp).calc_nodes(LEVEL, bits + 20):
            values = [mp.mpf(1), x]
            for k in range(1, NODES - 1):
                values.append(((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1))
            rule.append((x, weight, [weight * (j + mp.mpf(1) / 2) * value for j, value in enumerate(values)]))
    return tuple(rule)


@dataclass
class Part:
    """A part of an integral over the colatitude theta: `factor`(theta) sin^(m-1)(theta), smooth on [low, high].

    `factor` varies like e^(lam cos v) with v = slope theta + offset, for one or more pairs `waves` of slope and offset.
    The variable is theta, or pi - theta (`mirrored`), so that it lies in [0, pi/2] and has its digits at both poles.
    """

    m1: int
    lam: float
    waves: Sequence[tuple[int, Any]]
    low: Any
    high: Any
    factor: Callable[[Any], Any]
    mirrored: bool

    def __post_init__(self) -> None:
        if self.mirrored:
            self.waves = [(-slope, slope * mp.pi + offset) for slope, offset in self.waves]
        self.waves = [(slope, float(offset)) for slope, offset in self.waves]

    def shape(self, wave: tuple[int, float], a: float, b: float) -> tuple[float, float, float]:
        """Return the log of e^(lam (cos v - 1)) sin^(m-1) at the middle of [a, b], its spread and its upper bound."""
        slope, offset = wave
        c, h = 0.5 * (a + b), 0.5 * (b - a)
        v = slope * c + offset
        value = -2.0 * self.lam * math.sin(0.5 * v) ** 2 + self.m1 * math.log(math.sin(c))
        ends = (slope * a + offset, slope * b + offset)
        nearest = 0.0 if min(ends) <= 0.0 <= max(ends) else min(map(abs, ends))
        ceiling = -2.0 * self.lam * math.sin(0.5 * min(nearest, math.pi)) ** 2 + self.m1 * math.log(math.sin(b))
        pull = -self.lam * math.sin(v) * slope
        bends = [-self.lam * abs(slope) * math.cos(t) for t in (nearest, min(max(map(abs, ends)), math.pi))]
        if a == 0.0 and self.m1 > 32:  # a lower power of sine is as good as a polynomial
            return value, math.inf, ceiling
        if a > 0.0:
            pull += self.m1 / math.tan(c)
            bends = [bends[0] - self.m1 / math.sin(a) ** 2, bends[1] - self.m1 / math.sin(b) ** 2]
        spread = h * (abs(pull) + 0.5 * max(map(abs, bends)) * h)
        return value, spread, min(ceiling, value + spread) if a > 0.0 else ceiling

    def panels(self) -> list[tuple[Any, Any]]:
        """Return the intervals that matter, each so short that the log of no wave that matters varies by `RISE`."""
        low, high = float(self.low), float(self.high)
        short, todo, best = [], [(low, high)], -math.inf
        for _ in range(400):
            panels = [(a, b, [self.shape(wave, a, b) for wave in self.waves]) for a, b in todo]
            best = max([best, *(value for _, _, shapes in panels for value, _, _ in shapes)])
            todo = []
            for a, b, shapes in panels:
                spreads = [spread for _, spread, ceiling in shapes if ceiling >= best - CUT]
                c = 0.5 * (a + b)
                if spreads and (max(spreads) <= RISE or not a < c < b):
                    short.append((a, b))
                elif spreads:
                    todo += [(a, c), (c, b)]
            if not todo:
                ends = {low: self.low, high: self.high}  # the exact ones
                return [(mp.mpf(ends.get(a, a)), mp.mpf(ends.get(b, b))) for a, b in sorted(short)]
        raise Doubtful(f"an integral of m-1 = {self.m1}, lambda = {self.lam} has too fine a structure")

    def at(self, t: Any) -> Any:
        """Return the integrand."""
        value = self.factor(mp.pi - t if self.mirrored else t)
        return value * mp.exp(self.m1 * mp.log(mp.sin(t))) if self.m1 else value

    def over(self, a: Any, b: Any, largest: Any, fraction: Any = 0, depth: int = 0) -> tuple[Any, Any]:
        """Return the integral over one panel of the integrand times theta^fraction, and the largest integrand seen.

        The error of Gauss's rule comes from the Legendre coefficients beyond degree 2 NODES; those at NODES are
        computed, and the panel is halved until the square of the last two, relative to the panel, is below 1e-33 of the
        whole. At theta = 0 a fractional power is integrated against the Legendre sum itself, in closed form.
        """
        if depth > 200:
            raise Doubtful(f"an integral of m-1 = {self.m1}, lambda = {self.lam} does not converge")
        centre, half = (a + b) / 2, (b - a) / 2
        bits = mp.mp.prec
        branch = fraction and a == 0
        nodes = [centre + half * node for node, _, _ in gauss(bits)]
        values = [self.at(t) * t**fraction if fraction and a else self.at(t) for t in nodes]

        def coefficient(j: int) -> Any:
            """Return the Legendre coefficient of degree j on the panel."""
            return mp.fsum(row[j] * value for (_, _, row), value in zip(gauss(bits), values, strict=True))

        size = max(map(abs, values))
        largest = max(largest, size)
        last, fine = max(abs(coefficient(-1)), abs(coefficient(-2))), mp.mpf(10) ** (1 - DIGITS)
        if branch and last <= fine * largest:
            total, moment = mp.mpf(0), 1 / (1 + fraction)  # int_0^1 u^fraction P_j(2u - 1) du
            for j in range(NODES):
                total += moment * coefficient(j)
                moment *= (fraction - j) / (fraction + 2 + j)
            return b ** (1 + fraction) * total, largest
        if not branch and last * last <= fine * size * largest:
            return half * mp.fsum(rule[1] * value for rule, value in zip(gauss(bits), values, strict=True)), largest
        lower, largest = self.over(a, centre, largest, fraction=fraction, depth=depth + 1)
        upper, largest = self.over(centre, b, largest, fraction=fraction, depth=depth + 1)
        return lower + upper, largest

    def integral(self, fraction: Any = 0) -> Any:
        """Return the integral of `factor` sin^(m-1) times theta^fraction."""
        total = largest = mp.mpf(0)
        for a, b in sorted(self.panels(), key=lambda panel: -self.at((panel[0] + panel[1]) / 2)):
            value, largest = self.over(a, b, largest, fraction=fraction)
            total += value
        return total


def integral(
    dim: int, lam: float, waves: Sequence[tuple[int, Any]], low: Any, high: Any, factor: Callable[[Any], Any],
    fraction: Any = 0,
) -> Any:  # fmt: skip
    """Return the integral of a `Part` over [low, high], in one or two parts."""
    half, total = mp.pi / 2, mp.mpf(0)
    if low < min(high, half):
        total += Part(dim - 1, lam, waves, low, min(high, half), factor, mirrored=False).integral(fraction)
    if max(low, half) < high:

        def lifted(t: Any) -> Any:
            return factor(t) * t**fraction if fraction else factor(t)

        total += Part(dim - 1, lam, waves, mp.pi - high, mp.pi - max(low, half), lifted, mirrored=True).integral()
    return total


def log_kernel_integral(dim: int, lam: float) -> Any:
    """Return log int_0^pi e^(lam (cos theta - 1)) sin^(m-1) theta dtheta in closed form, by `log_0f1`."""
    areas = mp.log(mp.pi) / 2 + mp.loggamma(mp.mpf(dim) / 2) - mp.loggamma(mp.mpf(dim + 1) / 2)
    return areas - log_peak((dim - 1) / 2, lam)


def working_digits(dim: int, lam: float, radius: float = 1.0) -> int:
    """Return digits for lam cos v and (m-1) log sin themselves, and for differences of the kernel over `radius`."""
    lost = 0.0 if radius >= 1.0 and lam >= 1.0 else -2.0 * math.log10(radius) - math.log10(lam)
    return 20 * math.ceil((DIGITS + 10 + decades(lam) + decades(dim) + max(0.0, lost)) / 20)


def kernel(lam: float) -> Callable[[Any], Any]:
    """Return v -> e^(lam (cos v - 1)) at the working precision."""
    z = mp.mpf(lam)
    return lambda v: mp.exp(z * (mp.cos(v) - 1))


@cache
def mean_angle(dim: int, lam: float, power: float = 1.0) -> Any:
    """Return E[theta^power] under the kernel."""
    with mp.workdps(working_digits(dim, lam)):
        k, whole = kernel(lam), int(power)
        top = integral(dim, lam, [(1, 0)], mp.mpf(0), +mp.pi, lambda t: t**whole * k(t), mp.mpf(power) - whole)
        return top / mp.exp(log_kernel_integral(dim, lam))


def crossing(rise: Callable[[Any], Any], fall: Callable[[Any], Any]) -> Any:
    """Return the colatitude where `rise` overtakes `fall`, to 18 digits: the larger's integral has twice as many."""
    low, high, pi = mp.mpf(0), mp.pi / 2, +mp.pi
    while high - low > mp.mpf(10) ** -18 * high:
        middle = mp.sqrt(low * high) if low else high / 1024
        low, high = (low, middle) if rise(middle) >= fall(middle) else (middle, high)
    for j in range(1, 8):
        before, after = high * j / 8, high + (pi - high) * j / 8
        if rise(before) > fall(before) or rise(after) < fall(after):
            raise Doubtful("the branches of D cross more than once")
    return high


@cache
def log_shift_variation(dim: int, lam: float, radius: float) -> Any:
    """Return log D, D = int max(k((theta-rho)+) - k(theta), k(theta) - k(min(theta+rho, pi))) dsigma."""
    with mp.workdps(working_digits(dim, lam, radius)):
        k, rho, pi, zero = kernel(lam), mp.mpf(radius), +mp.pi, mp.mpf(0)
        top, end = k(zero), pi - rho
        bottom = k(pi)

        def rise(t: Any) -> Any:
            return (k(t - rho) if t > rho else top) - k(t)

        def fall(t: Any) -> Any:
            return k(t) - (k(t + rho) if t < end else bottom)

        cross = crossing(rise, fall)
        total = integral(dim, lam, [(1, 0), (1, rho)], zero, min(cross, end), fall)
        if end < cross:
            total += integral(dim, lam, [(1, 0), (0, pi)], end, cross, fall)
        if cross < rho:
            total += integral(dim, lam, [(1, 0), (0, 0)], cross, rho, rise)
        total += integral(dim, lam, [(1, 0), (1, -rho)], max(rho, cross), pi, rise)
        return mp.log(total) - log_kernel_integral(dim, lam)


@cache
def log_shifted_mean_angle(dim: int, lam: float, radius: float) -> Any:
    """Return log of int (theta+rho) k((theta-rho)+) dsigma / int k(min(theta+rho, pi)) dsigma."""
    with mp.workdps(working_digits(dim, lam)):
        k, rho, pi, zero = kernel(lam), mp.mpf(radius), +mp.pi, mp.mpf(0)
        end, bottom = pi - rho, k(pi)
        upper = integral(dim, lam, [(0, 0)], zero, rho, lambda t: t + rho)
        upper += integral(dim, lam, [(1, -rho)], rho, pi, lambda t: (t + rho) * k(t - rho))
        lower = integral(dim, lam, [(1, rho)], zero, end, lambda t: k(t + rho))
        lower += integral(dim, lam, [(0, pi)], end, pi, lambda t: bottom)
        return mp.log(upper) - mp.log(lower)


def gradient(head, x, digits=40):
    """Return the gradients (m, dim+1) of a head with one value for each control point, by chords or by logits."""
    split = head.family == "split"
    with mp.workdps(digits):
        rates = [mp.mpf(float(rate)) for rate in np.broadcast_to(head.concentration, len(head))]
        values = [mp.mpf(float(value)) for value in head.values]
        rows = [[mp.mpf(float(t)) for t in b] for b in head.control_points]
        result = np.empty(x.shape)
        for i, row in enumerate(x):
            y = [mp.mpf(float(t)) for t in row]
            halves = [sum((s - t) ** 2 for s, t in zip(b, y, strict=True)) / 2 for b in rows]
            logits = [rate * (split - half) for rate, half in zip(rates, halves, strict=True)]
            top = max(logits) if split else 0
            e = [mp.exp(logit - top) for logit in logits]
            e = [weight / sum(e) for weight in e] if split else e
            h = mp.fdot(e, values) if split else 0
            factors = [rate * w * (value - h) for rate, w, value in zip(rates, e, values, strict=True)]
            g = [mp.fdot(factors, column) for column in zip(*rows, strict=True)]
            along = mp.fdot(g, y) / mp.fdot(y, y)
            result[i] = [float(s - along * t) for s, t in zip(g, y, strict=True)]
    return result
