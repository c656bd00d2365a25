"""Split heads: prefixes of one or two points, error bounds from mean angles, equal-measure cells."""

from __future__ import annotations

import math
from dataclasses import replace

from spherapprox._integrals.zonal import HALF_PI
from spherapprox.special import cap_angle, log_cap_measure

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._search import log_goal, too_fine

LOG_PI = math.log(math.pi)
EQUAL_CELLS = Hypothesis("cells of equal measure", True)


def moderate_concentration(problem: Problem) -> float:
    """Return the given concentration, or 16 m/w^2: enough for a prefix within a constant^m of the limit.

    With theta of order w, the kernel then falls by e^(16 m x) over a distance of w x, against volumes that grow by
    e^(m x).
    """
    return 16.0 * problem.dim / problem.goal**2 if problem.concentration is None else problem.concentration


def one_point(problem: Problem, theorem: Theorem) -> Bound:
    """Return the prefix length 1 of targets that vary by at most eps over the whole sphere."""
    return theorem.prefix_length(0.0, concentration=problem.concentration or 0.0, radius=math.pi, whole=True)


def extreme(problem: Problem, theorem: Theorem) -> Bound | None:
    """Return the bound for goals from pi/2 on, two antipodes (W <= pi/2 at every lambda) or one point, or too fine."""
    goal = log_goal(problem)
    if goal >= LOG_PI:
        return one_point(problem, theorem)
    if goal >= math.log(HALF_PI):
        antipodes = Hypothesis("eps >= lipschitz (pi/2)^exponent: two antipodes will do", True)
        return replace(one_point(problem, theorem), log=math.log(2.0), radius=HALF_PI, hypotheses=(antipodes,))
    if (hypothesis := too_fine(problem)) is not None:
        return theorem.prefix_length(math.inf, hypothesis, concentration=0.0, radius=0.0)
    return None


def log_error(problem: Problem, log_w: float) -> float:
    """Return the log of L W^exponent, at most 2 F: a convex mean of L theta^exponent is no more (Jensen) (4.4)."""
    log = math.log(problem.lipschitz) + problem.exponent * min(log_w, LOG_PI)
    return min(log, math.log(2.0 * problem.sup_norm))


def equal_measure_radius(n: float, dim: int) -> float:
    """Return the R with n sigma(C(R/6)) = 1, a radius of n existing cells of equal measure (4.4); on S^1 of n arcs."""
    return math.pi / math.floor(n) if dim == 1 else min(6.0 * float(cap_angle(dim, -math.log(n))), math.pi)


def log_equal_cells(radius: float, dim: int) -> float:
    """Return the log of 1/sigma(C(R/6)), so many equal-measure cells of radius R exist (4.4); on S^1 of arcs."""
    return math.log(math.ceil(math.pi / radius)) if dim == 1 else -float(log_cap_measure(dim, radius / 6.0))
