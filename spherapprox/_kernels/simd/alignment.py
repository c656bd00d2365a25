"""Arrays in the form that kernels take, and those that begin with a vector: no numba here."""

from __future__ import annotations

import math
import threading
import weakref
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._types import Float64, Floats

BYTES = 64  # bytes of a vector, and of a line of the cache
TABLE = 2 * BYTES  # bytes of a table of powers of 2 in registers
Scalar = TypeVar("Scalar", bound=np.generic)


def compiled_form(array: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return an array that is contiguous and writeable: numba compiles a kernel again for one that is not."""
    fits = array.dtype == dtype and array.flags.carray
    return array if fits else np.require(array, dtype, ["C", "W"])


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view that cannot be written to, for arguments of which some may be so already: see `compiled_form`."""
    view = array.view()
    view.flags.writeable = False
    return view


def aligned_zeros(shape: tuple[int, ...]) -> Float64:
    """Return an array of zeros that begins with a line of the cache."""
    return _within(np.zeros(math.prod(shape) + BYTES // 8), shape)


class _Room(threading.local):
    """Memory of one thread, and the array that had it last, if that is alive."""

    def __init__(self) -> None:
        self.lines = np.empty(0, np.uint8)  # it begins with one of the cache
        self.owner: weakref.ref[Any] = weakref.ref(self.lines[:0])


_room = _Room()


def aligned_room(shape: tuple[int, ...], dtype: np.dtype[Scalar]) -> NDArray[Scalar]:
    """Return an array that begins with a line of the cache, in memory that this thread has again next time.

    While the last such array is alive, as where a signal's handler sums in the midst of a sum, the memory is new.
    """
    size = math.prod(shape) * dtype.itemsize
    if _room.lines.size < size or _room.owner() is not None:
        _room.lines = _within(np.empty(size + BYTES, np.uint8), (size,))
    array = _room.lines[:size].view(dtype).reshape(shape)
    _room.owner = weakref.ref(array)
    return array


def _within(buffer: NDArray[Scalar], shape: tuple[int, ...]) -> NDArray[Scalar]:
    """Return the part of a buffer, longer by a line of the cache, that begins with one."""
    first = -(buffer.ctypes.data // buffer.itemsize) % (BYTES // buffer.itemsize)
    return buffer[first : first + math.prod(shape)].reshape(shape)
