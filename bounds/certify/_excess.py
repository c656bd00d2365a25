"""Integrals of the largest (t - w) k(t) in windows of angles, in ball arithmetic.

docs/theorems/4.A-separated-points.md, 4.B-equal-measure.md and 4.F-random-points.md.

phi(t) = (t - w) k(t), 0 < w <= pi/2, increases up to t1, the first root of h(t) = lambda sin t (t - w) = 1 beyond w,
falls up to the second one, t2, and increases again up to pi: log[sin t (t - w)] is concave. On a window [a, b] its
largest value is therefore phi(b) for b <= t1, phi(t1) for a <= t1 <= b, phi(a) for a >= t1, or phi(b) where b > t2
and that is larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from flint import acb, arb, ctx

from ..records.enclosure import CertificationError
from ..theorems import _integrals as float64
from ._balls import less, newton_bracket
from ._zonal import Hint, Integrand, Kernel, Part, larger


@dataclass(frozen=True)
class Excess:
    """phi at a concentration (an exact number), with its threshold w."""

    kernel: Kernel
    threshold: arb

    @cached_property
    def _float(self) -> float64.Excess:
        return float64.Excess(float(self.kernel.concentration), self.kernel.dim, float(self.threshold))

    @cached_property
    def rise(self) -> arb | None:
        """t1 - w, or None where phi only increases."""
        lam, w = self.kernel.concentration, self.threshold
        guess = self._float.rise
        if float(w) + guess < math.pi:

            def excess(x: arb) -> arb:
                return lam * (w + x).sin() * x - 1

            def slope(x: arb) -> arb:
                return lam * ((w + x).sin() + (w + x).cos() * x)

            return newton_bracket(excess, slope, arb(guess))
        # h < 1 throughout: sin t (t - w) is at most its value where tan t = w - t, about
        if self._largest() < 1:
            return None
        raise CertificationError("whether phi has a maximum is uncertain")

    def _largest(self) -> arb:
        """Bound the largest h(t): on each of many intervals by its sine and its distance."""
        lam, w, steps = self.kernel.concentration, self.threshold, 4096
        step = (arb.pi() - w) / steps
        tops = [(w + step * arb(i).union(arb(i + 1))).sin().upper() * (step * (i + 1)) for i in range(steps)]
        return lam * max(tops, key=float).upper()

    def phi(self, t: acb) -> acb:
        """Return phi relative to the kernel at its mode."""
        return (t - acb(self.threshold)) * self.kernel.factor(t)

    def hints(self, r: float) -> list[Hint]:
        """Return the modes and widths of the stretches of float64."""
        stretches = [*self._float.negative(r), *self._float.positive(r)]
        return [(s.mode + s.shift, min(s.width, 1.0)) for s in stretches]

    def negative(self, r: arb) -> list[Part]:
        """Return the parts of -g on 0 <= u < w - r, g(u) the largest phi within r of u."""
        gap = self.threshold - r
        if not less(arb(0), gap):
            return []
        width, near = acb(gap), acb(r)
        return [Part(lambda u, _: (width - u) * self.kernel.factor(u + near), arb(0), gap, hints=self.hints(float(r)))]

    def positive(self, r: arb) -> list[Part]:
        """Return the parts of g on u >= w - r, where it is positive."""
        # Step 1: without t1, phi increases up to pi
        start, end, hints = self.threshold - r, arb.pi() - r, self.hints(float(r))
        start = start if less(arb(0), start) else arb(0)
        if self.rise is None:
            last = self._constant(arb.pi())
            return [Part(self._shifted(r), start, end, hints=hints), Part(last, end, arb.pi(), hints=hints)]
        # Step 2: phi(u + r), up to u = t1 - r
        crest = self.threshold + self.rise
        first, top = (crest - r).lower(), (crest + r).upper()
        parts = []
        if less(start, first):
            parts.append(Part(self._shifted(r), start, first, hints=hints))
            start = first
        # Step 3: phi(t1), then phi(u - r), with phi beyond t2 added as an error: max(a, b) - a is at most b
        level, falling = self._constant(crest), self._shifted(-r)
        if self._negligible(crest):
            parts.append(Part(self._constant(arb.pi(), spill=True), start, arb.pi(), hints=hints))
            if not less(top, arb.pi()):
                return [*parts, Part(level, start, arb.pi(), hints=hints)]
            return [*parts, Part(level, start, top, hints=hints), Part(falling, top, arb.pi(), hints=hints)]
        # Step 4: or contested by phi at the upper end, between the marks where either end changes
        contest = (self._beyond(crest) - r).max(start).mid()  # up to here the window ends before t2
        marks = [
            (mark, name) for mark, name in ((top, "top"), (contest, "contest"), (end, "end")) if less(mark, arb.pi())
        ]
        inner, outer = "level", ""
        for mark, name in (*sorted(marks, key=lambda mark: float(mark[0])), (arb.pi(), "")):
            if mark > start:
                parts += self._stretch(inner, outer, start, high=mark, crest=crest, r=r)
                start = mark
            elif not mark <= start:
                raise CertificationError("two ends cannot be told apart")
            inner = "falling" if name == "top" else inner
            outer = {"contest": "upper", "end": "pole"}.get(name, outer)
        return parts

    def _stretch(self, inner: str, outer: str, low: arb, high: arb, crest: arb, r: arb) -> list[Part]:
        """Return the parts of max(phi at the window's inner end, phi at its outer end), or of the former alone."""
        hints, first = self.hints(float(r)), self._constant(crest) if inner == "level" else self._shifted(-r)
        if not outer:
            return [Part(first, low, high, hints=hints)]
        second = self._shifted(r) if outer == "upper" else self._constant(arb.pi())
        w, lam = self.threshold, self.kernel.concentration

        def lead(u: arb) -> arb:
            near = crest if inner == "level" else u - r
            far = u + r if outer == "upper" else arb.pi()
            middle, half = (near + far) / 2, (far - near) / 2
            if inner == "falling" and outer == "upper":
                middle, half = u, r
            return ((far - w) / (near - w)).log() - 2 * lam * middle.sin() * half.sin()

        return larger(first, second, lead, low=low, high=high, hints=hints)

    def _negligible(self, crest: arb) -> bool:
        """Decide whether phi beyond t2, at most phi(pi), is below rounding relative to the integral."""
        kernel, x1 = self.kernel, crest - self.threshold
        beyond = self.phi(acb.pi()).real * acb(kernel.mode).sin().real ** (1 - kernel.dim)
        return beyond < self.phi(acb(crest)).real * kernel.measure(acb(crest)).real * x1 * arb(2) ** -ctx.prec

    def _beyond(self, crest: arb) -> arb:
        """Return an angle at most t2, near it: h > 1 there and h < 1 from there to t2 is not excluded."""
        lam, w = self.kernel.concentration, self.threshold
        low, high = crest.upper(), arb.pi().upper()
        for _ in range(60):
            middle = ((low + high) / 2).mid()
            if lam * middle.sin() * (middle - w) > 1:
                low = middle
            else:
                high = middle
        return low

    def _shifted(self, r: arb) -> Integrand:
        shift = acb(r)
        return lambda u, _: self.phi(u + shift)

    def _constant(self, t: arb, spill: bool = False) -> Integrand:
        value = self.phi(acb(t))
        value = acb(value.real.union(arb(0))) if spill else value
        return lambda _u, _: value

    def cap(self, radius: arb) -> list[Part]:
        """Return the measure of a cap, in units of the other integrals."""
        return [Part(lambda _u, _: acb(1), arb(0), radius, hints=((min(float(radius), 1.57), self.kernel.width),))]

    def integral(self, parts: list[Part]) -> arb:
        """Return the sum of the parts' integrals."""
        return self.kernel.integral(*parts) if parts else arb(0)


def equal_balance(excess: Excess, radius: arb) -> arb:
    """Return int g of 4.B, up to a positive factor; W <= w if it is at most 0."""
    negative = excess.integral(excess.negative(radius))
    return excess.integral(excess.positive(radius)) - negative


def pack_balance(excess: Excess, radius: arb, separation: arb) -> arb:
    """Return the left less the right side of 4.A, radius < w; W <= w if it is at most 0."""
    w, kernel = excess.threshold, excess.kernel
    positive = excess.integral(excess.positive(separation / 2)) / excess.integral(excess.cap(separation / 2))
    cells = excess.integral(excess.negative(radius)) / excess.integral(excess.cap(radius))
    # 4.A: (w - rho) k(rho), or the mean over Voronoi cells
    nearest = (w - radius) * kernel.factor(acb(radius)).real
    return positive - nearest.max(cells)
