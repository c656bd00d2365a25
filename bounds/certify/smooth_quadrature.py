"""The core head by positive quadrature for bounded second derivatives, 4.I, in ball arithmetic."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from flint import arb, ctx

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ..theorems.smooth_quadrature import ORDER, smooth_class, steepest
from ._degrees import constant, counted, log_quadrature_points, rising_tail
from ._radii import mean_value


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove that the degree, or the next one, suffices at the concentration (4.I)."""
    if smooth_class(problem).holds:
        problem = replace(problem, lipschitz=steepest(problem))
    if (constant_bound := mean_value(bound, problem)) is not None:
        return constant_bound
    assert bound.concentration is not None
    degree, dim = int(constant(bound, "degree")), problem.dim

    def spare(g: int) -> arb:
        lam = arb(bound.concentration)
        room = problem.eps - _polynomials(moments(lam, dim), problem)
        if lam.is_zero():
            return room  # every moment is exact from degree 4 on
        # 4.I: the rising tail times F + (H/2) P(B) + L y (1 + B_1/3 + 2 B_2/15) + L C (B_3/4 + B_4)
        y, b, rise = (g + 1) / lam, [arb(1)], arb(1)
        for j in range(1, ORDER + 1):
            rise *= 1 + arb(j - 1) / (dim + 2 * g + 1 + j)
            b.append(rise * ((1 + y) ** j + abs(1 - y) ** j) / 2)
        slope = problem.lipschitz * y * (1 + b[1] / 3 + 2 * b[2] / 15)
        weight = problem.sup_norm + _polynomials(b, problem) + slope
        return room - rising_tail(g, dim, lam, power=ORDER) * weight

    count, lam = partial(log_quadrature_points, dim=dim), bound.concentration
    return counted(count, spare, degree, concentration=lam, problem=problem, digits=digits)


def moments(concentration: arb, dim: int) -> list[arb]:
    """Enclose E u^j for j up to 4 (4.I, moments): r_j increases with r_(j+1), which lies between 0 and 2."""
    low, high, ratios = arb(0), arb(2), []
    for j in range(ctx.prec + 64, -1, -1):
        low, high = ((2 * j + dim) / (j + dim + concentration * (2 - r)) for r in (low, high))
        ratios.append(low.union(high))
    powers = [arb(1)]
    for _ in range(ORDER):
        powers.append(powers[-1] * ratios.pop())
    return powers


def _polynomials(powers: list[arb], problem: Problem) -> arb:
    """Return (H/2) P + L C (p_3/4 + p_4), P = 2 p_1 + p_2/3 + 4 p_3/45 + kappa p_4 (4.I)."""
    kappa = arb.pi() ** 2 / 16 - arb(17) / 45
    square = 2 * powers[1] + powers[2] / 3 + 4 * powers[3] / 45 + kappa * powers[4]
    slope = arb.pi() / arb(2) ** arb(3.5) * (powers[3] / 4 + powers[4])
    return arb(problem.smoothness) * square / 2 + problem.lipschitz * slope
