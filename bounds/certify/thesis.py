"""Petrov (2025), Theorems 4.12, 4.14 and 4.15, in ball arithmetic: Lambda, C_R and the count."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ..theorems.thesis.prefix_lengths import ACCURACIES, CORRECTED
from . import _special as special
from ._balls import enclose, less, sign


def jackson_constant(problem: Problem, digits: int) -> arb:
    """Return C_R: the user's, or the one of 4.6 that holds for every degree."""
    if problem.jackson_constant is not None:
        return arb(problem.jackson_constant)
    if problem.dim == 1:
        return arb.pi() / 2
    return 2 * special.bessel_zero(problem.dim - 1, digits + 6) - arb.pi()


def concentration(eps: arb, problem: Problem, digits: int) -> arb:
    """Return Lambda(eps) of B.2.5, (4.6)."""
    lip, harmonic, constant = arb(problem.lipschitz), arb(problem.harmonic_constant), jackson_constant(problem, digits)
    base = 4 * lip * constant + eps
    drop = eps / base * (eps / (2 * harmonic))
    if not less(drop, arb(1)):
        return arb(0)
    exponent = eps / base * (-drop).log1p()
    return (8 * lip * constant / eps + problem.dim + 1) * exponent.exp() / -(2 * exponent).expm1()


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose log N = log(Phi(m)/delta^(m+1)), after proving that the caps are small and the concentration enough."""
    fixed, corrected = problem.concentration, bound.theorem == CORRECTED.name

    def accuracies() -> tuple[arb, arb]:
        eps, lip, sup = arb(problem.eps), arb(problem.lipschitz), arb(problem.sup_norm)
        return ACCURACIES[bound.theorem](eps, lip, sup, arb(problem.dim + 1).sqrt())

    def largest_cap() -> arb:
        return arb(1) / 3 if corrected else arb.pi() / 2

    def log_delta() -> arb:  # B.2.9: sqrt(delta) = eps / (3 pi (L + lambda F) c e^lambda)
        needed_at, count_at = accuracies()
        lam = concentration(needed_at, problem, digits) if fixed is None else arb(fixed)
        slope = (problem.lipschitz + lam * problem.sup_norm).log() + special.log_peak(problem.dim, lam)
        return 2 * (count_at.log() - (3 * arb.pi()).log() - slope)

    # Step 1: the caps <x, b> >= 1 - delta are small enough
    if sign(lambda: (2 * (largest_cap() / 2).sin() ** 2).log() - log_delta(), digits) <= 0:
        raise CertificationError("the caps cannot be proved small enough")
    # Step 2: a given lambda is at least Lambda(eps)
    if fixed is not None and sign(lambda: fixed - concentration(accuracies()[0], problem, digits), digits) < 0:
        raise CertificationError(f"concentration {fixed:g} cannot be proved enough for accuracy {accuracies()[0]}")
    # Step 3: log N = log(Phi(m)/delta^(m+1)), (4.7)
    return enclose(lambda: special.log_rogers_constant(problem.dim) - (problem.dim + 1) * log_delta(), digits + 2)
