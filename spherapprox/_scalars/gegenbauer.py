"""Scalar kernels of the zonal polynomials of S^m, G_k = C_k^((m-1)/2) / C_k^((m-1)/2)(1): values, derivatives, zeros.

Plain Python on floats, as in `bessel`. Degrees and dimensions are whole numbers below 2^52; t = cos(theta), u = 1 - t.
"""

from __future__ import annotations

import math

from .twofold import Pair, add, divide, fast_sum, multiply, two_product, two_sum

EPS = 2.0**-52
TINY = 1e-300  # values this small go on falling with the degree, and are taken for 0
HALF_PI = 0.5 * math.pi
FIRST_ZERO_PHASE = 2.3834466  # 2/3 |a|^(3/2), a the first zero of Airy's function
SERIES_UP_TO = 100.0  # dimensions up to which the power series at the pole keeps 18 digits at the first zero


def gegenbauer(k: float, m: float, t: float) -> float:
    """Return G_k(t) on S^m for -1 <= t <= 1."""
    return derivative(k, m, t, 0.0)


def derivative(k: float, m: float, t: float, order: float) -> float:
    """Return the derivative of G_k of an order at t: the one of degree k - order on S^(m + 2 order), times factors."""
    if order > k:
        return 0.0
    n, dim, size = k - order, m + 2.0 * order, abs(t)
    if is_short(n, dim, 1.0 - size):
        value = by_few_terms(n, dim, size) * derivative_bound(k, m, order)
    elif size > 0.5:
        value = near_pole(k, m, 1.0 - size, order)
    else:
        value = near_equator(k, m, size, order)
    return -value if t < 0.0 and n % 2.0 == 1.0 else value


def slope_factor(k: float, m: float, i: float) -> float:
    """Return the i-th factor, G'_{k-i}(1) on S^(m+2i); it is at least 1 for i < k."""
    return (k - i) * ((k + m - 1.0 + i) / (m + 2.0 * i))


def is_short(k: float, m: float, u: float) -> bool:
    """Tell whether `by_few_terms` gives G_k(1 - u): on S^1 and S^3, and near the pole."""
    return m == 1.0 or m == 3.0 or is_near_pole(k, m, u)  # noqa: PLR1714


def is_near_pole(k: float, m: float, u: float) -> bool:
    """Tell whether the terms of `at_pole` fall like 1/i! and u is exact."""
    return u <= 0.5 and k * (k + m - 1.0) * u <= m


def by_few_terms(k: float, m: float, t: float) -> float:
    """Return G_k(t), 0 <= t <= 1, where `is_short` holds."""
    if is_near_pole(k, m, 1.0 - t):
        return at_pole(k, m, 1.0 - t)
    return chebyshev(k, t)[0][0] if m == 1.0 else second_kind(k, t)


def at_pole(k: float, m: float, u: float) -> float:
    """Return G_k(1 - u) where `is_near_pole` holds, by the power series 2F1(-k, k+m-1; m/2; u/2)."""
    term, total, i = 1.0, 0.0, 0.0
    while i < k and abs(term) > 1e-17:
        term *= -(k - i) * u * ((k + m - 1.0 + i) / ((m + 2.0 * i) * (i + 1.0)))
        total += term
        i += 1.0
    return 1.0 + total


def near_pole(k: float, m: float, u: float, order: float) -> float:
    """Return the derivative at t = 1 - u, 0 <= u < 1/2, by the recurrence in the differences G_j - G_{j-1} (Reinsch).

    The factors join the recurrence where it runs down towards underflow, and the rest of them at its end.
    """
    value, difference, i = 1.0, 0.0, 0.0
    dim = m + 2.0 * order
    for j in range(int(k - order)):
        a = j / (j + dim - 1.0)
        difference = a * difference - ((1.0 + a) * u) * value
        value += difference
        if i >= order and abs(value) + abs(difference) < TINY:
            return 0.0
        while i < order and abs(value) + abs(difference) < 1.0:
            factor = slope_factor(k, m, i)
            value *= factor
            difference *= factor
            i += 1.0
    while i < order:
        value *= slope_factor(k, m, i)
        i += 1.0
    return value


