"""The truncation degree of the kernel's expansion in harmonics, its grid, and bounds of the sums' errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..._types import Float64
from ...harmonics.nonuniform.window import OVERSAMPLING, WIDTHS, Window, grid_size, window
from ...vmf import VonMisesFisher

SHARE, ALIASED = 0.05, 0.03  # what truncation and aliasing may take of rtol, relative to the kernel's mean
NARROW, ROOMY = 0.25, 0.025
"""What a narrow window's aliases may take instead, where roundings are at most that share of rtol."""
COARSE, COARSE_GRID = 0.01, 1.5
"""What truncation may take of the kernel's mean where only a scale is wanted, and grid points per coefficient then."""
DIRECTION = 9e-16  # error of the angle between two directions, in radians: docs/theorems/4.9-harmonic-sums.md
UNIT = 2.0**-53  # unit roundoff
RATES = {"points": 3e7, "windows": 5e7, "taps": 1.1e10, "cells": 6e7, "degrees": 9e9, "calls": 2e3}
"""Points sorted, windows evaluated, their grid points summed, cells transformed, Legendre functions evaluated (L^3 of a
column) and whole sums begun, by one thread in a second: the cost is a sum of counts over these rates.
"""


@dataclass(frozen=True)
class Design:
    """The kernel's eigenvalues c_0, ..., c_L and the window of its grid.

    The kernel is ``sum_l c_l dim(H_l) G_l``, c_0 its mean; `omitted` bounds what truncation and aliasing change of it
    anywhere.
    """

    dim: int
    concentration: float
    eigenvalues: Float64
    window: Window
    mean: float
    omitted: float

    @property
    def rounding(self) -> float:
        """The transforms' rounding errors, relative to the largest sum of |w| K anywhere."""
        return rounding(self.dim, len(self.eigenvalues))

    @property
    def coarse(self) -> tuple[Float64, Window, float]:
        """The fewest eigenvalues that leave out `COARSE` of the kernel's mean, a window for sums, and the error."""
        terms = self.eigenvalues * _multiplicity(self.dim, np.arange(len(self.eigenvalues), dtype=np.float64))
        tails = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0)  # of the degrees above 0, 1, ...
        degree = int(np.argmax(tails <= COARSE * self.mean))
        eigenvalues, narrow = self.eigenvalues[: degree + 1], grid_size(2.0 * COARSE_GRID * (degree + 1))
        out = window(degree, min(narrow, self.window.n), self.window.width)
        aliased = _aliased(self.dim, eigenvalues, np.maximum(out.aliasing, self.window.aliasing[: degree + 1]))
        return eigenvalues, out, float(tails[degree]) + self.omitted + aliased + rounding(self.dim, degree)


@lru_cache(maxsize=16)
def design(dim: int, concentration: float, rtol: float, octave: int = 0) -> Design:
    """Return the expansion that leaves out `SHARE` and `aliased_share` of rtol, fastest for about 2^octave points."""
    mean = kernel_mean(dim, concentration)
    # Step 1: truncate the expansion
    eigenvalues, tail = _expansion(dim, concentration, mean, tolerance=SHARE * rtol * mean)
    # Step 2: choose a window and refine its grid until its aliases are small enough
    share = aliased_share(dim, len(eigenvalues), rtol)
    tolerances = {width: (share if width == WIDTHS[0] else ALIASED) * rtol * mean for width in WIDTHS}
    windows = [_refined(dim, eigenvalues, width, tolerance=tolerances[width]) for width in WIDTHS]
    prices = [window_price(dim, 2.0**octave, window.n, width=window.width) for window, _ in windows]
    best = min(range(len(windows)), key=lambda i: (max(windows[i][1], share * rtol * mean), prices[i]))
    grid_window, aliased = windows[best]
    return Design(dim, concentration, eigenvalues, window=grid_window, mean=mean, omitted=tail + aliased)


def _refined(dim: int, eigenvalues: Float64, width: int, tolerance: float) -> tuple[Window, float]:
    """Return the window of a width on the smallest grid whose aliases are allowed, or on the largest, and these."""
    size = 2.0 * len(eigenvalues)
    grid_window = window(len(eigenvalues) - 1, grid_size(OVERSAMPLING[0] * size), width)
    while (aliased := _aliased(dim, eigenvalues, grid_window.aliasing)) > tolerance and grid_window.n < OVERSAMPLING[
        1
    ] * size:
        grid_window = window(len(eigenvalues) - 1, grid_size(grid_window.n + 1.0), width)
    return grid_window, aliased


def aliased_share(dim: int, degree: float, rtol: float) -> float:
    """Return the share of rtol for aliases, relative to the kernel's mean: more where other errors leave room."""
    return NARROW if rounding(dim, degree) <= ROOMY * rtol else ALIASED


def window_price(dim: int, points: float, cells: float, width: int = WIDTHS[-1]) -> float:
    """Estimate the seconds of one thread that a column's points and its grid take."""
    fourier = cells**2 / RATES["cells"] if dim == 2 else cells / RATES["cells"]
    return points * (1.0 / RATES["windows"] + float(width) ** dim / RATES["taps"]) + fourier


