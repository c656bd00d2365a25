"""The law on (0, 1) of density proportional to s^(a-1) (1-s)^(b-1) e^(ks), whose constant is Kummer's 1F1(a; a+b; k).

In v = log(s/(1-s)) less its mode, the density has one maximum, decays like exponentials and is analytic in a strip
about the real line, so that the trapezoidal rule converges geometrically.
"""

from __future__ import annotations

import math

import numpy as np

from .._integrals.piece import log1p_minus
from .._scalars.gamma import gamma_half_ratio
from .._scalars.gauss import gauss_legendre
from .._types import Float64

CUT = 42.0  # the rule ends where the density is below e^-42 of its largest value
STEP, SHARE = 0.07, 0.55  # the rule's step at most, and in standard deviations at the mode: e^-40 is left out
LONGEST = 300.0  # no side is longer than 90
PANEL_NODES = 10  # Gauss-Legendre nodes in a panel of four steps of the distribution function


class KummerLaw:
    """The law with parameters a, b >= 1/2, one of them 1/2, and any real k.

    `mode` is s and 1 - s at the maximum of s times (1-s) times the density, `means` of s and of 1 - s, to their last
    digits; `log_constants` are log 1F1(a; a+b; k), relatively accurate where |k| is small, and the same less k.
    """

    def __init__(self, a: float, b: float, k: float) -> None:
        self.a, self.b = a, b
        # Step 1: the mode; k s^2 + (a+b-k) s - a = 0, and k r^2 - (a+b+k) r + b = 0 for r = 1 - s
        root = math.hypot(a + b - abs(k), 2.0 * math.sqrt((a if k > 0.0 else b) * abs(k)))
        s, rest = (
            2.0 * end / (root + linear) if linear >= 0.0 else (root - linear) / (2.0 * own)
            for end, linear, own in ((a, a + b - k, k), (b, a + b + k, -k))
        )
        self.mode = s, rest
        # Step 2: the rule in v, from minus the second derivative at the mode
        self.step = min(STEP, SHARE / math.sqrt(a * rest * rest + b * s * s))
        v = self.step * 1.25 ** np.arange(math.log(LONGEST / self.step, 1.25))
        self.low, self.high = (float(side[self.log_density(side) < -CUT][0]) for side in (-v, v))
        v = self.step * np.arange(math.floor(self.low / self.step), math.ceil(self.high / self.step) + 1.0)
        weights, scale = self.step * np.exp(self.log_density(v)), rest + s * np.exp(v)
        self.means = tuple(float(weights @ (part / scale) / weights.sum()) for part in (s * np.exp(v), rest))
        # Step 3: the constant, by the power series for small k
        if abs(k) <= 0.5 * (a + b):
            term, total, j = 1.0, 0.0, 0.0
            while abs(term) > 1e-18 * abs(total):
                term *= (a + j) * k / ((a + b + j) * (j + 1.0))
                total, j = total + term, j + 1.0
            self.log_constants = math.log1p(total), math.log1p(total) - k
        else:
            log_beta = 0.5 * math.log(math.pi) - math.log(gamma_half_ratio(max(a, b)))
            log = a * _log_of(s, rest) + b * _log_of(rest, s) - log_beta + math.log(math.fsum(weights))
            self.log_constants = log + k * s, log - k * rest

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

    def distribute(self, s: Float64, rest: Float64) -> Float64:
        """Return the probabilities of values up to s, whose complements are `rest`, by Gauss's rule on panels."""
        with np.errstate(divide="ignore"):
            v = np.clip(np.log(s / self.mode[0]) - np.log(rest / self.mode[1]), self.low, self.high)
        panels = np.linspace(self.low, self.high, 2 + int((self.high - self.low) / (4.0 * self.step)))
        edges = np.union1d(panels, v)
        nodes, weights = gauss_legendre(PANEL_NODES)
        half = 0.5 * np.diff(edges)
        at = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * nodes
        sums = np.concatenate([[0.0], np.cumsum(half * (np.exp(self.log_density(at)) @ weights))])
        return np.asarray(sums[np.searchsorted(edges, v)] / sums[-1])


def _log_of(share: float, rest: float) -> float:
    """Return log(share) for two shares of sum 1."""
    return math.log(share) if share < 0.5 else math.log1p(-rest)
