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

    each_block(apply, degree + 1, 256 if workers == 1 else max(1, min(256, degree // (8 * workers))), workers)
