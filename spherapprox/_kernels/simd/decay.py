"""The exponential of a block of registers, ``exp(-rate t)``, reduced to ``2^n 2^f``.

With AVX-512 n is a multiple of 1/16 (float32: 1/32): a table in two registers gives the fraction's power and one
instruction scales by the integer's. Elsewhere n is an integer, added to the exponent's bits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import get_or_insert_function

from ..jit import subroutine
from . import emit
from .emit import intrinsic
from .registers import has_avx512

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
# The same on |f| <= 1/32 (float32: 1/64).
_SHORT_POWER = {
    types.float64: (
        1.0, 0.6931471805599457, 0.24022650695910075, 0.0555041086566393, 0.009618129106919537, 0.0013333781576784268,
        0.00015403723980749256,
    ),
    types.float32: (1.0, 0.6931471805599453, 0.2402265069591007, 0.05550410866482158),
}  # fmt: skip
_MANTISSA_BITS = {types.float64: 52, types.float32: 23}
_TABLE_BITS = {types.float64: 4, types.float32: 5}
_SUFFIX = {types.float64: "pd", types.float32: "ps"}

HIGH, LOW, MOST = range(3)
"""Places of the constants in the array of `decay_table`."""


def decay_constants(rate: float, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    """Return high, low, most: ``-rate log2(e)`` in two parts, and a t from which on ``exp(-rate t)`` is 0."""
    kind, largest = dtype.type, float(np.finfo(dtype).max)
    exact = -Fraction(rate) * _LOG2_E
    high = kind(float(exact))
    low = kind(float(exact - Fraction(float(high))))
    octaves = 2.0 - float(np.finfo(dtype).minexp)
    return high, low, kind(min(octaves / -float(high), largest) if high else largest)


@subroutine
def decay_table(constants: Any, like: Any) -> Any:
    """Return the constants in an array of a type: the exponentials have no registers left for them."""
    table = np.empty(3, like.dtype)
    table[HIGH], table[LOW], table[MOST] = constants.high, constants.low, constants.most
    return table


@intrinsic
def decay_block(typing_context: Any, t: Any, table: Any) -> Any:
    """Compute ``exp(-rate t)``, rate t at most 1e13 (float32: 9e4): n is exact.

    ``table`` is that of `decay_table`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        high, low, _ = _numbers(context, builder, t, table, arguments[1])
        return _exponentials(builder, t, arguments[0], emit.vectors_of(builder, arguments[0]), high, low)

    return t(t, table), generate


@intrinsic
def decay_beyond(typing_context: Any, t: Any, least: Any, table: Any) -> Any:
    """Compute ``exp(-rate (t - least))`` at any rate; each row's `least`, at most t, is one for all control points.

    It is 0 below the normal range, and where t is infinite, even if `least` is too (unless rate is next to nothing).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        high, low, most = _numbers(context, builder, t, table, arguments[2])
        rows = emit.vectors_of(builder, arguments[1]) * t.columns
        pairs = zip(emit.vectors_of(builder, arguments[0]), rows, strict=True)
        vectors = [emit.smaller(builder, builder.fsub(v, s), most) for v, s in pairs]
        return _exponentials(builder, t, arguments[0], vectors, high, low)

    return t(t, least, table), generate


def _numbers(context: Any, builder: Any, t: Any, array_type: Any, array: Any) -> list[Any]:
    """Return vectors of the three numbers of `decay_table`."""
    kind = context.get_value_type(t).element
    places = (ir.Constant(ir.IntType(64), i) for i in (HIGH, LOW, MOST))
    addresses = (emit.address(context, builder, array_type, array, place) for place in places)
    return [emit.broadcast(builder, builder.load(address), kind) for address in addresses]


def _exponentials(builder: Any, t: Any, block: Any, vectors: list[Any], high: Any, low: Any) -> Any:
    """Return the exponentials of a block's vectors, a row of registers at a time."""
    form = _by_table if has_avx512() else _by_bits
    out: list[Any] = []
    for k in range(0, len(vectors), t.rows):
        out += form(builder, t, vectors[k : k + t.rows], high, low)
    return emit.value_of(builder, block.type, out)


