"""The core head on any partition: docs/theorems/4.3-core-head.md."""

from __future__ import annotations

import math

from spherapprox.vmf import VonMisesFisher

from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._search import least_error
from ._variation import from_variation
from .convolution import concentration_needed
from .requirements import CELLS


def core_error(
    concentration: float, radius: float, dim: int, lipschitz: float, sup_norm: float, exponent: float = 1.0
) -> float:
    """Bound the core head's error by L E[theta^alpha] + L rho^alpha + F D(lambda, rho) (4.3)."""
    kernel = VonMisesFisher(dim, concentration)
    smooth = lipschitz * (float(kernel.mean_angle(exponent)) + math.pow(radius, exponent))
    return smooth + sup_norm * float(kernel.shift_variation(radius))


def core(problem: Problem) -> Bound:
    """Bound the prefix length of 4.3: N is that of a cover at the largest radius of the cells."""

    def log_variation(concentration: float, radius: float) -> float:
        return VonMisesFisher(problem.dim, concentration).shift_variation(radius, log=True)

    def model(concentration: float, angle: float) -> float:  # D is about rho lambda sin theta
        return concentration * math.sin(angle)

    return from_variation(problem, THEOREM, log_variation, order=1.0, model=model)


def _error(problem: Problem, prefix: Prefix) -> Promise:
    lam, p = problem.fixed_concentration, problem
    error = core_error(lam, prefix.radius, p.dim, lipschitz=p.lipschitz, sup_norm=p.sup_norm, exponent=p.exponent)
    return math.log(error), ()


THEOREM = Theorem(
    "sharp-core", "docs/theorems/4.3-core-head.md", "core head on any partition",
    head="core", count=core, options=("concentration", "covering"),
    threshold=lambda p: concentration_needed(p.eps, p.dim, p.lipschitz, exponent=p.exponent), error=_error,
    needs=("lipschitz", "concentration", "radius", "sup_norm"), requires=CELLS, measured="error",
    free_concentration=least_error,
)  # fmt: skip
