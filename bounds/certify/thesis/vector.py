"""Petrov (2025), Theorem 4.14, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ...records.bound import Bound
from ...records.enclosure import Enclosure
from ...records.problem import Problem
from .._printed import prove_printed


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove Theorem 4.14 (B.2.10) for dim + 1 components."""

    def accuracies() -> tuple[arb, arb]:
        eps, root = arb(problem.eps), arb(problem.dim + 1).sqrt()
        return eps / (2 * root), eps / root

    return prove_printed(problem, digits, accuracies)
