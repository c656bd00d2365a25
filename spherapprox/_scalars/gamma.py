"""Scalar kernels of the logarithm of Gamma, in plain Python: math.lgamma has other last bits when compiled."""

from __future__ import annotations

import math

STIRLING_FROM = 16.0
HALF_LOG_2PI = 0.9189385332046728

# Taylor's coefficients of 1/Gamma(3/2 + t), which is entire: the next one counts for 1e-18 at |t| = 1/2.
RECIPROCAL = (
    -8.012807061414718e-12,
    7.458932233316326e-11,
    -2.6804741033496623e-10,
    -9.313686445241901e-10,
    1.7103469415915374e-08,
    -8.913551118311116e-08,
    5.7942640540526726e-08,
    2.1562032905141724e-06,
    -1.3896805717913756e-05,
    2.5355204923814165e-05,
    0.00015235762076747688,
    -0.0011107302545948906,
    0.002120731442572938,
    0.006612897826824127,
    -0.042155169368535604,
    0.050966860247706074,
    0.17510202604393457,
    -0.5266544355255445,
    -0.0411745264452831,
    1.1283791670955126,
)


def stirling(v: float) -> float:
    """Return log Gamma(v+1) - (v + 1/2) log v + v - log(2 pi)/2 for v >= 16, to 1e-17."""
    h = 1.0 / v
    y = h * h
    # DLMF 5.11.1
    return h * (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 - y * (691 / 360360))))))


def log_gamma(v: float) -> float:
    """Return log Gamma(v + 1) for v >= 0, to about 1e-16 (v + 1) absolute."""
    if v >= STIRLING_FROM:
        return (v + 0.5) * math.log(v) - v + HALF_LOG_2PI + stirling(v)
    # DLMF 5.5.1: down to Gamma(v + 1), 0 <= v <= 1
    product = 1.0
    while v > 1.0:
        product *= v
        v -= 1.0
    t = v - 0.5
    reciprocal = 0.0
    for coefficient in RECIPROCAL:
        reciprocal = reciprocal * t + coefficient
    return math.log(product / reciprocal)


def log_gamma_half_ratio(a: float) -> float:
    """Return log[Gamma(a + 1/2) / Gamma(a)] for a > 0."""
    return math.log(gamma_half_ratio(a))


def gamma_half_ratio(a: float) -> float:
    """Return Gamma(a + 1/2) / Gamma(a) for a > 0, to 6e-16: its logarithm's series in 1/a, a raised to 12 or more."""
    product = 1.0
    while a < 12.0:
        product *= a / (a + 0.5)
        a += 1.0
    h = 1.0 / a
    y = h * h
    # DLMF 5.11.8 for Gamma(a + 1/2), less the same for Gamma(a)
    series = h * (-1 / 8 + y * (1 / 192 + y * (-1 / 640 + y * (17 / 14336 + y * (-31 / 18432 + y * (691 / 180224))))))
    return product * math.sqrt(a) * math.exp(series)
