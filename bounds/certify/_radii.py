"""Proofs of the prefix lengths 1 and 2, and of counts at the largest radius within eps: a root between two signs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from . import _covering as covering
from ._balls import DIGITS, ZERO, Function, bracket, enclose, hull, sign
from ._formulas import circle
from ._special import log_cap_measure
from ._zonal import Kernel, exponent_bits

Count = Callable[[arb], arb]
"""radius -> log N, falling."""

Proof = Callable[[Bound, Problem, int], Enclosure]
"""(what float64 computed, the problem, digits) -> log N: what each theorem's module here has as `prove`."""


def goal(problem: Problem) -> arb:
    """Return the modulus angle (eps/L)^(1/alpha), over which a target varies by at most eps."""
    ratio = arb(problem.eps) / arb(problem.lipschitz)
    return ratio if problem.exponent == 1.0 else ratio ** (1 / arb(problem.exponent))


def covered(bound: Bound, problem: Problem) -> Count:
    """Return the covering bound that float64 chose, as a function of the radius; its free share stays the same."""
    assert bound.radius is not None
    choice = covering.choose_formula(problem.dim, bound.radius, problem.covering)
    return lambda radius: covering.log_covering(problem.dim, radius, choice)


def kernel_of(bound: Bound, problem: Problem) -> Kernel:
    """Return the kernel at a bound's concentration."""
    assert bound.concentration is not None
    return Kernel(problem.dim, arb(bound.concentration))


def solved(bound: Bound, problem: Problem, excess: Function, count: Count, digits: int) -> Enclosure:
    """Enclose the count at the largest radius with excess <= 0, between one proved small enough and one too large."""
    assert bound.radius is not None
    assert bound.concentration is not None
    extra = exponent_bits(problem.dim, bound.concentration)
    if bound.radius >= math.pi:
        if sign(lambda: excess(arb.pi()), digits, extra=extra) >= 0:
            raise CertificationError("one point cannot be proved enough")
        return ZERO
    low, high = bracket(excess, bound.radius, digits, extra=extra)
    largest, least = (enclose(partial(count, radius), digits + 2) for radius in (low, high))
    if problem.dim > 1 or largest.upper == least.upper:
        return hull(least, largest)
    # on the circle the jump at a radius pi/N between the two is decided by its own sign
    n = round(math.exp(min(float(least.lower), 700.0)))
    if n > 2**50 or round(math.exp(float(largest.lower))) != n + 1:
        return hull(least, largest)
    fits = sign(lambda: excess(arb.pi() / n), digits, extra=extra)
    return hull(least, largest) if fits == 0 else largest if fits > 0 else least


def log_cells(problem: Problem, radius: arb) -> arb:
    """Return the log of 1/sigma(C(R/6)), so many equal-measure cells of radius R exist (4.4); on the circle of arcs."""
    return circle(problem.dim, radius, 0.0) if problem.dim == 1 else -log_cap_measure(problem.dim, radius / 6)


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
        if (constant_bound := few_points(bound, problem)) is not None:
            return constant_bound

        def at(radius: arb) -> arb:
            return excess(kernel_of(bound, problem), goal(problem), radius)

        return solved(bound, problem, at, count=lambda radius: count(problem, radius), digits=digits)

    return prove
