"""Petrov (2025), Theorem 4.15 as printed: the split head."""

from __future__ import annotations

import math

from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from . import lemmas
from ._arguments import checked
from ._printed import COMPONENTS, printed_count


@checked
def split(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 (B.3.3) as printed, for m+1 components as in 4.14.

    Its proof has a gap; see `split_corrected`.
    """
    needed_at = lemmas.inner_accuracy(
        problem.eps, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm, printed=True
    )
    small = Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm)
    return printed_count(problem, THEOREM, needed_at, problem.eps / math.sqrt(problem.dim + 1.0), small, COMPONENTS)


THEOREM = Theorem(
    "thesis-split", "Petrov (2025), Theorem 4.15 as printed (docs/theorems/2-thesis.md)",
    "split head, dim >= 8 (its proof has a gap)", "split",
    printed=True,
    count=split,
    proof="bounds.certify.thesis.split",
)  # fmt: skip
