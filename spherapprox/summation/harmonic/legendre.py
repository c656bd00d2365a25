"""Zonal filters between values on parallels of S^2: by this library's kernel or by ducc0, an optional package."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64

LEAST_DUCC0 = 300
"""Degree from which ducc0 is faster by more than a few ms."""


@cache
def installed() -> bool:
    """Tell whether ducc0, an optional package, is installed."""
    return find_spec("ducc0") is not None


def backend(degree: int, allowed: float) -> str:
    """Return "ducc0" where it is installed, faster and of admitted rounding errors, else "numba".

    ducc0 is two to three times as fast, and loses digits near the poles.
    """
    good = degree >= LEAST_DUCC0 and rounding("ducc0", degree) <= allowed
    return "ducc0" if good and installed() else "numba"


def rounding(backend: str, degree: float) -> float:
    """Return the rounding errors of transforms on S^2 relative to the largest sum of |w| K anywhere.

    Measured, not proven: at least twice the largest that was seen (docs/theorems/4.9-harmonic-sums.md (d)).
    """
    return 2.0**-53 * (70.0 + 0.4 * degree + (0.035 * degree**2 if backend == "ducc0" else 0.0))


def apply_filter(values: Float64, eigenvalues: Float64, backend: str, workers: int) -> None:
    """Replace a functional's values by those of the convolved function.

    They are real and imaginary parts of orders 0, ..., L on the parallels theta = pi i / M: (L + 1, 2, M + 1).
    """
    (_by_ducc0 if backend == "ducc0" else _by_kernel)(values, eigenvalues, workers)


def _by_ducc0(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Analyse and synthesise with ducc0 (M. Reinecke), whose Legendre functions are those of libsharp.

    Its coefficients lie order by order; its harmonics have mean square 1 / (4 pi).
    """
    import ducc0

    degree, m = len(values) - 1, values.shape[-1] - 1
    theta = np.pi * np.arange(m + 1) / m
    orders = np.empty((1, degree + 1, m + 1), np.complex128)
    orders.real, orders.imag = values[:, 0], values[:, 1]  # (1, L + 1, M + 1)
    options = {"lmax": degree, "theta": theta, "spin": 0, "nthreads": workers}
    coefficients = ducc0.sht.leg2alm(leg=orders.transpose(0, 2, 1), **options)  # (1, (L + 1) (L + 2) / 2)
    scaled = 4.0 * math.pi * eigenvalues
    coefficients *= np.concatenate([scaled[order:] for order in range(degree + 1)])
    result = ducc0.sht.alm2leg(alm=coefficients, **options)[0].T  # (L + 1, M + 1)
    values[:, 0], values[:, 1] = result.real, result.imag


def _by_kernel(values: Float64, eigenvalues: Float64, workers: int) -> None:
    """Split the values into parts even and odd about the equator, and go order by order."""
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
