"""The core head by positive quadrature, 4.C, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from . import _special as special
from ._degrees import constant, counted, log_quadrature_points, tail, term
from ._few import mean_value


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove that the degree, or the next one, suffices at the concentration (4.C)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    assert bound.concentration is not None
    degree, dim, alpha = int(constant(bound, "degree")), problem.dim, arb(problem.exponent)

    def spare(g: int) -> arb:
        lam, kappa = arb(bound.concentration), (arb.pi() ** 2 - 4) / 4
        if lam.is_zero():
            tau = tau_1 = tau_2 = arb(0)
            moment = 2 + kappa * (1 + arb(1) / (dim + 1))
        else:
            tau = tail(g, dim, lam)
            tau_1 = tau + term(g, dim, lam)
            tau_2 = tau_1 + term(g - 1, dim, lam)
            a_1 = special.eigenvalue(1, dim, lam)
            moment = 2 * (1 - a_1) + kappa * (2 * (1 - a_1) - dim * a_1 / lam)
        # 4.C: F tau_g + L (1 + tau_g)^(1-a/2) (M + 4 tau_(g-1) + 4 kappa tau_(g-2))^(a/2), M = E[2u + kappa u^2]
        near = (moment + 4 * (tau_1 + kappa * tau_2)) ** (alpha / 2)
        return problem.eps - problem.sup_norm * tau - problem.lipschitz * (1 + tau) ** (1 - alpha / 2) * near

    return counted(lambda g: log_quadrature_points(g, dim), spare, degree, bound.concentration, problem, digits)
