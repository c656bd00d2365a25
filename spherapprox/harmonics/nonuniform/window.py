"""The window of the non-uniform Fourier transforms: Kaiser and Bessel's less its end value, and what it aliases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._types import Float64

WIDTHS = (16, 24)  # grid points that a window touches in each direction: two vectors or three
OVERSAMPLING = (1.25, 2.6)  # grid points per coefficient, at least and at most
POLYNOMIAL = 16  # coefficients of the polynomials that stand for the window between two grid points, off by 1e-17
ALIASES = 16  # aliases on either side that are summed one by one


@dataclass(frozen=True)
class Window:
    """The window for a grid of n cells in a full turn: its polynomials, and its transform at frequencies 0, ..., L.

    It is `width` grid points wide; `polynomials`, (`POLYNOMIAL`, width - 8) flat, are those of the first of them, in
    2 f - 1 for a point f beyond a grid point: the last eight have those of the first eight, with the sign turned.
    `aliasing`, (L + 1,), bounds the sum of the transform's absolute values at a frequency's aliases, relative to that
    at the frequency, and does not decrease.
    """

    n: int
    width: int
    polynomials: Float64
    transform: Float64
    aliasing: Float64


@lru_cache(maxsize=8)
def window(degree: int, n: int, width: int, reach: float = 1.02) -> Window:
    """Return the window for trigonometric polynomials of a degree on n grid points.

    Its transform is small from the frequency ``beta / (pi width)`` on: `reach` less the highest of the polynomials. The
    default is that of the least aliases for a spectrum that falls as the kernel's do.
    """
    from scipy.special import i0e

    beta = math.pi * width * (reach - (degree + 1.0) / n)
    frequencies = np.arange(degree + 1.0) / n
    transform = _transform(frequencies, beta, width)  # (L + 1,)
    aliases = np.concatenate([np.arange(1, ALIASES), -np.arange(1, ALIASES + 1)])  # |frequency| < ALIASES - 1/2
    total = np.abs(_transform(frequencies[:, None] + aliases, beta, width)).sum(axis=1)  # (L + 1,)
    # 4.9, window: those beyond, of which |transform(f)| <= square / f^2, up to the factor below, with |r| >= R
    square, end = 1.25 * (beta / (math.pi * width)) ** 2, math.exp(-beta)
    total += 2.0 * square / (ALIASES - 1.5) * width * end / (float(i0e(beta)) - end)
    # 4.9 (b): alpha, not decreasing
    return Window(
        n, width, _polynomials(beta, width), transform=transform, aliasing=np.maximum.accumulate(total / transform)
    )


def grid_size(least: float) -> int:
    """Return the smallest multiple of 8 from `least` on, and from 64, that has no prime factor above 5."""
    best = 64
    while best < least:
        best *= 2
    for threes in (1, 3, 9, 27, 81):
        for fives in (1, 5, 25, 125, 625):
            n = 8 * threes * fives
            while n < max(least, 64):
                n *= 2
            best = min(best, n)
    return best


def _transform(frequency: Float64, beta: float, width: int) -> Float64:
    """Return the Fourier transform at frequencies in turns per cell."""
    from scipy.special import i0e

    square = (math.pi * width * frequency) ** 2
    root = square - beta**2
    r = np.maximum(np.sqrt(np.abs(root)), 1e-9)
    drop = np.where(root < 0.0, square / (r + beta), 0.0)  # beta - r without a loss of digits
    # 4.9, window: times exp(-beta), so that nothing overflows
    inside = 0.5 * (np.exp(-drop) - np.exp(-r - beta)) / r
    outside = math.exp(-beta) * np.sin(r) / r
    end = math.exp(-beta) * np.sinc(width * frequency)
    return np.asarray(width * (np.where(root < 0.0, inside, outside) - end) / (i0e(beta) - math.exp(-beta)))


@lru_cache(maxsize=8)
def _polynomials(beta: float, width: int) -> Float64:
    """Return coefficients of the window at each of its grid points, in 2 f - 1 for a point f beyond a grid point."""
    from scipy.special import i0e

    quarters = np.outer(np.arange(POLYNOMIAL), 2 * np.arange(POLYNOMIAL) + 1) % (4 * POLYNOMIAL)  # (degrees, nodes)
    cosines = np.cos(math.pi / (2 * POLYNOMIAL) * quarters)  # of k (i + 1/2) pi / POLYNOMIAL
    nodes = cosines[1]
    place = np.arange(width - 8) - (width // 2 - 1) - 0.5 * (nodes[:, None] + 1.0)  # (nodes, width - 8)
    square = np.minimum((2.0 * place / width) ** 2, 1.0)
    root = np.sqrt(1.0 - square)
    end = math.exp(-beta)
    values = (i0e(beta * root) * np.exp(-beta * square / (1.0 + root)) - end) / (i0e(beta) - end)  # (nodes, width - 8)
    series = np.einsum("ki,ij->kj", cosines, values) * (2.0 / POLYNOMIAL)  # (degrees, width - 8)
    series[0] *= 0.5
    result = aligned_zeros((POLYNOMIAL, width - 8))
    np.einsum("kj,ki->ji", _powers(), series, out=result)  # (powers, width - 8)
    return result.ravel()


@lru_cache(maxsize=1)
def _powers() -> Float64:
    """Return the coefficients of Chebyshev's polynomials T_0, T_1, ..., in rows."""
    rows = np.zeros((POLYNOMIAL, POLYNOMIAL))
    for k in range(POLYNOMIAL):
        rows[k, : k + 1] = np.polynomial.chebyshev.cheb2poly(np.eye(POLYNOMIAL)[k, : k + 1])
    return rows
