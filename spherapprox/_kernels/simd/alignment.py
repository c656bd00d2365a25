"""Arrays that begin with a vector: no numba here."""

from __future__ import annotations

import math
import threading
import weakref
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._types import Float64

BYTES = 64  # bytes of a vector, and of a line of the cache
TABLE = 2 * BYTES  # bytes of a table of powers of 2 in registers
Scalar = TypeVar("Scalar", bound=np.generic)


def aligned_zeros(shape: tuple[int, ...]) -> Float64:
    """Return an array of zeros that begins with a line of the cache."""
    return _within(np.zeros(math.prod(shape) + BYTES // 8), shape)


class _Room(threading.local):
    """Memory of one thread, and the array that had it last, if that is alive."""

    def __init__(self) -> None:
        self.buffer = np.empty(0, np.uint8)
        self.owner: weakref.ref[Any] = weakref.ref(self.buffer[:0])


_room = _Room()


def aligned_room(shape: tuple[int, ...], dtype: np.dtype[Scalar]) -> NDArray[Scalar]:
    """Return an array that begins with a line of the cache, in memory that this thread has again next time.

    While the last such array is alive, as where a signal's handler sums in the midst of a sum, the memory is new.
    """
    size, buffer = math.prod(shape) * dtype.itemsize + BYTES, _room.buffer
    if buffer.size < size or _room.owner() is not None:
        buffer = _room.buffer = np.empty(size, np.uint8)
    array = _within(buffer[:size].view(dtype), shape)
    _room.owner = weakref.ref(array)
    return array


def _within(buffer: NDArray[Scalar], shape: tuple[int, ...]) -> NDArray[Scalar]:
    """Return the part of a buffer, longer by a line of the cache, that begins with one."""
    first = -(buffer.ctypes.data // buffer.itemsize) % (BYTES // buffer.itemsize)
    return buffer[first : first + math.prod(shape)].reshape(shape)
