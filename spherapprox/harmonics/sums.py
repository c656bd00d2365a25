"""Sums of harmonics on S^2: term by term in NumPy or, with the same bits, in a compiled kernel; of many, on a grid."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._loading import load
from .._threads import slices
from .._types import Complex128, Float64, Floats
from .nonuniform.synthesis import seconds, sums_by_grid
from .recurrences import blocks, cosines_and_sines, legendre_rows, polar, roots

_COMPILED = 600  # largest degree that the kernel takes; above it NumPy has to do many of the points anyway
_WIDE = 32  # columns whose sums at some points stay in the first cache. Tuned.
_DEAR = 2e8
"""Terms that NumPy adds in about the time of compiling: a process with more of them takes the kernel. Tuned."""
_FEW = 2e7  # terms that are added one by one in any case: NumPy takes less for them than loading kernels
_RATES = {"points": 1.2e7, "functions": 5e8, "terms": 6e9}
"""Angles, Legendre functions and terms of one compiled thread in a second: the cost is a sum of counts over these."""
_terms = [0.0]  # terms that this process has added in NumPy


def weighted_sums(columns: Float64, max_degree: int, rows: Floats) -> Float64:
    """Return sums of Schmidt's harmonics with coefficients ((K+1)^2, p) at points (n, 3): (p, n)."""
    if goes_by_grid(max_degree, columns.shape[1], len(rows)):
        return sums_by_grid(_split_orders(columns, max_degree), rows)
    return summed_directly(columns, max_degree, rows)


def goes_by_grid(max_degree: int, columns: int, points: int) -> bool:
    """Say whether so many columns of sums at so many points go by a grid: a model of time decides, no measurement."""
    per_point = (max_degree + 1.0) ** 2
    if columns * points * per_point <= _FEW:
        return False
    directly = points * (1.0 / _RATES["points"] + per_point * (1.0 / _RATES["functions"] + columns / _RATES["terms"]))
    return seconds(max_degree, columns, points) < directly


def summed_directly(columns: Float64, max_degree: int, rows: Floats, *, dear: float = _DEAR) -> Float64:
    """Return the sums term by term: (p, n)."""
    result = np.zeros((columns.shape[1], len(rows)))
    # the kernel is taken where as much has been spent on NumPy as compiling takes
    terms = float(columns.size) * len(rows)
    if max_degree <= _COMPILED and _terms[0] + terms <= dear:
        _terms[0] += terms
    by_kernel = max_degree <= _COMPILED and _terms[0] + terms > dear
    add = _sum_compiled if by_kernel else _sum_in_numpy
    for block in blocks(len(rows), max_degree):
        result[:, block] = add(columns, max_degree, *polar(rows[block]))
    return result


def _sum_in_numpy(columns: Float64, max_degree: int, z: Float64, s: Float64, azimuth: Complex128) -> Float64:
    """Return the sums (p, n): over the degrees for each order, then over the orders."""
    cos, sin = cosines_and_sines(azimuth, max_degree)
    even, odd = np.zeros((2, columns.shape[1], max_degree + 1, len(z)))  # (p, K+1, n)
    work = np.empty((max_degree + 1, len(z)))
    for k, row in enumerate(legendre_rows(max_degree, z, s)):
        middle, term = k * k + k, work[: k + 1]
        for column in range(len(even)):
            even[column, : k + 1] += np.multiply(columns[middle : middle + k + 1, column, None], row, out=term)
            odd[column, : k + 1] += np.multiply(columns[k * k : middle + 1, column][::-1, None], row, out=term)
    result = np.zeros((len(even), len(z)))
    for m in range(max_degree + 1):
        result += even[:, m] * cos[m] + odd[:, m] * sin[m]
    return result


def _sum_compiled(columns: Float64, max_degree: int, z: Float64, s: Float64, azimuth: Complex128) -> Float64:
    """Return the sums (p, n) by the kernel, and by NumPy where seeds need an exponent of their own."""
    result = np.zeros((columns.shape[1], len(z)))
    cos, sin = np.ascontiguousarray(azimuth.real), np.ascontiguousarray(azimuth.imag)
    kernels = load("spherapprox._kernels.harmonics.synthesis")  # numba is loaded where it pays
    for part in slices(len(result), _WIDE):
        kernels.add(z, s, cos, sin, _roots(max_degree), _split_orders(columns[:, part], max_degree), result[part])
    deep = (s > 0.0) & (s < 2.0 ** (-390.0 / max(max_degree, 1)))
    if deep.any():
        result[:, deep] = _sum_in_numpy(columns, max_degree, z[deep], s=s[deep], azimuth=azimuth[deep])
    return result


@lru_cache(maxsize=4)
def _roots(max_degree: int) -> Float64:
    """Return `recurrences.roots` by order and degree, (K+1, K+1)."""
    result = np.zeros((max_degree + 1, max_degree + 1))
    for k in range(max_degree + 1):
        result[:k, k] = roots(k)
    return result


def _split_orders(columns: Float64, max_degree: int) -> Float64:
    """Return the coefficients of cosines and sines by order and degree, (K+1, K+1, p, 2)."""
    result = np.zeros((max_degree + 1, max_degree + 1, columns.shape[1], 2))
    for k in range(max_degree + 1):
        middle = k * k + k
        result[: k + 1, k, :, 0] = columns[middle : middle + k + 1]
        result[: k + 1, k, :, 1] = columns[k * k : middle + 1][::-1]
    return result
