"""Boxes about blocks of control points, and the search for those that matter to a box of evaluation points.

What holds for blocks holds for bundles of them: the same functions go through both. Bounds are those of
docs/theorems/4.11-truncated-sums.md.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from ..._types import Float64, Floats, Int64
from ..jit import njit
from ..simd import emit
from ..simd.alignment import BYTES
from ..simd.emit import intrinsic
from ..simd.vectors import add, larger, load, multiply, multiply_add, replicate, smaller, subtract
from .layout import NEAR_BLOCK
from .packing import half_defects
from .tiles import GROUP

BUNDLE = 16  # blocks in a bundle, but the last
LANES = BYTES // 8  # boxes in a vector: pad their number to a multiple of it, with `fill`


class Limits(NamedTuple):
    """The numbers that decide which blocks matter."""

    rate: float
    cut: float  # 4.11, the allowance: log(N / epsilon)
    negligible: float  # the exponent from which on nothing matters
    underflow: float  # that from which on a plain sum would underflow
    slack: float  # 4.11, rounding: delta


class Tree(NamedTuple):
    """The boxes of blocks and of bundles, and the sorted control points (N, d), filled up to whole groups.

    Of each block `centres` (L, d+1) holds the mean point and ``(1 - |c|^2)/2``, where distances are from products, and
    `radii` (L,) the largest distance of its points from it. `lower` (N,) are the logarithms of the points' least masses
    over the columns, `least` that of the least of all masses.
    """

    boxes: Any
    bundles: Any
    centres: Any
    radii: Any
    rows: Any
    lower: Any
    least: Any


def plant(b: Floats, order: Int64, masses: list[Float64], factors: Float64, by_products: bool) -> tuple[Tree, Float64]:
    """Return the tree of control points (n, d) in an order, and these in the fused kernel's layout.

    In the order: `masses` of each column over its mean, `factors` (n,) the logarithms of the offsets' exponentials.
    """
    n, d = b.shape
    filled, blocks = -(-n // GROUP) * GROUP, -(-n // NEAR_BLOCK)
    rows, groups = np.empty((filled, d)), np.empty((filled // GROUP, d + 1, GROUP))
    widths = (-(-k // LANES) * LANES for k in (blocks, -(-blocks // BUNDLE)))
    of_blocks, of_bundles = (np.empty((2 * d + 2, width)) for width in widths)
    centres, radii = np.zeros((blocks, d + 1)), np.empty(blocks)
    make(b, order, rows, groups, of_blocks, of_bundles, centres, radii)
    centres[:, d] = half_defects(centres[:, :d], centres.dtype, by_products)
    if by_products:
        groups[:, d] = half_defects(rows, rows.dtype, by_products).reshape(len(groups), GROUP)
    lower = np.full(filled, -np.inf)
    lower[:n], least = _weigh(masses, factors, of_blocks[2 * d :, :blocks], of_bundles[2 * d :])
    return Tree(of_blocks, of_bundles, centres, radii, rows, lower, least), groups


def _weigh(masses: list[Float64], factors: Float64, of_blocks: Float64, of_bundles: Float64) -> tuple[Float64, float]:
    """Write logarithms of masses of blocks and bundles; return those of the least of each point, and of all points."""
    n = len(factors)
    sums, starts = np.zeros((len(masses), of_blocks.shape[1])), np.arange(0, n, NEAR_BLOCK)
    largest, least, factor = np.zeros(n), np.full(n, np.inf), np.exp(factors)
    for r, mass in enumerate(masses):
        sums[r] = np.add.reduceat(mass * factor, starts)
        np.maximum(largest, mass, out=largest)
        np.minimum(least, mass, out=least)
    with np.errstate(divide="ignore"):
        # 4.11: log u_k and log v_k
        upper = np.log(largest) + factors
        lower = upper if len(sums) == 1 else np.log(least) + factors
        of_blocks[0] = np.maximum.reduceat(upper, starts)
        of_blocks[1] = np.maximum(np.maximum.reduceat(lower, starts), np.log(sums.min(axis=0)))
        starts = np.arange(0, of_blocks.shape[1], BUNDLE)
        inner = np.add.reduceat(sums, starts, axis=1).min(axis=0)
        of_bundles[0, : len(starts)] = np.maximum.reduceat(of_blocks[0], starts)
        of_bundles[1, : len(starts)] = np.maximum(np.maximum.reduceat(of_blocks[1], starts), np.log(inner))
        return lower, float(np.log(sums.sum(axis=1).min()))


@intrinsic
def negative(typing_context: Any, vector: Any) -> Any:
    """Return the lanes below 0 as bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        below = builder.fcmp_ordered("<", arguments[0], emit.constant(arguments[0].type, 0.0))
        return builder.zext(builder.bitcast(below, ir.IntType(vector.lanes)), ir.IntType(64))

    return types.intp(vector), generate


@intrinsic
def first_bit(typing_context: Any, bits: Any) -> Any:
    """Return the index of the lowest bit set in a number other than 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.intp), generate


@intrinsic
def element(typing_context: Any, vector: Any, lane: Any) -> Any:
    """Return one lane of a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], ir.IntType(32)))

    return vector.scalar(vector, types.intp), generate