def near_equator(k: float, m: float, t: float, order: float) -> float:
    """Return the derivative at 0 <= t <= 1/2 by the three-term recurrence, with factors as in `near_pole`."""
    value, before, i = 1.0, 0.0, 0.0
    dim = m + 2.0 * order
    for j in range(int(k - order)):
        a = j / (j + dim - 1.0)
        value, before = ((1.0 + a) * t) * value - a * before, value
        if i >= order and abs(value) + abs(before) < TINY:
            return 0.0
        while i < order and abs(value) + abs(before) < 1.0:
            factor = slope_factor(k, m, i)
            value *= factor
            before *= factor
            i += 1.0
    while i < order:
        value *= slope_factor(k, m, i)
        i += 1.0
    return value


def chebyshev(n: float, t: float) -> tuple[Pair, Pair]:
    """Return T_n(t) and T_{n+1}(t) by T_{2j} = 2 T_j^2 - 1 and T_{2j+1} = 2 T_j T_{j+1} - t in twice the precision."""
    count = int(n)
    bit = 1
    while 2 * bit <= count:
        bit *= 2
    low, high = (1.0, 0.0), (t, 0.0)  # T_j and T_{j+1}: j takes in the bits of n from the top
    while bit > 0:
        between = multiply(low, high)
        between = add((2.0 * between[0], 2.0 * between[1]), (-t, 0.0))
        odd = (count // bit) % 2 == 1
        square = multiply(high, high) if odd else multiply(low, low)
        square = add((2.0 * square[0], 2.0 * square[1]), (-1.0, 0.0))
        low, high = (between, square) if odd else (square, between)
        bit //= 2
    return low, high


def second_kind(n: float, t: float) -> float:
    """Return U_n(t)/(n + 1), G_n on S^3: U_n = (T_n - t T_{n+1}) / (1 - t^2)."""
    low, high = chebyshev(n, t)
    part = multiply((-t, 0.0), high)
    bottom = multiply(two_sum(1.0, -t), two_sum(1.0, t))
    return divide(add(low, part), multiply(bottom, (n + 1.0, 0.0)))[0]


def derivative_bound(k: float, m: float, order: float) -> float:
    """Return the derivative at t = 1, which is its maximum on [-1, 1]; inf where that is no float."""
    if order > k:
        return 0.0
    value, i = 1.0, 0.0
    while i < order and value < math.inf:
        value *= slope_factor(k, m, i)
        i += 1.0
    return value


def log_derivative_bound(k: float, m: float, order: float) -> float:
    """Return the logarithm of `derivative_bound`, a sum of terms >= 0."""
    if order > k:
        return -math.inf
    total, i = 0.0, 0.0
    while i < order:
        total += math.log1p((k - 1.0 - i) * ((k + m + i) / (m + 2.0 * i)))
        i += 1.0
    return total


def series(k: float, m: float, u: float) -> tuple[float, float]:
    """Return G_k and u dG_k/du by the power series 2F1(-k, k+m-1; m/2; u/2) in twice the precision, u > 0."""
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
    """Return G_k and k (G_{k-1} - t G_k), up to a common factor, by the three-term recurrence in twice the precision.

    The factor is 1 unless G falls below 1e-60.
    """
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

    sin(theta)^((m-1)/2) G solves U'' + [N^2 - (a^2 - 1/4)/sin(theta)^2] U = 0 with a = m/2 - 1, N = k + a + 1/2. The
    phase, the integral of sqrt[N^2 - (a/sin)^2] from its turning point, is taken to be that of Airy's first zero. It is
    N psi - a arctan(tan(psi)/s) with s = a/N and cos(theta) = sqrt(1 - s^2) cos(psi): convex and increasing in psi.
    """
    half = k + 0.5
    a = 0.5 * m - 1.0
    whole = half + a
    s = a / whole
    c = math.sqrt(half * (whole + a)) / whole
    psi = HALF_PI
    for _ in range(60):
        p, q = math.sin(psi), math.cos(psi)
        phase = half * psi - a * math.atan((half / whole) * p * q / (s * q * q + p * p))
        step = (phase - FIRST_ZERO_PHASE) * (s * s * q * q + p * p) / (whole * (c * p) * (c * p))
        psi -= step
        if step < 1e-3 * psi:
            break
    x = c * math.cos(psi)
    p = math.sin(psi)
    return x, (1.0 - x if x < 0.5 else (s * s + c * c * p * p) / (1.0 + x))


def first_zero(k: float, m: float) -> tuple[float, float]:
    """Return the largest zero x of G_k and 1 - x, both to a few units of the last place.

    For U as in `first_guess` and the coefficient Q of its equation, theta - arctan(sqrt(Q) U/U')/sqrt(Q) is a step of
    fourth order (Segura, SIAM J. Numer. Anal. 48, 2010).
    """
    if k == 1.0:
        return 0.0, 1.0
    if m == 1.0:
        half = math.sin(0.5 * HALF_PI / k)
        return math.cos(HALF_PI / k), 2.0 * half * half
    x, u = first_guess(k, m)
    nu = 0.5 * (m - 1.0)
    for _ in range(10):
        value, slope = by_angle(k, m, x, u)
        sine = math.sqrt(u * (1.0 + x))
        cot = x / sine
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
    """Return g, g' and P of `lipschitz` at theta, g and g' over the slope k(k+m-1)/m at t = 1; k >= 2."""
    half = math.sin(0.5 * theta)
    u = 2.0 * half * half
    x = 1.0 - u
    sine = math.sqrt(u * (1.0 + x))
    value, rise = series(k - 1.0, m + 2.0, u)
    return sine * value, x * value + (1.0 + x) * rise, k * (k + m - 1.0) - (m - 1.0) / (sine * sine)


def lipschitz(k: float, m: float) -> float:
    """Return an upper bound of the maximum of |g|, g = -dG_k(cos theta)/dtheta, by 4e-15 relative above it at most.

    docs/theorems.md, section 6, "Slope of a zonal polynomial": g'' + (m-1) cot(theta) g' + P g = 0, and the maximum is
    at the first zero of g', found by Newton's method from the root of a short continued fraction. For angles a < b on
    either side of it the maximum is at most [g(a) + (b-a) g'(a)] / [1 - max(0, -P(a)) (b-a)^2 / 2].
    """
    if k <= 1.0 or m == 1.0:
        return k
    whole = k * (k + m - 1.0)
    theta = math.asin(math.sqrt((m + 2.0) * (m + 4.0) / ((m + 5.0) * (whole + 2.0))))
    for _ in range(30):
        g, bend, p = steepness(k, m, theta)
        step = bend / ((m - 1.0) / math.tan(theta) * bend + p * g)
        theta += step
        if abs(step) < 1e-10 * theta:
            break
    shift = 3e-10
    low, high = theta * (1.0 - shift), theta * (1.0 + shift)
    g, bend, p = steepness(k, m, low)
    while bend <= 0.0 or steepness(k, m, high)[1] > 0.0:
        shift *= 2.0
        low, high = theta * (1.0 - shift), theta * (1.0 + shift)
        g, bend, p = steepness(k, m, low)
    if whole * (1.0 - math.cos(high)) > m:  # it could be a later zero of g'; does not happen
        return k
    gap = high - low
    top = (g + gap * bend) / (1.0 - 0.5 * max(0.0, -p) * gap * gap)
    return min(k, (whole / m) * top * (1.0 + 8.0 * EPS))  # more than all roundings: the series is exact to 1e-25
