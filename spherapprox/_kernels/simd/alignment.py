"""Arrays that begin with a vector: no numba here."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._types import Float64

BYTES = 64
"""Bytes of a vector, and of a line of the cache."""
Scalar = TypeVar("Scalar", bound=np.generic)


def aligned_zeros(shape: tuple[int, ...]) -> Float64:
    """Return an array of zeros that begins with a line of the cache."""
    return aligned_zeros_of(shape, np.dtype(np.float64))


def aligned_zeros_of(shape: tuple[int, ...], dtype: np.dtype[Scalar]) -> NDArray[Scalar]:
    """Return an array of zeros of a type that begins with a line of the cache."""
    extra = BYTES // dtype.itemsize
    buffer = np.zeros(math.prod(shape) + extra, dtype)
    first = -(buffer.ctypes.data // dtype.itemsize) % extra
    return buffer[first : first + math.prod(shape)].reshape(shape)
