"""The lower bound for methods that sample, 4.5, in ball arithmetic."""

from __future__ import annotations

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._balls import enclose
from ._floor import angle_of, cover_of


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose the covering number at (eps/L)^(1/alpha) (4.5)."""
    assert bound.radius is not None
    count = cover_of(problem, bound.radius)
    return enclose(lambda: count(angle_of(problem, 1)).max(0), digits + 2)
