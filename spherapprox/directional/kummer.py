"""The law on (0, 1) of density proportional to s^(a-1) (1-s)^(b-1) e^(ks), whose constant is Kummer's 1F1(a; a+b; k).

It is that of the squared cosine of Watson's distribution, where a = 1/2. In v = log(s/(1-s)) less its mode, the density
has one maximum, decays like exponentials and is analytic in a strip about the real line, so that the trapezoidal rule
converges geometrically.
"""

from __future__ import annotations

import math
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
PANEL_NODES = 10  # Gauss-Legendre nodes in a panel of four steps of the distribution function


@dataclass(frozen=True)
class KummerLaw:
    """The law with parameters a, b >= 1/2, one of them 1/2, and any real k."""

    a: float
    b: float
    k: float

    @cached_property
    def mode(self) -> tuple[float, float]:
        """The mode s of s times (1-s) times the density, and 1 - s, each to its last digits."""
        # k s^2 + (a+b-k) s - a = 0, and k r^2 - (a+b+k) r + b = 0 for r = 1 - s
        a, b, k = self.a, self.b, self.k
        root = math.hypot(a + b - abs(k), 2.0 * math.sqrt((a if k > 0.0 else b) * abs(k)))
        roots = []
        for end, linear, sign in ((a, a + b - k, 1.0), (b, a + b + k, -1.0)):
            roots.append(2.0 * end / (root + linear) if linear >= 0.0 else (root - linear) / (2.0 * sign * k))
        return roots[0], roots[1]

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
    def ends(self) -> tuple[float, float, float]:
        """The rule's step, and where it ends."""
        s, rest = self.mode
        step = min(STEP, SHARE / math.sqrt(self.a * rest * rest + self.b * s * s))  # minus the second derivative
        v = step * 1.25 ** np.arange(math.log(LONGEST / step, 1.25))
        low, high = (float(side[self.log_density(side) < -CUT][0]) for side in (-v, v))
        return step, low, high

    @cached_property
    def rule(self) -> tuple[Float64, Float64, Float64]:
        """The rule's nodes as s and 1 - s, and its weights, relative to the density's largest value."""
        (s, rest), (step, low, high) = self.mode, self.ends
        v: Float64 = step * np.arange(math.floor(low / step), math.ceil(high / step) + 1.0)
        scale = rest + s * np.exp(v)
        return s * np.exp(v) / scale, rest / scale, step * np.exp(self.log_density(v))

    @cached_property
    def log_constants(self) -> tuple[float, float]:
        """Log 1F1(a; a+b; k), relatively accurate where |k| is small, and the same less k without cancellation."""
        if abs(self.k) <= 0.5 * (self.a + self.b):  # by the power series
            term, total, j = 1.0, 0.0, 0.0
            while abs(term) > 1e-18 * abs(total):
                term *= (self.a + j) * self.k / ((self.a + self.b + j) * (j + 1.0))
                total, j = total + term, j + 1.0
            return math.log1p(total), math.log1p(total) - self.k
        s, rest = self.mode
        powers = self.a * _log_of(s, rest) + self.b * _log_of(rest, s)
        log_beta = 0.5 * math.log(math.pi) - math.log(gamma_half_ratio(max(self.a, self.b)))
        log = powers - log_beta + math.log(math.fsum(self.rule[2]))
        return log + self.k * s, log - self.k * rest

    @cached_property
    def means(self) -> tuple[float, float]:
        """The means of s and of 1 - s, each with relative accuracy."""
        s, rest, weights = self.rule
        return float(weights @ s / weights.sum()), float(weights @ rest / weights.sum())

    def distribute(self, s: Float64, rest: Float64) -> Float64:
        """Return the probabilities of values up to s, whose complements are `rest`, by Gauss's rule on panels."""
        step, low, high = self.ends
        with np.errstate(divide="ignore"):
            v = np.clip(np.log(s / self.mode[0]) - np.log(rest / self.mode[1]), low, high)
        edges = np.union1d(np.linspace(low, high, 2 + int((high - low) / (4.0 * step))), v)
        nodes, weights = gauss_legendre(PANEL_NODES)
        half = 0.5 * np.diff(edges)
        at = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * nodes
        sums = np.concatenate([[0.0], np.cumsum(half * (np.exp(self.log_density(at)) @ weights))])
        return np.asarray(sums[np.searchsorted(edges, v)] / sums[-1])


def _log_of(share: float, rest: float) -> float:
    """Return log(share) for two shares of sum 1."""
    return math.log(share) if share < 0.5 else math.log1p(-rest)