@njit
def enclose(rows, first, last, boxes, at):
    """Write the least and the largest coordinates of rows into column `at` of ``boxes`` (2d or more, L)."""
    d = rows.shape[1]
    for j in range(d):
        low = high = rows[first, j]
        for i in range(first + 1, last):
            v = rows[i, j]
            low = v if v < low else low
            high = v if v > high else high
        boxes[j, at], boxes[d + j, at] = low, high


@njit
def _surround(rows, first, last, centre, radii, at):
    """Write the mean of rows (n, d), and the largest distance from it into element `at` of ``radii``."""
    largest = 0.0
    for j in range(rows.shape[1]):
        for i in range(first, last):
            centre[j] += rows[i, j]
        centre[j] /= last - first
    for i in range(first, last):
        t = 0.0
        for j in range(rows.shape[1]):
            t += (rows[i, j] - centre[j]) ** 2
        largest = max(largest, t)
    radii[at] = math.sqrt(largest)


@njit
def fill(boxes, first):
    """Fill the last vector of columns with boxes at infinity, without mass; return its end."""
    last = (first + LANES - 1) // LANES * LANES
    for k in range(first, last):
        for j in range(boxes.shape[0]):
            boxes[j, k] = math.inf if 2 * j < boxes.shape[0] - 2 else -math.inf
    return last


@njit
def make(b, order, rows, groups, boxes, bundles, centres, radii):
    """Write control points (n, d) in an order, and the boxes (2d+2, L) of blocks and bundles, but for two last rows.

    ``centres`` (L, d+1) and ``radii`` (L,) are of blocks; ``rows`` (N, d), N >= n; ``groups`` (N / g, d+1, g): the same
    in the fused kernel's layout, with zeros at the end.
    """
    n, d, size = order.size, b.shape[1], groups.shape[2]
    for g in range(groups.shape[0]):
        for i in range(size):
            k = g * size + i
            for j in range(d):
                v = b[order[k], j] if k < n else 0.0
                rows[k, j] = groups[g, j, i] = v
            groups[g, d, i] = 0.0
    count = (n + NEAR_BLOCK - 1) // NEAR_BLOCK
    for k in range(count):
        enclose(rows, k * NEAR_BLOCK, min((k + 1) * NEAR_BLOCK, n), boxes, k)
        _surround(rows, k * NEAR_BLOCK, min((k + 1) * NEAR_BLOCK, n), centres[k], radii, k)
    for k in range((count + BUNDLE - 1) // BUNDLE):
        for j in range(d):
            low, high = boxes[j, k * BUNDLE], boxes[d + j, k * BUNDLE]
            for i in range(k * BUNDLE + 1, count if count < (k + 1) * BUNDLE else (k + 1) * BUNDLE):
                low = boxes[j, i] if boxes[j, i] < low else low
                high = boxes[d + j, i] if boxes[d + j, i] > high else high
            bundles[j, k], bundles[d + j, k] = low, high
    fill(boxes, count)
    fill(bundles, (count + BUNDLE - 1) // BUNDLE)


@njit
def farthest(boxes, first, last, box, limits):
    """Return a bound of ``-log L`` for all points of a box, and the column that gives it.

    ``boxes``: least and largest coordinates, log of the mass that its points have at most, and at least; ``box`` (2d,).
    """
    d, n = box.size // 2, boxes.shape[1]
    factor = replicate(limits.rate * (1.0 + limits.slack))
    best, where = math.inf, first
    for k in range(first, last, LANES):
        t = replicate(0.0)
        for j in range(d):
            low, high = load(boxes, j * n + k), load(boxes, (d + j) * n + k)
            # 4.11 (2): T
            v = larger(subtract(replicate(box[d + j]), low), subtract(high, replicate(box[j])))
            t = multiply_add(v, v, t)
        t = subtract(multiply(t, factor), load(boxes, (2 * d + 1) * n + k))
        while negative(subtract(t, replicate(best))):
            where = k + first_bit(negative(subtract(t, replicate(best))))
            best = element(t, where - k)
    return best, where


@njit
def nearest(boxes, first, last, box, need, limits, columns, count):
    """Append the columns that may matter to points whose -log L is at most `need`; return the new number of columns."""
    d, n = box.size // 2, boxes.shape[1]
    factor, negligible = replicate(limits.rate * (1.0 - limits.slack)), replicate(limits.negligible)
    need = replicate(need + limits.cut)
    for k in range(first, last, LANES):
        t = replicate(0.0)
        for j in range(d):
            low, high = load(boxes, j * n + k), load(boxes, (d + j) * n + k)
            # 4.11 (2): tau
            v = larger(subtract(low, replicate(box[d + j])), subtract(replicate(box[j]), high))
            v = larger(v, replicate(0.0))
            t = multiply_add(v, v, t)
        # 4.11 (1): lambda tau / 2 >= log mu + log(N / epsilon) - log Lambda leaves a column out
        bound = smaller(add(load(boxes, 2 * d * n + k), need), negligible)
        bits = negative(subtract(multiply(t, factor), bound))
        while bits:
            columns[count] = k + first_bit(bits)
            bits &= bits - 1
            count += 1
    return count
