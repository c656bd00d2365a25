"""The convolution error of the kernel, sharp, for Lipschitz and Hoelder targets: docs/theorems/4.1-convolution.md."""

from __future__ import annotations

import math

from spherapprox._integrals import zonal
from spherapprox._integrals.piece import log_integral, log_sum
from spherapprox.vmf import VonMisesFisher

from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._search import increasing_root

LOG_LARGEST = math.log(1e300)
"""The logarithm of the largest concentration that the kernel is computed for."""
_NARROWEST = 1e-155
"""Kernels whose mean angle is below this have larger concentrations."""


def concentration_needed(eps: float, dim: int, lipschitz: float, exponent: float = 1.0) -> float:
    """Solve L E[theta^alpha] = eps for the least lambda with ``|f - K * f| <= eps`` (4.1); inf beyond `LOG_LARGEST`."""
    log_goal = math.log(eps) - math.log(lipschitz)
    uniform = 0.5 * math.pi if exponent == 1.0 else VonMisesFisher(dim, 0.0).mean_angle(exponent)
    if log_goal >= math.log(uniform):
        return 0.0

    def excess(log_lambda: float) -> float:
        return log_goal - zonal.log_moment(float(dim), math.exp(log_lambda), exponent)

    # E[theta^alpha] is about theta^alpha with lambda sin^2 theta = m cos theta, exact for high dimension
    angle = 0.5 * math.pi * math.exp((log_goal - math.log(uniform)) / exponent)
    if angle < _NARROWEST:
        return math.inf
    start = log_concentration_at(angle, dim)
    slope = exponent / (angle * (math.tan(angle) + 2.0 / math.tan(angle)))
    root, _ = increasing_root(excess, start, slope, low=-690.0, high=LOG_LARGEST)
    if root >= LOG_LARGEST:
        return math.inf
    return math.exp(root) if root > -690.0 else 0.0


def log_concentration_at(angle: float, dim: int) -> float:
    """Return the log of lambda = m cos(angle) / sin(angle)^2, a kernel of about this mean angle."""
    return math.log(dim) + math.log(math.cos(angle)) - 2.0 * math.log(math.sin(angle))


def convolution_error(
    concentration: float, dim: int, lipschitz: float, exponent: float = 1.0, sup_norm: float = math.inf
) -> float:
    """Return E[min(L theta^alpha, 2 F)], the supremum of ``|f - K * f|`` over a class (4.1)."""
    unbounded = math.exp(math.log(lipschitz) + zonal.log_moment(float(dim), concentration, exponent))
    if lipschitz * math.pow(math.pi, exponent) <= 2.0 * sup_norm:
        return unbounded
    kink = math.exp((math.log(2.0 * sup_norm) - math.log(lipschitz)) / exponent)  # L kink^alpha = 2 F
    base = zonal.kernel(float(dim), concentration)
    power = 4 if exponent < 1.0 and dim < 16 else 1  # resolves theta^alpha at 0, as in the kernel's own moments
    near = log_integral(base, 0.0, kink, factor=lambda theta: theta**exponent, power=power)
    beyond = log_integral(base, kink, math.pi)
    total = log_sum((math.log(lipschitz) + near, math.log(2.0 * sup_norm) + beyond))
    return min(math.exp(total - log_integral(base, 0.0, math.pi)), unbounded, 2.0 * sup_norm)


def _error(problem: Problem, _prefix: Prefix) -> Promise:
    p, lam = problem, problem.fixed_concentration
    error = convolution_error(lam, p.dim, p.lipschitz, exponent=p.exponent, sup_norm=p.sup_norm)
    return math.log(error), ()


THEOREM = Theorem(
    "convolution", "docs/theorems/4.1-convolution.md", "the kernel alone, without discretisation",
    head="any", options=("concentration",), error=_error, needs=("lipschitz", "concentration"), uses=("sup_norm",),
)  # fmt: skip
