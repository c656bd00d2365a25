"""Blocks of registers inside compiled code: a kernel's numbers for several evaluation and several control points.

A `Block` of `rows` x `columns` vectors belongs to as many vectors of evaluation points and as many control points.
LLVM keeps it in registers where there are enough of them, so `shape` fits it to the machine that is compiled for: with
AVX-512, 3 x 4 vectors of 64 bytes (8 float64), elsewhere 2 x 4 of 32 bytes, which NEON has as pairs.
"""

from __future__ import annotations

import functools
import math
from functools import cache
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.registry import cpu_target
from numba.extending import register_model

from . import emit
from .emit import intrinsic


@cache
def host() -> tuple[str, bool]:
    """Return the name of the processor that code is compiled for, and whether it is compiled for AVX-512."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    names = features.split(",")
    return name, "+avx512f" in names and "+avx512dq" in names


def has_avx512() -> bool:
    """Tell whether code is compiled for AVX-512."""
    return host()[1]


def shape() -> tuple[int, int, int]:
    """Return the bytes of a vector, and the vectors of evaluation points and the control points in a block."""
    return (64, 3, 4) if has_avx512() else (32, 2, 4)


RUN = 4  # vectors of a `run_of`: as many as keep the hardware busy


class Block(types.Type):
    """The numba type of a block of vectors."""

    def __init__(self, scalar: Any, rows: int, columns: int) -> None:
        self.scalar, self.rows, self.columns = scalar, rows, columns
        self.lanes = shape()[0] * 8 // scalar.bitwidth
        super().__init__(name=f"Block({scalar}, {self.lanes}, {rows}, {columns})")


@register_model(Block)
class _BlockModel(PrimitiveModel):
    """A `Block` is an array of LLVM vectors, of which LLVM makes separate values."""

    def __init__(self, manager: Any, block: Block) -> None:
        element = manager.lookup(block.scalar).get_value_type()
        vector = ir.VectorType(element, block.lanes)
        super().__init__(manager, block, ir.ArrayType(vector, block.rows * block.columns))  # type: ignore[no-untyped-call]


def _full(scalar: Any) -> Block:
    """Return the type of a block of all evaluation and control points in registers."""
    return Block(scalar, *shape()[1:])


def _rows(scalar: Any) -> Block:
    """Return the type of a block of one vector for each vector of evaluation points."""
    return Block(scalar, shape()[1], 1)


@intrinsic
def lanes(typing_context: Any, array: Any) -> Any:
    """Return the number of lanes of a vector of the array's type."""
    count = _full(array.dtype).lanes
    return types.intp(array), lambda context, builder, signature, arguments: ir.Constant(ir.IntType(64), count)


def _filled(form: Any, number: float) -> Any:
    """Make a function of an array that returns a block of some form, of the array's type, that holds one number."""

    def typed(typing_context: Any, array: Any) -> Any:
        block = form(array.dtype)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(block)
            return emit.value_of(builder, kind, [emit.constant(kind.element, number)] * kind.count)

        return block(array), generate

    return intrinsic(typed)


block_zeros = _filled(_full, 0.0)
row_zeros = _filled(_rows, 0.0)  # row_zeros(array): one vector of zeros for each vector of evaluation points
row_infinities = _filled(_rows, math.inf)


@intrinsic
def run_of(typing_context: Any, array: Any, number: Any) -> Any:
    """Return a block of `RUN` vectors, one after another in memory, of the array's type, that holds one number."""
    block = Block(array.dtype, 1, RUN)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, value = context.get_value_type(block), context.cast(builder, arguments[1], number, array.dtype)
        return emit.value_of(builder, kind, [emit.broadcast(builder, value, kind.element)] * kind.count)

    return block(array, number), generate