def _reduced(builder: Any, t: Any, vectors: list[Any], high: Any, low: Any, bits: int) -> tuple[list[Any], ...]:
    """Return the shifted sums with n in their low bits, n itself (to 1/2^bits) and f."""
    kind = vectors[0].type
    shifter = emit.constant(kind, 1.5 * 2.0 ** (_MANTISSA_BITS[t.scalar] - bits))
    shifted = [emit.fused(builder, v, high, shifter) for v in vectors]
    n = [builder.fsub(s, shifter) for s in shifted]
    f = [emit.fused(builder, v, high, builder.fneg(m)) for v, m in zip(vectors, n, strict=True)]
    return shifted, n, [emit.fused(builder, v, low, r) for v, r in zip(vectors, f, strict=True)]


def _by_table(builder: Any, t: Any, vectors: list[Any], high: Any, low: Any) -> list[Any]:
    """Return exponentials by AVX-512: a table of fractional powers in two registers, scaled by an integer power."""
    kind, bits, suffix = vectors[0].type, _TABLE_BITS[t.scalar], _SUFFIX[t.scalar]
    word = ir.VectorType(ir.IntType(t.scalar.bitwidth), t.lanes)
    shifted, n, f = _reduced(builder, t, vectors, high, low, bits)
    powers = [2.0 ** (j / 2**bits) for j in range(2**bits)]
    lower, upper = (ir.Constant(kind, powers[i * t.lanes : (i + 1) * t.lanes]) for i in range(2))
    permute = _declare(builder, f"llvm.x86.avx512.vpermi2var.{suffix}.512", kind, [kind, word, kind])
    mask, whole = ir.IntType(t.lanes), ir.IntType(32)
    scale = _declare(builder, f"llvm.x86.avx512.mask.scalef.{suffix}.512", kind, [kind, kind, kind, mask, whole])
    zero, rounding = emit.constant(kind, 0.0), ir.Constant(whole, 4)
    power = emit.polynomials(builder, _SHORT_POWER[t.scalar], f)
    entry = [builder.call(permute, [lower, builder.bitcast(s, word), upper]) for s in shifted]
    normal = [builder.bitcast(k, mask) for k in _normal(builder, t, n)]
    scaled = [builder.call(scale, [e, m, zero, k, rounding]) for e, m, k in zip(entry, n, normal, strict=True)]
    return [builder.fmul(p, s) for p, s in zip(power, scaled, strict=True)]


def _declare(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Declare one of LLVM's functions in the builder's module."""
    return get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)  # type: ignore[no-untyped-call]


def _by_bits(builder: Any, t: Any, vectors: list[Any], high: Any, low: Any) -> list[Any]:
    """Return exponentials on any machine: a longer polynomial, the integer power added to the exponent's bits."""
    kind, bits = vectors[0].type, _MANTISSA_BITS[t.scalar]
    word = ir.VectorType(ir.IntType(t.scalar.bitwidth), t.lanes)
    shifted, n, f = _reduced(builder, t, vectors, high, low, 0)
    power = emit.polynomials(builder, _POWER[t.scalar], f)
    exponent = [builder.shl(builder.bitcast(s, word), emit.constant(word, bits)) for s in shifted]
    pairs = zip(power, exponent, strict=True)
    scaled = [builder.bitcast(builder.add(builder.bitcast(p, word), e), kind) for p, e in pairs]
    zero = emit.constant(kind, 0.0)
    return [builder.select(k, s, zero) for k, s in zip(_normal(builder, t, n), scaled, strict=True)]


def _normal(builder: Any, t: Any, n: list[Any]) -> list[Any]:
    """Tell which powers of 2 are normal numbers: arithmetic with others would take some hundred times as long."""
    least = emit.constant(n[0].type, 3.0 - 2 ** (t.scalar.bitwidth - _MANTISSA_BITS[t.scalar] - 2))
    return [builder.fcmp_ordered(">=", m, least) for m in n]
