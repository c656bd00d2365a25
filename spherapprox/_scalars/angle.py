"""Scalar kernels of the law of the angle on S^m, of density e^(lam cos angle) sin(angle)^(m-1): tails, and quantiles.

An integral over angles is `log_sweep` from the mode, or from an edge beyond it, towards a pole; towards the south pole
it is that towards the north pole for -lam. Where angle - u is the angle, log density(angle - u)/density(angle) is
`exponent`, in which the linear terms of lam cos and (m-1) log sin are one number and nothing large is subtracted.
All are logarithms. Plain Python on floats, as in `bessel`.
"""

from __future__ import annotations

import math

from .bessel import radius
from .beta import HALF_PI, LOG_TWO, PI_TAIL
from .gauss import gauss_legendre

CUT = 40.0  # a sweep ends where its integrand is below e^-40 of that at its begin
NODES, WEIGHTS = (tuple(numbers.tolist()) for numbers in gauss_legendre(40))
TINY = 1e-100
INSIDE, OUTSIDE = 1.0, -1.0  # the angles below one, and those above it
Law = tuple[float, float, float, float, float, float, float]
"""m - 1, lam, the mode's sine, cosine and angle, and log integrals below and above it of density over the mode's."""


def log1p_minus(y: float) -> float:
    """Return log(1 + y) - y, to 4e-16 relative for small y."""
    if abs(y) > 0.1:
        return math.log1p(y) - y
    # with s = y/(2 + y): log(1+y) = 2 artanh s and y = 2s + y s
    s = y / (2.0 + y)
    q = s * s
    return s * (2.0 * q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13)))))) - y)


def exponent(m1: float, slope: float, bend: float, cot: float, u: float) -> float:
    """Return slope sin u - bend (1 - cos u) + (m-1) [log(1+y) - y], y = sin(angle - u)/sin(angle) - 1."""
    half = math.sin(0.5 * u)
    versine, sine = 2.0 * half * half, math.sin(u)
    if m1 == 0.0:
        return slope * sine - bend * versine
    y = -cot * sine - versine
    return slope * sine - bend * versine + m1 * log1p_minus(y) if y > -1.0 else -math.inf


def reach(m1: float, slope: float, bend: float, cot: float, width: float) -> float:
    """Return the offset from which `exponent` is below about -CUT, at most `width`."""
    if exponent(m1, slope, bend, cot, width) > -CUT:
        return width
    # Step 1: a first offset, from the slope or from the curvature
    curvature = math.sqrt(max(bend, 0.0)) + math.sqrt(m1) * abs(cot)
    high = min(width, math.sqrt(2.0 * CUT) / curvature if curvature > 0.0 else width)
    high = min(high, CUT / -slope) if slope < 0.0 else high
    # Step 2: doubled until the integrand is that small, and halved to 15%
    low = 0.0
    while high < width and exponent(m1, slope, bend, cot, high) > -CUT:
        low, high = high, min(2.0 * high, width)
    while high > 1.15 * low:
        middle = 0.25 * high if low == 0.0 else 0.5 * (low + high)
        if exponent(m1, slope, bend, cot, middle) > -CUT:
            low = middle
        else:
            high = middle
    return high


def log_sweep(m1: float, lam: float, s: float, c: float, width: float) -> float:
    """Return log of the integral of density(angle - u)/density(angle) over 0 <= u <= width, for a sine and cosine."""
    if width <= 0.0:
        return -math.inf
    cot = c / s if m1 > 0.0 else 0.0
    slope, bend = lam * s - m1 * cot, m1 + lam * c
    half, total = 0.5 * reach(m1, slope, bend, cot, width), 0.0
    for i in range(len(NODES)):
        total += WEIGHTS[i] * math.exp(exponent(m1, slope, bend, cot, half * (1.0 + NODES[i])))
    return math.log(half) + math.log(total)


def law(m: float, lam: float) -> Law:
    """Return what all tails of one law need."""
    m1 = m - 1.0
    if m1 == 0.0:
        return m1, lam, 0.0, 1.0, 0.0, -math.inf, log_sweep(m1, -lam, 0.0, -1.0, math.pi)
    # the mode: lam sin^2 = (m-1) cos
    total = m1 + radius(m1, 2.0 * lam)
    s, c = math.sqrt(2.0 * m1 / total), 2.0 * lam / total
    mode = math.atan2(s, c)
    below, above = log_sweep(m1, lam, s, c, mode), log_sweep(m1, -lam, s, -c, math.pi - mode)
    return m1, lam, s, c, mode, below, above


def log_density(of: Law, angle: float, rest: float) -> float:
    """Return log of density(angle) over that at the mode; rest = pi - angle."""
    m1, lam, s, c, mode, _, _ = of
    step = 0.5 * (mode - angle)
    sine = math.sin(min(angle, rest))
    if m1 > 0.0 and not 0.5 * s < sine < 1.5 * s:
        return 2.0 * lam * math.sin(0.5 * (mode + angle)) * math.sin(step) + m1 * math.log(sine / s)
    return exponent(m1, 0.0, m1 + lam * c, c / s if m1 > 0.0 else 0.0, 2.0 * step)


