"""The lower bound for tokens continuous in the target, 4.E (continuous), in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.bound import Bound
from ..records.problem import Problem
from ._floor import from_below, separated


@from_below
def prove(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare M/(m+2), m+2 the reals of a token (4.E, continuous)."""
    points = separated(problem, bound.radius)
    return lambda: points() - arb(problem.dim + 2.0).log()
