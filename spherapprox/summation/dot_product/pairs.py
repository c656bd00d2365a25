"""Attention over all pairs that a mask leaves visible, tile by tile: what is scaled, the work cut, errors bounded."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._kernels.simd.alignment import compiled_form
from ..._kernels.summation.layout import ATTENTION_TILE
from ..._loading import load
from ..._threads import for_work, one_blas_thread, slices
from ..._types import Float64, Floats
from ..dense.all_pairs import run_tasks
from ..method import Report, silent
from .masks import Mask, Visible
from .scores import check_logits, unit_roundoff

SINGLE = 64.0  # the concentration up to which float32 is computed in float32, and keys are about their mean
MODERATE = {8: 400, 4: 40}  # octaves about 1 in which arrays are as they are, by the size of a number
TASK = 2e-2  # seconds of a task between which the work can be interrupted
_SAMPLE = 256  # keys of which the median is the centre
_FLOOR = {8: -1000.0, 4: -140.0}  # logits relative to the largest, below which exponentials are 0
_FLOAT64 = np.dtype(np.float64)


class Head(NamedTuple):
    """Queries (m, s), keys (n, s) and values (n, p) of a head, and the scale of logits."""

    query: Floats
    key: Floats
    value: Floats
    scale: float


class Heads(NamedTuple):
    """Queries (-, m, s), keys (-, n, s) and values (-, n, p), those that each head has (heads, 3), and their scale."""

    query: Floats
    key: Floats
    value: Floats
    numbers: NDArray[np.intp]
    scale: float

    def some(self, which: NDArray[np.intp]) -> Heads:
        """Return some of the heads."""
        return self._replace(numbers=self.numbers[which])

    def one(self, which: int) -> Head:
        """Return one of the heads."""
        query, key, value = self.numbers[which]
        return Head(self.query[query], self.key[key], self.value[value], self.scale)


class Sums(NamedTuple):
    """Outputs (heads, m, p), logarithms of sums (heads, m), bounds of both's errors, and concentrations (heads,)."""

    output: Floats
    log_sum_exp: Float64
    error: Float64
    log_error: Float64
    concentration: Float64

    @classmethod
    def empty(cls, count: int, m: int, p: int, dtype: np.dtype[Any]) -> Sums:
        """Return the sums of as many heads and queries, not yet written."""
        logs, error, log_error = np.empty((3, count, m))
        return cls(np.empty((count, m, p), dtype), logs, error, log_error, np.empty(count))

    def write(self, which: Any, part: Sums) -> None:
        """Write the sums of some of the heads, or of one."""
        for whole, values in zip(self, part, strict=True):
            whole[which] = values


class _Array(NamedTuple):
    """Queries or keys (-, n, s) times powers of 2 so that squares are in range, and those of each head.

    With their centres, and bounds of the lengths (-, n) of rows from there, and of the longest (-,).
    """

    rows: Floats
    of_head: NDArray[np.intp]
    exponents: NDArray[Any]
    centres: Floats
    lengths: Float64
    longest: Float64


class _Sized(NamedTuple):
    """Queries, keys and values, and the values' numbers of each head, as kernels take them, and how they are scaled.

    With factors (heads, 3) of the three, exponents of the scale, the largest values and logits (heads,).
    """

    query: _Array
    key: _Array
    value: Floats
    value_of: NDArray[np.intp]
    factors: Floats
    exponents: NDArray[Any]
    sizes: Float64
    largest: Float64


def cost(pairs: float, columns: int, itemsize: int) -> float:
    """Estimate the seconds of one thread for pairs with so many columns of keys and values together. Measured."""
    return pairs * (1e-9 + 3.4e-11 * columns) * itemsize / 8.0


def attend(
    heads: Heads, mask: Mask, dtype: np.dtype[Any], workers: int | None, report: Report, *, explain: bool
) -> Sums:
    """Return attention of all heads, computed in float64 where float32 does not reach; errors if they are asked for."""
    count, (m, p) = len(heads.numbers), (heads.query.shape[1], heads.value.shape[2])
    report(0, count * _tiles(m) * ATTENTION_TILE[0] * heads.key.shape[1])
    sized = _sized(heads, dtype)
    wide = sized.largest > SINGLE
    if dtype == _FLOAT64 or not wide.any():
        return _by_tiles(sized, heads.scale, mask, workers=workers, report=report, explain=explain)
    result, limits = Sums.empty(count, m, p, dtype), np.finfo(dtype)
    for computed, some in ((dtype, np.flatnonzero(~wide)), (_FLOAT64, np.flatnonzero(wide))):
        if len(some):
            sized, own = _sized(heads.some(some), computed), mask.some(some)
            part = _by_tiles(sized, heads.scale, own, workers=workers, report=report, explain=explain)
            if computed != dtype:  # the last rounding
                rounding = float(limits.eps) / 2.0 * np.abs(part.output).max(axis=2) + float(limits.smallest_normal)
                part = part._replace(error=part.error + rounding * (part.log_sum_exp > -np.inf))
            result.write(some, part)
    return result


