"""Scalar kernels of Bregman's divergence of log 0F1, and of the derivative of a ratio of Bessel functions.

Plain Python on floats, as in `bessel`.
"""

from __future__ import annotations

import math

from .bessel import log_0f1, log_0f1_scaled
from .bessel_ratio import LONG, SHORT, SHORT_FROM, first_complement, first_ratio
from .gauss import gauss_legendre

NODES, WEIGHTS = (tuple((0.5 * numbers).tolist()) for numbers in gauss_legendre(12))


def ratio_slope(v: float, x: float) -> float:
    """Return the derivative of I_{v+1}(x) / I_v(x), to 5e-15: the variance of the cosine, 1 - A^2 - (2v+1) A/x.

    With A = x/(x + e), e the `gap`, it is (e - x e')/(x + e)^2, where nothing cancels; x e' is that of the continued
    fraction of `perron_tail`, step by step. D stands for x d/dx.
    """
    steps = SHORT if v + x >= SHORT_FROM else LONG
    a = 2.0 * v + 3.0
    h = 0.5 / (v + 1.0 + x)
    share = x * h
    g, rest = share * h, 2.0 * (v + 1.0) * h  # rest is 1 - 2 share
    dh, dg = -2.0 * share * h, g * (rest - 2.0 * share)
    # Step 1: the last step, and its D
    b, c = 1.0 + (steps + 1.0) * h, a + 2.0 * (steps + 1.0)
    root = math.sqrt(b * b - 4.0 * c * g)
    top, below, dtop = 1.0, 2.0 / (b + root), 0.0
    db = (steps + 1.0) * dh
    dbelow = -0.5 * below * below * (db + (b * db - 2.0 * c * dg) / root)
    # Step 2: back to T_2, Gautschi & Slavik (1978), eq. 3.8'
    for k in range(steps, 1, -1):
        factor, c = 1.0 + k * h, a + 2.0 * k
        dtop, dbelow = k * dh * top + factor * dtop - c * (dg * below + g * dbelow), dtop
        top, below = factor * top - (c * g) * below, top
    # Step 3: p = (2v+3) x / T_1 and D p
    tail = below / top
    dtail = (dbelow - tail * dtop) / top
    y = 1.0 + h - (a + 2.0) * (g * tail)
    dy = dh - (a + 2.0) * (dg * tail + g * dtail)
    p = a * (share / y)
    e = 2.0 * v + 2.0 - p
    return (e + (a * (share * rest / y) - p * (dy / y))) / (x + e) / (x + e)


def bregman(v: float, a: float, b: float) -> float:
    """Return F(b) - F(a) - F'(a) (b - a) >= 0 for F(x) = log 0F1(; v+1; x^2/4), without cancellation.

    F' = I_{v+1}/I_v, so that it is the integral of (b - x) F''(x) from a to b: by Gauss's rule within a factor of 2,
    where F'' has no pole near, as all lie on the imaginary axis.
    """
    if a == b:
        return 0.0
    if 0.5 * a < b < 2.0 * a:
        h, total = b - a, 0.0
        for i in range(len(NODES)):
            total += WEIGHTS[i] * (0.5 - NODES[i]) * ratio_slope(v, a + (0.5 + NODES[i]) * h)
        return h * (h * total)
    # For small a it is about a^2/(4v+4) from b = 0: half of a term is left, as much as of the second form beyond.
    if max(a, b) <= 2.0 * v + 2.0:
        return (log_0f1(v, b) - log_0f1(v, a)) + first_ratio(v, a) * (a - b)
    return (log_0f1_scaled(v, b) - log_0f1_scaled(v, a)) + first_complement(v, a) * (b - a)
