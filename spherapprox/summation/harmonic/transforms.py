"""Convolution with a zonal kernel of finite degree, from a grid of windows to a grid of windows, on S^1 and S^2."""

from __future__ import annotations

import numpy as np

from ..._kernels.harmonics.grids import fold, margins, padded_shape, unfold
from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64
from ...harmonics.nonuniform.grid import (
    ORDERS,
    half_parallels,
    join_orders,
    orders_at_once,
    parallels,
    parity,
    part_orders,
    to_grid,
)
from ...harmonics.nonuniform.window import Window


def convolve(dim: int, window: Window, eigenvalues: Float64, grid: Float64, out: Window, workers: int) -> Float64:
    """Return the padded grid from which ``sum_k w_k sum_l c_l dim(H_l) G_l(<x, b_k>)`` is interpolated by `out`.

    `grid`, the sums of w_k times the windows of b_k, is overwritten. The c_l may be fewer than the windows are for.
    """
    orders = len(eigenvalues)
    along = 1.0 / (window.transform[:orders] * out.transform[:orders])
    if dim == 1:
        return _convolve_circle(window, eigenvalues * along, grid, out=out, workers=workers)
    # Step 1: Fourier coefficients along parallels, from the grid's rows to parallels of the Legendre transforms
    rows = _from_grid(window, grid, along, workers=workers)
    values = _to_parallels(window, rows, workers)
    # Step 2: Legendre transform, times the eigenvalues, and back
    _apply_filter(values, eigenvalues, workers)
    # Step 3: back to a grid
    return to_grid(out, values, workers)


def largest(dim: int, window: Window, padded: Float64) -> float:
    """Bound the absolute values of the function that a grid stands for, anywhere."""
    # 4.9 (d): the sum of the window over the grid is at most its transform at 0 times 1 + alpha_0
    mass = float(window.transform[0] * (1.0 + window.aliasing[0]))
    return max(float(padded.max()), -float(padded.min())) * mass**dim


def _convolve_circle(window: Window, factors: Float64, grid: Float64, out: Window, workers: int) -> Float64:
    """Return the padded grid on S^1: Fourier coefficients times factors."""
    from scipy import fft

    modes = fft.rfft(fold(grid, window.n, window.width), axis=1, workers=workers)  # (1, n/2 + 1)
    result = np.zeros((1, out.n // 2 + 1), np.complex128)
    np.multiply(modes[:, : len(factors)], factors * out.n, out=result[:, : len(factors)])
    padded, left = aligned_zeros(padded_shape(out.n, False, out.width)), margins(out.width)[0]
    padded[:, left : left + out.n] = fft.irfft(result, out.n, axis=1, workers=workers)
    unfold(padded, out.n, out.width)
    return padded


def _from_grid(window: Window, grid: Float64, along: Float64, workers: int) -> Float64:
    """Return the first orders of the rows, folded at the poles: real and imaginary parts, (orders, 2, n/2 + 1).

    They are times `along`, (orders,). (theta, phi) of the torus and (-theta, phi + pi) are one point: an even order is
    even in theta, an odd one odd.
    """
    from scipy import fft

    orders, half, (left, right) = len(along), window.n // 2, margins(window.width)
    rows = np.empty((orders, 2, len(grid)))

    def fold_rows(grid_rows: slice) -> None:
        part = fft.rfft(fold(grid[grid_rows], window.n, window.width), axis=1)[:, :orders] * along  # (rows, orders)
        rows[:, 0, grid_rows], rows[:, 1, grid_rows] = part.real.T, part.imag.T

    each_block(fold_rows, len(grid), ORDERS, workers=workers)
    core = rows[..., left : left + half + 1]
    sign = parity(orders)
    core[..., 1 : left + 1] += sign * rows[..., left - 1 :: -1]
    core[..., half - right : half] += sign * rows[..., : left + half : -1]
    return core


def _to_parallels(window: Window, core: Float64, workers: int) -> Float64:
    """Return the functional's values for parallels theta = pi i / M, i = 0, ..., M > L: (L + 1, 2, M + 1).

    The window's transform is divided out for frequencies along meridians.
    """
    from scipy import fft

    orders = len(core)
    m = parallels(orders - 1)
    scale = np.repeat(0.5 / window.transform[:orders], 2)  # of real and imaginary parts
    result = np.empty((orders, 2, m + 1))

    def transform_orders(part: slice) -> None:
        circle = join_orders(core[part])
        circle[..., :: core.shape[-1] - 1] *= 2.0
        spectrum = fft.rfft(circle, axis=-1)[..., :orders]
        wide = np.zeros((*spectrum.shape[:2], m + 1), np.complex128)
        np.multiply(spectrum.view(np.float64), scale, out=wide.view(np.float64)[..., : 2 * orders])
        part_orders(fft.irfft(wide, 2 * m, axis=-1), result[part])
        result[part, :, ::m] *= 0.5

    each_block(transform_orders, orders, ORDERS, workers=workers)
    return result


def _apply_filter(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Convolve the values of a functional on the parallels theta = pi i / M, (L + 1, 2, M + 1), in place."""
    from ..._kernels.harmonics.legendre import filter_orders

    degree = len(values) - 1
    half, versine, sine = half_parallels(values.shape[-1] - 1)
    padded = np.append(eigenvalues, 0.0)

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
