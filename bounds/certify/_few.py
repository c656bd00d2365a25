"""Proofs of the prefix lengths 1 and 2, and of split heads at the largest radius, common to several theorems."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ._balls import DIGITS, ZERO, enclose, hull, sign
from ._radii import Proof, goal, kernel_of, solved
from ._zonal import Kernel


def zero_weights(bound: Bound, problem: Problem) -> Enclosure | None:
    """Prove that the zero head suffices, eps >= F; None for other bounds."""
    return ZERO if _few(bound) and problem.eps >= problem.sup_norm else None


def mean_value(bound: Bound, problem: Problem) -> Enclosure | None:
    """Prove that the mean of the target, or 0, suffices at lambda = 0 (4.C); None for other bounds."""
    uniform = problem.concentration in (None, 0.0) and problem.sobolev_order is None
    if _few(bound) and uniform and sign(lambda: goal(problem) - arb.pi() / 2) > 0:
        return ZERO
    return zero_weights(bound, problem)


def few_points(bound: Bound, problem: Problem) -> Enclosure | None:
    """Prove that one point, W <= pi, or two antipodes, W <= pi/2, suffice (4.A); None for other bounds."""
    if not _few(bound) or bound.radius is None or bound.radius < 0.5 * math.pi:
        return None
    # float64 may have rounded the goal up
    if sign(lambda: goal(problem) - arb.pi()) > 0:
        return ZERO
    if sign(lambda: goal(problem) - arb.pi() / 2) > 0:
        pair = enclose(lambda: arb(2).log(), 2 * DIGITS)
        return pair if bound.log > 0.0 else hull(ZERO, pair)
    raise CertificationError("the accuracy cannot be proved wide enough for so few tokens")


def _few(bound: Bound) -> bool:
    return bound.whole and bound.log <= math.log(2.0)


def by_radius(excess: Callable[[Kernel, arb, arb], arb], count: Callable[[Problem, arb], arb]) -> Proof:
    """Make the proof of a count at the largest radius with excess(kernel, goal, radius) <= 0 (4.4 mean, 4.A, 4.B)."""

    def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
        if (constant := few_points(bound, problem)) is not None:
            return constant

        def at(radius: arb) -> arb:
            return excess(kernel_of(bound, problem), goal(problem), radius)

        return solved(bound, problem, at, lambda radius: count(problem, radius), digits)

    return prove
