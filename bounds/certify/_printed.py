"""Petrov (2025), Theorems 4.12, 4.14 and 4.15, at the precision set: Lambda, C_R and the count."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from . import _special as special
from ._balls import enclose, less, sign

Accuracies = Callable[[], tuple[arb, arb]]
"""The accuracies at which Lambda and N of 4.12 are taken."""


def ragozin(problem: Problem, digits: int) -> arb:
    """Return C_R: the user's, or the one of 4.6 that holds for every degree."""
    if problem.ragozin is not None:
        return arb(problem.ragozin)
    if problem.dim == 1:
        return arb.pi() / 2
    return 2 * special.bessel_zero(problem.dim - 1, digits + 6) - arb.pi()


def concentration(eps: arb, problem: Problem, digits: int) -> arb:
    """Return Lambda(eps) of B.2.5, (4.6)."""
    lip, harmonic, constant = arb(problem.lipschitz), arb(problem.harmonic), ragozin(problem, digits)
    base = 4 * lip * constant + eps
    drop = eps / base * (eps / (2 * harmonic))
    if not less(drop, arb(1)):
        return arb(0)
    exponent = eps / base * (-drop).log1p()
    return (8 * lip * constant / eps + problem.dim + 1) * exponent.exp() / -(2 * exponent).expm1()


def prove_printed(
    problem: Problem, digits: int, accuracies: Accuracies, largest_cap: Callable[[], arb] = lambda: arb.pi() / 2
) -> Enclosure:
    """Enclose log N = log(Phi(m)/delta^(m+1)), after proving that the caps are small and the concentration enough."""
    given = problem.concentration

    def log_delta() -> arb:  # B.2.9: sqrt(delta) = eps / (3 pi (L + lambda F) c e^lambda)
        needed_at, count_at = accuracies()
        lam = concentration(needed_at, problem, digits) if given is None else arb(given)
        slope = (problem.lipschitz + lam * problem.sup_norm).log() + special.log_peak(problem.dim, lam)
        return 2 * (count_at.log() - (3 * arb.pi()).log() - slope)

    # Step 1: the caps <x, b> >= 1 - delta are small enough
    if sign(lambda: (2 * (largest_cap() / 2).sin() ** 2).log() - log_delta(), digits) <= 0:
        raise CertificationError("the caps cannot be proved small enough")
    # Step 2: a given lambda is at least Lambda(eps)
    if given is not None and sign(lambda: given - concentration(accuracies()[0], problem, digits), digits) < 0:
        raise CertificationError(f"concentration {given:g} cannot be proved enough for accuracy {accuracies()[0]}")
    # Step 3: log N = log(Phi(m)/delta^(m+1)), (4.7)
    return enclose(lambda: special.log_rogers_constant(problem.dim) - (problem.dim + 1) * log_delta(), digits + 2)
