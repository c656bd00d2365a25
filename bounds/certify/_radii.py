"""Theorems that ask for the largest radius at which an error bound stays within eps: a root, proved from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from flint import acb, arb, ctx

from .._bound import Bound
from .._problem import Problem
from . import covering, moments
from .enclosure import ZERO, CertificationError, Enclosure, enclose, hull, sign
from .excess import Excess, equal_balance, pack_balance
from .roots import Function, bracket
from .special import log_cap_measure
from .zonal import Kernel, Part, exponent_bits

Count = Callable[[arb], arb]
"""radius -> log N, falling."""


def goal(problem: Problem) -> arb:
    """Return (eps/L)^(1/alpha), the angle within which a target moves by at most eps."""
    ratio = arb(problem.eps) / arb(problem.lipschitz)
    return ratio if problem.exponent == 1.0 else ratio ** (1 / arb(problem.exponent))


@dataclass(frozen=True)
class Radius:
    """A theorem at a concentration: the largest radius with excess <= 0, and the count that it gives."""

    dim: int
    excess: Function
    count: Count
    extra: int
    digits: int

    def enclosed(self, guess: float) -> Enclosure:
        """Return the enclosure of log N between two radii, one proved small enough and one proved too large."""
        low, high = bracket(self.excess, guess, self.digits, self.extra)
        return hull(self._log(high), self._log(low)) if self.dim > 1 else self._arcs(low, high)

    def one_point(self) -> Enclosure:
        """Return log 1 = 0, proved enough."""
        if sign(lambda: self.excess(arb.pi()), self.digits, extra=self.extra) >= 0:
            raise CertificationError("one point cannot be proved enough")
        return ZERO

    def _log(self, radius: arb) -> Enclosure:
        return enclose(lambda: self.count(radius), self.digits + 2)

    def _arcs(self, low: arb, high: arb) -> Enclosure:
        """Return log N on the circle, where N jumps at radii pi/N: the jump between the radii is decided by itself."""
        most, least = self._log(low), self._log(high)
        n = round(math.exp(min(float(least.lower), 700.0)))
        if most.upper == least.upper or n > 2**50 or round(math.exp(float(most.lower))) != n + 1:
            return hull(least, most)
        fits = sign(lambda: self.excess(arb.pi() / n), self.digits, extra=self.extra)
        return hull(least, most) if fits == 0 else most if fits > 0 else least


def covered(bound: Bound, problem: Problem) -> Count:
    """Return the covering bound that float64 chose, as a function of the radius; its free share stays the same."""
    assert bound.radius is not None
    choice = covering.chosen(problem.dim, bound.radius, problem.covering)
    return lambda radius: covering.log_covering(problem.dim, radius, choice)


def _kernel(bound: Bound, problem: Problem) -> Kernel:
    assert bound.concentration is not None
    return Kernel(problem.dim, arb(bound.concentration))


def core(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.3 and 4.D: L E[theta^alpha] + L rho^alpha + F D <= eps."""
    second_order = bound.theorem == "sharp-core-centroid"
    lip, sup, alpha = arb(problem.lipschitz), arb(problem.sup_norm), arb(problem.exponent)

    @cache
    def smooth(_bits: int) -> tuple[Kernel, arb]:  # the part that is the same at every radius
        kernel = _kernel(bound, problem)
        return kernel, lip * moments.moment(kernel, alpha)

    def excess(radius: arb) -> arb:
        kernel, error = smooth(ctx.prec)
        variation = (moments.centroid_variation if second_order else moments.shift_variation)(kernel, radius)
        return error + lip * radius**alpha + sup * variation - arb(problem.eps)

    return _solved(bound, problem, excess, covered(bound, problem), digits)


def _solved(bound: Bound, problem: Problem, excess: Function, count: Count, digits: int) -> Enclosure:
    assert bound.radius is not None
    assert bound.concentration is not None
    theorem = Radius(problem.dim, excess, count, exponent_bits(problem.dim, bound.concentration), digits)
    return theorem.one_point() if bound.radius >= math.pi else theorem.enclosed(bound.radius)


def mean(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.4 (mean): the quotient of shifted integrals <= (eps/L)^(1/alpha)."""

    def excess(radius: arb) -> arb:
        return (moments.shifted_mean(_kernel(bound, problem), radius) / goal(problem)).log()

    return _solved(bound, problem, excess, lambda r: _cells(problem.dim, r), digits)


def _cells(dim: int, radius: arb) -> arb:
    """4.4: log of a number of equal-measure cells that lie within a radius of their centres; on the circle arcs."""
    return covering.log_circle(radius) if dim == 1 else -log_cap_measure(dim, radius / 6)


def equal(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.B: int of the largest phi within rho <= 0."""

    def excess(radius: arb) -> arb:
        return equal_balance(Excess(_kernel(bound, problem), goal(problem)), radius)

    return _solved(bound, problem, excess, lambda r: _cells(problem.dim, r), digits)


def pack(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.A with a maximal rho-separated set."""

    def excess(radius: arb) -> arb:
        return pack_balance(Excess(_kernel(bound, problem), goal(problem)), radius, radius)

    sharp = problem.covering == "best"
    return _solved(bound, problem, excess, lambda r: log_most_separated(problem.dim, r, sharp), digits)


def log_most_separated(dim: int, separation: arb, sharp: bool) -> arb:
    """4.A: log of a bound on the number of points at least so far apart: volume, or Rankin's too."""
    volume = -log_cap_measure(dim, separation / 2)
    sine = arb(2).sqrt() * (separation / 2).sin()
    if not sharp or not sine < 1:
        return volume
    b = sine.asin()
    kernel, edge = Kernel(dim, arb(0)), acb(b)

    def depth(u: acb, _: bool) -> acb:  # cos u - cos b
        return 2 * ((edge + u) / 2).sin() * ((edge - u) / 2).sin()

    hints = ((min(float(b), 1.57), float(b) / dim),)
    height = kernel.integral(Part(depth, arb(0), b, hints)) / kernel.integral(
        Part(lambda _u, _: acb(1), arb(0), b, hints)
    )
    rankin = 2 * sine.log() - (2 * b.cos() * height).log() - log_cap_measure(dim, b)
    return volume.min(rankin)


def nearest(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.4 (nearest): rho + eta + pi (N-1) e^(-lambda (cos rho - cos(rho+eta))) <= (eps/L)^(1/alpha), N covering at rho.

    With lambda free rho is (1 - slack) of the goal and a large enough lambda does; at a given lambda, with rho + eta
    where it is best, rho is the largest.
    """
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

    return _solved(bound, problem, excess, count, digits)


def _outer_angle(concentration: float, goal_: float, radius: float) -> float:
    """Return about the v = rho + eta in (rho, goal) where log(goal - v) - lambda cos v is largest: any v is valid."""
    low, high = radius, goal_
    for _ in range(200):
        middle = 0.5 * (low + high)
        if concentration * math.sin(middle) * (goal_ - middle) > 1.0:
            low = middle
        else:
            high = middle
    return low
