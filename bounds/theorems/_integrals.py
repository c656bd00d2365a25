"""Integrals over S^m of the largest (t - w) e^(lambda cos t) in windows of angles.

docs/theorems/4.A-separated-points.md, 4.B-equal-measure.md, 4.F-random-points.md.

phi(t) = (t - w) e^(lambda cos t) with 0 < w <= pi/2 is the excess that a point at angle t contributes: W <= w where the
excesses of all control points add up to no more than 0. It increases up to t1, the first root of
lambda sin t (t - w) = 1 beyond w, falls up to the second one, t2, and increases again up to pi (where there is no root,
phi only increases, and t1 stands for pi). So on [max(u-r, 0), min(u+r, pi)] its largest value g(u) is

    phi(u+r)                  for u + r <= t1,
    phi(t1)                   for u - r <= t1 <= u + r,
    phi(u-r)                  for t1 <= u - r,

except that, from some u* on, phi(min(u+r, pi)) is larger than the last two. g <= 0 for u <= w - r only. Every stretch
between these kinks is one integral; log |phi| is concave on [0, w), on (w, t1] and on [t1, pi/2] and falls on to t2, so
that with sin(u)^(m-1) each has one maximum. All values are relative to e^(lambda cos w) sin(w)^(m-1), in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from spherapprox._integrals.piece import log_sum
from spherapprox._integrals.zonal import HALF_PI, find_root
from spherapprox._scalars.gauss import gauss_legendre
from spherapprox._types import Float64
from spherapprox.special import log_cap_measure

from ._search import increasing_root

_TINY = 1e-300
_NODES = 36
_EDGES = np.array([-52.0, -10.0, 0.0, 10.0, 52.0])
"""Panels about a mode in widths: enough for a Gaussian in the inner two, for an exponential in all (tuned)."""
_NEGLIGIBLE = 60.0
"""Below another by more than this, in logarithms, an integral does not count."""


class Stretch(NamedTuple):
    """One smooth stretch: colatitudes u = y + shift for y in [low, high]; the angle is t = w + y + offset.

    `height` is the log of the integrand's constant factor, or nan where that factor is |phi(t)| or made of it.
    """

    low: float
    high: float
    mode: float
    width: float
    shift: float
    offset: float = 0.0
    height: float = math.nan


@dataclass(frozen=True)
class Excess:
    """phi(t) = (t - threshold) e^(concentration cos t) on S^dim; 0 < threshold <= pi/2."""

    concentration: float
    dim: int
    threshold: float

    @cached_property
    def rise(self) -> float:
        """t1 - w, the distance from the threshold w to phi's first maximum; pi - w where phi only increases."""
        lam, w = self.concentration, self.threshold
        if lam * (math.pi - w) < 1.0:  # no root
            return math.pi - w
        x = 2.0 / (lam * (w + math.sqrt(w * w + 4.0 / lam)))  # lam x (w + x) = 1, below the root
        for _ in range(60):  # Newton on a concave logarithm from the left: it rises to the root, if there is one
            slope = 1.0 / x + 1.0 / math.tan(w + x)
            if w + x >= math.pi or slope <= 0.0:
                return math.pi - w
            step = -math.log(lam * x * math.sin(w + x)) / slope
            x += step
            if step <= 1e-15 * x:
                break
        return x

    @cached_property
    def log_unit(self) -> float:
        """Log of sigma over the integrals' own measure sin(u)^(m-1) du / sin(w)^(m-1)."""
        measure = float(log_cap_measure(self.dim, self.threshold))
        return measure - float(self.log_integrals([self.cap(self.threshold)])[0])

    def log_value(self, x: float) -> float:
        """Return log |phi(w + x)| relative to e^(lambda cos w)."""
        half = 0.5 * x
        tilt = 2.0 * self.concentration * math.sin(self.threshold + half) * math.sin(half)
        return (math.log(abs(x)) if x != 0.0 else -math.inf) - tilt

    def cap(self, radius: float) -> Stretch:
        """Return the stretch that integrates to the measure of a cap."""
        return self.level(0.0, radius, 0.0)

    def negative(self, r: float) -> list[Stretch]:
        """Return the stretch with g < 0: -g = |phi(u + r)| for u < w - r."""
        gap = self.threshold - r
        if gap <= 0.0:
            return []
        mode = self.negative_mode(r)
        return [Stretch(0.0, gap, mode, width=self.width(mode, mode - gap), shift=0.0, offset=-gap)]

    def negative_mode(self, r: float) -> float:
        """Return the mode of |phi(u + r)| sin(u)^(m-1) on [0, w - r)."""
        lam, m1, gap = self.concentration, self.dim - 1.0, self.threshold - r
        if m1 == 0.0:
            return 0.0
        start = gap * m1 / (m1 + 1.0)
        if lam > 1e-100:  # below, the other guess is the smaller
            start = min(start, 2.0 * m1 / (lam * (r + math.sqrt(r * r + 4.0 * m1 / lam))))
        return self._mode(0.0, -gap, low=0.0, high=gap, start=start)

    def _mode(self, shift: float, offset: float, low: float, high: float, start: float) -> float:
        """Return the mode of a stretch: the zero y in [low, high] of the slope at u = y + shift, t = w + y + offset."""
        lam, m1 = self.concentration, self.dim - 1.0

        def fall(y: float) -> tuple[float, float]:
            x, sin = y + offset, max(math.sin(y + shift), _TINY)
            bend = lam * math.cos(self.threshold + x) + m1 / sin / sin
            return -self.slope(y + shift, x), bend + (1.0 / x / x if x != 0.0 else math.inf)

        return find_root(fall, low, high, x=start, noise=0.0)

    def positive(self, r: float) -> list[Stretch]:
        """Return the stretches with g > 0."""
        w, x1 = self.threshold, self.rise
        first, end = max(0.0, w - r + x1), self._takeover(r)
        level_end = min(w + r + x1, end)
        # Step 1: phi(u + r), rising up to u = t1 - r
        parts = [self._rising(r)] if first > 0.0 else []
        # Step 2: phi(t1), while the window holds t1
        parts.append(self.level(first, level_end, self.log_value(x1)))
        # Step 3: phi(u - r), falling up to u*
        if w + r + x1 < end:
            mode = x1
            if self.dim > 1 and w + r + mode < HALF_PI:
                mode = self._mode(w + r, 0.0, low=mode, high=HALF_PI - (w + r), start=mode)
            parts.append(self._moving(x1, end - (w + r), mode, shift=w + r))
        # Step 4: phi(min(u + r, pi)) from u* on
        if end < math.pi:
            last = math.pi - r
            if end < last:
                mode = min(max(end, HALF_PI), last) - (w - r)
                parts.append(self._moving(end - (w - r), math.pi - w, mode, shift=w - r))
            parts.append(self.level(max(end, last), math.pi, self.log_value(math.pi - w)))
        return [part for part in parts if part.low < part.high]

    def _takeover(self, r: float) -> float:
        """Return the colatitude u* from which on phi at the window's upper end, near pi, is largest; or pi."""
        lam, w, x1 = self.concentration, self.threshold, self.rise
        if x1 >= math.pi - w:  # phi only increases
            return math.pi
        top, least = self.log_value(x1), self.log_value(math.pi - w)
        if least + math.log(math.pi) - (self.dim - 1) * math.log(math.sin(w)) < top + math.log(x1) - _NEGLIGIBLE:
            return math.pi
        y = 1.0 / (lam * (math.pi - w))  # t2 = pi - y: Newton from the left again
        for _ in range(60):
            far = math.pi - w - y
            step = -math.log(lam * far * math.sin(y)) / (math.cos(y) / math.sin(y) - 1.0 / far)
            y += step
            if not step > 1e-14 * y:
                break

        def lead(u: float) -> float:
            return self.log_value(min(u + r, math.pi) - w) - self.log_value(max(u - r - w, x1))

        low = math.pi - y - r
        if lead(math.pi) <= 0.0:
            return math.pi
        return low if lead(low) >= 0.0 else float(brentq(lead, low, math.pi, xtol=1e-15, rtol=1e-14))

    def _rising(self, r: float) -> Stretch:
        """Return the stretch of phi(u + r) up to u = t1 - r."""
        low, high, shift = max(0.0, r - self.threshold), self.rise, self.threshold - r
        mode, start = high, max(low, HALF_PI - shift)
        if shift + high > HALF_PI and self.slope(shift + high, high) < 0.0:  # sin(u) falls faster than phi rises
            mode = self._mode(shift, 0.0, low=start, high=high, start=0.5 * (start + high))
        return Stretch(low, high, mode, width=self.width(shift + mode, mode), shift=shift)

    def _moving(self, low: float, high: float, mode: float, shift: float) -> Stretch:
        """Return a stretch in y = t - w."""
        mode = min(max(mode, low), high, max(low, HALF_PI - shift))
        return Stretch(low, high, mode, width=self.width(shift + mode, mode), shift=shift)

    def level(self, low: float, high: float, height: float) -> Stretch:
        """Return a stretch with a constant factor."""
        mode = min(max(low, HALF_PI), high)
        return Stretch(low, high, mode, width=self.width(mode, None), shift=0.0, offset=0.0, height=height)

    def width(self, u: float, x: float | None) -> float:
        """Return 1/max(|F'|, |F''|^(1/2)) for the log F of a stretch's integrand at colatitude u and angle w + x."""
        bend = math.sqrt(self.dim - 1.0) / max(math.sin(u), _TINY)
        if x is not None and x != 0.0:
            bend += math.sqrt(self.concentration * max(math.cos(self.threshold + x), 0.0)) + 1.0 / abs(x)
        steepest = max(abs(self.slope(u, x)), bend)
        return min(1.0 / steepest, 1e3) if steepest > 0.0 else 1e3

    def slope(self, u: float, x: float | None) -> float:
        """Return F', the slope of the log of a stretch's integrand at colatitude u and angle w + x."""
        slope = (self.dim - 1.0) * math.cos(u) / max(math.sin(u), _TINY) if self.dim > 1 else 0.0
        if x is not None and x != 0.0:
            slope += 1.0 / x - self.concentration * math.sin(self.threshold + x)
        return slope

    def log_integrals(self, stretches: Sequence[Stretch]) -> Float64:
        """Return the log of each stretch's integral over u."""
        phi, sines, weights = self.sampled(stretches)  # (stretches, 4 nodes) each
        return log_sums(phi + sines, weights)

    def sampled(self, stretches: Sequence[Stretch]) -> tuple[Float64, Float64, Float64]:
        """Return log |phi|, (m-1) log[sin(u)/sin(w)] and weights at the nodes of each stretch, (stretches, 4 nodes)."""
        # Step 1: the nodes on the panels about each mode
        low, high, mode, width, shift, offset, height = np.array(stretches).T[:, :, None]  # (stretches, 1) each
        edges = np.clip(mode + width * _EDGES, low, high)  # (stretches, panels + 1)
        half = 0.5 * np.diff(edges)[:, :, None]  # (stretches, panels, 1)
        x, weights = _rule()
        y = (edges[:, :-1, None] + half * (1.0 + x)).reshape(len(stretches), -1)  # (stretches, 4 nodes)
        # Step 2: log |phi(t)| relative to e^(lambda cos w), or a stretch's constant
        gap = y + offset
        tilt = 2.0 * self.concentration * np.sin(self.threshold + 0.5 * gap) * np.sin(0.5 * gap)
        moving = np.log(np.maximum(np.abs(gap), _TINY)) - tilt
        phi = np.where(np.isnan(height), moving, height)
        sines = (self.dim - 1.0) * np.log(np.maximum(np.sin(y + shift), _TINY) / math.sin(self.threshold))
        return phi, sines, (half * weights).reshape(y.shape)


@cache
def _rule() -> tuple[Float64, Float64]:
    return gauss_legendre(_NODES)


def log_sums(values: Float64, weights: Float64) -> Float64:
    """Return the log of each row's weighted sum of exponentials, weights >= 0."""
    top = values.max(axis=1)  # (rows,)
    terms = np.exp(values - top[:, None])
    terms *= weights  # all 0 where a stretch is narrower than rounding, which is far from all that counts
    result: Float64 = np.log(np.maximum(terms.sum(axis=1), _TINY)) + top
    return result


def log_total(logs: Float64) -> float:
    """Return the log of a sum of exponentials, -inf of none."""
    return log_sum(logs.tolist()) if logs.size else -math.inf


def root_of_falling(function: Callable[[float], float], guess: float, slope: float, low: float, high: float) -> float:
    """Return the root in [low, high] of a function that falls with about -slope, or the end nearer to it."""
    low, high = low / guess, high / guess
    root, _ = increasing_root(lambda y: -function(y * guess), 1.0, slope * guess, low=low, high=high)
    return root * guess
