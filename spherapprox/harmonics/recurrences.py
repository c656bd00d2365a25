"""Recurrences of Legendre functions and of their derivatives, and harmonics on S^2 degree by degree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from .._threads import slices
from .._types import Complex128, Float64, Floats, Int32

_RADIX = 800
"""Legendre functions below 2^-400 are carried as x 2^(-800 e), so that no seed underflows before it can grow."""

_ROW_NUMBERS = 2**15
"""Elements per work array of one block of rows: a quarter of a MiB, so that the few arrays of a block stay in cache."""

_KEPT = 255  # largest degree whose `roots` are kept: those of all take a quarter of a MiB


def blocks(n_rows: int, max_degree: int) -> list[slice]:
    """Cut the rows into blocks whose work arrays stay in cache."""
    return slices(n_rows, max(16, _ROW_NUMBERS // (max_degree + 1)))


def polar(rows: Floats) -> tuple[Float64, Float64, Complex128]:
    """Return cos theta, sin theta and e^(i phi) of the rows' directions."""
    x, y, z = rows.T.astype(np.float64)  # (n,) each
    s = np.hypot(x, y)
    azimuth = np.ones(len(s), dtype=np.complex128)
    np.divide(x + 1j * y, s, out=azimuth, where=s > 0.0)
    length = np.hypot(s, z)
    return z / length, s / length, azimuth


