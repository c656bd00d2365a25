"""The angles that chords subtend, for a block of registers."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from . import emit
from .emit import intrinsic

# asin(sqrt(z)) / sqrt(z) on 0 <= z <= 1/4, interpolated at Chebyshev nodes in 60-digit arithmetic.
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


@intrinsic
def angle_block(typing_context: Any, t: Any) -> Any:
    """Compute 2 arcsin(sqrt(t) / 2), the angle that a chord of squared length t subtends; pi for t beyond 4."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out = [_angle(builder, t.scalar, vector) for vector in emit.vectors_of(builder, arguments[0])]
        return emit.value_of(builder, arguments[0].type, out)

    return t(t), generate


def _angle(builder: Any, scalar: Any, t: ir.Value) -> ir.Value:
    """Return the angles of one vector of squared chords."""

    def number(value: float) -> Any:
        return emit.constant(t.type, value)

    z = emit.smaller(builder, builder.fmul(t, number(0.25)), number(1.0))
    sine = emit.call(builder, "llvm.sqrt", z)
    # arcsin s = pi/2 - 2 arcsin sqrt((1 - s)/2) beyond s = 1/2
    far = builder.fcmp_ordered(">", z, number(0.25))
    half = builder.fmul(builder.fsub(number(1.0), sine), number(0.5))
    z = builder.select(far, half, z)
    root = builder.select(far, emit.call(builder, "llvm.sqrt", half), sine)
    (series,) = emit.polynomials(builder, _ARCSINE[scalar], [z])
    arcsine = builder.fmul(root, series)
    return builder.select(
        far, emit.fused(builder, arcsine, number(-4.0), number(math.pi)), builder.fmul(arcsine, number(2.0))
    )
