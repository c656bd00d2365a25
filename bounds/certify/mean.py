"""The split head on equal-measure cells, 4.4 (mean), in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._few import few_points
from ._moments import shifted_mean
from ._radii import goal, kernel_of, log_cells, solved


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove the quotient of shifted integrals at most (eps/L)^(1/alpha) (4.4, mean)."""
    if (constant := few_points(bound, problem)) is not None:
        return constant

    def excess(radius: arb) -> arb:
        return (shifted_mean(kernel_of(bound, problem), radius) / goal(problem)).log()

    return solved(bound, problem, excess, lambda r: log_cells(problem.dim, r), digits)
