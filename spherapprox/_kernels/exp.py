"""Vectors of one register's width inside compiled code, and their exponential.

Numba has no vector type, and what LLVM makes of a plain loop differs from machine to machine. Here a `Vector` is 64
bytes of LLVM's own vector type (8 float64 or 16 float32), which every target lowers to the registers it has: one of
AVX-512, two of AVX2, four of NEON. The functions below are what the kernels need of it.

`decay` is ``exp(-rate t)``, reduced to 2^n 2^f with |f| <= 1/2: n by adding a constant so large that the sum holds no
fraction bits, f by fused multiply-adds against a two-part ``rate log2(e)`` (its error does not grow with ``rate t``),
2^f by a polynomial, 2^n by adding n to the exponent's bits. With fused hardware the relative error is at most 2.5e-16
in float64 and 1.5e-7 in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

_intrinsic: Any = intrinsic  # what it makes is called from compiled code only

BYTES = 64
"""Size of a `Vector`."""

_LOG2_E = Fraction("1.4426950408889634073599246810018921374266459541529859341354494")

# 2^f on |f| <= 1/2: 1 + f q(f), q = (2^f - 1)/f interpolated at Chebyshev nodes in 60-digit arithmetic.
_POWER = {
    types.float64: (
        1.0, 0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888, 0.0013333558146416936,
        0.0001540353044173605, 1.525273382983612e-05, 1.321544258792169e-06, 1.0178062445845774e-07,
        7.072585949269223e-09, 4.4549605981865186e-10,
    ),  # truncation error 8.5e-18
    types.float32: (
        1.0, 0.6931471880262288, 0.24022650760568126, 0.05550357114219078, 0.009618082557277852,
        0.0013390863364671234, 0.0001545316294512069,
    ),  # 5.1e-9
}  # fmt: skip
# asin(sqrt(z)) / sqrt(z) on 0 <= z <= 1/4, made the same way.
_ARCSINE = {
    types.float64: (
        1.0, 0.16666666666664942, 0.07500000000385201, 0.044642856805998936, 0.03038195969768514, 0.022371749733164054,
        0.01735977964134998, 0.01388484282640208, 0.012170138592391726, 0.0065293020047365695, 0.019513468251252167,
        -0.016187392271599134, 0.03187962140081284,
    ),  # 1.6e-17
    types.float32: (
        0.999999995983738, 0.16666782005775338, 0.07494696687423973, 0.045520635631714566, 0.02399399965364759,
        0.04241737375979984,
    ),  # 4.9e-9
}  # fmt: skip
_MANTISSA_BITS = {types.float64: 52, types.float32: 23}


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


def _polynomial(builder: Any, coefficients: tuple[float, ...], argument: Any) -> Any:
    """Horner's rule, fused."""
    result = _constant(argument.type, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = _fused(builder, result, argument, _constant(argument.type, coefficient))
    return result


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


def _square_step(builder: Any, x: Any, b: Any, t: Any) -> Any:
    difference = builder.fsub(x, b)
    return _fused(builder, difference, difference, t)


add = _lanewise2(lambda builder, a, b: builder.fadd(a, b))
subtract = _lanewise2(lambda builder, a, b: builder.fsub(a, b))
multiply = _lanewise2(lambda builder, a, b: builder.fmul(a, b))
smaller = _lanewise2(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
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


def decay_constants(rate: float, dtype: np.dtype[Any]) -> Any:
    """Return ``[high, low, cut]`` for `decay`: ``-rate log2(e)`` in two parts, and the t from where on it gives 0."""
    kind, largest = dtype.type, float(np.finfo(dtype).max)
    exact = -Fraction(rate) * _LOG2_E
    high = kind(float(exact))
    low = kind(float(exact - Fraction(float(high))))
    octaves = -float(np.finfo(dtype).minexp) - 1.0
    cut = kind(min(octaves / -float(high), largest)) if high else kind(largest)
    return np.array([high, low, cut], dtype)


@_intrinsic
def decay(typing_context: Any, t: Any, high: Any, low: Any, cut: Any) -> Any:
    """Compute ``exp(-rate t)`` for t in [0, cut), and 0 from `cut` on; high, low, cut: `decay_constants`, spread."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        t_value, high_value, low_value, cut_value = arguments
        real, bits = t_value.type, _MANTISSA_BITS[t.scalar]
        word = ir.VectorType(ir.IntType(t.scalar.bitwidth), t.lanes)
        shifter = _constant(real, 1.5 * 2.0**bits)
        shifted = _fused(builder, t_value, high_value, shifter)  # n in its low bits
        n = builder.fsub(shifted, shifter)
        f = _fused(builder, t_value, low_value, _fused(builder, t_value, high_value, builder.fneg(n)))
        power = _polynomial(builder, _POWER[t.scalar], f)
        exponent = builder.shl(builder.bitcast(shifted, word), _constant(word, bits))
        scaled = builder.bitcast(builder.add(builder.bitcast(power, word), exponent), real)
        return builder.select(builder.fcmp_ordered("<", t_value, cut_value), scaled, _constant(real, 0.0))

    return t(t, t, t, t), generate


@_intrinsic
def angle(typing_context: Any, t: Any) -> Any:
    """Compute 2 arcsin(sqrt(t) / 2), the angle that a chord of squared length t subtends; pi for t beyond 4."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def number(value: float) -> Any:
            return _constant(arguments[0].type, value)

        z = builder.fmul(arguments[0], number(0.25))
        z = builder.select(builder.fcmp_ordered("<", z, number(1.0)), z, number(1.0))
        sine = _call(builder, "llvm.sqrt", z)
        # arcsin s = pi/2 - 2 arcsin sqrt((1 - s)/2) beyond s = 1/2
        far = builder.fcmp_ordered(">", z, number(0.25))
        half = builder.fmul(builder.fsub(number(1.0), sine), number(0.5))
        z = builder.select(far, half, z)
        root = builder.select(far, _call(builder, "llvm.sqrt", half), sine)
        arcsine = builder.fmul(root, _polynomial(builder, _ARCSINE[t.scalar], z))
        near_angle = builder.fmul(arcsine, number(2.0))
        far_angle = _fused(builder, arcsine, number(-4.0), number(math.pi))
        return builder.select(far, far_angle, near_angle)

    return t(t), generate
