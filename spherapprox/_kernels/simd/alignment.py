"""Arrays that begin with a vector: no numba here."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._types import Float64

BYTES = 64
"""Bytes of a vector, and of a line of the cache."""
TABLE = 2 * BYTES
"""Bytes of a table of powers of 2 in registers."""
Scalar = TypeVar("Scalar", bound=np.generic)


def aligned_zeros(shape: tuple[int, ...]) -> Float64:
    """Return an array of zeros that begins with a line of the cache."""
    return _within(np.zeros(math.prod(shape) + BYTES // 8), shape)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Scalar]) -> NDArray[Scalar]:
    """Return an array of a type that begins with a line of the cache, whose numbers are still to be written."""
    return _within(np.empty(math.prod(shape) + BYTES // dtype.itemsize, dtype), shape)


def _within(buffer: NDArray[Scalar], shape: tuple[int, ...]) -> NDArray[Scalar]:
    """Return the part of a buffer, longer by a line of the cache, that begins with one."""
    first = -(buffer.ctypes.data // buffer.itemsize) % (BYTES // buffer.itemsize)
    return buffer[first : first + math.prod(shape)].reshape(shape)
