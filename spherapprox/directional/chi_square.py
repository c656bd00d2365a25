"""The tail of a weighted sum of chi-squares, with relative accuracy however small it is."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from .._types import Float64

SMALL = 36.0  # e^-36 is left out
BLOCK = 256  # nodes that are taken at a time


def log_tail(x: float, weights: Float64, degrees: Float64) -> float:
    """Return log P(sum_l weights_l chi2(degrees_l) > x) to 1e-11, for positive weights and 30 degrees or more.

    Imhof's (1961) integral along the vertical line through the saddle c of e^(K(z) - x z)/z, K the cumulant generating
    function. The trapezoidal rule of step h has the error sum_{j != 0} e^(c D j) P(x + D j), D = 2 pi/h, of which the
    terms j < 0 are below e^(-c D), and Chernoff's inequality bounds the others; D is such that both are e^-36 of P.
    """
    if x <= 0.0:
        return 0.0
    pole = 0.5 / float(weights.max())

    def cumulant(z: float) -> float:
        return -0.5 * float(degrees @ np.log1p(-2.0 * z * weights))

    def slope(z: float) -> float:
        return float(degrees @ (weights / (1.0 - 2.0 * z * weights))) - x - 1.0 / z

    # Step 1: the saddle, and D
    c = float(brentq(slope, 1e-12 * min(pole, 1.0 / x), pole * (1.0 - 1e-12), xtol=1e-300, rtol=1e-6))
    log_peak = cumulant(c) - c * x
    bend = 2.0 * float(degrees @ (weights / (1.0 - 2.0 * c * weights)) ** 2) + 1.0 / (c * c)
    cost = SMALL - log_peak + math.log(c) + 0.5 * math.log(2.0 * math.pi * bend)  # less log P, nearly
    beyond = 0.5 * (c + pole)
    period = max(cost / c, (cost + cumulant(beyond) - beyond * x) / (beyond - c))
    # Step 2: the rule, until its terms are below e^-36 of the first
    tilted, total, k = 2.0 * weights / (1.0 - 2.0 * c * weights), -0.5 / c, 0
    step = 2.0 * math.pi / period
    while True:
        u = step * np.arange(k, k + BLOCK)
        turns = u[:, None] * tilted
        logs = -0.25 * (np.log1p(turns * turns) @ degrees) + 1j * (0.5 * (np.arctan(turns) @ degrees) - u * x)
        terms = np.exp(logs) / (c + 1j * u)
        total += float(terms.real.sum())
        k += BLOCK
        if abs(terms[-1]) * u[-1] * period < math.exp(-SMALL) * max(total, 1e-300) * 2.0 * math.pi:
            break
    return min(0.0, log_peak + math.log(total * step / math.pi))
