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
from numba.core.cgutils import get_or_insert_function
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

_intrinsic: Any = intrinsic  # what it makes is called from compiled code only

BYTES = 64
"""Size of a `Vector`."""


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


def _constant(like: ir.Type, number: float) -> ir.Constant:
    return ir.Constant(like, [number] * like.count)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, in one rounding where the hardware can."""
    return _call(builder, "llvm.fmuladd", a, b, c)


def _call(builder: Any, name: str, *arguments: Any) -> Any:
    """Call one of LLVM's functions of vectors."""
    vector = arguments[0].type
    signature = ir.FunctionType(vector, [vector] * len(arguments))
    full_name = f"{name}.v{vector.count}{vector.element.intrinsic_name}"
    function = get_or_insert_function(builder.module, signature, full_name)  # type: ignore[no-untyped-call]
    return builder.call(function, arguments)


def _element(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return the address of a contiguous array's element."""
    structure = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    return builder.gep(structure.data, [index])


@_intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """Read a vector from a contiguous array, at a flat index."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _element(context, builder, array, *arguments)
        pointer = builder.bitcast(address, context.get_value_type(vector).as_pointer())
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return vector(array, types.intp), generate


@_intrinsic
def store(typing_context: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write a vector into a contiguous array, at a flat index."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _element(context, builder, array, *arguments[:2])
        pointer = builder.bitcast(address, arguments[2].type.as_pointer())
        builder.store(arguments[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@_intrinsic
def spread(typing_context: Any, array: Any, index: Any) -> Any:
    """Return a vector whose lanes all hold one element of a contiguous array."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = builder.load(_element(context, builder, array, *arguments))
        return _broadcast(builder, number, context.get_value_type(vector))

    return vector(array, types.intp), generate


def _broadcast(builder: Any, number: Any, vector_type: Any) -> Any:
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector_type.count), [0] * vector_type.count)
    return builder.shuffle_vector(first, undefined, zeros)


def _lanewise(generate: Callable[..., Any]) -> Any:
    """Make a function of three vectors (of one type) out of the code that it stands for."""

    def typed(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, *arguments)

        return a(a, a, a), code

    return _intrinsic(typed)


def _lanewise2(generate: Callable[..., Any]) -> Any:
    """Make a function of two vectors (of one type) out of the code that it stands for."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, *arguments)

        return a(a, a), code

    return _intrinsic(typed)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    """Return the smaller of each pair, and b's where a number is nan."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _square_step(builder: Any, x: Any, b: Any, t: Any) -> Any:
    difference = builder.fsub(x, b)
    return _fused(builder, difference, difference, t)


add = _lanewise2(lambda builder, a, b: builder.fadd(a, b))
subtract = _lanewise2(lambda builder, a, b: builder.fsub(a, b))
multiply = _lanewise2(lambda builder, a, b: builder.fmul(a, b))
smaller = _lanewise2(_smaller)
multiply_add = _lanewise(_fused)
add_square = _lanewise(_square_step)
"""add_square(x, b, t) = t + (x - b)^2"""


@_intrinsic
def zeros(typing_context: Any, array: Any) -> Any:
    """Return a vector of zeros of the array's element type."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _constant(context.get_value_type(vector), 0.0)

    return vector(array), generate