def attend_one(head: Head, dtype: np.dtype[Any], workers: int | None) -> Sums:
    """Return attention of a head that sees all keys."""
    heads = Heads(head.query[None], head.key[None], head.value[None], np.zeros((1, 3), np.intp), head.scale)
    mask = Mask.of(None, False, (1, len(head.query)), len(head.key))
    return attend(heads, mask, dtype, workers, silent, explain=True)


def _sized(heads: Heads, dtype: np.dtype[Any]) -> _Sized:
    """Return the arrays of heads in a type, and how they are scaled."""
    mantissa, exponent = math.frexp(heads.scale)
    query = _array(heads.query, heads.numbers[:, 0], dtype, extreme=abs(exponent) > MODERATE[dtype.itemsize])
    key = _array(heads.key, heads.numbers[:, 1], dtype, centred=True)
    exponents = exponent + query.exponents[query.of_head] + key.exponents[key.of_head]
    for attempt in range(2):
        radii = key.longest[key.of_head]
        with np.errstate(over="ignore"):
            largest = np.ldexp(mantissa * query.longest[query.of_head] * radii, exponents)
        if attempt or (largest <= SINGLE).all():
            break
        # 4.16, pairs: the median leaves keys short that are far from a few others
        far = np.unique(key.of_head[~(largest <= SINGLE)])
        key.centres[far] = np.median(key.rows[far, :: max(1, key.rows.shape[1] // _SAMPLE)], axis=1)
        _measure(key)
    check_logits(float(largest.max()))
    value, values = compiled_form(heads.value, dtype), _largest(heads.value).astype(np.float64)
    octaves = np.frexp(values)[1]
    if np.abs(octaves).max() > MODERATE[dtype.itemsize]:
        value, octaves = _of_size_one(value)[0], np.zeros_like(octaves)
    value_of, size = heads.numbers[:, 2], np.frexp(radii)[1]
    # the longest key has about length 1, the largest value, too, and queries have the size of logits
    with np.errstate(over="ignore"):  # of heads that float32 does not reach
        parts = _columns(exponents + size, -size, 1 - octaves[value_of])
        factors = np.ldexp([mantissa, 1.0, 1.0], parts).astype(dtype)
    return _Sized(query, key, value, value_of, factors, exponents, values[value_of], largest)


def _columns(*parts: NDArray[Any]) -> NDArray[Any]:
    """Return a table of integers with these columns."""
    table = np.empty((len(parts[0]), len(parts)), parts[0].dtype)
    for column, part in enumerate(parts):
        table[:, column] = part
    return table


def _array(
    given: Floats, index: NDArray[np.intp], dtype: np.dtype[Any], *, centred: bool = False, extreme: bool = False
) -> _Array:
    """Return queries, or keys about their means, in a type; extreme ones times powers of 2."""
    rows, limit = compiled_form(given, dtype), 2.0 ** MODERATE[dtype.itemsize]
    (count, n, s), exponents = rows.shape, np.zeros(len(rows), np.intc)
    array = _Array(rows, index, exponents, np.zeros((count, s), dtype), np.empty((count, n)), np.empty(count))
    for attempt in range(2):
        _measure(array, centred)
        if attempt or (not extreme and 1.0 / limit < array.longest.min() and array.longest.max() < limit):
            break
        array = array._replace(**dict(zip(("rows", "exponents"), _of_size_one(rows), strict=True)))
    return array


def _of_size_one(rows: Floats) -> tuple[Floats, NDArray[Any]]:
    """Return rows (-, n, s) whose largest entries are from 1/2 to 1, and the exponents of the powers of 2 without."""
    exponents = np.frexp(_largest(rows))[1]
    return np.ldexp(rows, -exponents[:, None, None]), exponents


def _largest(rows: Floats) -> Floats:
    """Return the largest absolute values (-,) of rows (-, n, s)."""
    return np.asarray(np.maximum(rows.max(axis=(1, 2)), -rows.min(axis=(1, 2))))


def kernels() -> Any:
    """Return the module of the compiled code."""
    return load("spherapprox._kernels.summation.attention")


def _measure(array: _Array, centred: bool = False) -> None:
    """Write the lengths about the centres, or about means that become centres, enlarged by their roundings."""
    enlarged = 1.0 + (array.rows.shape[2] + 8.0) * unit_roundoff(array.rows.dtype)
    kernels().measure(array.rows, centred, enlarged, array.centres, array.lengths, array.longest)


def _by_tiles(sized: _Sized, scale: float, mask: Mask, workers: int | None, report: Report, *, explain: bool) -> Sums:
    """Return the attention of heads."""
    query, key, value = sized[:3]
    (m, s), (n, p), dtype, heads = query.rows.shape[1:], value.shape[1:], value.dtype, len(sized.factors)
    visible = mask.visible(n, 2.0 * float(sized.largest.max()) + 800.0)
    biases, tops = visible.for_kernel(dtype)
    index = _columns(query.of_head, key.of_head, sized.value_of, mask.of_head)
    result, peaks, totals = np.empty((heads, m, p), dtype), np.empty((heads, m)), np.empty((heads, m))
    rows = (query.rows, key.rows, value, index, key.centres, sized.factors, biases, tops, visible.spans)
    constants = (_rates(dtype), _FLOOR[dtype.itemsize], np.ldexp(0.5, np.frexp(sized.sizes)[1]))

    def task(part: slice) -> int:
        kernels().attend(np.array([part.start, part.stop]), *rows, *constants, peaks, totals, result)
        done: int = (part.stop - part.start) * ATTENTION_TILE[0] * n
        return done

    units, seconds = heads * _tiles(m), cost(heads * m * n, s + p, dtype.itemsize)
    threads = for_work(workers, seconds)
    step = max(1, int(units * min(TASK / seconds, 1.0 / (4.0 * threads) if threads > 1 else 1.0)))
    with one_blas_thread():
        run_tasks(task, slices(units, step), workers, report)
    if explain:
        return _bounded(sized, visible, mask, scale, peaks=peaks, totals=totals, result=result)
    unknown = np.full((heads, m), np.nan)
    return Sums(result, unknown, unknown, unknown, unknown[:, 0])


@cache
def _rates(dtype: np.dtype[Any]) -> Floats:
    """Return the constants of exponentials of numbers themselves."""
    return np.array(load("spherapprox._kernels.simd.decay").decay_rates(-1.0, dtype), dtype)


def _tiles(m: int) -> int:
    return -(-m // ATTENTION_TILE[0])


def _bounded(
    sized: _Sized, visible: Visible, mask: Mask, scale: float, peaks: Float64, totals: Float64, result: Floats
) -> Sums:
    """Return the outputs with the logarithms of their sums, and bounds of both's errors."""
    (n, s), unit, length = sized.key.rows.shape[1:], unit_roundoff(result.dtype), ATTENTION_TILE[1]
    sizes = sized.query.lengths[sized.query.of_head] * sized.key.longest[sized.key.of_head][:, None]
    logits = np.ldexp(math.frexp(scale)[0] * sizes, sized.exponents[:, None])
    spans, largest = visible.spans[mask.of_head], visible.largest[mask.of_head]
    tiles, near = n // length + 2.0, math.log(n / unit)
    # 4.16, pairs: of a logit, its mask, its difference from the largest, its exponential and the changes of that
    products = (s + 6.0) * logits / (1.0 - (s + 6.0) * unit)
    masks = spans[..., 2] * (2.0 * near + 3.0 * logits)
    delta = unit * (products + masks + 2.0 * near + 10.0 * tiles + 20.0)
    sums = unit * (40.0 + 3.0 * tiles)
    share = 1.01 * (2.0 * np.tanh(0.5 * delta) + sums + unit * (min(length, n) + 3.0 * tiles + 10.0))
    size, above = sized.sizes[:, None], np.abs(result).max(axis=2)
    with np.errstate(over="ignore"):
        error = np.minimum(size * share + float(np.finfo(result.dtype).smallest_normal), 1.001 * (size + above))
    offsets, far = _offsets(sized, scale)
    seen = totals > 0.0
    with np.errstate(divide="ignore"):
        parts = np.stack([peaks, np.log(totals), largest, offsets])
    logarithms = np.where(seen, parts.sum(axis=0), -np.inf)
    last = (2.0**-51 * np.abs(parts[:, seen])).sum(axis=0) + 2.0**-53 * (s + 8.0) * far[seen]
    log_error = np.zeros(seen.shape)
    log_error[seen] = 1.01 * (delta[seen] + sums + 8.0 * unit) + last
    return Sums(result, logarithms, np.where(seen, error, 0.0), log_error, sized.largest)


def _offsets(sized: _Sized, scale: float) -> tuple[Float64, Float64]:
    """Return ``scale <q, c>`` (heads, m) for the centres c of keys, and ``scale |q| |c|``."""
    query, key, mantissa = sized.query, sized.key, math.frexp(scale)[0]
    centres = key.centres[key.of_head].astype(np.float64)
    products = np.einsum("hij,hj->hi", query.rows[query.of_head], centres, dtype=np.float64)
    sizes = query.lengths[query.of_head] * (1.001 * np.linalg.norm(centres, axis=1))[:, None]
    products, sizes = (np.ldexp(mantissa * part, sized.exponents[:, None]) for part in (products, sizes))
    return products, sizes
