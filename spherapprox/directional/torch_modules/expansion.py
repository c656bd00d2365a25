"""Debye's uniform expansion of log I_v(x), and of what its derivatives need, from one table of exact fractions."""

from __future__ import annotations

from itertools import accumulate, product
from typing import Any, NamedTuple

import torch

from ..._scalars.gamma import stirling

TERMS = 14
LOWEST = 20.0
"""Order from which the expansion is used: there its terms leave 1e-15 of log 0F1 and 1e-13 of A'' (measured)."""


def make_tables() -> Any:
    """Return the coefficients of (h d/dh + 2 y d/dy)^i S at [i, j, k], of y^j h^(k+1), for i = 0 to 3.

    S(y, h) is the logarithm of Debye's sum (DLMF 10.41.10) as a series in h = 1/R, y = (v/R)^2. The series
    w = x I_v'/I_v = sum_k w_k(y) h^(k-1) solves x w' + w^2 = R^2, and w_(k+1) = -(1-y) (k + 2 y d/dy) S_k.
    """
    # n_k = 2^(2k-1) w_k, polynomials of integers: n_k = 2 (1-y) ((k-2) + 2 y d/dy) n_{k-1} - sum_{0<i<k} n_i n_{k-i}
    n = [[], [-1, 1]]
    for k in range(2, TERMS + 2):
        row = [0] * (k + 1)
        for j, c in enumerate(n[k - 1]):
            row[j] += 2 * (k - 2 + 2 * j) * c
            row[j + 1] -= 2 * (k - 2 + 2 * j) * c
        for i in range(1, k):
            for (a, first), (b, second) in product(enumerate(n[i]), enumerate(n[k - i])):
                row[a + b] -= first * second
        n.append(row)
    tables = torch.zeros(4, TERMS + 1, TERMS, dtype=torch.float64)
    for k in range(1, TERMS + 1):
        for j, quotient in enumerate(accumulate(n[k + 1][:-1])):  # of n_{k+1} by 1 - y
            for i in range(4):
                tables[i, j, k - 1] = -quotient / 2 ** (2 * k + 1) * (k + 2 * j) ** (i - 1.0)
    return tables


TABLES = make_tables()


class Point(NamedTuple):
    """An argument x at an order v >= `LOWEST`: R = sqrt(v^2 + x^2), 1/R, y = (v/R)^2 and 1 - y."""

    v: Any
    x: Any
    r: Any
    h: Any
    y: Any
    rest: Any


def locate(v: Any, x: Any) -> Point:
    """Return the quantities that the expansion at the order v is made of."""
    r = (v * v + x * x).sqrt()
    h = 1.0 / r
    return Point(v, x, r, h, (v * h) ** 2, (x * h) ** 2)


def debye(at: Point, power: int) -> Any:
    """Return (h d/dh + 2 y d/dy)^power S."""
    table, y = TABLES[power].to(at.h), at.y[..., None]
    total = table[TERMS]
    for j in range(TERMS - 1, -1, -1):
        total = torch.addcmul(table[j], total, y)
    columns = total.unbind(-1)
    result = columns[-1]
    for column in columns[-2::-1]:
        result = torch.addcmul(column, result, at.h)
    return result * at.h


def log_0f1(at: Point) -> tuple[Any, Any]:
    """Return log 0F1(; v+1; x^2/4) = log[Gamma(v+1) (2/x)^v I_v(x)], and the same less x."""
    # DLMF 10.41.3, and 5.11.1 for Gamma(v+1), as in _scalars.bessel
    z, w = at.x / at.v, at.r / at.v
    d = z * (z / (1.0 + w))  # sqrt(1 + z^2) - 1
    small = stirling(at.v) + debye(at, 0) - 0.5 * torch.log1p(d)
    log = torch.log1p(0.5 * d)
    # Terms of order 1/v cancel where x is far below v: Rayleigh's sums over zeros (DLMF 10.21(iv)) do not.
    s = 0.25 * at.x * at.x / (at.v + 1.0)
    short = s * (1.0 - 0.5 * s / (at.v + 2.0) * (1.0 - 4.0 / 3.0 * s / (at.v + 3.0)))
    near = s < 1e-5 * at.v
    plain = torch.where(near, short, small + at.v * (d - log))
    return plain, torch.where(near, short - at.x, small - at.v * ((d + z) / (w + z) + log))


def gap(at: Point) -> Any:
    """Return e = x I_v(x) / I_{v+1}(x) - x > 0: I_{v+1}/I_v = x/(x + e) and 1 - I_{v+1}/I_v = e/(x + e)."""
    v, r, h = at.v, at.r, at.h
    bend = h * h * (0.5 + debye(at, 1))
    return (v * (1.0 + v / (r + at.x)) / (r + v) + at.x * bend) / (1.0 / (r + v) - bend)


def slope(at: Point, bent: bool) -> tuple[Any, Any]:
    """Return the derivative of I_{v+1}/I_v, and, where `bent`, the second over x."""
    v, _, r, h, y, rest = at
    first, second = 0.5 + debye(at, 1), debye(at, 2)
    slope = v * h / (r + v) + h * h * ((1.0 - 2.0 * y) * first + rest * second)
    if not bent:
        return slope, None
    terms = (8.0 * y - 2.0) * first + (6.0 * y - 3.0) * second - rest * debye(at, 3)
    return slope, h * h * (h * h * terms - v * (2.0 * r + v) * h / (r + v) ** 2)
