"""Petrov (2025), Theorems 4.12, 4.14 and 4.15, in ball arithmetic at the precision set."""

from __future__ import annotations

from flint import arb

from .._problem import Problem
from . import special
from .enclosure import DIGITS, CertificationError, less, sign


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


def accuracies(theorem: str, problem: Problem) -> tuple[arb, arb]:
    """Return the accuracies at which Lambda and N of 4.12 are taken."""
    eps, lip, sup = arb(problem.eps), arb(problem.lipschitz), arb(problem.sup_norm)
    root = arb(problem.dim + 1).sqrt()
    if theorem == "thesis-core":
        return eps / 2, eps
    if theorem == "thesis-vector":
        return eps / (2 * root), eps / root
    if theorem == "thesis-split":
        return 2 * eps * lip / (2 * lip + sup), eps / root
    inner = eps / (arb(3) / 2 + eps / (2 * root * sup))
    return inner / (2 * root), inner / root


def log_delta(theorem: str, problem: Problem, digits: int) -> arb:
    """Return log delta of 4.12: the caps are <x, b> >= 1 - delta."""
    needed_at, count_at = accuracies(theorem, problem)
    given = problem.concentration
    lam = concentration(needed_at, problem, digits) if given is None else arb(given)
    slope = (problem.lipschitz + lam * problem.sup_norm).log() + special.log_peak(problem.dim, lam)
    return 2 * (count_at.log() - (3 * arb.pi()).log() - slope)


def log_count(theorem: str, problem: Problem, digits: int) -> arb:
    """Return log N = log(Phi(m)/delta^(m+1))."""
    return special.log_rogers_constant(problem.dim) - (problem.dim + 1) * log_delta(theorem, problem, digits)


def check(theorem: str, problem: Problem, digits: int = DIGITS) -> None:
    """Prove the hypotheses that depend on computed numbers: a given concentration suffices, the caps are small.

    Raises
    ------
    CertificationError
        When one cannot be proved.
    """
    largest = arb(1) / 3 if theorem == "thesis-split-corrected" else None

    def room() -> arb:
        cap = arb.pi() / 2 if largest is None else largest
        return (2 * (cap / 2).sin() ** 2).log() - log_delta(theorem, problem, digits)

    if sign(room, digits) <= 0:
        raise CertificationError("the caps cannot be proved small enough")
    given = problem.concentration
    if given is not None:
        needed_at = accuracies(theorem, problem)[0]
        if sign(lambda: given - concentration(accuracies(theorem, problem)[0], problem, digits), digits) < 0:
            raise CertificationError(f"concentration {given:g} cannot be proved enough for accuracy {needed_at}")
