"""Petrov (2025), Theorem 4.15 with its proof repaired, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ...records.bound import Bound
from ...records.enclosure import Enclosure
from ...records.problem import Problem
from .._printed import prove_printed


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove Theorem 4.15, corrected: caps below 1/3 hold cells of equal measure."""

    def accuracies() -> tuple[arb, arb]:
        eps, root = arb(problem.eps), arb(problem.dim + 1).sqrt()
        inner = eps / (arb(3) / 2 + eps / (2 * root * arb(problem.sup_norm)))
        return inner / (2 * root), inner / root

    return prove_printed(problem, digits, accuracies, lambda: arb(1) / 3)
