"""Arrays that begin with a vector: no numba here."""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64

BYTES = 64
"""Bytes of a vector, and of a line of the cache."""


def aligned_zeros(shape: tuple[int, ...]) -> Float64:
    """Return an array of zeros that begins with a line of the cache."""
    buffer = np.zeros(math.prod(shape) + BYTES // 8)
    first = -(buffer.ctypes.data // 8) % (BYTES // 8)
    return buffer[first : first + math.prod(shape)].reshape(shape)
