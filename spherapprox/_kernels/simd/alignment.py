"""Arrays that begin with a vector: no numba here."""

from __future__ import annotations

import math
import sys
import threading
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


class _Room(threading.local):
    """Memory of one thread."""

    buffer = np.empty(0, np.uint8)


_room = _Room()
_REFERENCES = 3
"""To memory that no array has: the thread's, a local name's and an argument's."""


def aligned_room(shape: tuple[int, ...], dtype: np.dtype[Scalar]) -> NDArray[Scalar]:
    """Return an array of a type that begins with a line of the cache, in memory that this thread has again next time.

    To get new memory takes longer than to fill it. It gets new memory while an earlier array is alive, as where a
    signal's handler sums in the midst of a sum.
    """
    size, buffer = math.prod(shape) * dtype.itemsize + BYTES, _room.buffer
    if buffer.size < size or sys.getrefcount(buffer) > _REFERENCES:
        buffer = _room.buffer = np.empty(size, np.uint8)
    return _within(buffer[:size].view(dtype), shape)


def _within(buffer: NDArray[Scalar], shape: tuple[int, ...]) -> NDArray[Scalar]:
    """Return the part of a buffer, longer by a line of the cache, that begins with one."""
    first = -(buffer.ctypes.data // buffer.itemsize) % (BYTES // buffer.itemsize)
    return buffer[first : first + math.prod(shape)].reshape(shape)
