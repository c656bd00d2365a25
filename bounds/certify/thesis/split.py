"""Petrov (2025), Theorem 4.15 as printed, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ...records.bound import Bound
from ...records.enclosure import Enclosure
from ...records.problem import Problem
from .._printed import prove_printed


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove the count of Theorem 4.15 (B.3.3) as printed."""

    def accuracies() -> tuple[arb, arb]:
        eps, lip, sup = arb(problem.eps), arb(problem.lipschitz), arb(problem.sup_norm)
        return 2 * eps * lip / (2 * lip + sup), eps / arb(problem.dim + 1).sqrt()

    return prove_printed(problem, digits, accuracies)
