"""The lower bound for tokens of b bits, 4.E (bits), in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.bound import Bound
from ..records.problem import Problem
from ._degrees import constant
from ._floor import from_below, separated


@from_below
def prove(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare M/b, b the bits of a token (4.E, bits)."""
    bits, points = constant(bound, "bits"), separated(problem, bound.radius)
    return lambda: points() - arb(bits).log()