def sectoral(max_degree: int, s: Float64) -> tuple[Float64, Int32]:
    """Return x, e with ``P_m^m = x 2^(-_RADIX e)``, from ``P_m^m = sqrt((2m-1)/(2m)) s P_(m-1)^(m-1)``, m >= 2."""
    seed = np.ones((max_degree + 1, len(s)))  # (K+1, n)
    exponent = np.zeros((max_degree + 1, len(s)), dtype=np.int32)
    for m in range(1, max_degree + 1):
        seed[m] = (math.sqrt((2 * m - 1) / (2 * m)) if m > 1 else 1.0) * s * seed[m - 1]
        exponent[m] = exponent[m - 1]
        if seed[m].min(initial=1.0) < 2.0 ** (-_RADIX // 2):
            small = (seed[m] < 2.0 ** (-_RADIX // 2)) & (seed[m] > 0.0)
            seed[m, small] *= 2.0**_RADIX
            exponent[m] += small
    return seed, exponent


def roots(degree: int) -> Float64:
    """Return ``sqrt(k^2 - m^2)`` for k = degree and m = 0..k-1, (k,)."""
    return _cached_roots(degree) if degree <= _KEPT else _roots(degree)


def _roots(degree: int) -> Float64:
    m = np.arange(degree, dtype=np.float64)  # (k,)
    return np.asarray(np.sqrt((degree - m) * (degree + m)))


_cached_roots = lru_cache(maxsize=None)(_roots)


def legendre_rows(max_degree: int, z: Float64, s: Float64) -> Iterator[Float64]:
    """Yield Schmidt's ``P_k^0, ..., P_k^k`` at z = cos theta, s = sin theta, as (k+1, n), for k = 0..max_degree."""
    seed, exponent = sectoral(max_degree, s)
    deep = np.flatnonzero(exponent.any(axis=0))  # the points near enough to a pole for seeds to be scaled
    exponent = exponent[:, deep]  # (K+1, deep points)
    before = last = np.empty((0, len(z)))  # the rows of degrees k-2 and k-1, (k-1, n) and (k, n)
    for k in range(max_degree + 1):
        root, root_before = (roots(degree)[:, None] for degree in (k, max(k - 1, 0)))  # (k, 1) and (k-1, 1)
        row = np.empty((k + 1, len(z)))
        row[k] = seed[k]
        # sqrt(k^2-m^2) P_k^m = (2k-1) z P_(k-1)^m - sqrt((k-1)^2-m^2) P_(k-2)^m
        np.multiply((2 * k - 1) * z, last, out=row[:k])
        row[: max(k - 1, 0)] -= root_before * before
        row[:k] /= root
        true = row
        if deep.size:
            grown = (np.abs(row[:k, deep]) > 2.0 ** (_RADIX // 2)) & (exponent[:k] > 0)
            exponent[:k] -= grown
            factor = np.where(grown, 2.0**-_RADIX, 1.0)
            row[:k, deep] *= factor
            last[:, deep] *= factor
            true = row.copy()
            true[:, deep] = np.ldexp(row[:, deep], -_RADIX * exponent[: k + 1])
        yield true
        before, last = last, row


def derivative_rows(k: int, row: Float64, before: Float64) -> tuple[Float64, Float64]:
    """Return ``d/dtheta P_k^m`` and ``m P_k^m / sin theta``, (k+1, n), from degrees k and k-1 (DLMF 14.10)."""
    slope, quotient = np.zeros_like(row), np.zeros_like(row)
    if k == 0:
        return slope, quotient
    m = np.arange(k + 1, dtype=np.float64)[:, None]  # (k+1, 1)
    double = np.where(m == 1.0, 2.0, 1.0)  # P_k^0 lacks the factor sqrt(2) of the other orders
    # 2 d/dtheta P_k^m = sqrt((k+m)(k-m+1)) P_k^(m-1) - sqrt((k-m)(k+m+1)) P_k^(m+1), but for `double`
    slope[0] = -math.sqrt(k * (k + 1) / 2) * row[1]
    slope[1:] = 0.5 * np.sqrt(double * (k + m) * (k - m + 1))[1:] * row[:-1]
    slope[1:-1] -= 0.5 * np.sqrt((k - m) * (k + m + 1))[1:-1] * row[2:]
    # 2 m P_k^m / sin theta = sqrt((k+m)(k+m-1)) P_(k-1)^(m-1) + sqrt((k-m)(k-m-1)) P_(k-1)^(m+1), but for `double`
    quotient[1:] = 0.5 * np.sqrt(double * (k + m) * (k + m - 1))[1:] * before
    quotient[1:-2] += 0.5 * np.sqrt((k - m) * (k - m - 1))[1:-2] * before[2:]
    return slope, quotient


def cosines_and_sines(azimuth: Complex128, max_degree: int) -> tuple[Float64, Float64]:
    """Return ``cos(m phi)`` and ``sin(m phi)`` for m = 0..max_degree, (max_degree+1, n) each."""
    east, north = np.ascontiguousarray(azimuth.real), np.ascontiguousarray(azimuth.imag)
    cos, sin = np.empty((2, max_degree + 1, len(azimuth)))
    cos[0], sin[0] = 1.0, 0.0
    for m in range(1, max_degree + 1):  # in real numbers: NumPy's complex products round as the processor can
        np.subtract(cos[m - 1] * east, sin[m - 1] * north, out=cos[m])
        np.add(sin[m - 1] * east, cos[m - 1] * north, out=sin[m])
    return cos, sin


def order_rows(row: Float64, even: Float64, odd: Float64) -> Float64:
    """Return ``row[|m|]`` times even[m] for m >= 0 and odd[|m|] for m < 0, in the order m = -k..k: (2k+1, n)."""
    k = len(row) - 1
    result = np.empty((2 * k + 1, row.shape[1]))
    np.multiply(row, even[: k + 1], out=result[k:])
    np.multiply(row[:0:-1], odd[k:0:-1], out=result[:k])
    return result


def by_degree(max_degree: int, rows: Floats) -> Iterator[tuple[int, Float64]]:
    """Yield k and Schmidt's harmonics of degree k, (2k+1, n)."""
    z, s, azimuth = polar(rows)
    cos, sin = cosines_and_sines(azimuth, max_degree)
    for k, row in enumerate(legendre_rows(max_degree, z, s)):
        yield k, order_rows(row, cos, sin)
