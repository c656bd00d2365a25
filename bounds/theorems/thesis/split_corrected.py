"""Petrov (2025), Theorem 4.15 with its proof repaired: the split head (docs/theorems/3-errata.md, 3.3)."""

from __future__ import annotations

import math

from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from . import lemmas
from ._arguments import checked
from ._printed import COMPONENTS, printed_count


@checked
def split_corrected(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 with its proof repaired (docs/theorems/3-errata.md, 3.3).

    For m+1 components as in 4.14.
    """
    root = math.sqrt(problem.dim + 1.0)
    inner = lemmas.inner_accuracy(problem.eps, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm)
    # cells of equal measure exist inside caps below 1/3 (docs/theorems/3-errata.md, 3.4)
    return printed_count(
        problem, THEOREM, inner / (2.0 * root), inner / root,
        Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm), COMPONENTS,
        largest_cap=1.0 / 3.0,
    )  # fmt: skip


THEOREM = Theorem(
    "thesis-split-corrected", "Petrov (2025), Theorem 4.15, corrected (docs/theorems/3-errata.md, 3.3)",
    "split head, dim >= 8, with the proof repaired", "split", printed=True,
    count=split_corrected,
    proof="bounds.certify.thesis.split_corrected",
)  # fmt: skip
