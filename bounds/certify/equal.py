"""The split head on equal-measure cells, 4.B, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._excess import Excess, equal_balance
from ._few import few_points
from ._radii import goal, kernel_of, log_cells, solved


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove that the integral of the largest phi within rho is at most 0 (4.B)."""
    if (constant := few_points(bound, problem)) is not None:
        return constant

    def excess(radius: arb) -> arb:
        return equal_balance(Excess(kernel_of(bound, problem), goal(problem)), radius)

    return solved(bound, problem, excess, lambda r: log_cells(problem.dim, r), digits)
