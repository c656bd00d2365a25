"""The largest radius at which an error bound stays within eps: a root, proved from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from . import _covering as covering
from ._balls import ZERO, enclose, hull, sign
from ._formulas import circle
from ._roots import Function, bracket
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


@dataclass(frozen=True)
class Radius:
    """A theorem at a concentration: the largest radius with excess <= 0, and the count that it gives."""

    dim: int
    excess: Function
    count: Count
    extra: int
    digits: int

    def enclosed(self, guess: float) -> Enclosure:
        """Enclose log N between two radii, one proved small enough and one proved too large."""
        low, high = bracket(self.excess, guess, self.digits, self.extra)
        return hull(self._log(high), self._log(low)) if self.dim > 1 else self._arcs(low, high)

    def one_point(self) -> Enclosure:
        """Prove that one point suffices; return log 1 = 0."""
        if sign(lambda: self.excess(arb.pi()), self.digits, extra=self.extra) >= 0:
            raise CertificationError("one point cannot be proved enough")
        return ZERO

    def _log(self, radius: arb) -> Enclosure:
        return enclose(lambda: self.count(radius), self.digits + 2)

    def _arcs(self, low: arb, high: arb) -> Enclosure:
        """Return log N on the circle, with the jump at a radius pi/N between the two decided by its own sign."""
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


def kernel_of(bound: Bound, problem: Problem) -> Kernel:
    """Return the kernel at a bound's concentration."""
    assert bound.concentration is not None
    return Kernel(problem.dim, arb(bound.concentration))


def solved(bound: Bound, problem: Problem, excess: Function, count: Count, digits: int) -> Enclosure:
    """Enclose the count at the largest radius with excess <= 0, near a bound's own."""
    assert bound.radius is not None
    assert bound.concentration is not None
    theorem = Radius(problem.dim, excess, count, exponent_bits(problem.dim, bound.concentration), digits)
    return theorem.one_point() if bound.radius >= math.pi else theorem.enclosed(bound.radius)


def log_cells(problem: Problem, radius: arb) -> arb:
    """Return the log of 1/sigma(C(R/6)), so many equal-measure cells of radius R exist (4.4); on the circle of arcs."""
    return circle(problem.dim, radius, 0.0) if problem.dim == 1 else -log_cap_measure(problem.dim, radius / 6)
