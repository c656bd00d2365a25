"""Convolution with a zonal kernel of finite degree, from a grid of windows to a grid of windows, on S^1 and S^2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._kernels.summation.grids import fold, margins, padded_shape, unfold
from ..._threads import each_block
from ..._types import Float64
from .window import Window

ORDERS = 32  # orders whose rows are transformed together, in the cache: an even number


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
    return _to_grid(window, values, workers)


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
    sign = _parity(orders)
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
        wide[0, ..., :orders] = _cosines(spectrum)[..., :orders] * (along[even] * scale)
        result[even] = _cosines(wide[0])
        wide = wide[1, : len(core[odd])]
        wide[..., 1:orders] = _sines(core[odd, :, 1:-1])[..., : orders - 1] * (along[odd] * scale[1:])
        result[odd, :, 1:-1] = _sines(wide[..., 1:-1])
        result[odd, :, ::m] = 0.0
        result[part, :, ::m] *= 0.5

    each_block(transform_orders, orders, ORDERS, workers=workers)
    return result


def _apply_filter(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Convolve the values of a functional on the parallels theta = pi i / M, (L + 1, 2, M + 1), in place."""
    from ..._kernels.summation.legendre import filter_orders, padded_size

    degree, m = len(values) - 1, values.shape[-1] - 1
    half = m // 2 + 1
    size = padded_size(half)
    theta = np.minimum(np.pi * np.arange(size) / m, np.pi / 2.0)
    versine, sine = 2.0 * np.sin(0.5 * theta) ** 2, np.sin(theta)
    padded = np.concatenate([eigenvalues, np.zeros(4)])

    def apply(orders: slice) -> None:
        part = values[orders]
        north, south = part[..., :half], part[..., : half - 2 : -1]  # (orders, 2, half)
        data = aligned_zeros((len(part), 4, size))
        even, odd = data[:, :2, :half], data[:, 2:, :half]
        np.add(north, south, out=even)
        np.subtract(north, south, out=odd)
        even[..., -1] *= 0.5  # the equator is its own mirror image
        filter_orders(orders.start, orders.stop, degree, versine, sine, padded, data)
        np.add(even, odd, out=north)
        np.subtract(even, odd, out=south)

    each_block(apply, degree + 1, 256 if workers == 1 else max(1, min(256, degree // (8 * workers))), workers=workers)


def _to_grid(window: Window, values: Float64, workers: int) -> Float64:
    """Return the padded grid from which the convolved function is interpolated: the transpose of the steps down."""
    from scipy import fft

    orders, m, half, (left, right) = len(values), values.shape[-1] - 1, window.n // 2, margins(window.width)
    scale = window.n / (2.0 * m * window.transform[:orders])
    rows = np.empty((orders, 2, left + half + 1 + right))

    def widen(part: slice) -> None:
        even, odd = slice(part.start, part.stop, 2), slice(part.start + 1, part.stop, 2)
        core = np.zeros((len(values[part]), 2, half + 1))
        core[0::2, :, :orders] = _cosines(values[even])[..., :orders] * scale
        core[0::2] = _cosines(core[0::2])
        core[1::2, :, 1:orders] = _sines(values[odd, :, 1:-1])[..., : orders - 1] * scale[1:]
        core[1::2, :, 1:-1] = _sines(core[1::2, :, 1:-1])
        sign = _parity(len(core))
        rows[part, :, left : left + half + 1] = core
        rows[part, :, :left] = sign * core[..., left:0:-1]
        rows[part, :, left + half + 1 :] = sign * core[..., half - 1 : half - 1 - right : -1]

    each_block(widen, orders, ORDERS, workers=workers)
    padded = aligned_zeros(padded_shape(window.n, True, window.width))  # (rows, columns)

    def unfold_rows(grid_rows: slice) -> None:
        part = np.empty((grid_rows.stop - grid_rows.start, orders), np.complex128)
        part.real, part.imag = rows[:, 0, grid_rows].T, rows[:, 1, grid_rows].T
        padded[grid_rows, left : left + window.n] = fft.irfft(part, window.n, axis=1)
        unfold(padded[grid_rows], window.n, window.width)

    each_block(unfold_rows, len(padded), 32, workers=workers)
    return padded


def _parity(orders: int) -> Float64:
    """Return 1 for even orders, -1 for odd ones: (orders, 1, 1)."""
    return np.where(np.arange(orders) % 2 == 0, 1.0, -1.0)[:, None, None]


def parallels(degree: int) -> int:
    """Return the number M of steps between parallels: even, above the degree, with small prime factors."""
    from scipy import fft

    return 2 * int(fft.next_fast_len(degree // 2 + 1, real=True))


def _cosines(x: Any) -> Any:
    """Return x_0 + (-1)^k x_M + 2 sum x_i cos(pi i k / M) along the last axis."""
    from scipy import fft

    return fft.dct(x, type=1, axis=-1)


def _sines(x: Any) -> Any:
    """Return 2 sum x_i sin(pi i k / M), i, k = 1, ..., M - 1, along the last axis."""
    from scipy import fft

    return fft.dst(x, type=1, axis=-1) if len(x) else x
