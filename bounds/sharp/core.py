"""The core head on any partition: docs/theorems.md, 4.3."""

from __future__ import annotations

import math

from spherapprox.vmf import VonMisesFisher

from .._bound import Bound
from .._problem import Problem
from .convolution import concentration_needed
from .search import accuracy, best_radius, from_cover


def core_error(
    concentration: float, radius: float, dim: int, lipschitz: float, sup_norm: float, exponent: float = 1.0
) -> float:
    """4.3: L E[theta] + L rho + F D(lambda, rho) for a core head whose cells lie within rho of their points."""
    kernel = VonMisesFisher(dim, concentration)
    smooth = lipschitz * (float(kernel.mean_angle(exponent)) + math.pow(radius, exponent))
    return smooth + sup_norm * float(kernel.shift_variation(radius))


def core(problem: Problem) -> Bound:
    """4.3: the core head on any partition whose cells lie within rho of their points; N from a cover at rho."""
    dim, lip, sup = problem.dim, problem.lipschitz, problem.sup_norm
    needed = concentration_needed(problem.eps, dim, lip)

    def error(concentration: float, radius: float) -> float:
        return math.log(core_error(concentration, radius, dim, lip, sup))

    top = min(problem.eps / lip, math.pi)
    concentration, radius = best_radius(error, math.log(problem.eps), top, needed, problem.concentration, dim)
    return from_cover(problem, "sharp-core", "4.3", concentration, radius, accuracy(needed, concentration))
