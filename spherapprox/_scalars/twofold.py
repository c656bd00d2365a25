"""Numbers of twice the precision, as unevaluated sums (high, low) of two floats, and logarithms of 70 bits.

Plain Python on floats, as in `bessel`. Numbers are to stay between 1e-140 and 1e140, where no product of theirs
under- or overflows.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal

Pair = tuple[float, float]

SPLITTER = 134217729.0  # 2^27 + 1
CELLS = 64


def _log_table() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return log(1 + j/CELLS) for j = 0..CELLS, the last of which is log 2, as high and low parts."""
    exact = [Context(prec=50).ln(Decimal(CELLS + j) / CELLS) for j in range(CELLS + 1)]
    high = [float(number) for number in exact]
    return tuple(high), tuple(float(number - Decimal(h)) for number, h in zip(exact, high, strict=True))


LOG_HIGH, LOG_LOW = _log_table()


def fast_sum(a: float, b: float) -> Pair:
    """Return a + b exactly, for |a| >= |b| (Dekker 1971)."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: float, b: float) -> Pair:
    """Return a + b exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: float, b: float) -> Pair:
    """Return a b exactly (Dekker 1971; Veltkamp's splitting)."""
    t = SPLITTER * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLITTER * b
    b1 = t - (t - b)
    b2 = b - b1
    p = a * b
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def add(a: Pair, b: Pair) -> Pair:
    """Return a + b, to 2^-104 of |a| + |b|."""
    s, t = two_sum(a[0], b[0])
    return fast_sum(s, t + (a[1] + b[1]))


def multiply(a: Pair, b: Pair) -> Pair:
    """Return a b to 2^-102."""
    p, t = two_product(a[0], b[0])
    return fast_sum(p, t + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Pair, b: Pair) -> Pair:
    """Return a/b to 2^-100."""
    q = a[0] / b[0]
    p, t = two_product(q, b[0])
    return fast_sum(q, (((a[0] - p) - t) + (a[1] - q * b[1])) / b[0])


def square_root(a: Pair) -> Pair:
    """Return sqrt(a) to 2^-100."""
    r = math.sqrt(a[0])
    p, t = two_product(r, r)
    return fast_sum(r, (((a[0] - p) - t) + a[1]) / (2.0 * r))


def log1p(a: Pair) -> Pair:
    """Return log(1 + a) for a >= 0, to 2^-70 relative: log y = log c + 2 artanh[(y-c)/(y+c)] with a tabulated c."""
    # Step 1: y = 1 + a over a power of 2, c near it, and the logarithm of both; c = 1 if a is small
    high, low = 0.0, 0.0
    above, below = a, add((2.0, 0.0), a)  # y - c and y + c
    if a[0] > 1.0 / CELLS:
        y = add((1.0, 0.0), a)
        mantissa, exponent = math.frexp(y[0])
        scale = math.ldexp(2.0, -exponent)  # brings y into [1, 2)
        j = int((2.0 * mantissa - 1.0) * CELLS + 0.5)
        c = 1.0 + j / CELLS
        y = (y[0] * scale, y[1] * scale)
        above, below = add(y, (-c, 0.0)), add(y, (c, 0.0))
        high, low = add(multiply((exponent - 1.0, 0.0), (LOG_HIGH[CELLS], LOG_LOW[CELLS])), (LOG_HIGH[j], LOG_LOW[j]))
    # Step 2: the series of artanh
    s = divide(above, below)
    q = s[0] * s[0]
    tail = 2.0 * s[0] * q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11)))))
    return add((high, low), (2.0 * s[0], 2.0 * s[1] + tail))


def action(v: float, skip: float, x: float, n: float) -> Pair:
    """Return the integral of arsinh(u/x) over u from v + skip to v + n, to 2^-66 relative; 0 <= skip < n whole numbers.

    With R(u) = sqrt(u^2 + x^2) it is (b - a) log[(a + R(a))/x] + b log[(b + R(b)) / (a + R(a))] - [R(b) - R(a)].
    """
    a, b = two_sum(v, skip), two_sum(v, n)
    # Step 1: R at both ends
    width = (n - skip, 0.0)
    square = two_product(x, x)
    bottom, top = square_root(add(multiply(a, a), square)), square_root(add(multiply(b, b), square))
    rise = divide(multiply(width, add(a, b)), add(bottom, top))  # R(b) - R(a)
    ahead = divide(multiply(a, a), add(bottom, (x, 0.0)))  # R(a) - x
    # Step 2: the three terms
    first = log1p(divide(add(a, ahead), (x, 0.0)))
    second = log1p(divide(add(width, rise), add(a, bottom)))
    total = add(multiply(width, first), multiply(b, second))
    return add(total, (-rise[0], -rise[1]))
