"""The LLVM code inside operations on vectors, and on blocks of them: every name below takes the builder of the code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic as numba_intrinsic
from numba.np.arrayobj import make_array

intrinsic: Any = numba_intrinsic  # what it makes is called from compiled code only


def constant(like: ir.Type, number: float) -> ir.Constant:
    """Return a vector that holds one number."""
    return ir.Constant(like, [number] * like.count)


def broadcast(builder: Any, number: Any, vector_type: Any) -> Any:
    """Return a vector whose lanes all hold a number that the code computes."""
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector_type.count), [0] * vector_type.count)
    return builder.shuffle_vector(first, undefined, zeros)


def call(builder: Any, name: str, *arguments: Any) -> Any:
    """Call one of LLVM's functions of vectors."""
    vector = arguments[0].type
    signature = ir.FunctionType(vector, [vector] * len(arguments))
    full_name = f"{name}.v{vector.count}{vector.element.intrinsic_name}"
    function = get_or_insert_function(builder.module, signature, full_name)  # type: ignore[no-untyped-call]
    return builder.call(function, arguments)


def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, in one rounding where the hardware can."""
    return call(builder, "llvm.fmuladd", a, b, c)


def smaller(builder: Any, a: Any, b: Any) -> Any:
    """Return the smaller of each pair, and b's where a number is nan."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def add_square(builder: Any, x: Any, b: Any, t: Any) -> Any:
    """Return t + (x - b)^2."""
    difference = builder.fsub(x, b)
    return fused(builder, difference, difference, t)


def polynomials(builder: Any, coefficients: tuple[float, ...], arguments: list[Any]) -> list[Any]:
    """Return the values of a polynomial by Horner's rule, fused, for several vectors side by side."""
    kind = arguments[0].type
    results = [constant(kind, coefficients[-1])] * len(arguments)
    for coefficient in reversed(coefficients[:-1]):
        results = [fused(builder, p, f, constant(kind, coefficient)) for p, f in zip(results, arguments, strict=True)]
    return results


def address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return the address of a contiguous array's element."""
    structure = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    return builder.gep(structure.data, [index])


def vectors_of(builder: Any, value: Any) -> list[Any]:
    """Return the vectors of a block, or the vector that the value is."""
    if isinstance(value.type, ir.VectorType):
        return [value]
    return [builder.extract_value(value, i) for i in range(value.type.count)]


def value_of(builder: Any, kind: Any, vectors: list[Any]) -> Any:
    """Return the block that holds vectors, or the one vector."""
    if isinstance(kind, ir.VectorType):
        return vectors[0]
    value = ir.Constant(kind, ir.Undefined)
    for i, vector in enumerate(vectors):
        value = builder.insert_value(value, vector, i)
    return value
