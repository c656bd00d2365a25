"""Petrov (2025), Theorem 4.14: the core head for targets with several components."""

from __future__ import annotations

from typing import Any

from ...records.bound import Bound
from ...records.problem import Problem
from ...records.theorem import Theorem
from ._printed import COMPONENTS, OPTIONS, printed_count


def vector(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.14 (B.2.10): m+1 components, each as in 4.12, and eps in their norm."""
    return printed_count(problem, THEOREM, accuracies, COMPONENTS)


def accuracies(eps: Any, _lip: Any, _sup: Any, root: Any) -> tuple[Any, Any]:
    """Return the accuracies of Lambda and of N for each component (B.2.10)."""
    return eps / (2.0 * root), eps / root


THEOREM = Theorem(
    "thesis-vector", "Petrov (2025), Theorem 4.14 (docs/theorems/2-thesis.md)",
    "core head, dim + 1 components, dim >= 8", "core", printed=True,
    count=vector, options=OPTIONS,
)  # fmt: skip
