"""Convolution with a zonal kernel of finite degree, from scattered points to scattered points, on S^1 and S^2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._kernels.gridding import WIDTH
from ..._threads import each_block
from ..partial import Float64
from .scattered import LEFT, Scattered, fold, interpolate, spread, unfold
from .window import Window

Complex = NDArray[np.complex128]


def convolve_circle(
    window: Window, eigenvalues: Float64, source: Scattered, weights: Float64, target: Scattered, workers: int
) -> tuple[Float64, float]:
    """Return ``sum_k w_k sum_|n|<=L c_n e^(i n (x - b_k))`` at the targets, and a bound of its absolute value anywhere.

    The bound is on the circle, and for weights that are not negative.
    """
    from scipy import fft

    grid = fold(spread(source, weights, window, workers))
    modes = fft.rfft(grid, workers=workers)
    modes[len(eigenvalues) :] = 0.0
    modes[: len(eigenvalues)] *= eigenvalues / window.transform**2 * window.n
    padded = np.empty(window.n + WIDTH)
    padded[LEFT : LEFT + window.n] = fft.irfft(modes, window.n, workers=workers)
    unfold(padded)
    return interpolate(target, padded, window, workers), float(np.abs(padded).max()) * _mass(window)


def convolve_sphere(
    window: Window, eigenvalues: Float64, source: Scattered, weights: Float64, target: Scattered, workers: int
) -> tuple[Float64, float]:
    """Return ``sum_k w_k sum_l c_l (2l+1) P_l(<x, b_k>)`` at the targets, and a bound as for the circle."""
    grid = _from_grid(window, spread(source, weights, window, workers), workers)
    padded = _to_grid(window, _filter(_to_parallels(window, grid, workers), eigenvalues, workers), workers)
    return interpolate(target, padded, window, workers), float(np.abs(padded).max()) * _mass(window) ** 2


def _mass(window: Window) -> float:
    """Bound the sum of the window's values at the grid points (Poisson's sum formula)."""
    return float(window.transform[0] * (1.0 + window.aliasing[0]))


def _from_grid(window: Window, padded: Float64, workers: int) -> Complex:
    """Return orders 0, ..., L of the rows, the windows' transform divided out, folded at the poles: (n/2 + 1, L + 1).

    A point (theta, phi) of the torus and (-theta, phi + pi) are one point of the sphere, so that an even order is even
    in theta, an odd one odd.
    """
    from scipy import fft

    half, orders = window.n // 2, len(window.transform)
    rows = np.empty((len(padded), orders), np.complex128)

    def transform(some: slice) -> None:
        rows[some] = fft.rfft(fold(padded[some]), axis=1)[:, :orders] / window.transform

    each_block(transform, len(padded), 64, workers)
    core = rows[LEFT : LEFT + half + 1]
    sign = 1.0 - 2.0 * (np.arange(orders) % 2)
    core[1 : LEFT + 1] += sign * rows[LEFT - 1 :: -1]
    core[half - (WIDTH - LEFT) : half] += sign * rows[: LEFT + half : -1]
    return core


def _to_parallels(window: Window, core: Complex, workers: int) -> Complex:
    """Return the functional's values for a grid of parallels, theta = pi i / M, i = 0, ..., M > L: (M + 1, L + 1)."""
    degree = len(window.transform) - 1
    m = parallels(degree)
    result = np.zeros((m + 1, degree + 1), np.complex128)
    core[1:-1] *= 0.5
    even = _cosines(core[:, 0::2], workers)[: degree + 1] / window.transform[:, None]
    result[: degree + 1, 0::2] = even
    result[:, 0::2] = _cosines(result[:, 0::2], workers) / m
    odd = _sines(core[1:-1, 1::2], workers)[:degree] / window.transform[1:, None]
    result[1 : degree + 1, 1::2] = odd
    result[1:-1, 1::2] = _sines(result[1:-1, 1::2], workers) / m
    result[0] *= 0.5
    result[-1] *= 0.5
    return result


