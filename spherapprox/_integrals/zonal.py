"""Integrals over S^m of e^(lambda cos v) where v is the colatitude theta, or theta moved by rho and clipped to [0, pi].

Each integral is cut into pieces at its kinks. A piece is referred to its own mode, where the linear terms of
lambda cos v and (m-1) log sin theta cancel in closed form, so that nothing large is ever subtracted; it is cut where
it falls below e^-42 of its largest value and summed by one Gauss-Legendre rule. Every result is a quotient by the
kernel's own integral, in logarithms. Plain NumPy on scalars: nothing is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .piece import CUT, Piece, log_integral, log_sum

HALF_PI = 0.5 * math.pi
TINY = 1e-290


def kernel(m: float, lam: float) -> Piece:
    """Return the kernel itself, e^(lam cos theta) sin^(m-1) theta, at its mode lam sin^2 theta = (m-1) cos theta."""
    m1 = m - 1.0
    if m1 == 0.0:
        return Piece(0.0, 0.0, 0.0, slope=0.0, bend=lam)
    total = m1 + math.hypot(m1, 2.0 * lam)
    cos = 2.0 * lam / total
    sin = math.sqrt(2.0 * m1 / total)
    return Piece(math.atan2(sin, cos), m1, cos / sin, slope=0.0, bend=m1 + lam * cos)


def log_sine_ratio(base: Piece, angle: float) -> float:
    """Return (m-1) log[sin(angle) / sin(theta)] for the piece's reference theta."""
    if base.m1 == 0.0:
        return 0.0
    shift = angle - base.theta
    s = math.sin(0.5 * shift)
    y = base.cot * math.sin(shift) - 2.0 * s * s
    if y > -0.5:
        return base.m1 * math.log1p(y)
    return base.m1 * math.log(math.sin(angle) / math.sin(base.theta))


def flat(base: Piece, lam: float, low: float, high: float, pole: int) -> Piece:
    """Return the piece whose kernel is e^(pole lam) on colatitudes [low, high]; pole is 1 (north) or -1 (south)."""
    theta = min(max(low, HALF_PI), high)
    s = math.sin(0.5 * base.theta) if pole > 0 else math.cos(0.5 * base.theta)
    scale = pole * 2.0 * lam * s * s
    if base.m1 == 0.0:
        return Piece(theta, 0.0, 0.0, slope=0.0, bend=0.0, scale=scale)
    cot = math.cos(theta) / math.sin(theta)
    return Piece(theta, base.m1, cot, slope=base.m1 * cot, bend=base.m1, scale=scale + log_sine_ratio(base, theta))


def find_root(
    function: Callable[[float], tuple[float, float]], low: float, high: float, x: float, noise: float
) -> float:
    """Return the root in [low, high] of an increasing function, by Newton's steps from x kept in the bracket.

    `function` returns its value and derivative; steps below `noise` + 2e-16 x end the search.
    """
    for _ in range(60):
        value, derivative = function(x)
        if value < 0.0:
            low = x
        else:
            high = x
        new = x - value / derivative if derivative > 0.0 else low - 1.0
        if not low <= new <= high:
            new = 0.5 * (low + high)
        step, x = abs(new - x), new
        if step <= noise + 2e-16 * x:
            break
    return x


def balance(m1: float, lam: float, theta: float, v: float) -> tuple[float, float]:
    """Return lam sin v sin theta - (m-1) cos theta, 0 where lam cos v + (m-1) log sin theta peaks, and its slope."""
    sin, cos = math.sin(theta), math.cos(theta)
    sin_v = math.sin(v)
    return lam * sin_v * sin - m1 * cos, lam * (math.cos(v) * sin + sin_v * cos) + m1 * sin


