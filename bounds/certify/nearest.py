"""The split head on any points, 4.4 (nearest), in ball arithmetic."""

from __future__ import annotations

import math

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._balls import enclose
from ._few import few_points
from ._radii import covered, goal, solved


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove rho + eta + pi (N-1) e^(-lambda (cos rho - cos(rho+eta))) <= (eps/L)^(1/alpha), N covering at rho (4.4).

    With lambda free rho is (1 - slack) of the goal and a large enough lambda does; at a given lambda, with rho + eta
    where it is best, rho is the largest.
    """
    if (constant := few_points(bound, problem)) is not None:
        return constant
    assert bound.radius is not None
    count = covered(bound, problem)
    if problem.concentration is None:
        return enclose(lambda: count(goal(problem) * (1 - arb(problem.slack))), digits + 2)
    lam = arb(problem.concentration)
    outer = _outer_angle(float(lam), float(goal(problem)), bound.radius)

    def excess(radius: arb) -> arb:
        others = count(radius).expm1()  # N - 1
        rest = goal(problem) - outer
        drop = 2 * ((outer + radius) / 2).sin() * ((outer - radius) / 2).sin()
        return (arb.pi() * others / rest).log() - lam * drop

    return solved(bound, problem, excess, count, digits)


def _outer_angle(concentration: float, goal_: float, radius: float) -> float:
    """Maximise log(goal - v) - lambda cos v over v = rho + eta in (rho, goal), about: any v is valid."""
    low, high = radius, goal_
    for _ in range(200):
        middle = 0.5 * (low + high)
        if concentration * math.sin(middle) * (goal_ - middle) > 1.0:
            low = middle
        else:
            high = middle
    return low
