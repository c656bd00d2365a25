"""Sums over control points in one pass: squared distances, exponentials and products stay in registers.

For each evaluation point x and each column r of weights it is ``sum_k w_kr exp(-rate t_k)``, ``t_k = |x - b_k|^2``.
Squaring the differences takes two operations for each coordinate. In higher dimensions
``t_k = 2 - 2 (<x, b_k> + (1 - |x|^2)/2 + (1 - |b_k|^2)/2)`` takes one, and is as accurate relative to t_k unless t_k is
small: where one of a block is, the block is computed again by differences (docs/theorems/4.8-dense-sums.md).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64, Floats
from ..jit import njit
from ..simd.decay import decay_block, decay_constants, decay_table
from ..simd.registers import (
    add_products,
    add_squares,
    add_weighted,
    block_zeros,
    lanes,
    load_like,
    pair_sums,
    row_zeros,
    shape,
    smallest,
    squares_from_products,
)
from ..simd.vectors import add, store, subtract
from .layout import BLOCK, CHAIN, CHUNK, NEAR

VECTORS, GROUP = shape()[1:]
"""Vectors of evaluation points, and control points, that are in registers together."""
ROUNDING = 1.5 * 2.0**26
"""Adding it to a number, and subtracting it, rounds the number to a multiple of 2^-26."""


class Constants(NamedTuple):
    """The numbers that the kernels derive from the rate."""

    high: Any  # -rate log2(e)
    low: Any  # what its rounding leaves
    most: Any  # the t from which on exp(-rate t) is 0
    near: Any  # that below which t is computed by differences


@lru_cache(64)
def constants(rate: float, dtype: np.dtype[Any]) -> Constants:
    """Return the kernel's constants; the last are kept, as their fractions take as long as a small sum."""
    near = NEAR if rate > 0.5 else -1.0  # at small rates no exponent has digits to lose
    return Constants(*decay_constants(rate, dtype), dtype.type(near))


def tile_rows(dtype: np.dtype[Any]) -> int:
    """Return the number of evaluation points of a tile: a task of fewer takes as long."""
    return VECTORS * shape()[0] // dtype.itemsize


def pack(b: Floats, w: Float64, columns: int, dtype: np.dtype[Any], by_products: bool) -> tuple[Floats, Floats]:
    """Copy control points (n, d) with their half defects, and weights, in the layout of `add_block`.

    Columns beyond those of w (n, p) are of ones.
    """
    return pack_points(b, half_defects(b, dtype, by_products), dtype), pack_columns(w, len(b), columns, dtype)


