"""Integrals of products of three harmonics on S^m, exact up to the last rounding, and matrices of multiplications.

A harmonic on S^m is one on S^(m-1) times a function of the last colatitude (docs/theorems/5.7-quadrature-error.md): so
is the integral of three, a product of factors, one for each colatitude, and of an integral on the circle.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ...harmonics.hyperspherical import sizes


def product_matrices(dim: int, rows: int, degree: int, *, top: int, coefficients: Float64, absolute: bool) -> Float64:
    """Return the integrals of ``f Y_i Y_j`` for f of one degree, all harmonics Y up to `rows`: (p, n, n).

    `coefficients` (p, dim H_degree) are those of f in the order of the harmonics (`triples.columns`). With `absolute`
    every term counts with its absolute value, the coefficients' included.
    """
    if absolute:
        coefficients = np.abs(coefficients)
    if dim == 1:
        of = np.s_[0:1] if degree == 0 else np.s_[2 * degree - 1 : 2 * degree + 1]
        table = circle_products(rows, top)[of]
        return np.asarray(np.einsum("pk,kij->pij", coefficients, np.abs(table) if absolute else table))
    factors = colatitude_factors(dim, rows, top)
    _, pair, below = columns(dim, rows)
    size = sizes(degree, dim - 1)
    matrices = np.zeros((len(coefficients), len(pair), len(pair)))
    start = 0
    for low in order_of_degree(degree):
        part = coefficients[:, start : start + int(size[low])]
        start += int(size[low])
        inner = product_matrices(dim - 1, rows, low, top=top, coefficients=part, absolute=absolute)
        factor = np.abs(factors[degree, low]) if absolute else factors[degree, low]
        matrices += factor[pair[:, None], pair] * inner[:, below[:, None], below]
    return matrices


@lru_cache(maxsize=32)
def colatitude_factors(dim: int, rows: int, top: int) -> dict[tuple[int, int], Float64]:
    """Return the factors of the last colatitude of S^dim, dim >= 2, for triples of harmonics of degrees (l1, l2, l).

    Entry (l, l'), l' <= l <= most, is the matrix of the integrals over the pairs (l1, l1'), (l2, l2') in the order of
    `degree_pairs`, with l1, l2 <= rows: relative errors are at most four units in the last place.
    """
    nodes = (2 * rows + top + 1) // 2  # even polynomials of degree 2 nodes are integrated exactly
    weights, common = _rule(dim, nodes)
    degree = max(rows, top)
    values = {k: _scaled_gegenbauer(dim, k, degree - k, nodes=nodes) for k in range(degree + 1)}
    number = pair_numbers(rows)
    factors = {pair: np.zeros((len(degree_pairs(rows)),) * 2) for pair in degree_pairs(top)}
    for k1, k2 in itertools.combinations_with_replacement(range(rows + 1), 2):
        degrees = [(l1, l2) for l1 in range(k1, rows + 1) for l2 in range(k2, rows + 1)]
        products = np.array([values[k1][l1 - k1] * values[k2][l2 - k2] for l1, l2 in degrees], dtype=object)
        for k in range(k2 - k1, min(k1 + k2, top) + 1, 2):
            powers = [(nodes**2 - i * i) ** ((k1 + k2 + k) // 2) for i in range(nodes + 1)]  # (nodes^2 (1 - t^2))^.
            share = weights * np.array(powers, dtype=object)
            for l3 in range(k, top + 1):
                places = [i for i, (l1, l2) in enumerate(degrees) if l3 in range(abs(l1 - l2), l1 + l2 + 1, 2)]
                totals = np.dot(products[places], values[k][l3 - k] * share)
                for (l1, l2), total in zip((degrees[i] for i in places), totals, strict=True):
                    of = _factor(dim, l1, k1), _factor(dim, l2, k2), _factor(dim, l3, k)
                    a, b = number[l1, k1], number[l2, k2]
                    value = _root(int(total), common * nodes ** (l1 + l2 + l3), of)
                    factors[l3, k][a, b] = factors[l3, k][b, a] = value
    return factors


@lru_cache(maxsize=64)
def zonal_products(dim: int, rows: int, top: int) -> Float64:
    """Return ``dim H_l1 dim H_l2`` times the integral of ``P_l1 P_l2 P_l``, shape (rows+1, rows+1, most+1)."""
    products = np.zeros((rows + 1, rows + 1, top + 1))
    if dim == 1:
        for l1, l2 in np.ndindex(rows + 1, rows + 1):
            for l3 in {abs(l1 - l2), l1 + l2} & {*range(top + 1)}:
                products[l1, l2, l3] = 2.0 if l3 == 0 < l1 else 1.0
        return products
    factors, number, size = colatitude_factors(dim, rows, top), pair_numbers(rows), sizes(max(rows, top), dim)
    for l1, l2, l3 in np.ndindex(products.shape):
        root = math.sqrt(int(size[l1] * size[l2]) / int(size[l3]))
        products[l1, l2, l3] = factors[l3, 0][number[l1, 0], number[l2, 0]] * root
    return products


@lru_cache(maxsize=32)
def circle_products(rows: int, top: int) -> Float64:
    """Return the integrals of three of 1, sqrt 2 cos l phi, sqrt 2 sin l phi, shape (2 most+1, 2 rows+1, 2 rows+1)."""
    products = np.zeros((2 * top + 1, 2 * rows + 1, 2 * rows + 1))
    half = math.sqrt(0.5)
    for i, j in np.ndindex(2 * rows + 1, 2 * rows + 1):
        (a, b), (sine_i, sine_j) = ((i + 1) // 2, (j + 1) // 2), (i > 0 and i % 2 == 0, j > 0 and j % 2 == 0)
        if a == 0 or b == 0:
            if max(a, b) <= top:
                products[max(i, j), i, j] = 1.0
            continue
        low, high, mixed = abs(a - b), a + b, sine_i != sine_j  # a sine times a cosine
        sign = 1.0 if not mixed else (1.0 if sine_i == (a > b) else -1.0)
        if low == 0:
            products[0, i, j] = 0.0 if mixed else 1.0
        elif low <= top:
            products[2 * low - 1 + mixed, i, j] = half * sign
        if high <= top:
            products[2 * high - 1 + mixed, i, j] = half * (-1.0 if sine_i and sine_j else 1.0)
    return products


def degree_pairs(top: int) -> list[tuple[int, int]]:
    """Return the pairs (l, l') of degrees on S^m and on S^(m-1), l' <= l <= most."""
    return [(n, k) for n in range(top + 1) for k in range(n + 1)]


def pair_numbers(top: int) -> dict[tuple[int, int], int]:
    """Return the place of each of the `degree_pairs`."""
    return {pair: i for i, pair in enumerate(degree_pairs(top))}


def order_of_degree(degree: int) -> list[int]:
    """Return the degrees l' on S^(m-1) in the order in which `hyperspherical_harmonics` has them."""
    return [degree, *range(degree)]


def _rule(dim: int, nodes: int) -> tuple[Any, int]:
    """Return whole weights at t = i/nodes, i = 0, ..., nodes, and what they are over, exact for even polynomials."""
    moments = [Fraction(1)]
    for j in range(nodes):
        moments.append(moments[-1] * Fraction(2 * j + 1, 2 * j + dim + 1))  # the mean of t^(2j+2)
    weights = []
    for i in range(nodes + 1):
        lagrange = [Fraction(1)]  # in u = (nodes t)^2
        for k in range(nodes + 1):
            if k != i:
                over = i * i - k * k
                shifted = [Fraction(0), *lagrange]
                lagrange = [(s - k * k * c) / over for s, c in zip(shifted, [*lagrange, Fraction(0)], strict=True)]
        weights.append(sum((c * nodes ** (2 * j) * moments[j] for j, c in enumerate(lagrange)), Fraction(0)))
    common = math.lcm(*(w.denominator for w in weights))
    return np.array([int(w * common) for w in weights], dtype=object), common


def _scaled_gegenbauer(dim: int, low: int, degree: int, nodes: int) -> Any:
    """Return ``nodes^n n! C_n(i/nodes)``, whole numbers, for the parameter low + (dim-1)/2, (degree+1, nodes+1)."""
    twice, t = 2 * low + dim - 1, np.array(range(nodes + 1), dtype=object)
    table = [t**0, twice * t]
    for n in range(2, degree + 1):
        table.append((2 * (n - 1) + twice) * t * table[-1] - (n - 1) * (n + twice - 2) * nodes**2 * table[-2])
    return np.array(table[: degree + 1], dtype=object)


@lru_cache(maxsize=4096)
def _factor(dim: int, degree: int, low: int) -> tuple[int, int]:
    """Return the square of what makes ``sin^low n! C_n`` orthonormal on S^dim, n = degree - low, as a fraction."""
    # 5.7, c_l^2 and p_n
    n, twice = degree - low, 2 * low + dim - 1
    square = Fraction(2 * n + twice, twice * math.factorial(n))
    for i in range(n):
        square /= twice + i
    for i in range(low):
        square *= Fraction(2 * i + dim + 1, 2 * i + dim)
    return square.numerator, square.denominator


def _root(total: int, scale: int, squares: tuple[tuple[int, int], ...]) -> float:
    """Return ``total / scale`` times the root of fractions."""
    above, below = math.prod(a for a, _ in squares), math.prod(b for _, b in squares)
    return math.copysign(math.sqrt(above * total * total / (below * scale * scale)), total)


@lru_cache(maxsize=64)
def columns(dim: int, top: int) -> tuple[Int64, Int64, Int64]:
    """Return for the harmonics on S^dim up to a degree their degree, the place of their pair, and of their factor.

    The factor is the harmonic on S^(dim-1) in the same order, that of `hyperspherical_harmonics` for dim >= 3.
    """
    size, number = sizes(top, dim - 1), pair_numbers(top)
    offsets = np.concatenate([[0], np.cumsum(size)])
    rows = [
        (n, number[n, k], int(offsets[k]) + i)
        for n in range(top + 1) for k in order_of_degree(n) for i in range(int(size[k]))
    ]  # fmt: skip
    degree, pair, below = np.array(rows, dtype=np.int64).T
    return degree, pair, below
