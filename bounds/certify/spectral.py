"""The core head with spectral correction, 4.7, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._degrees import constant, counted, log_quadrature_points
from ._few import mean_value
from ._polynomials import bent, distance


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + rho_g |p_n|/a_n < eps (4.7)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    dim, n = problem.dim, int(constant(bound, "degree"))
    g = int(constant(bound, "exactness")) - n

    def spare(tail_degree: int) -> arb:
        return problem.eps - distance(n, problem) - bent(n, tail_degree, problem)

    def count(tail_degree: int) -> arb:
        return log_quadrature_points(n + tail_degree, dim)

    return counted(count, spare, g, problem.concentration or 1.0, problem, digits)
