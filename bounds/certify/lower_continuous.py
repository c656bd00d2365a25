"""What no continuous tokens can undercut, 4.E (continuous), in ball arithmetic."""

from __future__ import annotations

from flint import arb

from .._bound import Bound
from .._enclosure import Enclosure
from .._problem import Problem
from ._balls import enclose
from ._floor import separated


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.E (continuous): M over the reals of a token."""
    assert bound.radius is not None
    reals = problem.dim + 2.0
    points = separated(problem, bound.radius)
    return enclose(lambda: (points() - arb(reals).log()).max(0), digits + 2)
