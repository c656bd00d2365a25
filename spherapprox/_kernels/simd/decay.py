"""The exponential of a block of registers, ``exp(-rate t)``, reduced to ``2^n 2^f``.

With AVX-512 n is a multiple of 1/16 (float32: 1/32): a table in two registers gives the fraction's power and one
instruction scales by the integer's. Elsewhere n is an integer, added to the exponent's bits. The rate comes in an array
of `decay_rates`, or is None, and t is in octaves then: ``2^t``. In float64 the rounding of ``rate log2(e)`` is no more
than that of the rate; float32 keeps what it leaves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import get_or_insert_function

from . import emit
from .alignment import TABLE
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

HIGH, LOW, ZERO_FROM = range(3)  # places in the array of `decay_rates`


def decay_rates(rate: float, dtype: np.dtype[Any]) -> list[Any]:
    """Return ``-rate log2(e)`` in two parts, and a t from which on ``exp(-rate t)`` is 0."""
    kind, largest = dtype.type, float(np.finfo(dtype).max)
    exact = -Fraction(rate) * _LOG2_E
    high = kind(float(exact))
    low = kind(float(exact - Fraction(float(high))))
    octaves = 2.0 - float(np.finfo(dtype).minexp)
    return [high, low, kind(min(octaves / -float(high), largest) if high else largest)]


def table_length(itemsize: int) -> int:
    """Return the number of fractional powers that `add_decays` wants each weight multiplied by."""
    return TABLE // itemsize if has_avx512() else 1


@intrinsic
def decay_block(typing_context: Any, t: Any, rates: Any) -> Any:
    """Compute ``exp(-rate t)``, rate t at most 1e13 (float32: 9e4): n is exact. Between the calls of `flush_tiny`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rate = _numbers(context, builder, t, rates, arguments[1])[:2]
        out = [
            vector
            for row in _rows(t, emit.vectors_of(builder, arguments[0]))
            for vector in _exponentials(builder, t, row, rate, masked=False)
        ]
        return emit.value_of(builder, arguments[0].type, out)

    return t(t, rates), generate


