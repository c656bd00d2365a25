"""Petrov (2025), Theorem 4.14: the core head for targets with several components."""

from __future__ import annotations

import math

from ...records.bound import Bound
from ...records.problem import Problem
from ...records.theorem import Theorem
from ._arguments import checked
from ._printed import COMPONENTS, printed_count


@checked
def vector(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.14 (B.2.10): m+1 components, each as in 4.12, and eps in their norm."""
    root = math.sqrt(problem.dim + 1.0)
    return printed_count(problem, THEOREM, problem.eps / (2.0 * root), problem.eps / root, COMPONENTS)


THEOREM = Theorem(
    "thesis-vector", "Petrov (2025), Theorem 4.14 (docs/theorems/2-thesis.md)",
    "core head, dim + 1 components, dim >= 8", "core", printed=True,
    count=vector,
    proof="bounds.certify.thesis.vector",
)  # fmt: skip