def _filter(values: Complex, eigenvalues: Float64, workers: int) -> Complex:
    """Return the convolved function's orders on the parallels."""
    from ..._kernels.legendre import LANES, filter_orders

    m, degree = len(values) - 1, values.shape[1] - 1
    size = -(-(m // 2 + 1) // LANES) * LANES
    theta = np.minimum(np.pi * np.arange(size) / m, np.pi / 2.0)
    data = np.zeros((degree + 1, 4, size))
    north, south = values[: m // 2 + 1].T, values[m // 2 :][::-1].T
    even, odd = north + south, north - south
    even[:, -1] *= 0.5  # the equator is its own mirror image
    data[:, 0, : m // 2 + 1], data[:, 1, : m // 2 + 1] = even.real, even.imag
    data[:, 2, : m // 2 + 1], data[:, 3, : m // 2 + 1] = odd.real, odd.imag
    padded = np.concatenate([eigenvalues, np.zeros(4)])
    versine, sine = 2.0 * np.sin(0.5 * theta) ** 2, np.sin(theta)

    def apply(orders: slice) -> None:
        filter_orders(orders.start, orders.stop, degree, versine, sine, padded, data)

    each_block(apply, degree + 1, 256 if workers == 1 else max(1, min(256, degree // (8 * workers))), workers)
    even, odd = data[:, 0] + 1j * data[:, 1], data[:, 2] + 1j * data[:, 3]
    result = np.empty_like(values)
    result[: m // 2 + 1] = (even + odd).T[: m // 2 + 1]
    result[m // 2 :] = (even - odd).T[: m // 2 + 1][::-1]
    return result


def _to_grid(window: Window, values: Complex, workers: int) -> Float64:
    """Return the padded grid from which the convolved function is interpolated: the transpose of the two steps down."""
    from scipy import fft

    m, degree, half = len(values) - 1, values.shape[1] - 1, window.n // 2
    rows = np.zeros((half + 1 + WIDTH, degree + 1), np.complex128)
    core = rows[LEFT : LEFT + half + 1]
    even = _cosines(values[:, 0::2], workers)[: degree + 1] / (window.transform[:, None] * (2.0 * m))
    core[: degree + 1, 0::2] = even
    core[:, 0::2] = _cosines(core[:, 0::2], workers)
    odd = _sines(values[1:-1, 1::2], workers)[:degree] / (window.transform[1:, None] * (2.0 * m))
    core[1 : degree + 1, 1::2] = odd
    core[1:-1, 1::2] = _sines(core[1:-1, 1::2], workers)
    core[0, 1::2] = core[-1, 1::2] = 0.0
    sign = 1.0 - 2.0 * (np.arange(degree + 1) % 2)
    rows[:LEFT] = sign * core[LEFT:0:-1]
    rows[LEFT + half + 1 :] = sign * core[half - 1 : half - 1 - (WIDTH - LEFT) : -1]
    padded = np.empty((len(rows), window.n + WIDTH))

    def transform(some: slice) -> None:
        part = fft.irfft(rows[some] / window.transform, window.n, axis=1)
        padded[some, LEFT : LEFT + window.n] = part
        unfold(padded[some])

    each_block(transform, len(rows), 64, workers)
    padded *= window.n
    return padded


def parallels(degree: int) -> int:
    """Return the number M of steps between parallels: even, above the degree, with small prime factors."""
    from scipy import fft

    return 2 * int(fft.next_fast_len(degree // 2 + 1, real=True))


def _cosines(x: Any, workers: int) -> Any:
    """Return x_0 + (-1)^k x_M + 2 sum x_i cos(pi i k / M) down the columns."""
    from scipy import fft

    return fft.dct(x, type=1, axis=0, workers=workers)


def _sines(x: Any, workers: int) -> Any:
    """Return 2 sum x_i sin(pi i k / M), i, k = 1, ..., M - 1, down the columns."""
    from scipy import fft

    return fft.dst(x, type=1, axis=0, workers=workers)
