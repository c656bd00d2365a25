"""Separation angles and point counts of the lower bounds 4.5 and 4.E."""

from __future__ import annotations

import math

import numpy as np

from spherapprox.special import log_cap_measure

from ..covering import covering_bound
from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._shells import log_shell
from ._squares import integer_spheres, log_arcs
from ._wraps import log_wrapped

SMALLEST_ANGLE = 1e-100
"""Smaller angles, which Hoelder classes of small exponent ask for, are raised to this one: the bound stays right."""


def angle_of(problem: Problem, factor: float) -> float:
    """Return (factor eps/L)^(1/alpha), at most pi, an angle over which targets vary by factor eps (4.5, 4.E)."""
    ratio = factor * (problem.eps / problem.lipschitz)
    log = math.log(ratio) / problem.exponent
    if log >= math.log(math.pi):
        return math.pi
    return math.pow(ratio, 1.0 / problem.exponent) if log > math.log(SMALLEST_ANGLE) else SMALLEST_ANGLE


def log_cover(dim: int, radius: float, covering: str) -> float:
    """Return the log of a lower bound on the covering number: the best (for dim 1 exact), or 1/sigma(C(radius))."""
    if covering == "best":
        return covering_bound(radius, dim, "circle" if dim == 1 else "best-lower").log
    return -float(log_cap_measure(dim, radius))


def separated(problem: Problem) -> tuple[float, float]:
    """Return (log M, angle) for M points of S^m pairwise more than the angle t = (2 eps/L)^(1/alpha) apart (4.E)."""
    angle = angle_of(problem, 2.0)
    if angle >= math.pi:
        return 0.0, angle
    if problem.dim == 1:
        return float(log_arcs(np.array(angle))), angle
    # 4.E, How many points: a covering number at t, the integer points of one norm, or dense lattices
    log_representations, _ = integer_spheres(problem.dim, angle)
    log = max(log_cover(problem.dim, angle, problem.covering), float(np.max(log_representations, initial=0.0)))
    if problem.covering == "best":
        log = max(log, log_shell(problem.dim, angle), log_wrapped(problem.dim, angle))
    return log, angle


def floor(
    problem: Problem, theorem: Theorem, log: float, angle: float, *constants: tuple[str, float], note: str = "",
    whole: bool = False, hypotheses: tuple[Hypothesis, ...] = (),
) -> Bound:  # fmt: skip
    """Return the bound of the prefix length from below, at least 1."""
    below = Hypothesis("eps < sup_norm", problem.eps < problem.sup_norm)
    conditions = (*hypotheses, below)
    return theorem.prefix_length(max(log, 0.0), *conditions, radius=angle, constants=constants, whole=whole, note=note)
