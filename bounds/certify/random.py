"""The split head on random points, 4.F, in ball arithmetic."""

from __future__ import annotations

import math

from flint import acb, arb, ctx

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ..theorems import random as float64
from ..theorems._integrals import Excess as FloatExcess
from ..theorems._window import Window
from ._balls import enclose
from ._degrees import constant
from ._excess import Excess
from ._radii import few_points, goal
from ._special import half, log_cap_measure
from ._zonal import Integrand, Kernel, Part, exponent_bits

_LEVELS = (3.7, 1.0, -3.0)
"""Logarithms of z = s |g| about which e^-z changes."""
_NEAR = 1e-6
"""How near the two counts of 4.F may be to the float64 one to be taken for it."""


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose the count of 4.F at the eta and s that float64 chose, bare or filled as it was."""
    if (constant_bound := few_points(bound, problem)) is not None:
        return constant_bound
    assert bound.concentration is not None
    # Step 1: bare points, if their count is the one of float64
    extra = exponent_bits(problem.dim, bound.concentration)
    log = enclose(lambda: _Points(bound, problem).log_bare(), digits + 2, extra=extra)
    if abs(float(log.midpoint) - bound.log) <= _NEAR * max(bound.log, 1.0):
        return log
    # Step 2: else fill points, at the distance that float64 took
    window, log_s = _window(bound, problem), constant(bound, "log_s")
    delta = float64.fill(window, log_s, window.rate(log_s).log).delta
    return enclose(lambda: _Points(bound, problem).log_filled(delta), digits + 2, extra=extra)


def _window(bound: Bound, problem: Problem) -> Window:
    """Return the window that float64 took."""
    assert bound.concentration is not None
    return Window(FloatExcess(bound.concentration, problem.dim, problem.goal), constant(bound, "eta"))


class _Points:
    """The integrals of 4.F at the precision set."""

    def __init__(self, bound: Bound, problem: Problem) -> None:
        self.kernel = Kernel(problem.dim, arb(bound.concentration))
        self.excess = Excess(self.kernel, goal(problem))
        self.eta = arb(constant(bound, "eta"))
        self.log_s = constant(bound, "log_s")
        self.window = _window(bound, problem)
        # float64 takes phi relative to the kernel at w
        self.s = arb(self.log_s).exp() / self.kernel.factor(acb(self.excess.threshold)).real
        # -log M, M = 1 - P + Q, over int sin^(m-1) = sqrt(pi) Gamma(m/2) / Gamma((m+1)/2)
        loss = [_mapped(part, self.s, -1) for part in self.excess.positive(self.eta)]
        dim = problem.dim
        log = half(1).lgamma() + half(dim).lgamma() - half(dim + 1).lgamma()
        sphere = log.exp() * acb(self.kernel.mode).sin().real ** (1 - dim)
        self.rate = -(-self.kernel.integral(*self._saved(), *loss) / sphere).log1p()
        if not self.rate > 0:
            raise CertificationError("M < 1 cannot be proved")

    def _saved(self) -> list[Part]:
        """Return the parts of P, of 1 - e^(-z) with a falling z = -s g, those of large z by a constant about 1."""
        saved = []
        for part in self.excess.negative(self.eta):
            hints = [(self.window.reach(level - self.log_s), self._step(level)) for level in _LEVELS]
            full = arb(self.window.reach(math.log(ctx.prec) - self.log_s))
            low = part.low
            if full > 0 and full < part.high:
                least = (self.s * part.function(acb(full), False).real).lower()
                share = acb(1 - arb(0).union((-least).exp()))
                flat = (min(float(full), 1.57), self.kernel.width)
                saved.append(Part(_fixed(share), part.low, full, hints=[flat]))
                low = full
            saved.append(_mapped(part._replace(low=low, hints=[*part.hints, *hints]), -self.s, -1))
        return saved

    def _step(self, level: float) -> float:
        """Return the distance over which z falls by a factor e at log z = level, about."""
        excess, eta = self.window.excess, self.window.eta
        u, gap = self.window.reach(level - self.log_s), excess.threshold - eta
        return 1.0 / (excess.concentration * math.sin(u + eta) + 1.0 / max(gap - u, 1e-16 * gap))

    def _log_net(self) -> arb:
        """Return the log of a bound on N(eta), by the formulas of `bounds.theorems._window.log_net`."""
        dim, eta = self.kernel.dim, self.eta
        if dim == 1:
            return (arb.pi() / eta).log1p()
        share = 1 / (1 + arb(dim))
        for _ in range(4):
            share = (1 / (1 + dim * ((1 - share) / share).log())).min(arb("0.45")).mid()
        log_v, log_s = (log_cap_measure(dim, x * eta) for x in (1 - share, share))
        filled = (log_v.exp() + log_v - log_s).log1p() - log_v
        return filled.min(-log_cap_measure(dim, eta / 2))

    def log_bare(self) -> arb:
        """Return log(1 + log N(eta)/(-log M)) (4.F, bare)."""
        return (self._log_net() / self.rate).log1p()

    def log_filled(self, delta: float) -> arb:
        """Return log(1 + (1 + log X)/(-log M)) (4.F, filled)."""
        excess, kernel = self.excess, self.kernel
        # Step 1: H
        apart = arb(delta).max(2 * self.eta)
        harm = excess.integral(excess.positive(apart / 2)) / excess.integral(excess.cap(apart / 2))
        # Step 2: q = N(eta) sigma(C(eta)) e^(-s (w-delta) k(delta)) / (-log M) < 1
        ball = log_cap_measure(kernel.dim, self.eta)
        saved = self.s * (excess.threshold - apart) * kernel.factor(acb(apart)).real
        failure = (self._log_net() + ball - self.rate.log() - saved).exp().max(arb(float64.FAILURE))
        if not failure < 1:
            raise CertificationError("q < 1 cannot be proved")
        # Step 3: X = e^(sH) (-log M) / ((1 - q) sigma(C(eta)))
        log_x = self.s * harm + self.rate.log() - ball - (-failure).log1p()
        return ((1 + log_x.max(0)) / self.rate).log1p()


def _fixed(value: acb) -> Integrand:
    return lambda _u, _: value


def _mapped(part: Part, scale: arb, factor: int) -> Part:
    """Return factor (e^(scale f) - 1) for a part's f."""
    function, s = part.function, acb(scale)

    def integrand(u: acb, analytic: bool) -> acb:
        return factor * (s * function(u, analytic)).expm1()

    mapped: Integrand = integrand
    return part._replace(function=mapped)