def pack_points(b: Floats, last: Floats, dtype: np.dtype[Any]) -> Floats:
    """Copy control points (n, d) and a number for each, in groups that are filled with the last one."""
    n, d = b.shape
    points = np.empty((-(-n // GROUP) * GROUP, d + 1), dtype)
    points[:n, :d], points[:n, d] = b, last
    points[n:] = points[n - 1]
    return np.ascontiguousarray(points.reshape(-1, GROUP, d + 1).transpose(0, 2, 1))  # (groups, d+1, GROUP)


def pack_columns(w: Float64, n: int, columns: int, dtype: np.dtype[Any]) -> Floats:
    """Copy weights (n, p), and ones in the columns beyond them, for n control points; filling points weigh 0."""
    c = 1 if columns <= 2 else GROUP
    packed = np.zeros((-(-columns // c), -(-n // GROUP) * GROUP, c), dtype)  # (q, n, c)
    for r in range(columns):
        packed[r // c, : len(w), r % c] = w[:, r] if r < w.shape[1] else 1.0
    return packed


def half_defects(x: Floats, dtype: np.dtype[Any], by_products: bool) -> Floats:
    """Return ``(1 - |x|^2)/2`` of each row, or 0 where distances are from differences."""
    defects = np.zeros(len(x), dtype)
    if by_products:
        for first in range(0, len(x), 2**14):
            rows = slice(first, first + 2**14)
            write_half_defects(np.require(x[rows], dtype, ["C", "W"]), defects[rows])
    return defects


@njit
def write_half_defects(x, out):
    """Write ``(1 - |x|^2)/2`` of each row of about unit length, with an error far below its own rounding of 1.

    Multiples of 2^-26 have squares that add up exactly; what they leave is too small for its rounding to matter.
    """
    for i in range(x.shape[0]):
        whole, rest = 1.0, 0.0
        for j in range(x.shape[1]):
            number = float(x[i, j])
            head = (number + ROUNDING) - ROUNDING
            whole -= head * head
            rest += (number - head) * (number + head)
        out[i] = 0.5 * (whole - rest)


@njit
def aligned(rows, columns, like):
    """Return zeros that begin at a multiple of 64 bytes, where no vector lies across two cache lines."""
    extra = 64 // like.itemsize
    room = np.zeros(rows * columns + extra, like.dtype)
    skip = (-(room.ctypes.data // like.itemsize)) % extra
    return room[skip : skip + rows * columns].reshape(rows, columns)


@njit
def add_exactly(at, block, total, rest):
    """Add vectors to those of `total` from a flat index on; `rest` keeps the rounding errors (Knuth)."""
    a = load_like(total, at, block)
    s = add(a, block)
    v = subtract(s, a)
    error = add(subtract(a, subtract(s, v)), subtract(block, v))
    store(total, at, s)
    store(rest, at, add(load_like(rest, at, block), error))


@njit(inline="always")
def _products(t, tile, b, at, d):
    """Return ``t + <x, b_k>``, summed over at most CHAIN coordinates at a time."""
    size = tile.shape[1]
    for j in range(min(d, CHAIN)):
        t = add_products(t, tile, j * size, b, at + j * GROUP)
    for first in range(CHAIN, d, CHAIN):
        s = block_zeros(tile)
        for j in range(first, min(first + CHAIN, d)):
            s = add_products(s, tile, j * size, b, at + j * GROUP)
        t = add(t, s)
    return t


@njit(inline="always")
def squares(t, tile, b, at, d):
    """Return ``t + |x - b_k|^2``, summed over at most CHAIN coordinates at a time."""
    size = tile.shape[1]
    for first in range(0, d, CHAIN):
        s = block_zeros(tile)
        for j in range(first, min(first + CHAIN, d)):
            s = add_squares(s, tile, j * size, b, at + j * GROUP)
        t = add(t, s)
    return t


@njit
def add_columns(buffer, w, first, last, total, rest):
    """Add the products of the exponentials in the buffer with all columns of weights."""
    size = buffer.shape[1]
    for r in range(w.shape[0]):
        at = (r * w.shape[1] + first) * GROUP
        s = block_zeros(buffer)
        for chunk in range(0, last - first, CHUNK):
            part = block_zeros(buffer)
            for i in range(chunk, min(chunk + CHUNK, last - first)):
                part = add_products(part, buffer, i * size, w, at + i * GROUP)
            s = add(s, part)
        add_exactly(r * GROUP * size, s, total, rest)


@njit
def add_block(tile, b, w, first, last, by_products, near, table, buffer, total, rest):
    """Add the sums over control points first, ..., last - 1 (at most BLOCK, a multiple of GROUP) to `total`, `rest`.

    ``tile`` (d+1, size) holds the coordinates of the evaluation points and then ``(1 - |x|^2)/2``, ``b``
    (n / GROUP, d+1, GROUP) the same of the control points, ``w`` (q, n, c) the q c columns of their weights, c = 1 for
    one or two and GROUP for more; ``near`` the t below which differences are taken, ``table`` that of `decay_table`;
    ``total``, ``rest`` (q c, size); ``buffer`` (BLOCK, size). Returns the number of groups computed by differences.
    """
    size, d, n = tile.shape[1], b.shape[1] - 1, w.shape[1]
    sum_0 = sum_1 = row_zeros(tile)
    again = 0
    for k in range(first, last, GROUP):
        at = k * (d + 1)  # of the group's first number
        t = block_zeros(tile)
        again_by_differences = not by_products
        if by_products:
            t = pair_sums(t, tile, d * size, b, at + d * GROUP)
            # 4.8, products
            t = squares_from_products(_products(t, tile, b, at, d))
            again_by_differences = smallest(t) < near
        if again_by_differences:
            t = squares(block_zeros(tile), tile, b, at, d)
            again += 1
        e = decay_block(t, table)
        if w.shape[2] > 1:
            store(buffer, (k - first) * size, e)
        else:
            sum_0 = add_weighted(sum_0, e, w, k)
            if w.shape[0] == 2:
                sum_1 = add_weighted(sum_1, e, w, n + k)
    if w.shape[2] > 1:
        add_columns(buffer, w, first, last, total, rest)
    else:
        add_exactly(0, sum_0, total, rest)
        if w.shape[0] == 2:
            add_exactly(size, sum_1, total, rest)
    return again


@njit
def fill(tile, x, start, defects):
    """Copy a tile's evaluation points; the last tile repeats the last row. Returns the number of its rows."""
    count = min(tile.shape[1], x.shape[0] - start)
    for i in range(tile.shape[1]):
        row = start + min(i, count - 1)
        for j in range(x.shape[1]):
            tile[j, i] = x[row, j]
        tile[x.shape[1], i] = defects[row]
    return count


@njit
def resume(start, count, sums, total, rest):
    """Read the sums of a tile's rows, and their rounding errors."""
    total[:] = 0.0
    rest[:] = 0.0
    for i in range(count):
        for r in range(sums.shape[2]):
            total[r, i], rest[r, i] = sums[start + i, 0, r], sums[start + i, 1, r]


@njit
def keep(start, count, total, rest, sums):
    """Write the sums of a tile's rows, and their rounding errors."""
    for i in range(count):
        for r in range(sums.shape[2]):
            sums[start + i, 0, r], sums[start + i, 1, r] = total[r, i], rest[r, i]


@njit
def fused_sums(x, defects, b, w, by_products, constants, sums):
    """Add the sums at each row of x (m, d) and their rounding errors to ``sums`` (m, 2, p), p <= q c.

    Arrays are as in `add_block`, of one dtype; ``defects`` (m,) are the ``(1 - |x|^2)/2``.
    Where most of a block's groups needed differences, the next block begins with them.
    """
    size = VECTORS * lanes(x)
    q = w.shape[0] * w.shape[2]
    tile, buffer = aligned(x.shape[1] + 1, size, x), aligned(BLOCK, size, x)
    total, rest = aligned(q, size, x), aligned(q, size, x)
    table = decay_table(constants, x)
    for start in range(0, x.shape[0], size):
        count = fill(tile, x, start, defects)
        resume(start, count, sums, total, rest)
        again = 0
        for k in range(0, w.shape[1], BLOCK):
            last = min(k + BLOCK, w.shape[1])
            products = by_products and (2 * GROUP * again <= BLOCK or k % (16 * BLOCK) == 0)
            again = add_block(tile, b, w, k, last, products, constants.near, table, buffer, total, rest)
        keep(start, count, total, rest, sums)
