"""Grids from which functions on S^2 are interpolated, from their Fourier series on parallels."""

from __future__ import annotations

import numpy as np

from ..._kernels.harmonics.grids import margins, padded_shape, unfold
from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64
from .window import Window

ORDERS = 16  # orders, or rows, that are transformed together, in the cache: an even number


def to_grid(window: Window, values: Float64, workers: int) -> Float64:
    """Return the padded grid from which the convolved function is interpolated: the transpose of the steps down."""
    from scipy import fft

    orders, m, half, (left, right) = len(values), values.shape[-1] - 1, window.n // 2, margins(window.width)
    scale = np.repeat(window.n**2 / (4.0 * m * window.transform[:orders]), 2)  # of real and imaginary parts
    rows = np.empty((orders, 2, left + half + 1 + right))

    def widen(part: slice) -> None:
        spectrum = fft.rfft(join_orders(values[part]), axis=-1)[..., :orders]
        wide = np.zeros((*spectrum.shape[:2], half + 1), np.complex128)
        np.multiply(spectrum.view(np.float64), scale, out=wide.view(np.float64)[..., : 2 * orders])
        target = rows[part]
        core = target[..., left : left + half + 1]
        part_orders(fft.irfft(wide, window.n, axis=-1), core)
        sign = parity(len(core))
        np.multiply(sign, core[..., left:0:-1], out=target[..., :left])
        np.multiply(sign, core[..., half - 1 : half - 1 - right : -1], out=target[..., left + half + 1 :])

    each_block(widen, orders, ORDERS, workers=workers)
    padded = aligned_zeros(padded_shape(window.n, True, window.width))  # (rows, columns)

    def unfold_rows(grid_rows: slice) -> None:
        part = np.zeros((grid_rows.stop - grid_rows.start, half + 1), np.complex128)
        part.real[:, :orders], part.imag[:, :orders] = rows[:, 0, grid_rows].T, rows[:, 1, grid_rows].T
        padded[grid_rows, left : left + window.n] = fft.irfft(part, window.n, axis=1)
        unfold(padded[grid_rows], window.n, window.width)

    each_block(unfold_rows, len(padded), ORDERS, workers=workers)
    return padded


def parity(orders: int) -> Float64:
    """Return 1 for even orders, -1 for odd ones: (orders, 1, 1)."""
    return np.where(np.arange(orders) % 2 == 0, 1.0, -1.0)[:, None, None]


def parallels(degree: int) -> int:
    """Return the number M of steps between parallels: even, above the degree, with small prime factors."""
    from scipy import fft

    return 2 * int(fft.next_fast_len(degree // 2 + 1, real=True))


def half_parallels(m: int) -> tuple[int, Float64, Float64]:
    """Return the number of parallels pi i / M from pole to equator, and 1 - cos and sin of them, in whole vectors."""
    from ..._kernels.harmonics.legendre import padded_size

    half = m // 2 + 1
    theta = np.minimum(np.pi * np.arange(padded_size(half)) / m, np.pi / 2.0)
    return half, 2.0 * np.sin(0.5 * theta) ** 2, np.sin(theta)


def orders_at_once(degree: int, workers: int) -> int:
    """Return the number of orders whose Legendre transforms one call of the kernel does."""
    return 256 if workers == 1 else max(1, min(256, degree // (8 * workers)))


def join_orders(values: Float64) -> Float64:
    """Return orders, from an even one on, in pairs round the circle: (orders, 2, m + 1) to (pairs, 2, 2 m).

    Even orders are even in theta and odd ones odd: the Fourier transform of a sum has the cosines of one as its real
    part and the sines of the other as its imaginary part.
    """
    even, odd, m = values[0::2], values[1::2], values.shape[-1] - 1
    result, pairs, back = np.empty((len(even), 2, 2 * m)), len(odd), slice(m - 1, 0, -1)
    np.add(even[:pairs], odd, out=result[:pairs, :, : m + 1])
    np.subtract(even[:pairs, :, back], odd[..., back], out=result[:pairs, :, m + 1 :])
    result[pairs:, :, : m + 1], result[pairs:, :, m + 1 :] = even[pairs:], even[pairs:, :, back]
    result[..., ::m] = even[..., ::m]
    return result


def part_orders(circle: Float64, out: Float64) -> None:
    """Write twice the values that `join_orders` had joined."""
    even, odd, m = out[0::2], out[1::2], out.shape[-1] - 1
    there, back = circle[..., 1:m], circle[..., :m:-1]
    np.add(there, back, out=even[..., 1:m])
    np.multiply(circle[..., ::m], 2.0, out=even[..., ::m])
    np.subtract(there[: len(odd)], back[: len(odd)], out=odd[..., 1:m])
    odd[..., ::m] = 0.0
