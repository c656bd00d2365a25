"""Small sums: one call of a kernel checks the arrays, packs them and sums, where no more is asked for than the sums."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _checks
from ..._kernels.summation import layout
from ..._loading import load
from ..._threads import VARIABLE
from ..._types import Floats
from ..problem import LARGEST_EXPONENT, PRODUCTS_FROM
from . import all_pairs

FROM_CALLS, COMPILE_FROM_CALLS = 100, 10_000
"""Calls in a process that has the dense kernel from which on loading one for small sums pays, and compiling it."""
_FLOAT64 = np.dtype(np.float64)
_TOLERANCE, _LOST = _checks.UNIT_TOLERANCE[_FLOAT64], all_pairs.LOST[8]

_KERNEL, _FOLDER = ("fused", _FLOAT64), "spherapprox._kernels.summation"
_calls = [0]
_kernels: list[tuple[Callable[..., bool], Callable[..., Any]]] = []
"""The kernel and the function of its rates, once loaded."""


def sums(
    x: Any, b: Any, values: Any, concentration: Any, normalize: object, method: object, rtol: object, workers: object
) -> Floats | None:
    """Return the sums or quotients of arrays of float64 as `evaluate` does; None if they must go the long way."""
    if _KERNEL not in all_pairs.ready or not (_kernels or _loaded()):
        return None
    if not (_are_plain_arrays(x, b, values) and _are_plain_options(normalize, method, rtol, workers=workers)):
        return None
    if type(concentration) not in (float, int) or not 0 <= concentration <= LARGEST_EXPONENT[8] / 2.0:
        return None
    return _summed(
        _writeable(x), _writeable(b), _writeable(values), rate=concentration / 2.0, normalize=bool(normalize)
    )


def _summed(x: Floats, b: Floats, values: Floats, rate: float, normalize: bool) -> Floats | None:
    """Return the kernel's sums, None where it refuses."""
    kernel, rates = _kernels[0]
    result = np.empty(x.shape[:1] + values.shape[1:])
    # 4.8, plain and shifted sums: smaller denominators may have lost terms
    least = _LOST if normalize and 4.0 * rate >= -math.log(_LOST) else 0.0
    flat = (values, result) if values.ndim == 1 else (values.reshape(-1), result.reshape(-1))
    products = x.shape[1] > PRODUCTS_FROM
    summed = kernel(x, b, flat[0], normalize, products, rates(rate, _FLOAT64), _TOLERANCE, least, flat[1])
    return result if summed else None


def _writeable(array: Floats) -> Floats:
    """Return an array of the one form that the kernel is compiled for."""
    return array if array.flags.carray else array.copy()


def _are_plain_arrays(x: Any, b: Any, values: Any) -> bool:
    """Tell whether these are arrays of float64 whose shapes fit together, and the sum is small."""
    if not (type(x) is type(b) is type(values) is np.ndarray and x.dtype is b.dtype is values.dtype is _FLOAT64):
        return False
    if not (x.ndim == b.ndim == 2 and values.ndim in (1, 2)):
        return False
    (m, d), n = x.shape, len(b)
    if not (b.shape[1] == d > 1 and len(values) == n > 0 < m):
        return False
    p = values.size // n
    if p == 0 or layout.in_chunks(d, p + 1):
        return False
    if 32 * n * (d + 2 + p) > all_pairs.PACKED:  # the long way may take several parts, whose sums round otherwise
        return False
    return bool(m * n * (2 * d + 15 + p) <= all_pairs.SMALL_WORK)


def _are_plain_options(normalize: object, method: object, rtol: object, workers: object) -> bool:
    """Tell whether options are in range and of their usual types, and dense sums by one thread are allowed."""
    if not (isinstance(normalize, bool) and type(method) is str and method in ("auto", "dense")):
        return False
    if rtol is not None and not (type(rtol) is float and 0.0 < rtol < math.inf):
        return False
    if workers is None:
        return VARIABLE not in os.environ
    return type(workers) is int and (workers > 0 or workers == -1)


def _loaded() -> bool:
    """Load the kernel once calls are many in a process that has the dense one; many more, if it is not compiled yet."""
    _calls[0] += 1
    if _calls[0] == FROM_CALLS and load(f"{_FOLDER}.small").small_sums._cache.is_kept():
        load_kernel()
    if _calls[0] >= COMPILE_FROM_CALLS:
        load_kernel()
    return bool(_kernels)


def load_kernel() -> None:
    """Load the kernel, which its first sum compiles if need be."""
    _kernels[:] = [(load(f"{_FOLDER}.small").small_sums, load(f"{_FOLDER}.packing").rates)]
