"""The core head by interpolation, 4.G, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._degrees import constant, counted, log_polynomials
from ._few import mean_value
from ._polynomials import bent, distance


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + N rho_g |p_n|/a_n < eps for N = dim P_g (4.G)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    n, g = int(constant(bound, "degree")), int(constant(bound, "tail degree"))

    def count(tail_degree: int) -> arb:
        return log_polynomials(tail_degree, problem.dim)

    def spare(tail_degree: int) -> arb:
        off = bent(n, tail_degree, problem)
        if problem.concentration:
            off *= count(tail_degree).exp()
        return problem.eps - distance(n, problem) - off

    return counted(count, spare, g, problem.concentration or 1.0, problem, digits)
