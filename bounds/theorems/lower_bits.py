"""The lower bound for tokens of b bits: docs/theorems/4.E-lower-without-sampling.md (bits)."""

from __future__ import annotations

import math

from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._floor import floor, separated

_DOUBLE = 64.0
"""Bits of a number in double precision; a token holds m+2 numbers: lambda b_k and xi_k."""


def lower_bits(problem: Problem) -> Bound:
    """Bound the prefix length below by M/b (4.E, bits): N tokens of b bits distinguish 2^(bN) targets."""
    log_points, angle = separated(problem)
    bits = _DOUBLE * (problem.dim + 2) if problem.bits is None else problem.bits
    log = log_points - math.log(bits)
    return floor(problem, THEOREM, log, angle, ("bits", bits), ("log points", log_points))


THEOREM = Theorem(
    "lower-bits", "docs/theorems/4.E-lower-without-sampling.md (bits)", "no tokens of so many bits do better",
    head="any", side="lower", count=lower_bits, options=("covering", "bits"),
)  # fmt: skip
