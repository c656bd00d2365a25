"""Control points, weights and constants in the layouts that the kernels read."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from ..._types import Floats
from ..jit import njit
from ..simd.alignment import aligned_room, compiled_form
from ..simd.decay import HIGH, decay_rates, table_length
from .layout import NEAR, block_length, in_blocks
from .tiles import GROUP

NEAREST, EXCESS = 3, 4  # places after those of `decay_rates` in the array of `rates`
HIGHEST = 4.0  # octaves by which exponentials may exceed 1 before sums are scaled: exponents lose digits as they grow
ROUNDING = 1.5 * 2.0**26  # adding it to a number, and subtracting it, rounds the number to a multiple of 2^-26


@lru_cache(64)
def rates(rate: float, dtype: np.dtype[Any]) -> Floats:
    """Return the constants of a rate: `decay_rates`, the t below which it is by differences, an excess.

    The last are kept, as their fractions take as long as a small sum.
    """
    numbers = decay_rates(rate, dtype)
    near = NEAR if rate > 0.5 else -1.0  # at small rates no exponent has digits to lose
    largest = float(np.finfo(dtype).max)
    excess = min(HIGHEST / -float(numbers[0]), largest) if numbers[0] else largest
    return np.array([*numbers, near, excess], dtype)


def pack_points(b: Floats, last: Floats, dtype: np.dtype[Any]) -> Floats:
    """Copy control points (n, d) and a number for each, in groups that are filled with the last one."""
    groups = np.empty((-(-len(b) // GROUP), b.shape[1] + 1, GROUP), dtype)
    write_points(compiled_form(b, dtype), compiled_form(last, dtype), groups)
    return groups


@njit
def write_points(b, last, groups):
    """Write control points (n, d) and a number for each to groups."""
    n, d = b.shape
    for k in range(groups.shape[0]):
        for i in range(GROUP):
            row = min(k * GROUP + i, n - 1)
            for j in range(d):
                groups[k, j, i] = b[row, j]
            groups[k, d, i] = last[row]


def pack_weights(w: Floats, columns: int, d: int, dtype: np.dtype[Any]) -> Floats:
    """Copy weights (n, p), and ones in the columns beyond them, for `fused_sums` in d coordinates; fillings weigh 0."""
    n, p = w.shape
    if columns == 1:  # times the fractional powers of 2 that `add_decays` wants
        tables = aligned_room((-(-n // GROUP) * GROUP, table_length(dtype.itemsize)), dtype)
        tables[n:] = 0.0
        write_tables(compiled_form(w[:, 0], dtype), powers(dtype), tables)
        return tables
    if not in_blocks(d, columns):
        return pack_columns(w, columns, dtype)
    # blocks of control points and GROUP columns, those of a point together
    length = block_length(dtype.itemsize)
    blocks, groups = -(-n // length), columns_of(columns, d) // GROUP
    table = np.zeros((blocks * length, groups * GROUP), dtype)
    table[:n, :p], table[:n, p:columns] = w, 1.0
    return np.ascontiguousarray(table.reshape(blocks, length, groups, GROUP).swapaxes(1, 2))


def columns_of(columns: int, d: int) -> int:
    """Return how many columns `fused_sums` makes of so many in d coordinates: whole groups where they are in blocks."""
    return -(-columns // GROUP) * GROUP if in_blocks(d, columns) else columns


def pack_columns(w: Floats, columns: int, dtype: np.dtype[Any]) -> Floats:
    """Copy weights (n, p), and ones in the columns beyond them, in groups; filling points weigh 0."""
    n, p = w.shape
    n_whole = n // GROUP
    groups = np.zeros((-(-n // GROUP), columns, GROUP), dtype)
    groups[:n_whole, :p] = w[: n_whole * GROUP].reshape(n_whole, GROUP, p).transpose(0, 2, 1)
    groups[:n_whole, p:] = 1.0
    groups[n_whole:, :p, : n % GROUP], groups[n_whole:, p:, : n % GROUP] = w[n_whole * GROUP :].T, 1.0
    return groups


@njit
def write_tables(w, powers, out):
    """Write the products of weights and powers of 2 to rows, contiguous, of which there may be more."""
    flat, length = out.reshape(-1), powers.size
    for k in range(w.size):
        for j in range(length):
            flat[k * length + j] = w[k] * powers[j]


@cache
def powers(dtype: np.dtype[Any]) -> Floats:
    """Return the fractional powers of 2 that `add_decays` wants for numbers of a type."""
    length = table_length(dtype.itemsize)
    return np.exp2(np.arange(length) / length).astype(dtype)


def half_defects(x: Floats, dtype: np.dtype[Any], by_products: bool) -> Floats:
    """Return ``(1 - |x|^2)/2`` of each row, or 0 where distances are from differences."""
    defects = np.zeros(len(x), dtype)
    if by_products:
        for first in range(0, len(x), 2**14):
            rows = slice(first, first + 2**14)
            write_half_defects(compiled_form(x[rows], dtype), defects[rows])
    return defects


def octaves(rate: float) -> float:
    """Return ``2 rate log2(e)``: the octaves of ``exp(2 rate)``."""
    return -2.0 * float(rates(rate, np.dtype(np.float64))[HIGH])


def in_octaves(x: Floats, rate: float, dtype: np.dtype[Any]) -> tuple[Floats, Floats]:
    """Return s x and ``-s (1 + |x|^2)/2`` for each row, s the `octaves`, for kernels without rates.

    With control points b and ``s (1 - |b|^2)/2`` they make the exponents: ``-s |x - b|^2/2``.
    """
    scale = octaves(rate)
    last = np.multiply(half_defects(x, dtype, True), scale, dtype=np.float64) - scale
    return np.multiply(x, scale, dtype=np.float64).astype(dtype, copy=False), last.astype(dtype)


@njit
def write_half_defects(x, out):
    """Write ``(1 - |x|^2)/2`` of each row of about unit length, with an error far below its own rounding of 1.

    Multiples of 2^-26 have squares that add up exactly; what they leave is too small for its rounding to matter.
    """
    for i in range(x.shape[0]):
        high, low = 1.0, 0.0
        for j in range(x.shape[1]):
            number = float(x[i, j])
            head = (number + ROUNDING) - ROUNDING
            high -= head * head
            low += (number - head) * (number + head)
        out[i] = 0.5 * (high - low)
