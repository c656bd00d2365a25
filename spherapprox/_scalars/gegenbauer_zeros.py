"""Scalar kernels of the first zero of a zonal polynomial of S^m and of its largest slope, a zero of the derivative.

Plain Python on floats, as in `gegenbauer`, with G_k = C_k^((m-1)/2) / C_k^((m-1)/2)(1), t = cos(theta), u = 1 - t.
"""

from __future__ import annotations

import math

from .twofold import Pair, add, divide, fast_sum, multiply, two_product

EPS = 2.0**-52
HALF_PI = 0.5 * math.pi
FIRST_ZERO_PHASE = 2.3834466  # 2/3 |a|^(3/2), a the first zero of Airy's function
SERIES_UP_TO = 100.0  # dimensions up to which the power series at the pole keeps 18 digits at the first zero


def series(k: float, m: float, u: float) -> tuple[float, float]:
    """Return G_k and u dG_k/du by the power series 2F1(-k, k+m-1; m/2; u/2) in twice the precision, u > 0."""
    # DLMF 18.5.9
    term: Pair = (1.0, 0.0)
    total: Pair = (1.0, 0.0)
    slope: Pair = (0.0, 0.0)
    largest, i = 1.0, 0.0
    while i < k and abs(term[0]) > 1e-34 * largest:
        rise = multiply(two_product(k - i, k + m - 1.0 + i), (-u, 0.0))
        term = divide(multiply(term, rise), two_product(m + 2.0 * i, i + 1.0))
        i += 1.0
        total = add(total, term)
        slope = add(slope, multiply(term, (i, 0.0)))
        largest = max(largest, abs(term[0]))
    return total[0], slope[0]


def recurrence(k: float, m: float, t: Pair) -> tuple[float, float]:
    """Return G_k and k (G_{k-1} - t G_k), up to a factor where G is below 1e-60, in twice the precision."""
    # DLMF 18.9.1 over C_{j+1}(1)
    before: Pair = (1.0, 0.0)
    value = t
    for j in range(1, int(k)):
        ahead = multiply(t, value)
        rise = multiply(add(ahead, (-before[0], -before[1])), (float(j), 0.0))
        before, value = value, add(ahead, divide(rise, (j + m - 1.0, 0.0)))
        if abs(value[0]) + abs(before[0]) < 1e-60:
            before = (before[0] * 2.0**200, before[1] * 2.0**200)
            value = (value[0] * 2.0**200, value[1] * 2.0**200)
    ahead = multiply(t, value)
    return value[0], k * add(before, (-ahead[0], -ahead[1]))[0]


def by_angle(k: float, m: float, x: float, u: float) -> tuple[float, float]:
    """Return G and dG/dtheta at cos(theta) = x = 1 - u > 0, up to a common factor, to a few units of the last place."""
    if u < 0.5 and m <= SERIES_UP_TO:
        value, rise = series(k, m, u)
        return value, rise * math.sqrt((1.0 + x) / u)
    value, fall = recurrence(k, m, fast_sum(1.0, -u) if u < 0.5 else (x, 0.0))
    return value, -fall / math.sqrt(u * (1.0 + x))


def first_guess(k: float, m: float) -> tuple[float, float]:
    """Return x = cos(theta) and 1 - x near the first zero of G_k(cos theta), k >= 2: off by 1% of theta at most.

    sin(theta)^((m-1)/2) G solves U'' + [N^2 - (a^2 - 1/4)/sin(theta)^2] U = 0 with a = m/2 - 1, N = k + a + 1/2. Its
    phase N psi - a arctan(tan(psi)/s), s = a/N, cos(theta) = sqrt(1 - s^2) cos(psi), is taken to be that of Airy's
    first zero.
    """
    half = k + 0.5
    a = 0.5 * m - 1.0
    order = half + a  # N
    s = a / order
    c = math.sqrt(half * (order + a)) / order  # sqrt(1 - s^2)
    # Newton's method from psi = pi/2, where the phase is largest
    psi = HALF_PI
    for _ in range(60):
        p, q = math.sin(psi), math.cos(psi)
        phase = half * psi - a * math.atan((half / order) * p * q / (s * q * q + p * p))
        step = (phase - FIRST_ZERO_PHASE) * (s * s * q * q + p * p) / (order * (c * p) * (c * p))
        psi -= step
        if step < 1e-3 * psi:
            break
    x = c * math.cos(psi)
    p = math.sin(psi)
    return x, (1.0 - x if x < 0.5 else (s * s + c * c * p * p) / (1.0 + x))