def move_piece(base: Piece, lam: float, rho: float, sign: int) -> Piece:
    """Return the piece with v = theta + sign rho >= 0 about its mode; rho < pi/2 where sign is 1.

    With rho < theta_0, the kernel's mode, the distance from theta_0 is solved for: the digits of tiny rho last.
    """
    m1, theta0 = base.m1, base.theta
    # Step 1: the mode theta, by its distance from theta_0 or by itself, and (m-1) log(sin theta / sin theta_0)
    if rho < theta0:
        pull = lam * math.cos(theta0)
        start = rho * (pull / (pull + m1 * (1.0 + base.cot * base.cot)))

        def near(d: float) -> tuple[float, float]:
            value, slope = balance(m1, lam, theta0 - sign * d, v=theta0 + sign * (rho - d))
            return -sign * value, slope

        shift = find_root(near, theta0 - HALF_PI if sign > 0 else 0.0, rho, x=start, noise=1e-16 * theta0)
        theta, v, w = theta0 - sign * shift, theta0 + sign * (rho - shift), rho - shift
        s = math.sin(0.5 * shift)
        scale = m1 * math.log1p(-sign * base.cot * math.sin(shift) - 2.0 * s * s)
    else:
        top = HALF_PI if sign > 0 else max(0.0, min(theta0, HALF_PI - rho))
        start = min(top, theta0)
        if m1 > 0.0 and top > 0.0:
            ahead, back = (rho, 0.0) if sign < 0 else (0.0, rho)
            root = find_root(lambda t: balance(m1, lam, t + ahead, v=t + back), 0.0, top, x=start, noise=0.0)
        else:
            root = start
        theta, v = (root, root + rho) if sign > 0 else (root + rho, root)
        w = sign * (v - theta0)
        scale = log_sine_ratio(base, theta)
    # Step 2: the piece about it
    cot = math.cos(theta) / math.sin(theta) if m1 > 0.0 else 0.0
    slope = m1 * cot - lam * math.sin(v) if v == 0.0 or m1 == 0.0 else 0.0
    # lam [cos v - cos theta_0] = -sign 2 lam sin(theta_0 + sign w/2) sin(w/2) with v = theta_0 + sign w
    scale -= sign * 2.0 * lam * math.sin(theta0 + 0.5 * sign * w) * math.sin(0.5 * w)
    return Piece(theta, m1, cot, slope=slope, bend=m1 + lam * math.cos(v), scale=scale)


def away(base: Piece, lam: float, rho: float) -> list[tuple[Piece, float, float]]:
    """Return pieces with v = theta + rho that cover colatitudes [0, pi - rho], each with its range."""
    end = math.pi - rho
    m1 = base.m1
    if rho < HALF_PI or m1 == 0.0:
        return [(move_piece(base, lam, rho, sign=1), 0.0, end)]
    if end <= 0.0:
        return []
    # for rho >= pi/2 the end is a mode too, and another may lie before it, with a valley between
    cot = math.cos(end) / math.sin(end)
    c = math.cos(0.5 * base.theta)
    last = Piece(end, m1, cot, slope=m1 * cot, bend=m1 - lam, scale=log_sine_ratio(base, end) - 2.0 * lam * c * c)

    def ahead(t: float) -> tuple[float, float]:
        return balance(m1, lam, t, v=t + rho)

    def behind(t: float) -> tuple[float, float]:
        value, slope = ahead(t)
        return -value, -slope

    highest = find_root(lambda t: (-ahead(t)[1], 0.0), 0.5 * end, end, x=0.75 * end, noise=1e-9 * end)
    if ahead(highest)[0] <= 0.0:
        return [(last, 0.0, end)]
    mode = find_root(ahead, 0.0, highest, x=min(0.5 * highest, m1 / (lam * math.sin(rho))), noise=0.0)
    valley = find_root(behind, highest, end, x=0.5 * (highest + end), noise=0.0)
    scale = log_sine_ratio(base, mode)
    scale -= 2.0 * lam * math.sin(0.5 * (mode + rho + base.theta)) * math.sin(0.5 * (mode + rho - base.theta))
    first = Piece(
        mode, m1, math.cos(mode) / math.sin(mode), slope=0.0, bend=m1 + lam * math.cos(mode + rho), scale=scale
    )
    if valley > (1.0 - 1e-15) * end:  # so narrow that the flat part beyond the end outweighs it
        return [(first, 0.0, end)]
    return [(first, 0.0, valley), (last, valley, end)]


def log_moment(m: float, lam: float, power: float) -> float:
    """Return log E[theta^power] under the kernel, for power > 0."""
    base = kernel(m, lam)
    fractional = power != math.floor(power) and base.m1 + power < 16.0
    substitution = 4 if fractional else 1
    # 4.1: E theta^alpha
    moment = log_integral(base, 0.0, math.pi, factor=lambda theta: theta**power, power=substitution)
    return moment - log_integral(base, 0.0, math.pi, power=substitution)


