"""The lower bound for tokens continuous in the target, 4.E (continuous), in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._balls import enclose
from ._floor import separated


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose M/(m+2), m+2 the reals of a token (4.E, continuous)."""
    assert bound.radius is not None
    points = separated(problem, bound.radius)
    return enclose(lambda: (points() - arb(problem.dim + 2.0).log()).max(0), digits + 2)
