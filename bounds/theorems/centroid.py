"""The core head with control points at the cells' centroids: docs/theorems/4.D-centroids.md."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from spherapprox._integrals import zonal
from spherapprox._integrals.piece import log_integral
from spherapprox._integrals.piece import log_sum as log_sum_of
from spherapprox.vmf import VonMisesFisher

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._search import least_error
from ._variation import from_variation
from .requirements import CENTROIDS

_UNIFORM, _TINY = 1e-18, 1e-110


def log_centroid_variation(concentration: float, radius: float, dim: int) -> float:
    """Return log D2 = log int k max(e^q - 1, 1 - e^-p) dsigma of 4.D, of order rho^2; inf from rho = pi/2 on."""
    if concentration == 0.0:
        return -math.inf
    if radius >= zonal.HALF_PI:
        return math.inf
    if concentration < _UNIFORM:  # D2 -> q
        return math.log(2.0 * concentration) + 2.0 * math.log(math.sin(0.5 * radius))
    scaled = _TINY / math.sqrt(concentration)
    if radius < scaled:  # proportional to rho^2, and q may be no float
        return log_centroid_variation(concentration, scaled, dim) + 2.0 * math.log(radius / scaled)
    # Step 1: q = lambda (1 - cos rho), and the case in which e^q - 1 is the larger throughout
    drift = 2.0 * concentration * math.sin(0.5 * radius) ** 2
    if drift >= math.log(2.0):  # then e^q - 1 is at least 1, the largest value of the other branch
        return drift + math.log(-math.expm1(-drift))
    width = concentration * math.sin(radius)

    def spread(level: float) -> float:  # the angle at which (width sin)^2/2 reaches a level
        return math.asin(min(1.0, math.sqrt(2.0 * level) / width))

    # Step 2: the crossing, from which on p(u) exceeds `equal`, with 1 - e^-p = e^q - 1
    equal = -math.log1p(-math.expm1(drift))
    south, clipped = max(zonal.HALF_PI - 2.0 * radius, 0.0), zonal.HALF_PI - radius
    cross = max(spread(equal) - radius, 0.0)
    if cross >= south:
        cross = max(spread(max(equal - drift, 0.0)) - radius, south)
        cross = cross if cross < clipped or 0.5 * width * width + drift >= equal else math.pi
    # Step 3: the integral, piece by piece: e^q - 1, p without q, p with q, p with the sine at 1
    base = zonal.kernel(float(dim), concentration)

    def rise(extra: float, low: float, high: float) -> float:
        return log_integral(
            base, max(low, cross), high, factor=lambda u: -np.expm1(-0.5 * (width * np.sin(u + radius)) ** 2 - extra)
        )

    parts = [math.log(math.expm1(drift)) + log_integral(base, 0.0, cross) if cross > 0.0 else -math.inf]
    parts += [rise(0.0, 0.0, south), rise(drift, south, clipped)]
    south_log = math.log(-math.expm1(-0.5 * width * width - drift))
    parts.append(south_log + log_integral(base, max(clipped, cross), math.pi))
    return log_sum_of(parts) - log_integral(base, 0.0, math.pi)


def log_variation(concentration: float, radius: float, dim: int) -> float:
    """Return the log of min(D, D2) of 4.D: control points at the cells' centres or centroids."""
    centroids = log_centroid_variation(concentration, radius, dim)
    if centroids < -2.0:  # then D, of order rho, is larger
        return centroids
    return min(centroids, VonMisesFisher(dim, concentration).shift_variation(radius, log=True))


def centroid_error(
    concentration: float, radius: float, dim: int, lipschitz: float, sup_norm: float, exponent: float = 1.0
) -> float:
    """Bound the error by L E[theta^alpha] + L rho^alpha + F min(D, D2) (4.D)."""
    mean = VonMisesFisher(dim, concentration).mean_angle(exponent)
    variation = math.log(sup_norm) + log_variation(concentration, radius, dim)
    spread = math.exp(variation) if variation < 709.0 else math.inf
    return lipschitz * (mean + math.pow(radius, exponent)) + spread


def centroid(problem: Problem) -> Bound:
    """Bound the prefix length of 4.D: control points at the centroids of cells inside a cover's caps of radius rho."""

    def model(concentration: float, angle: float) -> float:  # D2 is about E[max(1, lambda sin^2 theta)] lambda rho^2/2
        return 0.5 * concentration * (1.0 + concentration * math.sin(angle) ** 2)

    return from_variation(problem, THEOREM, partial(log_centroid_variation, dim=problem.dim), order=2.0, model=model)


def _error(problem: Problem, prefix: Prefix) -> Promise:
    lam, p = problem.fixed_concentration, problem
    error = centroid_error(lam, prefix.radius, p.dim, lipschitz=p.lipschitz, sup_norm=p.sup_norm, exponent=p.exponent)
    return math.log(error), (Hypothesis("control points at the centroids of their cells", True),)


THEOREM = Theorem(
    "sharp-core-centroid", "docs/theorems/4.D-centroids.md", "core head whose points are the centroids of their cells",
    head="core", count=centroid, options=("concentration", "covering"), error=_error,
    needs=("lipschitz", "concentration", "radius", "sup_norm"), requires=CENTROIDS, measured="error",
    free_concentration=least_error,
)  # fmt: skip
