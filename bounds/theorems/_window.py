"""M(s) = E e^(s g), g(u) the largest excess phi within eta of u, for random points.

docs/theorems/4.F-random-points.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spherapprox._types import Float64
from spherapprox.special import log_cap_measure

from ._integrals import Excess, Stretch

_SATURATED, _LINEAR = math.log(42.0), -4.0  # the log z between which 1 - e^-z is neither 1 nor about z


class Rate(NamedTuple):
    """-log M at one s, M = E e^(s g) = 1 - P + Q: P over g < 0, Q over g > 0; all natural logarithms."""

    log: float  # of -log M; -inf where M >= 1
    log_d: float  # of 1 - M
    slope_p: float  # of dP / dlog s
    slope_q: float  # of dQ / dlog s


NO_RATE = Rate(-math.inf, -math.inf, 0.0, slope_q=0.0)


@dataclass(frozen=True)
class Window:
    """g(u), the largest phi within eta of u, for one eta < w."""

    excess: Excess
    eta: float

    @cached_property
    def positive(self) -> list[Stretch]:
        """The stretches with g > 0."""
        return self.excess.positive(self.eta)

    @cached_property
    def log_ball(self) -> float:
        """Log of sigma(C(eta))."""
        return float(log_cap_measure(self.excess.dim, self.eta))

    @cached_property
    def log_net(self) -> float:
        """Log of a bound on N(eta), the size of an eta-net."""
        return log_net(self.eta, self.excess.dim)

    def rate(self, log_s: float) -> Rate:
        """Integrate e^(s g) - 1 for -log M(s) and its slopes: nothing is subtracted but Q from P (4.F)."""
        # Step 1: z = s |g| at the nodes
        negative = self._negative(log_s)
        phi, sines, weights = self.excess.sampled([*negative, *self.positive])  # (stretches, nodes)
        k = len(negative)
        z = np.exp(np.clip(phi + log_s, -700.0, 6.5))
        # Step 2: the integrands of P, 1 - e^-z, and of Q, e^z - 1, with dlog / dlog z
        factors = np.concatenate([-np.expm1(-z[:k]), np.expm1(z[k:])])
        slopes = z / np.concatenate([np.expm1(z[:k]), -np.expm1(-z[k:])])
        values = np.log(factors) + sines
        # Step 3: P, Q and -log(1 - (P - Q))
        log_p, slope_p = self._sums(values[:k], slopes[:k], weights[:k])
        log_q, slope_q = self._sums(values[k:], slopes[k:], weights[k:])
        if log_q >= log_p:
            return NO_RATE._replace(slope_p=slope_p, slope_q=slope_q)
        log_d = log_p + math.log(-math.expm1(log_q - log_p))
        return Rate(
            math.log(-math.log1p(-math.exp(log_d))) if log_d > -36.0 else log_d, log_d, slope_p, slope_q=slope_q
        )

    def _sums(self, values: Float64, slopes: Float64, weights: Float64) -> tuple[float, float]:
        top = float(values.max())
        terms = np.exp(values - top) * weights
        scale = top + self.excess.log_unit
        return math.log(float(terms.sum())) + scale, math.log(max(float((terms * slopes).sum()), 1e-300)) + scale

    def _negative(self, log_s: float) -> list[Stretch]:
        """Return the stretches with g < 0, cut at the ends of large and of small z = s |g|."""
        excess, gap = self.excess, self.excess.threshold - self.eta
        full, small = self.reach(_SATURATED - log_s, 0.2), self.reach(_LINEAR - log_s, 0.2)
        parts = []
        if full > 0.0:
            parts.append(excess.level(0.0, full, _SATURATED + 1.0 - log_s))
        if small > full:
            parts.append(Stretch(full, small, 0.5 * (full + small), width=math.pi, shift=0.0, offset=-gap))
        mode = small
        if small == 0.0 or excess.slope(small, small - gap) > 0.0:
            mode = max(small, excess.negative_mode(self.eta))
        parts.append(Stretch(small, gap, mode, width=excess.width(mode, mode - gap), shift=0.0, offset=-gap))
        return [part for part in parts if part.low < part.high]

    def reach(self, level: float, tolerance: float = 0.0) -> float:
        """Return the root u of log |phi(u + eta)| = level, a falling function; 0 if it starts below."""
        excess, lam, gap = self.excess, self.excess.concentration, self.excess.threshold - self.eta
        if excess.log_value(-gap) <= level:
            return 0.0
        low, high, u = 0.0, gap, 0.9 * gap
        for _ in range(60):  # Newton on a concave function
            over = excess.log_value(u - gap) - level
            if abs(over) <= tolerance:
                break
            low, high = (u, high) if over > 0.0 else (low, u)
            new = u + over / (lam * math.sin(u + self.eta) + 1.0 / (gap - u))
            new = new if low < new < high else 0.5 * (low + high)
            step, u = abs(new - u), new
            if step <= 1e-15 * gap:
                break
        return u


def log_net(eta: float, dim: int) -> float:
    """Bound the log of the size of an eta-net by 4.2: circle, volume, or random then fill at nearly its best share."""
    if dim == 1:
        return math.log1p(math.pi / eta)
    share = 1.0 / (1.0 + dim)
    for _ in range(4):  # where (1 + log(v/s))/v is least, v/s = ((1-x)/x)^m
        share = min(1.0 / (1.0 + dim * math.log((1.0 - share) / share)), 0.45)
    log_v, log_s = (float(log_cap_measure(dim, x * eta)) for x in (1.0 - share, share))
    filled = math.log1p(math.exp(log_v) + log_v - log_s) - log_v
    return min(filled, -float(log_cap_measure(dim, 0.5 * eta)))
