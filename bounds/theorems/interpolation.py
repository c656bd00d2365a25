"""The core head by interpolation, with arbitrary real weights, best in the flat limit.

docs/theorems/4.G-core-interpolation.md.
"""

from __future__ import annotations

import math

from spherapprox._scalars import bessel

from ..records.bound import EXACT, Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._approximation import approximation, by_constant
from ._degrees import log_polynomials
from ._pairs import least_degrees, least_polynomial, log_amplification, log_flat_concentration, log_room


def interpolation(problem: Problem) -> Bound:
    """Bound the prefix length of 4.G: N = dim P_g, for polynomials of degree n <= g within eps of the target.

    With lambda free, g = n and lambda is as near 0 as it takes: a theorem on existence, since the weights, the log of
    whose sum of sizes is in the constants, exceed what floats can balance. At a given lambda g is minimised.
    """
    if (constant := by_constant(problem, THEOREM)) is not None:
        return constant
    polynomials, dim, lam = approximation(problem), problem.dim, problem.concentration
    degree = tail = math.inf
    log_lambda = 0.0
    if polynomials.assumes.holds and lam is not None:
        degree, tail = least_degrees(
            problem, polynomials, lam, log_factor=lambda g: log_polynomials(g, dim), joint=False
        )
        log_lambda = math.log(lam) if lam > 0.0 else -math.inf
    elif polynomials.assumes.holds and (degree := least_polynomial(problem, polynomials)) < math.inf:
        tail = degree
        allowed = log_room(problem, polynomials, degree) - polynomials.log_norm - log_polynomials(degree, dim)
        log_lambda = log_flat_concentration(degree, dim, allowed)
        lam = math.exp(log_lambda)
    at = "" if lam is None else f" at concentration {lam:.6g}"
    enough = Hypothesis(f"a degree that promises eps{at}", tail < math.inf)
    log = math.inf
    constants: tuple[tuple[str, float], ...] = ()
    if enough.holds:
        log = log_polynomials(tail, dim)
        weights = log + polynomials.log_norm + log_amplification(degree, log_lambda, dim)
        constants = (
            ("degree", degree), ("tail degree", tail), ("log concentration", log_lambda),
            ("log weights", weights - bessel.log_0f1_scaled(0.5 * (dim - 1), lam or 0.0)),
        )  # fmt: skip
    return THEOREM.prefix_length(
        log, polynomials.assumes, enough, concentration=lam, constants=constants, whole=log < EXACT
    )


THEOREM = Theorem(
    "sharp-core-interpolation", "docs/theorems/4.G-core-interpolation.md", "core head with any real weights",
    head="core", count=interpolation, options=("concentration", "slack", "degree", "sobolev_order"),
)  # fmt: skip
