"""The law on (0, 1) of density proportional to s^(a-1) (1-s)^(b-1) e^(ks), whose constant is Kummer's 1F1(a; a+b; k).

It is that of the squared cosine of Watson's distribution, a = 1/2, and of (1-cosine)/2 of von Mises and Fisher's,
a = b. In v = log(s/(1-s)) less its mode, the density has one maximum, decays like exponentials and is analytic in a
strip about the real line, so that the trapezoidal rule converges geometrically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._integrals.piece import log1p_minus
from .._scalars.gamma import gamma_half_ratio
from .._scalars.gauss import gauss_legendre
from .._types import Float64

CUT = 42.0  # the rule ends where the density is below e^-42 of its largest value
STEP, SHARE = 0.07, 0.55  # the rule's step at most, and in standard deviations at the mode: e^-40 is left out
LONGEST = 300.0  # no side is longer than 90
PANEL_NODES = 10  # Gauss-Legendre nodes in a panel of the distribution function


@dataclass(frozen=True)
class KummerLaw:
    """The law with parameters a, b >= 1/2 and any real k."""

    a: float
    b: float
    k: float

    @cached_property
    def mode(self) -> tuple[float, float]:
        """The mode s of s times (1-s) times the density, and 1 - s, each to its last digits."""
        if self.k < 0.0:
            s, rest = KummerLaw(self.b, self.a, -self.k).mode
            return rest, s
        # k s^2 + (a+b-k) s - a = 0 and k r^2 - (a+b+k) r + b = 0 for r = 1 - s
        a, b, k = self.a, self.b, self.k
        root = math.hypot(k - a - b, 2.0 * math.sqrt(a * k))
        s = 2.0 * a / (root + (a + b - k)) if k <= a + b else ((k - a - b) + root) / (2.0 * k)
        return s, 2.0 * b / (k + a + b + root)

    @property
    def step(self) -> float:
        """The rule's step."""
        s, rest = self.mode
        return min(STEP, SHARE / math.sqrt(self.a * rest * rest + self.b * s * s))  # minus the second derivative

    def log_density(self, v: Float64) -> Float64:
        """Return the log of the density of v over its largest value."""
        s, rest = self.mode
        shift = np.expm1(v)
        scale = rest + s * np.exp(v)
        up, down = rest * shift / scale, -s * shift / scale  # relative changes of s and of 1 - s
        log_scale = np.log(scale)
        # at the mode k = b/(1-s) - a/s, so that all linear terms cancel
        first = np.where(np.abs(up) < 0.1, log1p_minus(up, math.inf), v - log_scale - up)
        second = np.where(np.abs(down) < 0.1, log1p_minus(down, math.inf), -log_scale - down)
        return np.asarray(self.a * first + self.b * second)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Where the rule ends."""
        v = self.step * 1.25 ** np.arange(math.log(LONGEST / self.step, 1.25))
        low, high = (float(side[self.log_density(side) < -CUT][0]) for side in (-v, v))
        return low, high

    @cached_property
    def rule(self) -> tuple[Float64, Float64, Float64]:
        """The rule's nodes as s and 1 - s, and its weights, relative to the density's largest value."""
        low, high = self.ends
        v: Float64 = self.step * np.arange(math.floor(low / self.step), math.ceil(high / self.step) + 1.0)
        s, rest = self.mode
        scale = rest + s * np.exp(v)
        return s * np.exp(v) / scale, rest / scale, self.step * np.exp(self.log_density(v))

    @cached_property
    def log_constant(self) -> float:
        """Log 1F1(a; a+b; k), for a = 1/2 or b = 1/2; relative accuracy where |k| is small."""
        if abs(self.k) <= 0.5 * (self.a + self.b):
            return math.log1p(self._series())
        return self._log_of_rule() + self.k * self.mode[0]

    @cached_property
    def log_scaled_constant(self) -> float:
        """Log 1F1(a; a+b; k), less k where that is positive, without cancellation for a large k."""
        if self.k <= 0.5 * (self.a + self.b):
            return self.log_constant - max(self.k, 0.0)
        return self._log_of_rule() - self.k * self.mode[1]

    def _log_of_rule(self) -> float:
        """Return log 1F1(a; a+b; k) less k s at the mode."""
        s, rest = self.mode
        log_beta = 0.5 * math.log(math.pi) - math.log(gamma_half_ratio(max(self.a, self.b)))
        return self.a * log_of(s, rest) + self.b * log_of(rest, s) - log_beta + math.log(math.fsum(self.rule[2]))

    def _series(self) -> float:
        """Return 1F1(a; a+b; k) - 1 by its power series."""
        term, total, j = 1.0, 0.0, 0.0
        while abs(term) > 1e-18 * abs(total):
            term *= (self.a + j) * self.k / ((self.a + self.b + j) * (j + 1.0))
            total, j = total + term, j + 1.0
        return total

    @cached_property
    def means(self) -> tuple[float, float]:
        """The means of s and of 1 - s, each with relative accuracy."""
        s, rest, weights = self.rule
        return float(weights @ s / weights.sum()), float(weights @ rest / weights.sum())

    def distribute(self, s: Float64, rest: Float64) -> Float64:
        """Return the probabilities of values up to s, whose complements are `rest`."""
        mode, mode_rest = self.mode
        with np.errstate(divide="ignore"):
            v = np.log(s / mode) - np.log(rest / mode_rest)
        return cumulate(self.log_density, *self.ends, width=4.0 * self.step, v=v)


def log_of(share: float, rest: float) -> float:
    """Return log(share) for two shares of sum 1."""
    return math.log(share) if share < 0.5 else math.log1p(-rest)


def cumulate(
    log_density: Callable[[Float64], Float64], low: float, high: float, *, width: float, v: Float64
) -> Float64:
    """Return the distribution function at v of an unnormalised density on [low, high], smooth on panels of a width."""
    inside = np.clip(v, low, high)
    edges = np.union1d(np.linspace(low, high, 2 + int((high - low) / width)), inside)
    nodes, weights = gauss_legendre(PANEL_NODES)
    half = 0.5 * np.diff(edges)
    at = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * nodes
    sums = np.concatenate([[0.0], np.cumsum(half * (np.exp(log_density(at)) @ weights))])
    return np.asarray(sums[np.searchsorted(edges, inside)] / sums[-1])