def crossing(lam: float, rho: float) -> float:
    """Return the colatitude where k((theta-rho)+) - k(theta) overtakes k(theta) - k(min(theta+rho, pi)): 4.3.

    Unclipped it is the root of log cosh(lam sin theta sin rho) = 2 lam cos theta sin^2(rho/2).
    """
    half = math.sin(0.5 * rho)

    def excess(theta: float) -> tuple[float, float]:
        if rho <= theta <= math.pi - rho:  # case (i)
            z = lam * math.sin(theta) * math.sin(rho)
            s = math.sinh(0.5 * z) if z < 40.0 else 0.0
            log_cosh = math.log1p(2.0 * s * s) if z < 40.0 else z - math.log(2.0)
            return log_cosh - 2.0 * lam * math.cos(theta) * half * half, 0.0
        # cases (ii), (iii), (iv): k((theta-rho)+)/k(theta) - 1 less 1 - k(min(theta+rho, pi))/k(theta)
        up = math.sin(theta - 0.5 * rho) * half if theta > rho else math.sin(0.5 * theta) ** 2
        down = math.sin(theta + 0.5 * rho) * half if theta < math.pi - rho else math.cos(0.5 * theta) ** 2
        if 2.0 * lam * up > 1.0:
            return 1.0, 0.0
        return math.expm1(2.0 * lam * up) + math.expm1(-2.0 * lam * down), 0.0

    # for rho -> 0 it is the root of lam sin^2 theta = cos theta
    start = math.acos(2.0 * lam / (1.0 + math.hypot(1.0, 2.0 * lam))) if lam < 1e3 else 1.0 / math.sqrt(lam)
    low, high = 0.7 * start, min(1.4 * start, HALF_PI)
    if excess(low)[0] > 0.0:
        low = 0.0
    if excess(high)[0] < 0.0:
        high = HALF_PI
    return find_root(excess, low, high, x=0.5 * (low + high), noise=1e-9 * start)


def log_shift_variation(m: float, lam: float, rho: float) -> float:
    """Return log int max(k((theta-rho)+) - k(theta), k(theta) - k(min(theta+rho, pi))) dsigma, the log of D of 4.3."""
    if lam == 0.0 or rho == 0.0:
        return -math.inf
    if rho < TINY and lam < 1e200:  # linear in rho, and rho/2 may be no float
        return log_shift_variation(m, lam, TINY) + math.log(rho / TINY)
    base = kernel(m, lam)
    half = math.sin(0.5 * rho)
    cross = crossing(lam, rho)
    end = math.pi - rho
    # Step 1: k(theta) - k(min(theta+rho, pi)) up to the crossing, cut where theta + rho = pi
    parts = [
        log_integral(base, 0.0, min(cross, end), factor=lambda t: -np.expm1(-2.0 * lam * half * np.sin(t + 0.5 * rho)))
    ]
    if end < cross:
        parts.append(log_integral(base, end, cross, factor=lambda t: -np.expm1(-2.0 * lam * np.cos(0.5 * t) ** 2)))
    # Step 2: k(0) - k(theta) from there to rho
    if cross < rho:
        # beyond `smooth` the factor 1 - e^(-lam (1 - cos theta)) is 1, and before it one rule resolves it
        smooth = min(rho, 2.0 * math.asin(min(1.0, math.sqrt(0.5 * CUT / lam))))
        top = flat(base, lam, cross, high=smooth, pole=1)
        parts.append(log_integral(top, cross, smooth, factor=lambda t: -np.expm1(-2.0 * lam * np.sin(0.5 * t) ** 2)))
        if smooth < rho:
            parts.append(log_integral(flat(base, lam, smooth, high=rho, pole=1), smooth, rho))
    # Step 3: k(theta-rho) - k(theta) beyond both
    rise = move_piece(base, lam, rho, sign=-1)
    low = max(rho, cross)
    parts.append(
        log_integral(rise, low, math.pi, factor=lambda t: -np.expm1(-2.0 * lam * half * np.sin(t - 0.5 * rho)))
    )
    return log_sum(parts) - log_integral(base, 0.0, math.pi)


def log_shifted_mean(m: float, lam: float, rho: float) -> float:
    """Return log of int (theta+rho) k((theta-rho)+) dsigma / int k(min(theta+rho, pi)) dsigma, 4.4 (mean)."""
    if rho == 0.0:
        return log_moment(m, lam, 1.0)
    base = kernel(m, lam)
    upper = [
        log_integral(flat(base, lam, 0.0, high=rho, pole=1), 0.0, rho, factor=lambda t: t + rho),
        log_integral(move_piece(base, lam, rho, sign=-1), rho, math.pi, factor=lambda t: t + rho),
    ]
    end = math.pi - rho
    lower = [log_integral(piece, low, high) for piece, low, high in away(base, lam, rho)]
    lower.append(log_integral(flat(base, lam, end, high=math.pi, pole=-1), end, math.pi))
    return log_sum(upper) - log_sum(lower)
