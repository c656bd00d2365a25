"""Vectors of one width inside compiled code.

Numba has no vector type, and what LLVM makes of a plain loop differs from machine to machine. Here a `Vector` is 64
bytes of LLVM's own vector type (8 float64 or 16 float32), which every target lowers to the registers it has: one of
AVX-512, two of AVX2, four of NEON. The functions below are what the kernels need of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import register_model

from . import emit
from .alignment import BYTES
from .emit import intrinsic


class Vector(types.Type):
    """The numba type of a vector of float64 or float32."""

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar
        self.lanes = BYTES * 8 // scalar.bitwidth
        super().__init__(name=f"Vector({scalar}, {self.lanes})")


@register_model(Vector)
class _VectorModel(PrimitiveModel):
    """A `Vector` is an LLVM vector wherever it stands."""

    def __init__(self, manager: Any, vector: Vector) -> None:
        element = manager.lookup(vector.scalar).get_value_type()
        super().__init__(manager, vector, ir.VectorType(element, vector.lanes))  # type: ignore[no-untyped-call]


@intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """Read a vector from a contiguous array, at a flat index."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = emit.address(context, builder, array, *arguments)
        pointer = builder.bitcast(address, context.get_value_type(vector).as_pointer())
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return vector(array, types.intp), generate


@intrinsic
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write a vector, or those of a block one after the other, into a contiguous array from a flat index on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = emit.vectors_of(builder, arguments[2])
        first = emit.address(context, builder, array, *arguments[:2])
        first = builder.bitcast(first, vectors[0].type.as_pointer())
        for u, vector in enumerate(vectors):
            pointer = builder.gep(first, [ir.Constant(ir.IntType(64), u)])
            builder.store(vector, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def spread(typing_context: Any, array: Any, index: Any) -> Any:
    """Return a vector whose lanes all hold one element of a contiguous array."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = builder.load(emit.address(context, builder, array, *arguments))
        return emit.broadcast(builder, number, context.get_value_type(vector))

    return vector(array, types.intp), generate


def operation(combine: Callable[..., Any], arity: int) -> Any:
    """Make a function of vectors, or of blocks of one form, of combine(builder, ...) for each row of vectors."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = zip(*(emit.vectors_of(builder, value) for value in arguments), strict=True)
        return emit.value_of(builder, arguments[0].type, [combine(builder, *row) for row in rows])

    def of_two(typing_context: Any, a: Any, b: Any) -> Any:
        return a(a, a), code

    def of_three(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return a(a, a, a), code

    return intrinsic(of_two if arity == 2 else of_three)


add = operation(lambda builder, a, b: builder.fadd(a, b), 2)
subtract = operation(lambda builder, a, b: builder.fsub(a, b), 2)
multiply = operation(lambda builder, a, b: builder.fmul(a, b), 2)
smaller = operation(emit.smaller, 2)
larger = operation(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b), 2)
multiply_add = operation(emit.fused, 3)
add_square = operation(emit.add_square, 3)  # add_square(x, b, t) = t + (x - b)^2


@intrinsic
def zeros(typing_context: Any, array: Any) -> Any:
    """Return a vector of zeros of the array's type."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emit.constant(context.get_value_type(vector), 0.0)

    return vector(array), generate


@intrinsic
def replicate(typing_context: Any, number: Any) -> Any:
    """Return a vector whose lanes all hold a number."""
    vector = Vector(number)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emit.broadcast(builder, arguments[0], context.get_value_type(vector))

    return vector(number), generate