@intrinsic
def decay_beyond(typing_context: Any, t: Any, reference: Any, rates: Any) -> Any:
    """Compute ``exp(-rate (t - reference))`` at any rate; each row's `reference` is one for all control points.

    It is 0 below the normal range, and where t is infinite (unless rate is next to nothing).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *rate, zero_from = _numbers(context, builder, t, rates, arguments[2])
        own = emit.vectors_of(builder, arguments[1])
        out: list[Any] = []
        for row in _rows(t, emit.vectors_of(builder, arguments[0])):
            beyond = [emit.smaller(builder, builder.fsub(v, s), zero_from) for v, s in zip(row, own, strict=True)]
            out += _exponentials(builder, t, beyond, rate, masked=True)
        return emit.value_of(builder, arguments[0].type, out)

    return t(t, reference, rates), generate


@intrinsic
def add_decays(typing_context: Any, sums: Any, t: Any, rates: Any, w: Any, at: Any) -> Any:
    """Return ``sums + (sum_k w_k exp(-rate t_k))``; w (n, `table_length`) holds w_k times each fractional power.

    Between the calls of `flush_tiny`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, block, array, w_value, at_value = arguments
        rate = _numbers(context, builder, t, rates, array)[:2]
        length = table_length(t.scalar.bitwidth // 8)
        part: list[Any] = []
        for k, row in enumerate(_rows(t, emit.vectors_of(builder, block))):
            index = builder.mul(builder.add(at_value, _integer(k)), _integer(length))
            address = emit.address(context, builder, w, w_value, index)
            weights = _table(builder, row[0].type, address) if length > 1 else builder.load(address)
            terms = _weigh(builder, t, row, rate, weights)
            part = [emit.fused(builder, a, b, s) for (a, b), s in zip(terms, part, strict=True)] if part else [
                builder.fmul(a, b) for a, b in terms
            ]  # fmt: skip
        pairs = zip(emit.vectors_of(builder, total), part, strict=True)
        return emit.value_of(builder, total.type, [builder.fadd(a, s) for a, s in pairs])

    return sums(sums, t, rates, w, types.intp), generate


def _integer(number: int) -> Any:
    return ir.Constant(ir.IntType(64), number)


def _table(builder: Any, kind: Any, address: Any) -> list[Any]:
    """Return the two vectors at an address."""
    address = builder.bitcast(address, kind.as_pointer())
    return [builder.load(builder.gep(address, [_integer(i)]), align=64) for i in range(2)]


def _rows(t: Any, vectors: list[Any]) -> list[list[Any]]:
    """Return the vectors of a block by control points: the code works on a row of registers at a time."""
    return [vectors[k : k + t.rows] for k in range(0, len(vectors), t.rows)]


def _numbers(context: Any, builder: Any, t: Any, array_type: Any, array: Any) -> list[Any]:
    """Return vectors of the numbers of `decay_rates`, none where there is no array."""
    if isinstance(array_type, types.NoneType):
        return []
    kind = context.get_value_type(t).element
    addresses = (emit.address(context, builder, array_type, array, _integer(place)) for place in (HIGH, LOW, ZERO_FROM))
    return [emit.broadcast(builder, builder.load(address), kind) for address in addresses]


def _weigh(builder: Any, t: Any, vectors: list[Any], rate: list[Any], weights: Any) -> list[tuple[Any, Any]]:
    """Return two factors of each exponential times its weight."""
    if has_avx512():
        return _by_table(builder, t, vectors, rate, weights, masked=False)
    number = emit.broadcast(builder, weights, vectors[0].type)
    return [(e, number) for e in _by_bits(builder, t, vectors, rate)]


def _exponentials(builder: Any, t: Any, vectors: list[Any], rate: list[Any], masked: bool) -> list[Any]:
    """Return the exponentials of a row of registers."""
    if has_avx512():
        return [builder.fmul(a, b) for a, b in _by_table(builder, t, vectors, rate, None, masked)]
    return _by_bits(builder, t, vectors, rate)


def _reduce(builder: Any, t: Any, vectors: list[Any], rate: list[Any], bits: int) -> tuple[list[Any], ...]:
    """Return the shifted sums with n in their low bits, n itself (to 1/2^bits) and f."""
    kind = vectors[0].type
    shifter = emit.constant(kind, 1.5 * 2.0 ** (_MANTISSA_BITS[t.scalar] - bits))
    if not rate:
        shifted = [builder.fadd(v, shifter) for v in vectors]
        n = [builder.fsub(s, shifter) for s in shifted]
        return shifted, n, [builder.fsub(v, m) for v, m in zip(vectors, n, strict=True)]
    high, low = rate
    shifted = [emit.fused(builder, v, high, shifter) for v in vectors]
    n = [builder.fsub(s, shifter) for s in shifted]
    f = [emit.fused(builder, v, high, builder.fneg(m)) for v, m in zip(vectors, n, strict=True)]
    if t.scalar == types.float32:
        f = [emit.fused(builder, v, low, r) for v, r in zip(vectors, f, strict=True)]
    return shifted, n, f


def _by_table(
    builder: Any, t: Any, vectors: list[Any], rate: list[Any], weights: list[Any] | None, masked: bool
) -> list[tuple[Any, Any]]:
    """Return 2^f and a table's power times 2^n, by AVX-512; masked, powers below the normal range are 0."""
    kind, bits, suffix = vectors[0].type, _TABLE_BITS[t.scalar], _SUFFIX[t.scalar]
    word = ir.VectorType(ir.IntType(t.scalar.bitwidth), t.lanes)
    shifted, n, f = _reduce(builder, t, vectors, rate, bits)
    powers = [2.0 ** (j / 2**bits) for j in range(2**bits)]
    lower, upper = weights or [ir.Constant(kind, powers[i * t.lanes : (i + 1) * t.lanes]) for i in range(2)]
    permute = _declare(builder, f"llvm.x86.avx512.vpermi2var.{suffix}.512", kind, [kind, word, kind])
    mask, word32 = ir.IntType(t.lanes), ir.IntType(32)
    scale = _declare(builder, f"llvm.x86.avx512.mask.scalef.{suffix}.512", kind, [kind, kind, kind, mask, word32])
    zero, rounding = emit.constant(kind, 0.0), ir.Constant(word32, 4)
    power = emit.polynomials(builder, _SHORT_POWER[t.scalar], f)
    entry = [builder.call(permute, [lower, builder.bitcast(s, word), upper]) for s in shifted]
    ones = [ir.Constant(mask, -1)] * len(n)
    masks = [builder.bitcast(k, mask) for k in _normal(builder, t, n)] if masked else ones
    scaled = [builder.call(scale, [e, m, zero, k, rounding]) for e, m, k in zip(entry, n, masks, strict=True)]
    return list(zip(power, scaled, strict=True))


def _declare(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Declare one of LLVM's functions in the builder's module."""
    return get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)  # type: ignore[no-untyped-call]


def _by_bits(builder: Any, t: Any, vectors: list[Any], rate: list[Any]) -> list[Any]:
    """Return exponentials on any machine: a longer polynomial, the integer power added to the exponent's bits."""
    kind, bits = vectors[0].type, _MANTISSA_BITS[t.scalar]
    word = ir.VectorType(ir.IntType(t.scalar.bitwidth), t.lanes)
    shifted, n, f = _reduce(builder, t, vectors, rate, 0)
    power = emit.polynomials(builder, _POWER[t.scalar], f)
    exponent = [builder.shl(builder.bitcast(s, word), emit.constant(word, bits)) for s in shifted]
    pairs = zip(power, exponent, strict=True)
    scaled = [builder.bitcast(builder.add(builder.bitcast(p, word), e), kind) for p, e in pairs]
    zero = emit.constant(kind, 0.0)
    return [builder.select(k, s, zero) for k, s in zip(_normal(builder, t, n), scaled, strict=True)]


def _normal(builder: Any, t: Any, n: list[Any]) -> list[Any]:
    """Tell which powers of 2 are normal numbers."""
    least = emit.constant(n[0].type, 3.0 - 2 ** (t.scalar.bitwidth - _MANTISSA_BITS[t.scalar] - 2))
    return [builder.fcmp_ordered(">=", m, least) for m in n]
