"""Values of any size: as weights at most 1 times powers of 2, or in the exponents; and the way back to the sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Bools, Float64, Floats, Int32
from .partial import Partial, Problem, merge
from .shared import LOST

NO_UNDERFLOW = 300.0
"""While 2 lambda is below this, no exponential of the sum leaves the range of float64."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_LIFTED = 30
"""Octaves from which on exponentials matter that underflow alone."""
_BAND = 450
"""Octaves about 1 in which values are summed together where exponentials are small: sums of them lose nothing."""
_SMALL = 48.0
"""While 2 lambda is below this, no exponential is small for a weight in float32."""
_NO_OCTAVES = -1100
"""Octaves of a column of zeros: fewer than those of any number."""


@dataclass(frozen=True)
class Strand:
    """Values of about one size of some columns, and the control points that have them: their sums go apart.

    `table` holds the values of `columns` at the control points that `members` selects, `band` their size.
    """

    columns: tuple[int, ...]
    band: int
    table: Floats
    members: Bools


def strands(table: Floats, rate: float) -> tuple[Floats | None, list[Strand]]:
    """Cut values (n, p) where terms are of such different size that one scale would lose some: mostly nothing is cut.

    Returns the values that go together, 0 in place of the others, or None if those are all; and the others: columns
    with values beyond 2^450 or below 2^-450, those apart, and columns with huge values, beside which terms matter that
    underflow alone, without the control points where the column is 0, so that the nearest of the others is what sums
    are relative to.
    """
    if 4.0 * rate < NO_UNDERFLOW:
        return table, []
    octaves = np.where(table == 0.0, 2 * _NO_OCTAVES, np.frexp(table)[1])  # (n, p)
    bands = np.where(table == 0.0, 0, np.sign(octaves) * (np.abs(octaves) > _BAND))
    alone = (bands != 0).any(axis=0) | (octaves.max(axis=0) > _LIFTED)
    if not alone.any():
        return table, []
    parts: dict[tuple[int, bytes], list[int]] = {}
    for column in np.flatnonzero(alone):
        for band in (-1, 0, 1):
            members = (bands[:, column] == band) & (table[:, column] != 0.0)
            if members.any():
                parts.setdefault((band, members.tobytes()), []).append(int(column))
    found = []
    for (band, key), columns in parts.items():
        members = np.frombuffer(key, np.bool_)
        found.append(Strand(tuple(columns), band, table[np.ix_(members, np.array(columns))], members))
    return (None if alone.all() else np.where(alone, 0.0, table)), found


@dataclass(frozen=True)
class Scaled:
    """The sums for values divided by 2^octaves, shape (p,), so that no partial sum overflows."""

    sums: Partial
    octaves: Int32


def join(a: Scaled, b: Scaled, rate: float) -> Scaled:
    """Return the sums over the union of two disjoint sets of control points, on the larger scale of each column."""
    octaves = np.maximum(a.octaves, b.octaves)
    return Scaled(merge(_on(octaves, a), _on(octaves, b), rate), octaves)


def _on(octaves: Int32, a: Scaled) -> Partial:
    """Return the sums on another scale."""
    return replace(a.sums, numerators=_lift(a.sums.numerators, a.octaves - octaves))


def as_weights(
    x: Floats, b: Floats, rate: float, dtype: np.dtype[Any], table: Floats, normalize: bool, lifted: bool = False
) -> tuple[Problem, Int32]:
    """Return the problem for values (n, p) divided by 2^octaves, and the octaves (p,).

    `lifted` says that tiny sums matter, as those of a quotient do, besides those that huge values lift.
    """
    largest = np.abs(table).max(axis=0)
    octaves = np.frexp(largest)[1]  # (p,)
    octaves[largest == 0.0] = _NO_OCTAVES

    def w(part: slice) -> Float64:
        return _lift(table[part], -octaves)

    lifted = lifted or bool(octaves.max() > _LIFTED)
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


def quotient(scaled: Scaled, below: Partial, rate: float) -> Float64:
    """Return the sums (m, p) over the denominators of another state."""
    sums = scaled.sums
    return _times_exp(sums.numerators / below.denominator[:, None], rate * (below.shift - sums.shift), scaled.octaves)


def underflow(problem: Problem, octaves: Int32) -> float:
    """Bound what the result of `value` loses to underflow, besides its error relative to the sums of absolute terms.

    Terms lose what is below the smallest normal number of the weights' type, unless the row is summed again.
    """
    if 4.0 * problem.rate < _SMALL or (problem.lifted and not problem.normalize):
        return 0.0
    tiny, size = float(np.finfo(problem.dtype).smallest_normal), float(len(problem.b))
    if problem.normalize:
        tiny /= LOST[problem.dtype.itemsize]
    with np.errstate(over="ignore"):
        return float(size * np.ldexp(tiny, int(octaves.max())))


def logarithm(scaled: Scaled, rate: float, normalize: bool) -> Float64:
    """Return the logarithms of what `value` returns, where `NO_UNDERFLOW` holds."""
    sums = scaled.sums
    below = np.log(sums.denominator) if normalize else rate * sums.shift
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums.numerators) - below[:, None] + scaled.octaves * math.log(2.0))


def _times_exp(sums: Float64, exponent: Float64, octaves: Int32) -> Float64:
    """Return ``sums exp(exponent) 2^octaves``, (m, p) from (m, p), (m,), (p,): no factor over- or underflows alone."""
    if not exponent.any():
        return _lift(sums, octaves)
    exponent = np.clip(exponent, -1e5, 1e5)  # far beyond all that 2^octaves can lift
    n = np.rint(exponent / math.log(2.0))
    rest = (exponent - n * _LN2_HIGH) - n * _LN2_LOW
    with np.errstate(over="ignore"):  # `evaluate` warns of it
        return np.asarray(np.ldexp(sums * np.exp(rest)[:, None], n.astype(np.int32)[:, None] + octaves))


def _lift(numbers: Floats, octaves: Int32) -> Float64:
    """Return ``numbers 2^octaves``, (m, p) from (m, p), (p,): many by products, where powers are normal."""
    with np.errstate(over="ignore"):
        if numbers.size > 4096 and octaves.min() >= -1022 and octaves.max() <= 1023:
            return np.multiply(numbers, np.ldexp(1.0, octaves), dtype=np.float64)
        return np.asarray(np.ldexp(numbers, octaves, dtype=np.float64))
