"""Grids from which functions on S^2 are interpolated, from their Fourier series on parallels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels.harmonics.grids import margins, padded_shape, unfold
from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64
from .window import Window

ORDERS = 32  # orders whose rows are transformed together, in the cache: an even number


def to_grid(window: Window, values: Float64, workers: int) -> Float64:
    """Return the padded grid from which the convolved function is interpolated: the transpose of the steps down."""
    from scipy import fft

    orders, m, half, (left, right) = len(values), values.shape[-1] - 1, window.n // 2, margins(window.width)
    scale = window.n / (2.0 * m * window.transform[:orders])
    rows = np.empty((orders, 2, left + half + 1 + right))

    def widen(part: slice) -> None:
        even, odd = slice(part.start, part.stop, 2), slice(part.start + 1, part.stop, 2)
        core = np.zeros((len(values[part]), 2, half + 1))
        core[0::2, :, :orders] = cosines(values[even])[..., :orders] * scale
        core[0::2] = cosines(core[0::2])
        core[1::2, :, 1:orders] = sines(values[odd, :, 1:-1])[..., : orders - 1] * scale[1:]
        core[1::2, :, 1:-1] = sines(core[1::2, :, 1:-1])
        sign = parity(len(core))
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


def cosines(x: Any) -> Any:
    """Return x_0 + (-1)^k x_M + 2 sum x_i cos(pi i k / M) along the last axis."""
    from scipy import fft

    return fft.dct(x, type=1, axis=-1)


def sines(x: Any) -> Any:
    """Return 2 sum x_i sin(pi i k / M), i, k = 1, ..., M - 1, along the last axis."""
    from scipy import fft

    return fft.dst(x, type=1, axis=-1) if len(x) else x
