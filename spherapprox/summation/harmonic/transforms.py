"""Convolution with a zonal kernel of finite degree, from a grid of windows to a grid of windows, on S^1 and S^2."""

from __future__ import annotations

import numpy as np

from ..._kernels.harmonics.grids import fold, margins, unfold
from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64
from ...harmonics.nonuniform.grid import (
    ORDERS,
    cosines,
    half_parallels,
    orders_at_once,
    parallels,
    parity,
    sines,
    to_grid,
)
from ...harmonics.nonuniform.window import Window


def convolve(dim: int, window: Window, eigenvalues: Float64, grid: Float64, workers: int) -> Float64:
    """Return the padded grid from which ``sum_k w_k sum_l c_l dim(H_l) G_l(<x, b_k>)`` is interpolated.

    `grid`, the sums of w_k times the windows of b_k, is overwritten. The c_l may be fewer than the window is for.
    """
    if dim == 1:
        return _convolve_circle(window, eigenvalues, grid, workers=workers)
    # Step 1: Fourier coefficients along parallels, from the grid's rows to parallels of the Legendre transforms
    rows = _from_grid(window, grid, len(eigenvalues), workers=workers)
    values = _to_parallels(window, rows, workers)
    # Step 2: Legendre transform, times the eigenvalues, and back
    _apply_filter(values, eigenvalues, workers)
    # Step 3: back to the grid
    return to_grid(window, values, workers)


def largest(dim: int, window: Window, padded: Float64) -> float:
    """Bound the absolute values of the function that a grid stands for, anywhere."""
    # 4.9 (d): the sum of the window over the grid is at most its transform at 0 times 1 + alpha_0
    mass = float(window.transform[0] * (1.0 + window.aliasing[0]))
    return max(float(padded.max()), -float(padded.min())) * mass**dim


def _convolve_circle(window: Window, eigenvalues: Float64, grid: Float64, workers: int) -> Float64:
    """Return the padded grid on S^1: the eigenvalues over the window's transform squared, on Fourier coefficients."""
    from scipy import fft

    (left, _), n = margins(window.width), window.n
    modes = fft.rfft(fold(grid, n, window.width), axis=1, workers=workers)  # (1, n/2 + 1)
    modes[:, len(eigenvalues) :] = 0.0
    modes[:, : len(eigenvalues)] *= eigenvalues / window.transform[: len(eigenvalues)] ** 2 * window.n
    padded = aligned_zeros(grid.shape)
    padded[:, left : left + n] = fft.irfft(modes, n, axis=1, workers=workers)
    unfold(padded, n, window.width)
    return padded


def _from_grid(window: Window, grid: Float64, orders: int, workers: int) -> Float64:
    """Return the first orders of the rows, folded at the poles: real and imaginary parts, (orders, 2, n/2 + 1).

    (theta, phi) of the torus and (-theta, phi + pi) are one point: an even order is even in theta, an odd one odd.
    """
    from scipy import fft

    half, (left, right) = window.n // 2, margins(window.width)
    rows = np.empty((orders, 2, len(grid)))

    def fold_rows(grid_rows: slice) -> None:
        part = fft.rfft(fold(grid[grid_rows], window.n, window.width), axis=1)[:, :orders]  # (rows, orders)
        rows[:, 0, grid_rows], rows[:, 1, grid_rows] = part.real.T, part.imag.T

    each_block(fold_rows, len(grid), 32, workers=workers)
    core = rows[..., left : left + half + 1]
    sign = parity(orders)
    core[..., 1 : left + 1] += sign * rows[..., left - 1 :: -1]
    core[..., half - right : half] += sign * rows[..., : left + half : -1]
    return core


def _to_parallels(window: Window, core: Float64, workers: int) -> Float64:
    """Return the functional's values for parallels theta = pi i / M, i = 0, ..., M > L: (L + 1, 2, M + 1).

    The windows' transform is divided out for frequencies along meridians, and along parallels there and back.
    """
    orders = len(core)
    m = parallels(orders - 1)
    along, scale = window.transform[:orders, None, None] ** -2, 1.0 / (2.0 * m * window.transform[:orders])
    result = np.empty((orders, 2, m + 1))

    def transform_orders(part: slice) -> None:
        even, odd = slice(part.start, part.stop, 2), slice(part.start + 1, part.stop, 2)  # `ORDERS` is even
        spectrum, wide = core[even].copy(), np.zeros((2, len(core[even]), 2, m + 1))
        spectrum[..., :: spectrum.shape[-1] - 1] *= 2.0
        wide[0, ..., :orders] = cosines(spectrum)[..., :orders] * (along[even] * scale)
        result[even] = cosines(wide[0])
        wide = wide[1, : len(core[odd])]
        wide[..., 1:orders] = sines(core[odd, :, 1:-1])[..., : orders - 1] * (along[odd] * scale[1:])
        result[odd, :, 1:-1] = sines(wide[..., 1:-1])
        result[odd, :, ::m] = 0.0
        result[part, :, ::m] *= 0.5

    each_block(transform_orders, orders, ORDERS, workers=workers)
    return result


def _apply_filter(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Convolve the values of a functional on the parallels theta = pi i / M, (L + 1, 2, M + 1), in place."""
    from ..._kernels.harmonics.legendre import filter_orders

    degree = len(values) - 1
    half, versine, sine = half_parallels(values.shape[-1] - 1)
    padded = np.concatenate([eigenvalues, np.zeros(4)])

    def apply(orders: slice) -> None:
        part = values[orders]
        north, south = part[..., :half], part[..., : half - 2 : -1]  # (orders, 2, half)
        data = aligned_zeros((len(part), 4, len(sine)))
        even, odd = data[:, :2, :half], data[:, 2:, :half]
        np.add(north, south, out=even)
        np.subtract(north, south, out=odd)
        even[..., -1] *= 0.5  # the equator is its own mirror image
        filter_orders(orders.start, orders.stop, degree, versine, sine, padded, data)
        np.add(even, odd, out=north)
        np.subtract(even, odd, out=south)

    each_block(apply, degree + 1, orders_at_once(degree, workers), workers=workers)
