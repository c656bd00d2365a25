"""Petrov (2025), Theorem 4.15 as printed: the split head."""

from __future__ import annotations

from typing import Any

from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from ._printed import COMPONENTS, OPTIONS, printed_count


def split(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 (B.3.3) as printed, for m+1 components as in 4.14.

    Its proof has a gap; see `split_corrected`.
    """
    small = Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm)
    return printed_count(problem, THEOREM, accuracies, small, COMPONENTS)


def accuracies(eps: Any, lip: Any, sup: Any, root: Any) -> tuple[Any, Any]:
    """Return the accuracies of Lambda, `lemmas.inner_accuracy` as printed, and of N (B.3.3)."""
    return 2.0 * eps * lip / (2.0 * lip + sup), eps / root


THEOREM = Theorem(
    "thesis-split", "Petrov (2025), Theorem 4.15 as printed (docs/theorems/2-thesis.md)",
    "split head, dim >= 8 (its proof has a gap)", "split",
    printed=True,
    count=split, options=OPTIONS,
)  # fmt: skip
