"""Integrals over S^m of functions of the colatitude against the kernel, in ball arithmetic.

Every integral is relative to the value of e^(lambda cos theta) sin^(m-1) theta at its mode, so that numbers stay of
order 1 where they matter; Arb's adaptive integration encloses each piece between kinks. Only quotients of such
integrals, or their signs, leave this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from flint import acb, arb, ctx

from ..records.enclosure import CertificationError

Integrand = Callable[[acb, bool], acb]
"""(colatitude, whether it has to be analytic on that ball) -> value, as `acb.integral` asks for it."""
Hint = tuple[float, float]
"""About where an integrand is large, and over what width: it decides speed only."""

_SPARE_BITS = 24
"""How much less than the working precision integrals are asked for, besides what exponents cost."""
_STEPS = (-9.0, -3.0, 0.0, 3.0, 9.0)
_MOST_EVALUATIONS = 30_000
_MOST_INTERVALS = 10_000


class Part(NamedTuple):
    """A function of the colatitude on an interval of analyticity."""

    function: Integrand
    low: arb
    high: arb
    hints: Sequence[Hint] = ()


def exponent_bits(dim: int, concentration: float) -> int:
    """Return the bits that the kernel's exponents, as large as 2 lambda, cost a working precision."""
    return math.frexp(2.0 * concentration + dim)[1]


@dataclass(frozen=True)
class Kernel:
    """The kernel e^(lambda cos v) sin^(m-1) theta over its value at the mode v = theta."""

    dim: int
    concentration: arb

    @cached_property
    def mode(self) -> float:
        """The mode of the kernel's own integrand, lambda sin^2 theta = (m-1) cos theta, in float64."""
        m1, lam = self.dim - 1.0, float(self.concentration)
        if m1 == 0.0:
            return 0.0
        total = m1 + math.hypot(m1, 2.0 * lam)
        return math.atan2(math.sqrt(2.0 * m1 / total), 2.0 * lam / total)

    @cached_property
    def width(self) -> float:
        """The standard deviation of the kernel, about."""
        m1, lam = self.dim - 1.0, float(self.concentration)
        bend = lam * math.cos(self.mode) + (m1 / math.sin(self.mode) ** 2 if m1 else 0.0)
        return 1.0 / math.sqrt(max(bend, 1.0))

    def factor(self, v: acb) -> acb:
        """Return e^(lambda (cos v - cos mode)) without cancellation."""
        mode = acb(self.mode)
        return (((v + mode) / 2).sin() * ((v - mode) / 2).sin() * (-2 * self.concentration)).exp()

    def measure(self, theta: acb) -> acb:
        """Return (sin theta / sin mode)^(m-1)."""
        if self.dim == 1:
            return acb(1)
        ratio: acb = theta.sin() / acb(self.mode).sin()
        return ratio ** (self.dim - 1)

    def peak(self, shift: float) -> float:
        """Return the first mode of the integrand with v = theta + shift, about."""
        m1, lam = self.dim - 1.0, float(self.concentration)
        low, high = max(0.0, -shift), 0.5 * math.pi
        if low >= high:
            return low
        while high - low > 0.01 * self.width:
            middle = 0.5 * (low + high)
            if lam * math.sin(middle + shift) * math.sin(middle) < m1 * math.cos(middle):
                low = middle
            else:
                high = middle
        return low

    @cached_property
    def total(self) -> arb:
        """The kernel's own integral."""
        return self.integral(Part(lambda theta, _: self.factor(theta), arb(0), arb.pi()))

    def integral(self, *parts: Part) -> arb:
        """Return the sum of the integrals of function(theta) sin^(m-1) theta, to the precision of the sum."""
        # Step 1: pieces about the modes, the heaviest first: it sets the tolerance of the others
        pieces = [piece for part in parts for piece in self._pieces(part)]
        pieces.sort(key=lambda piece: -_size(*piece))
        tolerance = arb(2) ** (_SPARE_BITS + exponent_bits(self.dim, float(self.concentration)) - ctx.prec)
        # Step 2: their sum
        total = arb(0)
        for integrand, low, high in pieces:
            if low.overlaps(high):  # the ends cannot be told apart
                total += (integrand(acb(low.union(high)), False) * acb(high - low)).real
                continue
            spare = tolerance * abs(total).lower() / len(pieces)
            value = acb.integral(
                integrand, acb(low), acb(high), rel_tol=tolerance, abs_tol=spare, eval_limit=_MOST_EVALUATIONS,
                use_heap=True,
            )  # fmt: skip
            if not value.is_finite():
                raise CertificationError("an integral could not be enclosed")
            total += value.real
        return total

    def _pieces(self, part: Part) -> list[tuple[Integrand, arb, arb]]:
        """Cut a part about its modes."""

        def integrand(theta: acb, analytic: bool) -> acb:
            return part.function(theta, analytic) * self.measure(theta)

        hints = part.hints or ((self.mode, self.width),)
        near = sorted({peak + width * step for peak, width in hints for step in _STEPS})
        inside = [arb(x) for x in near if part.low < x and part.high > x]
        cuts = [part.low, *inside, part.high]
        return [(integrand, a, b) for a, b in pairwise(cuts)]


def larger(
    first: Integrand, second: Integrand, lead: Callable[[arb], arb], low: arb, high: arb, hints: Sequence[Hint] = ()
) -> list[Part]:
    """Return the parts of the larger of two functions; `lead` has the sign of second - first, relative to their size.

    That sign is proved on intervals, halved where it is uncertain. Where the interval or the lead is about the root of
    the precision it stays undecided, and the union of both values is taken.
    """
    finest, level = (high - low) * arb(2) ** (-ctx.prec // 2), arb(2) ** (-3 * ctx.prec // 4)

    def either(u: acb, analytic: bool) -> acb:  # never analytic
        return acb(arb.nan()) if analytic else acb(first(u, False).real.union(second(u, False).real))

    runs: list[tuple[Integrand, arb, arb]] = []
    stack = [(low, high)]
    for _ in range(_MOST_INTERVALS):
        if not stack:
            return [Part(function, a, b, hints=hints) for function, a, b in runs]
        a, b = stack.pop()
        gap = lead(a.union(b))
        if gap < 0 or gap > 0 or not b - a > finest or abs(gap) < level:
            largest = first if gap < 0 else second if gap > 0 else either
            if runs and runs[-1][0] is largest:
                a = runs.pop()[1]
            runs.append((largest, a, b))
        else:
            middle = ((a + b) / 2).mid()
            stack += [(middle, b), (a, middle)]
    raise CertificationError("which of two functions is larger is uncertain in too many places")


def _size(integrand: Integrand, low: arb, high: arb) -> float:
    """Estimate the log of the integral of a piece."""
    value = abs(integrand(acb(((low + high) / 2).mid()), False).real) * (high - low)
    return float(value.upper().log()) if value > 0 else -math.inf
