"""The processor's mode in which numbers below the normal range are 0."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import alloca_once, alloca_once_value, get_or_insert_function

from .emit import intrinsic
from .registers import has_avx512

_FLUSH = 0x8040  # bits of the control register: results, and operands, below the normal range are 0


@intrinsic
def flush_tiny(typing_context: Any) -> Any:
    """Take numbers below the normal range for 0 in this thread; returns what `restore_tiny` wants.

    Arithmetic with them takes some hundred times as long. Only for AVX-512, where exponentials have no mask against
    them.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(32)
        if not has_avx512():
            return ir.Constant(word, 0)
        slot = alloca_once(builder, word)  # type: ignore[no-untyped-call]
        _control(builder, "stmxcsr", slot)
        before = builder.load(slot)
        builder.store(builder.or_(before, ir.Constant(word, _FLUSH)), slot)
        _control(builder, "ldmxcsr", slot)
        return before

    return types.int32(), generate


@intrinsic
def restore_tiny(typing_context: Any, before: Any) -> Any:
    """Undo `flush_tiny`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if has_avx512():
            _control(builder, "ldmxcsr", alloca_once_value(builder, arguments[0]))  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(types.int32), generate


def _control(builder: Any, name: str, slot: Any) -> None:
    """Store the register that controls vector arithmetic, or load it."""
    pointer = builder.bitcast(slot, ir.IntType(8).as_pointer())
    function = ir.FunctionType(ir.VoidType(), [pointer.type])
    builder.call(get_or_insert_function(builder.module, function, f"llvm.x86.sse.{name}"), [pointer])  # type: ignore[no-untyped-call]
