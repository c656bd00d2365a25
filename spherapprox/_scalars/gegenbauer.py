"""Scalar kernels of the zonal polynomials of S^m, G_k = C_k^((m-1)/2) / C_k^((m-1)/2)(1): values and derivatives.

Plain Python on floats, as in `bessel`. Degrees and dimensions are whole numbers below 2^52; t = cos(theta), u = 1 - t.
"""

from __future__ import annotations

import math

from .twofold import Pair, add, divide, multiply, two_sum

TINY = 1e-300  # values this small go on falling with the degree, and are taken for 0


def gegenbauer(k: float, m: float, t: float) -> float:
    """Return G_k(t) on S^m for -1 <= t <= 1."""
    return derivative(k, m, t, order=0.0)


def derivative(k: float, m: float, t: float, order: float) -> float:
    """Return the derivative of G_k of an order at t: the one of degree k - order on S^(m + 2 order), times factors."""
    if order > k:
        return 0.0
    n, dim, size = k - order, m + 2.0 * order, abs(t)  # DLMF 18.9.19
    if is_short(n, dim, 1.0 - size):
        value = by_few_terms(n, dim, size) * derivative_bound(k, m, order)
    elif size > 0.5:
        value = near_pole(k, m, 1.0 - size, order=order)
    else:
        value = near_equator(k, m, size, order=order)
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
    # DLMF 18.5.9
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
        # G_{j+1} - G_j = a (G_j - G_{j-1}) - (1 + a) u G_j, from DLMF 18.9.1
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
        # DLMF 18.9.1 over C_{j+1}(1)
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
