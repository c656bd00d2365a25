"""The lower bound for methods that sample, 4.5, in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.bound import Bound
from ..records.problem import Problem
from ._floor import angle_of, cover_of, from_below


@from_below
def prove(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare the covering number at (eps/L)^(1/alpha) (4.5)."""
    count = cover_of(problem, bound.radius)
    return lambda: count(angle_of(problem, 1))
