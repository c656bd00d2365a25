"""The core head with spectral correction, for smooth targets above all: docs/theorems/4.7-spectral-correction.md."""

from __future__ import annotations

import math

from ..records.bound import EXACT, Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._approximation import approximation, by_constant
from ._degrees import log_eigenvalue, log_gauss_points, log_quadrature_points, log_tail
from ._pairs import least_degrees, least_polynomial, log_amplification, log_flat_concentration, log_room
from .requirements import RULE


def log_spectral_error(concentration: float, tail_degree: float, degree: float, dim: int) -> float:
    """Return log(rho_g/a_n), the error per unit of L2 norm of polynomials of degree n <= g, exactness g + n (4.7)."""
    if concentration == 0.0:  # a_0 = 1 and nothing else is left of the kernel
        return -math.inf if degree == 0 else math.inf
    return log_tail(tail_degree, concentration, dim) - log_eigenvalue(degree, concentration, dim)


def spectral(problem: Problem) -> Bound:
    """Bound the prefix length of 4.7: the points of a positive quadrature exact to degree g + n.

    With lambda free, g = n is the best, and lambda the largest that suffices; at a given lambda g + n is minimised.
    """
    if (constant := by_constant(problem, THEOREM)) is not None:
        return constant
    polynomials = approximation(problem)
    degree = exactness = math.inf
    log_lambda, lam = 0.0, problem.concentration
    if polynomials.assumes.holds and lam is not None:
        degree, tail = least_degrees(problem, polynomials, lam, log_factor=lambda g: 0.0, joint=True)
        exactness = degree + tail
        log_lambda = math.log(lam) if lam > 0.0 else -math.inf
    elif polynomials.assumes.holds and (degree := least_polynomial(problem, polynomials)) < math.inf:
        exactness = 2.0 * degree
        log_lambda = log_flat_concentration(
            degree, problem.dim, log_room(problem, polynomials, degree) - polynomials.log_norm
        )
        lam = math.exp(log_lambda)
    at = "" if lam is None else f" at concentration {lam:.6g}"
    enough = Hypothesis(f"degrees that promise eps{at}", exactness < math.inf)
    log = math.inf
    constants: tuple[tuple[str, float], ...] = ()
    if enough.holds:
        log = log_quadrature_points(exactness, problem.dim)
        constants = (
            ("degree", degree), ("exactness", exactness),
            ("log product Gauss", log_gauss_points(exactness, problem.dim)), ("log concentration", log_lambda),
            ("log amplification", log_amplification(degree, log_lambda, problem.dim)),
        )  # fmt: skip
    return THEOREM.prefix_length(
        log, polynomials.assumes, enough, concentration=lam, constants=constants, whole=log < EXACT
    )


def _error(problem: Problem, prefix: Prefix) -> Promise:
    assert problem.degree is not None
    degree, exactness = problem.degree, prefix.exactness or 0
    rule = Hypothesis("a polynomial of this degree; positive weights, exact to `exactness`", True)
    enough = Hypothesis("exactness >= 2 degree", exactness >= 2 * degree)
    if not enough.holds:
        return math.inf, (rule, enough)
    # 4.7: F rho_g/a_n
    log = log_spectral_error(problem.fixed_concentration, exactness - degree, degree, dim=problem.dim)
    return log + math.log(problem.sup_norm), (rule, enough)


THEOREM = Theorem(
    "sharp-core-spectral", "docs/theorems/4.7-spectral-correction.md", "core head with spectrally corrected weights",
    head="core", count=spectral, options=("concentration", "slack", "degree", "sobolev_order"), error=_error,
    needs=("concentration", "degree", "exactness", "sup_norm"), requires=RULE,
)  # fmt: skip
