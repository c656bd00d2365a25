"""The largest radius at which L E[theta^alpha] + L rho^alpha + F D(lambda, rho) = eps, for 4.3 and 4.D."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from spherapprox.vmf import VonMisesFisher

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Curve, Theorem
from ._search import LOG_SMALLEST, accuracy, best_radius, from_cover, golden, log_goal, log_sum, too_fine
from ._split_head import one_point
from .convolution import concentration_needed, log_concentration_at


def from_variation(
    problem: Problem,
    theorem: Theorem,
    log_variation: Callable[[float, float], float],
    order: float,
    model: Callable[[float, float], float],
) -> Bound:
    """Solve L E[theta^alpha] + L rho^alpha + F D(lambda, rho) = eps for the largest rho, and cover at it.

    `log_variation(concentration, radius)` is log D, about ``model(concentration, mean angle) rho^order``.
    """
    dim, exponent = problem.dim, problem.exponent
    if problem.eps >= problem.sup_norm:  # the head that is 0 everywhere
        return replace(one_point(problem, theorem), hypotheses=(Hypothesis("eps >= sup_norm: values 0 will do", True),))
    if (hypothesis := too_fine(problem)) is not None:
        return from_cover(problem, theorem, 0.0, 0.0, hypothesis)
    log_unit, log_sup = math.log(problem.lipschitz), math.log(problem.sup_norm)
    # 4.1: below it L E[theta^alpha] alone exceeds eps
    threshold = concentration_needed(problem.eps, dim, problem.lipschitz, exponent=exponent)

    def excess_at(concentration: float) -> Curve | None:
        room = problem.eps - problem.lipschitz * VonMisesFisher(dim, concentration).mean_angle(exponent)
        if room <= 0.0:
            return None
        log_room = math.log(room)

        def excess(log_radius: float) -> float:
            variation = log_sup + log_variation(concentration, math.exp(log_radius))
            return log_sum(log_unit + exponent * log_radius, variation) - log_room

        return excess

    start = _start(problem, order, model)
    top = math.exp(log_goal(problem))
    concentration, radius = best_radius(excess_at, start, order, top=top, threshold=threshold, problem=problem)
    return from_cover(problem, theorem, concentration, radius, accuracy(threshold, concentration))


def _start(problem: Problem, order: float, model: Callable[[float, float], float]) -> tuple[float, float]:
    """Return the (concentration, radius) that is best with theta at its mean, near the true optimum."""
    exponent, log_eps = problem.exponent, math.log(problem.eps) - math.log(problem.lipschitz)
    widest = min(math.exp(log_goal(problem)), 1.57)
    log_ratio = math.log(problem.sup_norm) - math.log(problem.lipschitz)

    def log_radius(share: float) -> float:
        angle = share * widest
        log_room = log_eps + math.log(-math.expm1(exponent * math.log(angle) - log_eps))
        log_slope = log_ratio + math.log(model(math.exp(log_concentration_at(angle, problem.dim)), angle))
        return -log_sum((log_slope - log_room) / order, -log_room / exponent)

    share = golden(log_radius, 1e-3, 0.999)
    return math.exp(log_concentration_at(share * widest, problem.dim)), math.exp(max(log_radius(share), LOG_SMALLEST))