def log_sum(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    top, low = max(a, b), min(a, b)
    return top + math.log1p(math.exp(low - top)) if low > -math.inf else top


def log_tail_of(of: Law, angle: float, rest: float, side: float) -> float:
    """Return the log share of the angles INSIDE or OUTSIDE of 0 < angle < pi; rest = pi - angle."""
    m1, lam, s, c, mode, below, above = of
    total = log_sum(below, above)
    # Step 1: the share on the side that the mode is not on, from the edge on
    sine, cosine = math.sin(min(angle, rest)), math.cos(angle)
    is_below = angle < mode
    sign, width = (1.0, angle) if is_below else (-1.0, rest)
    edge = log_density(of, angle, rest) + log_sweep(m1, sign * lam, sine, sign * cosine, width) - total
    # Step 2: or the share on the mode's side, where that is the smaller one
    smaller = edge
    if edge > -LOG_TWO:
        pole, ahead = (-1.0, above) if is_below else (1.0, below)
        smaller = log_sum(log_sweep(m1, -pole * lam, s, -pole * c, abs(mode - angle)), ahead) - total
    if (side == INSIDE) == (is_below == (edge <= -LOG_TWO)):
        return smaller
    return math.log1p(-math.exp(smaller))


def log_tail(m: float, lam: float, t: float, side: float) -> float:
    """Return the log share of the points whose angle's cosine is above t (INSIDE), or below it (OUTSIDE)."""
    w = 1.0 - t
    if t >= 1.0 or t <= -1.0:
        return 0.0 if (side == INSIDE) == (t <= -1.0) else -math.inf
    if m == 2.0:
        # the larger share is what the smaller one leaves
        whole = -math.expm1(-2.0 * lam)
        inside = -math.expm1(-lam * w) / whole if lam > 1e-290 else 0.5 * w
        if inside > 0.5:
            outside = math.log(-math.expm1(-lam * (1.0 + t)) / whole if lam > 1e-290 else 0.5 * (1.0 + t)) - lam * w
            return math.log1p(-math.exp(outside)) if side == INSIDE else outside
        return math.log(inside) if side == INSIDE else math.log1p(-inside)
    angle, rest = 2.0 * math.asin(math.sqrt(0.5 * w)), 2.0 * math.asin(math.sqrt(0.5 * (1.0 + t)))
    return log_tail_of(law(m, lam), angle, rest, side)


def quantile(m: float, lam: float, log_share: float, side: float) -> float:
    """Return the angle on whose `side` there is the log share, at most log(1/2), of the points."""
    if log_share == -math.inf:
        return 0.0 if side == INSIDE else math.pi
    if m == 2.0:
        return _on_sphere(lam, log_share, side)
    of = law(m, lam)
    total = log_sum(of[5], of[6])
    # Step 1: the unknown, the angle or, on the southern half, the angle from the south pole
    south = side == OUTSIDE and log_share < log_tail_of(of, HALF_PI, HALF_PI, OUTSIDE)
    rises = side == INSIDE or south
    if rises and log_share < -200.0:  # where the share may be a power of an angle that is no float
        least = log_tail_of(of, math.pi if south else TINY, TINY if south else math.pi, side)
        if log_share < least:
            x = TINY * math.exp(max(-700.0, (log_share - least) / m))
            return math.pi - x if south else x
    x, low, high = max(of[4], 1.0 / math.sqrt(1.0 + m + lam)), TINY if rises else 0.0, math.pi
    if south:
        x, high = 1.0, HALF_PI
    # Step 2: Newton's steps for the log share, in the log of an unknown with which it rises, kept in the bracket
    for _ in range(100):
        angle, rest = x, (math.pi - x) + PI_TAIL
        if south:
            angle, rest = rest, angle
        tail = log_tail_of(of, angle, rest, side)
        excess = tail - log_share
        if (excess > 0.0) == rises:
            high = x
        else:
            low = x
        rate = math.exp(min(700.0, log_density(of, angle, rest) - total - tail))
        step = excess / rate if rate > 0.0 else math.inf
        new = x * math.exp(max(-700.0, min(-step / x, 700.0))) if rises else x + step
        if abs(excess) < 1e-9:  # the next one is about its square
            x = min(new, math.pi)
            break
        if not low < new < high:
            new = math.sqrt(low * high) if rises else 0.5 * (low + high)
        if abs(new - x) <= 2e-16 * x:
            break
        x = new
    return math.pi - x if south else x


def _on_sphere(lam: float, log_share: float, side: float) -> float:
    """Return `quantile` on S^2, where the cosine's law is exponential on [-1, 1]."""
    if side == INSIDE and log_share < -600.0:  # so that the share is no float, or of few digits
        factor = -math.expm1(-2.0 * lam) / (2.0 * lam) if lam > 1e-290 else 1.0
        return 2.0 * math.exp(0.5 * (log_share + math.log(factor)))
    share = math.exp(log_share)
    inside = share if side == INSIDE else 1.0 - share
    if lam < 1e-290:
        w = 2.0 * inside
    elif side == INSIDE or lam < 0.5:
        w = math.log1p(inside * math.expm1(-2.0 * lam)) / -lam
    else:
        w = log_sum(log_share, math.log1p(-share) - 2.0 * lam) / -lam
    return 2.0 * math.asin(math.sqrt(min(1.0, 0.5 * w)))
