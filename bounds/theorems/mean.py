"""The split head on equal-measure cells, by its mean angle: docs/theorems/4.4-split-head.md (mean)."""

from __future__ import annotations

import math

from spherapprox.vmf import VonMisesFisher

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Curve, Prefix, Promise, Theorem
from ._search import NO_RADIUS, accuracy, best_radius, golden, least_error, log_goal, too_fine
from ._split_head import EQUAL_CELLS, LOG_PI, equal_measure_radius, log_equal_cells, log_error, one_point
from .convolution import concentration_needed, log_concentration_at
from .requirements import CELLS


def log_mean_error(concentration: float, radius: float, dim: int) -> float:
    """Bound log W of a split head on equal-measure cells within rho of their centres (4.4, mean)."""
    return float(VonMisesFisher(dim, concentration).shifted_mean_angle(radius, log=True))


def split_mean(problem: Problem) -> Bound:
    """Bound the prefix length of 4.4 (mean): N >= 1/sigma(C(rho/6)) equal-measure cells exist within rho."""
    dim, goal = problem.dim, log_goal(problem)
    if goal >= LOG_PI:
        return one_point(problem, THEOREM)
    if (hypothesis := too_fine(problem)) is not None:
        return THEOREM.prefix_length(math.inf, hypothesis, concentration=0.0, radius=0.0)
    angle = math.exp(goal)
    threshold = concentration_needed(angle, dim, 1.0)

    def excess_at(concentration: float) -> Curve:
        kernel = VonMisesFisher(dim, concentration)
        return lambda log_radius: kernel.shifted_mean_angle(math.exp(log_radius), log=True) - goal

    start = _mean_start(angle, dim)
    concentration, radius = best_radius(excess_at, start, 1.0, top=angle, threshold=threshold, problem=problem)
    hypotheses: tuple[Hypothesis, ...] = accuracy(threshold, concentration), EQUAL_CELLS
    if radius == 0.0 and hypotheses[0].holds:
        hypotheses += (NO_RADIUS,)
    log = log_equal_cells(radius, dim) if radius > 0.0 else math.inf
    return THEOREM.prefix_length(log, *hypotheses, concentration=concentration, radius=radius, whole=dim == 1)


def _mean_start(goal: float, dim: int) -> tuple[float, float]:
    """Return the best (concentration, radius) of the model W = theta e^(2 rho lambda sin theta), theta at its mean."""
    widest = min(goal, 1.57)

    def log_radius(share: float) -> float:
        angle = share * widest
        slope = 2.0 * math.exp(log_concentration_at(angle, dim)) * math.sin(angle)
        return -math.log(slope / math.log(goal / angle) + 1.0 / (goal - angle))

    share = golden(log_radius, 1e-3, 0.999)
    return math.exp(log_concentration_at(share * widest, dim)), math.exp(log_radius(share))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    log_w = log_mean_error(problem.fixed_concentration, prefix.radius, problem.dim)
    return log_error(problem, log_w), (EQUAL_CELLS,)


THEOREM = Theorem(
    "sharp-split-mean", "docs/theorems/4.4-split-head.md (mean)", "split head on equal-measure cells",
    head="split", count=split_mean, constants=("lipschitz",), options=("concentration",), error=_error,
    needs=("lipschitz", "concentration", "radius"), uses=("sup_norm",), requires=CELLS, radius=equal_measure_radius,
    measured="error", free_concentration=least_error,
)  # fmt: skip
