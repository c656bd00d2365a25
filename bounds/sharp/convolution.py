"""The convolution error of the kernel, sharp: docs/theorems.md, 4.1."""

from __future__ import annotations

import math

from scipy.optimize import brentq

from spherapprox.vmf import VonMisesFisher


def concentration_needed(eps: float, dim: int, lipschitz: float) -> float:
    """4.1: the lambda with L E[theta] = eps, from which ``|f - K * f| <= eps`` for every L-Lipschitz f; sharp."""
    goal = eps / lipschitz
    if goal >= math.pi / 2.0:  # E[theta] = pi/2 at lambda = 0
        return 0.0

    def excess(log_lambda: float) -> float:
        return math.log(VonMisesFisher(dim, math.exp(log_lambda)).mean_angle() / goal)

    # E[theta] is about sqrt(m/lambda): a first guess, widened until it brackets
    high = math.log(dim) + 2.0 * math.log(math.pi / (2.0 * goal)) + 0.1
    while excess(high) > 0.0:
        high += 1.0
    low = high - 3.0
    while excess(low) < 0.0:
        low -= 3.0
        if low < -690.0:
            return 0.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15)))


def convolution_error(concentration: float, dim: int, lipschitz: float, exponent: float = 1.0) -> float:
    """4.1: sup of ``|f - K * f|`` over all f with modulus L t^exponent, equal to L E[theta^exponent]."""
    return lipschitz * float(VonMisesFisher(dim, concentration).mean_angle(exponent))
