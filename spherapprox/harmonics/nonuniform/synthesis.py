"""Sums of harmonics at many points of S^2: on parallels by Legendre transforms, on a grid, and at the points.

Their error: docs/theorems/4.9-harmonic-sums.md (f).
"""

from __future__ import annotations

import math

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._loading import load
from ..._norms import unit_of
from ..._threads import each_block, for_work
from ..._types import Float64, Floats
from .grid import half_parallels, orders_at_once, parallels, to_grid
from .window import Window, grid_size, window

LARGEST = 18_000  # grid cells in a full turn, above which grids take more memory than `_checks.MEMORY_LIMIT`
_REACH = 0.99
_SCHEMES = ((16, 2.5), (24, 1.75))
"""Widths of windows and grid points per coefficient, for many points and for few: aliases are below 5e-16."""
_RATES = {"points": 3e7, "windows": 5e7, "taps": 1.3e10, "cells": 1.6e8, "degrees": 2e10, "calls": 2e3}
"""Points sorted, windows evaluated, their grid points summed, cells transformed, Legendre functions evaluated (K^3 of a
column) and columns begun, by one thread in a second: the cost is a sum of counts over these rates."""


def _scheme(degree: int, points: int) -> tuple[float, int, int]:
    """Return the seconds of one column's points and grid, and the width and grid cells that take fewest."""
    sizes = [(width, grid_size(2.0 * share * (degree + 1))) for width, share in _SCHEMES]
    rates = _RATES["windows"], _RATES["taps"], _RATES["cells"]
    return min((points / rates[0] + points * width**2 / rates[1] + cells**2 / rates[2], width, cells)
               for width, cells in sizes)  # fmt: skip


def seconds(degree: int, columns: int, points: int) -> float:
    """Estimate the seconds of one thread, infinite where the grid would be too large."""
    price, _, cells = _scheme(degree, points)
    if cells > LARGEST:
        return math.inf
    price += degree**3 / _RATES["degrees"] + 1.0 / _RATES["calls"]
    return points / _RATES["points"] + columns * price


def sums_by_grid(coefficients: Float64, x: Floats) -> Float64:
    """Return sums of Schmidt's harmonics at rows x (n, 3), whose length does not matter: (p, n).

    The coefficients, (K+1, K+1, p, 2) by order and degree, are those of cosines and sines.
    """
    load("spherapprox._kernels.harmonics.legendre")
    load(f"{__package__}.scattered")
    from .scattered import interpolate, scattered

    degree, columns = len(coefficients) - 1, coefficients.shape[2]
    workers = for_work(None, seconds(degree, columns, len(x)))
    _, width, cells = _scheme(degree, len(x))
    grid_window = window(degree, cells, width, reach=_REACH)
    points = scattered(x, grid_window, workers)
    result = np.empty((columns, len(x)))
    for column in range(columns):
        part = coefficients[:, :, column]
        unit = unit_of(part)
        unit = 1.0 if 1e-100 < unit < 1e100 else unit
        grid = to_grid(grid_window, _on_parallels(part / unit, grid_window, workers), workers)
        interpolate(points, grid, grid_window, workers, out=result[column])
        if unit != 1.0:
            result[column] *= unit
    return result


def _on_parallels(part: Float64, grid_window: Window, workers: int) -> Float64:
    """Return the Fourier coefficients of the sums on the parallels pi i / M, over the window's: (K+1, 2, M + 1)."""
    from ..._kernels.harmonics.legendre import filter_orders

    orders, m = len(part), parallels(len(part) - 1)
    half, versine, sine = half_parallels(m)
    result = np.empty((orders, 2, m + 1))
    # Re c e^(i m phi) for c = a - i b, and half of it at both m and -m; the kernel's functions have the mean square 1
    scale = np.array([1.0, -1.0]) / np.sqrt(2.0 * np.arange(orders)[:, None] + 1.0)  # (degrees, 2)
    along = np.where(np.arange(orders) > 0, math.sqrt(0.5), 1.0) / grid_window.transform

    def add(rows: slice) -> None:
        table = np.zeros((rows.stop - rows.start, orders + 1, 2))
        np.multiply(part[rows], scale, out=table[:, :orders])
        table *= along[rows, None, None]
        data = aligned_zeros((len(table), 4, len(sine)))
        filter_orders(rows.start, rows.stop, orders - 1, versine, sine, table, data)
        even, odd = data[:, :2, :half], data[:, 2:, :half]
        np.add(even, odd, out=result[rows, :, :half])
        np.subtract(even, odd, out=result[rows, :, : half - 2 : -1])

    each_block(add, orders, orders_at_once(orders - 1, workers), workers=workers)
    return result
