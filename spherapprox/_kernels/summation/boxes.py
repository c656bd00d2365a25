"""Boxes about blocks of control points: which of them can matter to a box of evaluation points, many at a time.

What holds for blocks holds for bundles of them: the same functions go through both. Bounds are those of
docs/theorems.md, 4.11.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ..jit import njit
from ..simd.vectors import (
    BYTES,
    Vector,
    _broadcast,
    _constant,
    _lanewise2,
    add,
    load,
    multiply,
    multiply_add,
    smaller,
    subtract,
)

_intrinsic: Any = intrinsic

BLOCK = 24
"""Control points in a block, but the last. Tuned."""
BUNDLE = 16
"""Blocks in a bundle, but the last."""
LANES = BYTES // 8
"""Boxes that are looked at together: pad their number to a multiple of it, with `fill`."""
RATE, CUT, MOST, LOST, SLACK = range(5)
"""What limits hold: the rate; ``log(N / rtol)``; the exponent from which on nothing matters; that from which on a plain
sum would underflow; a bound of the relative error of computed squared distances, and more."""

larger = _lanewise2(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@_intrinsic
def every(typing_context: Any, number: Any) -> Any:
    """Return a vector whose lanes all hold a number."""
    vector = Vector(number)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _broadcast(builder, arguments[0], context.get_value_type(vector))

    return vector(number), generate


@_intrinsic
def negative(typing_context: Any, vector: Any) -> Any:
    """Return the lanes below 0 as bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        below = builder.fcmp_ordered("<", arguments[0], _constant(arguments[0].type, 0.0))
        return builder.zext(builder.bitcast(below, ir.IntType(vector.lanes)), ir.IntType(64))

    return types.intp(vector), generate


@_intrinsic
def first_bit(typing_context: Any, bits: Any) -> Any:
    """Return the place of the lowest bit of a number other than 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.intp), generate


@_intrinsic
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
def fill(boxes, first):
    """Fill the last vector of columns with boxes that are nowhere, and weigh nothing; return where it ends."""
    last = (first + LANES - 1) // LANES * LANES
    for k in range(first, last):
        for j in range(boxes.shape[0]):
            boxes[j, k] = math.inf if 2 * j < boxes.shape[0] - 2 else -math.inf
    return last


@njit
def make(b, order, rows, groups, boxes, bundles):
    """Write control points (n, d) in an order, and the boxes of blocks of them and of bundles, (2d+2, L) each.

    ``rows`` (N, d), N >= n; ``groups`` (N / g, d+1, g): the same in the fused kernel's layout, with zeros at the end.
    The last two rows of boxes are left as they are.
    """
    n, d, size = order.size, b.shape[1], groups.shape[2]
    for g in range(groups.shape[0]):
        for i in range(size):
            k = g * size + i
            for j in range(d):
                v = b[order[k], j] if k < n else 0.0
                rows[k, j] = groups[g, j, i] = v
            groups[g, d, i] = 0.0
    count = (n + BLOCK - 1) // BLOCK
    for k in range(count):
        enclose(rows, k * BLOCK, min((k + 1) * BLOCK, n), boxes, k)
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
    factor = every(limits[RATE] * (1.0 + limits[SLACK]))
    best, where = math.inf, first
    for k in range(first, last, LANES):
        t = every(0.0)
        for j in range(d):
            low, high = load(boxes, j * n + k), load(boxes, (d + j) * n + k)
            v = larger(subtract(every(box[d + j]), low), subtract(high, every(box[j])))
            t = multiply_add(v, v, t)
        t = subtract(multiply(t, factor), load(boxes, (2 * d + 1) * n + k))
        while negative(subtract(t, every(best))):
            where = k + first_bit(negative(subtract(t, every(best))))
            best = element(t, where - k)
    return best, where


@njit
def nearest(boxes, first, last, box, need, limits, found, count):
    """Append the columns that may matter to points whose -log L is at most `need`; return how many there are then."""
    d, n = box.size // 2, boxes.shape[1]
    factor, most = every(limits[RATE] * (1.0 - limits[SLACK])), every(limits[MOST])
    need = every(need + limits[CUT])
    for k in range(first, last, LANES):
        t = every(0.0)
        for j in range(d):
            low, high = load(boxes, j * n + k), load(boxes, (d + j) * n + k)
            v = larger(subtract(low, every(box[d + j])), subtract(every(box[j]), high))
            v = larger(v, every(0.0))
            t = multiply_add(v, v, t)
        bound = smaller(add(load(boxes, 2 * d * n + k), need), most)
        bits = negative(subtract(multiply(t, factor), bound))
        while bits:
            found[count] = k + first_bit(bits)
            bits &= bits - 1
            count += 1
    return count
