"""The lower bound for tokens continuous in the target: docs/theorems/4.E-lower-without-sampling.md (continuous)."""

from __future__ import annotations

import math

from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._floor import floor, separated


def lower_continuous(problem: Problem) -> Bound:
    """Bound the prefix length below by M/(m+2) (4.E, continuous): xi_k, b_k, lambda continuous in f."""
    log_points, angle = separated(problem)
    log = log_points - math.log(problem.dim + 2)
    return floor(problem, THEOREM, log, angle, ("log points", log_points))


THEOREM = Theorem(
    "lower-continuous", "docs/theorems/4.E-lower-without-sampling.md (continuous)",
    "no tokens that depend continuously on the target do better",
    head="any", side="lower", count=lower_continuous, options=("covering",),
)  # fmt: skip