def kernel_mean(dim: int, concentration: float) -> float:
    """Return the mean of ``exp(-lambda |x - y|^2 / 2)`` over the sphere."""
    # 4.9: c_0
    if dim == 2:
        return -math.expm1(-2.0 * concentration) / (2.0 * concentration) if concentration > 0.0 else 1.0
    from scipy.special import i0e

    return float(i0e(concentration))


def largest_degree(dim: int, concentration: float, rtol: float) -> float:
    """Estimate the degree of `design` without making it: a few more than it will be.

    Eigenvalues fall as ``exp(-phi(l))``, ``phi(l) = l asinh(l / lambda) - sqrt(l^2 + lambda^2) + lambda`` (1.4).
    """
    drop = math.log(1.0 / (SHARE * rtol)) + 0.5 * dim * math.log1p(2.0 * concentration)
    degree = math.sqrt(2.0 * concentration * drop) + drop
    scale = max(concentration, 1e-300)
    for _ in range(6):  # Newton's steps, from above
        slope = math.asinh(degree / scale)
        fall = degree * slope - degree**2 / (math.hypot(degree, scale) + scale)
        degree -= (fall - drop) / slope
    return 1.02 * degree + 3.0


def grid_cells(dim: int, concentration: float, rtol: float) -> float:
    """Estimate the grid cells in a full turn."""
    return float(grid_size(OVERSAMPLING[0] * (2.0 * largest_degree(dim, concentration, rtol) + 2.0)))


def _expansion(dim: int, concentration: float, mean: float, tolerance: float) -> tuple[Float64, float]:
    """Return the eigenvalues up to the smallest degree whose tail is allowed, and that tail."""
    kernel = VonMisesFisher(dim, concentration)
    top = int(largest_degree(dim, concentration, tolerance / mean / SHARE))
    while True:
        degrees = np.arange(top + 1.0)
        eigenvalues = mean * kernel.eigenvalues(top)  # (top + 1,)
        terms = eigenvalues * _multiplicity(dim, degrees)
        # 1.4: the ratio of successive terms; 4.9 (a): the terms beyond `top`
        growth = (2.0 * top + 3.0) / (2.0 * top + 1.0) if dim == 2 else 1.0
        ratio = growth * math.exp(-math.asinh((top + 0.5 * dim) / concentration)) if concentration > 0.0 else 0.0
        tail = terms[-1] * ratio / (1.0 - ratio) if ratio < 1.0 else math.inf
        if tail <= 0.01 * tolerance:
            break
        top += top // 4 + 8
    tails = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0) + tail  # of the degrees above 0, 1, ..., top
    degree = int(np.argmax(tails <= tolerance))
    return eigenvalues[: degree + 1], float(tails[degree])


def _multiplicity(dim: int, degrees: Float64) -> Float64:
    """Return the dimensions of the spaces of harmonics of some degrees."""
    return 2.0 * degrees + 1.0 if dim == 2 else np.where(degrees == 0.0, 1.0, 2.0)


def _aliased(dim: int, eigenvalues: Float64, alias: Float64) -> float:
    """Bound the largest change of the kernel by windows' aliases, (L + 1,) (docs/theorems/4.9-harmonic-sums.md)."""
    degrees = np.arange(len(eigenvalues), dtype=np.float64)
    terms = eigenvalues * _multiplicity(dim, degrees)
    if dim == 1:
        # 4.9 (b): A = sum_l c_l dim(H_l) tau_l
        return float(terms @ (2.0 * alias + alias**2))
    # 4.9 (b): B, and A = 2 (sum_l c_l (2l+1))^(1/2) B^(1/2) + B
    square = terms @ ((degrees + 1.0) * (2.0 * alias + alias**2) ** 2)
    return float(2.0 * math.sqrt(eigenvalues @ _multiplicity(dim, degrees)) * math.sqrt(square) + square)


def rounding(dim: int, degree: float) -> float:
    """Return the transforms' rounding errors, relative to the largest sum of |w| K anywhere.

    They are measured, not proven: at least 2.2 times the largest that was seen.
    """
    # 4.9 (d)
    return UNIT * (44.0 + 0.01 * degree if dim == 1 else 70.0 + 0.4 * degree)


def moved_points(concentration: float, off_length: float, exponent: Float64 | np.float64) -> Float64:
    """Bound the relative error of a row's sum from rounded directions and from lengths that are not 1.

    `exponent` must be at least 2 plus the logarithm of the sum of all |w_k| over the row's sum of |w_k| K.
    """
    # 4.9 (c): 1.15 g(E_0), g(E) = delta sqrt(2 lambda E) + q E + lambda q^2 / 2
    directions = DIRECTION * np.sqrt(2.0 * concentration * exponent)
    lengths = off_length * exponent + 0.5 * concentration * off_length**2
    return np.asarray(1.15 * (directions + lengths))
