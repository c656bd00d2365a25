"""Values of any size: as weights at most 1 times powers of 2, or in the exponents; and the way back to the sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Floats
from .partial import Float64, Partial, Problem, merge

NO_UNDERFLOW = 300.0
"""While 2 lambda is below this, no exponential of the sum leaves the range of float64."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_LIFTED = 30
"""Octaves from which on exponentials matter that underflow alone."""
_NO_OCTAVES = -1100
"""Octaves of a column of zeros: fewer than those of any number."""


@dataclass(frozen=True)
class Scaled:
    """The sums for values divided by 2^octaves, shape (p,), so that no partial sum overflows."""

    sums: Partial
    octaves: NDArray[np.int32]


def join(a: Scaled, b: Scaled, rate: float) -> Scaled:
    """Return the sums over the union of two disjoint sets of control points, on the larger scale of each column."""
    octaves = np.maximum(a.octaves, b.octaves)
    return Scaled(merge(_on(octaves, a), _on(octaves, b), rate), octaves)


def _on(octaves: NDArray[np.int32], a: Scaled) -> Partial:
    """Return the sums on another scale."""
    return replace(a.sums, numerators=_lift(a.sums.numerators, a.octaves - octaves))


def as_weights(
    x: Floats, b: Floats, rate: float, dtype: np.dtype[Any], table: Floats, normalize: bool
) -> tuple[Problem, NDArray[np.int32]]:
    """Return the problem for values (n, p) divided by 2^octaves, and the octaves (p,)."""
    largest = np.abs(table).max(axis=0)
    octaves = np.frexp(largest)[1]  # (p,)
    octaves[largest == 0.0] = _NO_OCTAVES

    def w(part: slice) -> Float64:
        return _lift(table[part], -octaves)

    lifted = bool(octaves.max() > _LIFTED)
    return Problem(x, b, rate, dtype, w, len(octaves), normalize, lifted), octaves


def in_exponents(
    x: Floats, b: Floats, rate: float, dtype: np.dtype[Any], column: Floats
) -> tuple[Problem, float] | None:
    """Return the problem whose denominator is the sum over values (n,) >= 0, and the logarithm it is to be lifted by.

    The exponents take any range of values. None if all are 0.
    """
    (used,) = np.nonzero(column)
    if not used.size:
        return None
    logs = np.log(column[used].astype(np.float64))
    top = float(logs.max())

    def no_weights(part: slice) -> Float64:
        return np.zeros((part.stop - part.start, 1))

    return Problem(x, b[used], rate, dtype, no_weights, offset=(top - logs) / rate), top


def value(scaled: Scaled, rate: float, normalize: bool) -> Float64:
    """Return the sums (m, p), or their quotients by the sum without values."""
    sums = scaled.sums
    if normalize:
        return _lift(sums.numerators / sums.denominator[:, None], scaled.octaves)
    return _times_exp(sums.numerators, -rate * sums.shift, scaled.octaves)


def logarithm(scaled: Scaled, rate: float, normalize: bool) -> Float64:
    """Return the logarithms of what `value` returns, where `NO_UNDERFLOW` holds."""
    sums = scaled.sums
    below = np.log(sums.denominator) if normalize else rate * sums.shift
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums.numerators) - below[:, None] + scaled.octaves * math.log(2.0))


def _times_exp(sums: Float64, exponent: Float64, octaves: NDArray[np.int32]) -> Float64:
    """Return ``sums exp(exponent) 2^octaves``, (m, p) from (m, p), (m,), (p,): no factor over- or underflows alone."""
    if not exponent.any():
        return _lift(sums, octaves)
    exponent = np.maximum(exponent, -1e5)  # far below all that 2^octaves can lift
    n = np.rint(exponent / math.log(2.0))
    rest = (exponent - n * _LN2_HIGH) - n * _LN2_LOW
    return np.asarray(np.ldexp(sums * np.exp(rest)[:, None], n.astype(np.int32)[:, None] + octaves))


def _lift(numbers: Floats, octaves: NDArray[np.int32]) -> Float64:
    """Return ``numbers 2^octaves``, (m, p) from (m, p), (p,): many by products, where powers are normal."""
    if numbers.size > 4096 and octaves.min() >= -1022 and octaves.max() <= 1023:
        return np.multiply(numbers, np.ldexp(1.0, octaves), dtype=np.float64)
    return np.asarray(np.ldexp(numbers, octaves, dtype=np.float64))