def _load(context: Any, builder: Any, block: Block, count: int, array_type: Any, array: Any, index: Any) -> list[Any]:
    """Return vectors of the block's type, read from a flat index on."""
    kind = context.get_value_type(block).element
    address = builder.bitcast(emit.address(context, builder, array_type, array, index), kind.as_pointer())
    here = (builder.gep(address, [ir.Constant(ir.IntType(64), u)]) for u in range(count))
    return [builder.load(pointer, align=block.scalar.bitwidth // 8) for pointer in here]


def _spread(context: Any, builder: Any, kind: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return a vector whose lanes all hold one element of an array."""
    return emit.broadcast(builder, builder.load(emit.address(context, builder, array_type, array, index)), kind)


@intrinsic
def load_like(typing_context: Any, array: Any, index: Any, like: Any) -> Any:
    """Read the vectors of a block of the form of another, from a flat index on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = _load(context, builder, like, like.rows * like.columns, array, *arguments[:2])
        return emit.value_of(builder, context.get_value_type(like), loaded)

    return like(array, types.intp, like), generate


def _beyond(builder: Any, index: Any, offset: int) -> Any:
    """Return an index some places on."""
    return builder.add(index, ir.Constant(index.type, offset))


def _step(combine: Any) -> Any:
    """Make a function (block, tile, at, b, at_b) that updates each of the block's vectors.

    Vector (u, k) becomes combine(builder, it, x_u, b_k): a vector of `tile`, and a number of `b`, each from a flat
    index on.
    """

    def typed(typing_context: Any, block: Any, tile: Any, at: Any, b: Any, at_b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value, tile_value, at_value, b_value, index = arguments
            kind = context.get_value_type(block)
            x = _load(context, builder, block, block.rows, tile, tile_value, at_value)
            out: list[Any] = []
            for k in range(block.columns):
                number = _spread(context, builder, kind.element, b, b_value, _beyond(builder, index, k))
                for u in range(block.rows):
                    out.append(combine(builder, builder.extract_value(value, len(out)), x[u], number))
            return emit.value_of(builder, kind, out)

        return block(block, tile, types.intp, b, types.intp), generate

    return intrinsic(typed)


add_squares = _step(lambda builder, t, x, b: emit.add_square(builder, x, b, t))
"""add_squares(t, tile, at, b, at_b): t + (x - b)^2"""
add_products = _step(lambda builder, t, x, b: emit.fused(builder, x, b, t))
"""add_products(t, tile, at, b, at_b): t + x b"""
pair_sums = _step(lambda builder, t, x, b: builder.fadd(x, b))  # pair_sums(like, tile, at, b, at_b): x + b
multiples = _step(lambda builder, t, x, b: builder.fmul(t, b))  # multiples(t, tile, at, b, at_b): t b


@intrinsic
def row_minima(typing_context: Any, least: Any, block: Any) -> Any:
    """Return for each vector of evaluation points the smaller of `least` and the block's over all control points."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, vectors = (emit.vectors_of(builder, value) for value in arguments)
        for k in range(0, len(vectors), block.rows):
            out = [emit.smaller(builder, v, s) for v, s in zip(vectors[k : k + block.rows], out, strict=True)]
        return emit.value_of(builder, arguments[0].type, out)

    return least(least, block), generate


@intrinsic
def squares_from_products(typing_context: Any, products: Any) -> Any:
    """Return 2 - 2 products, in one rounding."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(products).element
        two, minus_two = emit.constant(kind, 2.0), emit.constant(kind, -2.0)
        out = [emit.fused(builder, v, minus_two, two) for v in emit.vectors_of(builder, arguments[0])]
        return emit.value_of(builder, context.get_value_type(products), out)

    return products(products), generate


@intrinsic
def add_weighted(typing_context: Any, sums: Any, e: Any, w: Any, at: Any) -> Any:
    """Return ``sums + (sum_k e_k w_k)`` over the block's control points, for each vector of evaluation points."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, block, w_value, index = arguments
        kind = context.get_value_type(sums)
        part: list[Any] = []
        for k in range(e.columns):
            number = _spread(context, builder, kind.element, w, w_value, _beyond(builder, index, k))
            vectors = [builder.extract_value(block, k * e.rows + u) for u in range(e.rows)]
            if part:
                part = [emit.fused(builder, v, number, s) for v, s in zip(vectors, part, strict=True)]
            else:
                part = [builder.fmul(v, number) for v in vectors]
        pairs = zip(emit.vectors_of(builder, total), part, strict=True)
        return emit.value_of(builder, kind, [builder.fadd(t, s) for t, s in pairs])

    return sums(sums, e, w, types.intp), generate


@intrinsic
def any_below(typing_context: Any, block: Any, limit: Any) -> Any:
    """Tell whether a number in a block is below a limit: a number, or a block's of one form; nan is not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = emit.vectors_of(builder, arguments[0])
        if isinstance(limit, Block):
            limits = emit.vectors_of(builder, arguments[1])
            below = [builder.fcmp_ordered("<", v, s) for v, s in zip(vectors, limits, strict=True)]
            union = functools.reduce(builder.or_, below)
        else:
            number = context.cast(builder, arguments[1], limit, block.scalar)
            limits = emit.broadcast(builder, number, vectors[0].type)
            least = functools.reduce(lambda least, v: emit.smaller(builder, v, least), vectors, limits)
            union = builder.fcmp_ordered("<", least, limits)
        mask = ir.IntType(block.lanes)
        return builder.icmp_unsigned("!=", builder.bitcast(union, mask), ir.Constant(mask, 0))

    return types.boolean(block, limit), generate
