"""Petrov (2025), Theorem 4.12, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ...records.bound import Bound
from ...records.enclosure import Enclosure
from ...records.problem import Problem
from .._printed import prove_printed


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove Theorem 4.12 (B.2.9)."""
    return prove_printed(problem, digits, lambda: (arb(problem.eps) / 2, arb(problem.eps)))
