"""Zonal filters between values on parallels of S^2."""

from __future__ import annotations

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64


def apply_filter(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Replace a functional's values by those of the convolved function.

    They are real and imaginary parts of orders 0, ..., L on the parallels theta = pi i / M: (L + 1, 2, M + 1). They are
    split into parts even and odd about the equator, and go order by order.
    """
    from ..._kernels.summation.legendre import filter_orders, padded_size

    degree, m = len(values) - 1, values.shape[-1] - 1
    half = m // 2 + 1
    size = padded_size(half)
    theta = np.minimum(np.pi * np.arange(size) / m, np.pi / 2.0)
    versine, sine = 2.0 * np.sin(0.5 * theta) ** 2, np.sin(theta)
    data = aligned_zeros((degree + 1, 4, size))
    north, south = values[..., :half], values[..., : half - 2 : -1]  # (L + 1, 2, half)
    data[:, :2, :half], data[:, 2:, :half] = north + south, north - south
    data[:, :2, half - 1] *= 0.5  # the equator is its own mirror image
    padded = np.concatenate([eigenvalues, np.zeros(4)])

    def apply(orders: slice) -> None:
        filter_orders(orders.start, orders.stop, degree, versine, sine, padded, data)

    each_block(apply, degree + 1, 256 if workers == 1 else max(1, min(256, degree // (8 * workers))), workers)
    even, odd = data[:, :2, :half], data[:, 2:, :half]
    values[..., :half] = even + odd
    values[..., : half - 2 : -1] = even - odd
