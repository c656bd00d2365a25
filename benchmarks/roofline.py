"""The machine's arithmetic rates, measured with the vectors that the kernels use, and what they allow a dense sum."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from spherapprox._kernels.simd import emit, registers
from spherapprox._kernels.simd.registers import block_zeros, has_avx512, load_like
from spherapprox._kernels.simd.vectors import add, store

STEPS = 10**6


def _on_each(combine: Callable[..., Any]) -> Any:
    """Make a function of a block, combine(builder, vector, factor, term) with two constants."""

    def typed(typing_context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vectors = emit.vectors_of(builder, arguments[0])
            factor, term = (emit.constant(vectors[0].type, number) for number in (0.999999, 1e-9))
            return emit.value_of(builder, arguments[0].type, [combine(builder, v, factor, term) for v in vectors])

        return a(a), generate

    return intrinsic(typed)


fused_steps = _on_each(emit.fused)
addition_steps = _on_each(lambda builder, v, factor, term: builder.fadd(v, term))


@numba.njit(nogil=True)
def multiply_adds(steps, out):
    """Run as many independent multiply-adds as a block has vectors, over and over."""
    a = load_like(out, 0, block_zeros(out))
    for _ in range(steps):
        a = fused_steps(a)
    store(out, 0, a)


@numba.njit(nogil=True)
def additions_beside(steps, out):
    """Run as many additions beside them."""
    a = c = load_like(out, 0, block_zeros(out))
    for _ in range(steps):
        a = fused_steps(a)
        c = addition_steps(c)
    store(out, 0, add(a, c))


@dataclass(frozen=True)
class Machine:
    """Vector instructions per second on one thread, float64 lanes, and vectors of a block."""

    multiply_adds: float
    with_additions: float
    lanes: int

    @property
    def shared(self) -> bool:
        """Whether additions take the place of multiply-adds."""
        return self.with_additions < 1.4 * self.multiply_adds

    def limits(self, d: int, p: int, itemsize: int, split: bool) -> tuple[float, float]:
        """Return the pairs per second that multiply-adds allow, and those that all arithmetic does on shared units."""
        table = has_avx512()
        degree = {(8, True): 6, (4, True): 3, (8, False): 11, (4, False): 6}[itemsize, table]
        columns = p + split
        lanes = self.lanes * 8 // itemsize
        pipe = d + degree + (1 + p if split else 2)
        distance = d + 3 if d >= 14 else 2 * d
        exponential = (3 if itemsize == 8 else 4) + degree + (2 if table else 4)  # reduction, polynomial, scaling
        everything = distance + exponential + (1 + columns if split else 1)
        return lanes * self.multiply_adds / pipe, lanes * self.with_additions / everything


def streams() -> dict[str, Callable[[], None]]:
    """Return calls that each run a stream of `STEPS` blocks: multiply-adds, and these with additions."""
    width, rows, columns = registers.shape()
    out = np.full((rows * columns, width // 8), 1e-9)
    return {
        "multiply-adds": partial(multiply_adds, STEPS, out),
        "with additions": partial(additions_beside, STEPS, out),
    }


def machine(seconds: dict[str, float]) -> Machine:
    """Return the rates from the streams' seconds."""
    width, rows, columns = registers.shape()
    block = rows * columns * STEPS
    return Machine(block / seconds["multiply-adds"], 2 * block / seconds["with additions"], width // 8)


def lanes() -> int:
    """Return how many float64 a vector holds."""
    return registers.shape()[0] // 8
