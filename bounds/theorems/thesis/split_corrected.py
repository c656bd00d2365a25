"""Petrov (2025), Theorem 4.15 with its proof repaired: the split head (docs/theorems/3-errata.md, 3.3)."""

from __future__ import annotations

from typing import Any

from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from ._printed import COMPONENTS, OPTIONS, printed_count


def split_corrected(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 with its proof repaired (docs/theorems/3-errata.md, 3.3).

    For m+1 components as in 4.14.
    """
    # cells of equal measure exist inside caps below 1/3 (docs/theorems/3-errata.md, 3.4)
    small = Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm)
    return printed_count(problem, THEOREM, accuracies, small, COMPONENTS, largest_cap=1.0 / 3.0)


def accuracies(eps: Any, _lip: Any, sup: Any, root: Any) -> tuple[Any, Any]:
    """Return the accuracies of Lambda and of N, from `lemmas.inner_accuracy` (docs/theorems/3-errata.md, 3.3)."""
    inner = eps / (1.5 + eps / (2.0 * root * sup))
    return inner / (2.0 * root), inner / root


THEOREM = Theorem(
    "thesis-split-corrected", "Petrov (2025), Theorem 4.15, corrected (docs/theorems/3-errata.md, 3.3)",
    "split head, dim >= 8, with the proof repaired", "split", printed=True,
    count=split_corrected, options=OPTIONS,
)  # fmt: skip