def first_zero(k: float, m: float) -> tuple[float, float]:
    """Return the largest zero x of G_k and 1 - x, both to a few units of the last place.

    For U of `first_guess`, theta - arctan(sqrt(Q) U/U')/sqrt(Q) is a step of fourth order (Segura 2010).
    """
    if k == 1.0:
        return 0.0, 1.0
    if m == 1.0:
        half = math.sin(0.5 * HALF_PI / k)
        return math.cos(HALF_PI / k), 2.0 * half * half
    # Step 1: an angle right to 1%
    x, u = first_guess(k, m)
    # Step 2: Segura's steps, theta - turn/root, taken in cos(theta) without subtraction
    nu = 0.5 * (m - 1.0)
    for _ in range(10):
        value, slope = by_angle(k, m, x, u=u)
        sine = math.sqrt(u * (1.0 + x))
        cot = x / sine
        # root^2 = Q = (k + nu)^2 - nu (nu - 1)/sin^2(theta), turn = arctan(root U/U')
        root = math.sqrt(k * (k + m - 1.0) + nu - (nu * cot) * ((nu - 1.0) * cot))
        turn = math.atan(root * value / (slope + nu * cot * value))
        p = math.sin(0.5 * turn / root)
        q = math.cos(0.5 * turn / root)
        rise = 2.0 * p * (sine * q - x * p)  # cos(theta - turn/root) - cos(theta)
        if u < 0.5:
            u -= rise
            x = 1.0 - u
        else:
            x += rise
            u = 1.0 - x
        if abs(turn) < 1e-4:
            break
    return x, u


def max_zero(k: float, m: float) -> float:
    """Return the largest zero of G_k, k >= 1."""
    return first_zero(k, m)[0]


def max_zero_angle(k: float, m: float) -> float:
    """Return the smallest theta > 0 with G_k(cos theta) = 0, k >= 1."""
    if m == 1.0:
        return HALF_PI / k
    x, u = first_zero(k, m)
    return 2.0 * math.asin(math.sqrt(0.5 * u)) if u < 0.5 else math.acos(x)


def steepness(k: float, m: float, theta: float) -> tuple[float, float, float]:
    """Return g, g' and P of `lipschitz` at theta, g and g' over the slope K/m at t = 1, K = k(k+m-1); k >= 2."""
    half = math.sin(0.5 * theta)
    u = 2.0 * half * half
    x = 1.0 - u
    sine = math.sqrt(u * (1.0 + x))
    value, rise = series(k - 1.0, m + 2.0, u)
    return sine * value, x * value + (1.0 + x) * rise, k * (k + m - 1.0) - (m - 1.0) / (sine * sine)


def lipschitz(k: float, m: float) -> float:
    """Return an upper bound of the maximum of |g|, g = -dG_k(cos theta)/dtheta, by 4e-15 relative above it at most.

    docs/theorems/6.2-zonal-slope.md: g'' + (m-1) cot(theta) g' + P g = 0, and the maximum is
    at the first zero of g', found by Newton's method from the root of a short continued fraction. For angles a < b on
    either side of it the maximum is at most [g(a) + (b-a) g'(a)] / [1 - max(0, -P(a)) (b-a)^2 / 2].
    """
    if k <= 1.0 or m == 1.0:
        return k
    eigenvalue = k * (k + m - 1.0)  # K
    # Step 1: the first zero of g'
    theta = math.asin(math.sqrt((m + 2.0) * (m + 4.0) / ((m + 5.0) * (eigenvalue + 2.0))))
    for _ in range(30):
        g, bend, p = steepness(k, m, theta)
        step = bend / ((m - 1.0) / math.tan(theta) * bend + p * g)
        theta += step
        if abs(step) < 1e-10 * theta:
            break
    # Step 2: angles a < b on either side of it
    shift = 3e-10
    low, high = theta * (1.0 - shift), theta * (1.0 + shift)
    g, bend, p = steepness(k, m, low)
    while bend <= 0.0 or steepness(k, m, high)[1] > 0.0:
        shift *= 2.0
        low, high = theta * (1.0 - shift), theta * (1.0 + shift)
        g, bend, p = steepness(k, m, low)
    if eigenvalue * (1.0 - math.cos(high)) > m:  # it could be a later zero of g'; does not happen
        return k
    # Step 3: the bound
    gap = high - low
    top = (g + gap * bend) / (1.0 - 0.5 * max(0.0, -p) * gap * gap)
    return min(k, (eigenvalue / m) * top * (1.0 + 8.0 * EPS))  # more than all roundings: the series is exact to 1e-25
