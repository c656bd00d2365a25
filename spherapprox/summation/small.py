"""Small sums: one call of a kernel checks the arrays, packs them and sums, where no more is asked for than the sums."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _checks
from .._threads import VARIABLE, load
from .._types import Floats
from . import all_pairs
from .problem import LARGEST_EXPONENT, PRODUCTS_FROM

FROM_CALLS = 100
"""Calls in a process that has the dense kernel from which on loading one for small sums pays."""
LARGEST_WORK = 2.2e7
"""Work of a small sum, about a millisecond: sums beyond it are not only done by all pairs."""
_FLOAT64 = np.dtype(np.float64)
_TOLERANCE, _LOST = _checks.UNIT_TOLERANCE[_FLOAT64], all_pairs.LOST[8]

_calls = [0]
_kernels: list[tuple[Callable[..., bool], Callable[[float], Any]]] = []
"""The kernel and its constants, once loaded."""


def sums(
    x: Any, b: Any, values: Any, concentration: Any, normalize: object, method: object, rtol: object, workers: object
) -> Floats | None:
    """Return the sums or quotients of arrays of float64 as `evaluate` does; None if they must go the long way.

    That is where arguments are of any other type, something is wrong with them, or the sum is not small.
    """
    if not (_kernels or _loaded()) or not (type(x) is type(b) is type(values) is np.ndarray):
        return None
    if not (x.dtype is b.dtype is values.dtype is _FLOAT64 and x.ndim == b.ndim == 2 and _are_plain(method, rtol)):
        return None
    if not (_is_plain_count(workers) and isinstance(normalize, bool)) or type(concentration) not in (float, int):
        return None
    (m, d), n, p = x.shape, len(b), values.size // max(len(values), 1)
    fits = b.shape[1] == d > 1 and len(values) == n and values.ndim in (1, 2) and n * (d + 2 + p) <= all_pairs.PACKED
    if not (fits and m * n * p > 0 and m * n * (2 * d + 15 + p) <= LARGEST_WORK):
        return None
    if not 0.0 <= 2.0 * concentration <= LARGEST_EXPONENT[8]:
        return None
    return _summed(_writeable(x), _writeable(b), _writeable(values), concentration / 2.0, bool(normalize))


def _summed(x: Floats, b: Floats, values: Floats, rate: float, normalize: bool) -> Floats | None:
    """Return the kernel's sums, None where it refuses."""
    kernel, constants = _kernels[0]
    result = np.empty(x.shape[:1] + values.shape[1:])
    # 4.8, plain and shifted sums: smaller denominators may have lost terms
    least = _LOST if normalize and 4.0 * rate >= -math.log(_LOST) else 0.0
    flat = (values, result) if values.ndim == 1 else (values.reshape(-1), result.reshape(-1))
    products = x.shape[1] > PRODUCTS_FROM
    done = kernel(x, b, flat[0], normalize, products, constants(rate), _TOLERANCE, least, flat[1])
    return result if done else None


def _writeable(array: Floats) -> Floats:
    """Return an array of the one form that the kernel is compiled for."""
    return array if array.flags.carray else array.copy()


def _are_plain(method: object, rtol: object) -> bool:
    """Tell whether dense sums are allowed and the options are of their usual types and in range."""
    known = type(method) is str and method in ("auto", "dense")
    return known and (rtol is None or (type(rtol) is float and 0.0 < rtol < math.inf))


def _is_plain_count(workers: object) -> bool:
    """Tell whether a number of threads is right; one thread does small sums."""
    if workers is None:
        return VARIABLE not in os.environ
    return type(workers) is int and (workers > 0 or workers == -1)


def _loaded() -> bool:
    """Load the kernel once small calls are many in a process that has the dense one."""
    if ("fused", _FLOAT64) not in all_pairs.ready:
        return False
    _calls[0] += 1
    if _calls[0] <= FROM_CALLS:
        return False
    module = load("spherapprox._kernels.summation.small")
    _kernels.append((module.small_sums, module.kernel_constants))
    return True
