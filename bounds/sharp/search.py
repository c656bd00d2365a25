"""The widest radius that keeps a promise, over all concentrations, and the prefix length that it gives."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar

from .._bound import Bound, Hypothesis
from .._problem import Problem
from ..covering import covering_bound

_WIDEST = 18.0
"""How far above Lambda_sharp, and above dim, a free concentration is looked for, in its natural logarithm."""

LogError = Callable[[float, float], float]
"""(concentration, radius) -> log of an error bound, increasing in the radius."""


def largest_radius(error: LogError, concentration: float, log_goal: float, top: float) -> float:
    """Return the largest radius <= top at which the error stays within its goal, 0 where none does."""

    def excess(log_radius: float) -> float:
        return error(concentration, math.exp(log_radius)) - log_goal

    high = math.log(top)
    if excess(high) <= 0.0:
        return top
    low, step = high - 2.0, 2.0
    while excess(low) > 0.0:
        high, step = low, 2.0 * step
        low -= step
        if low < math.log(top) - 600.0:
            return 0.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)))


def best_radius(
    error: LogError, log_goal: float, top: float, needed: float, fixed: float | None, dim: int
) -> tuple[float, float]:
    """Return (concentration, radius): the largest radius over all concentrations, or at the fixed one."""
    if fixed is not None:
        return fixed, largest_radius(error, fixed, log_goal, top)
    low = math.log(needed) + 1e-3 if needed > 0.0 else math.log(1e-3 * dim)
    high = max(low, math.log(dim)) + _WIDEST

    def loss(log_concentration: float) -> float:
        radius = largest_radius(error, math.exp(log_concentration), log_goal, top)
        return -math.log(radius) if radius > 0.0 else 1e3

    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
    concentration = math.exp(float(found.x))
    radius = largest_radius(error, concentration, log_goal, top)
    uniform = largest_radius(error, 0.0, log_goal, top) if needed == 0.0 else 0.0
    return (concentration, radius) if radius > uniform else (0.0, uniform)


def accuracy(needed: float, concentration: float) -> Hypothesis:
    """Return the hypothesis that the kernel itself is narrow enough."""
    return Hypothesis(f"concentration > {needed:.6g}", concentration > needed or needed == 0.0)


def from_cover(
    problem: Problem, theorem: str, section: str, concentration: float, radius: float, *hypotheses: Hypothesis
) -> Bound:
    """Turn an allowed covering radius into a prefix length."""
    log, reference = math.inf, f"docs/theorems.md, {section}"
    if radius > 0.0:
        cover = covering_bound(radius, problem.dim, problem.covering)
        log = cover.log
        hypotheses += cover.hypotheses
        reference += f", {cover.theorem} cover"
    return Bound("prefix length", log, "upper", theorem, reference, hypotheses, concentration, radius)
