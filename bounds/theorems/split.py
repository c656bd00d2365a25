"""The minimum of the theorems on the split head that join in."""

from __future__ import annotations

from collections.abc import Iterable

from ..records.bound import Bound, settle
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from . import nearest, pack
from .requirements import COVER

_NAME = "sharp-split"


def _error(problem: Problem, prefix: Prefix) -> Promise:
    parts = [nearest.THEOREM] if prefix.separation is None else [nearest.THEOREM, pack.THEOREM]
    return min(part.error(problem, prefix) for part in parts if part.error)


def smallest(theorems: Iterable[Theorem]) -> Theorem:
    """Return the theorem that is the minimum of all that join it."""
    parts = [part for part in theorems if part.joins == _NAME]
    counts = [part.count for part in parts if part.count]

    def split(problem: Problem) -> Bound:
        return min((settle(count(problem)) for count in counts), key=lambda bound: bound.log)

    return Theorem(
        _NAME, "docs/theorems/4.4-split-head.md (nearest) and 4.A-separated-points.md",
        "the smallest of the split ones", head="split", count=split,
        constants=("lipschitz",), options=tuple(dict.fromkeys(name for part in parts for name in part.options)),
        error=_error, needs=nearest.THEOREM.needs, uses=("sup_norm", "separation"),
        requires=COVER, measured="error", free_concentration=nearest.least_concentration,
    )  # fmt: skip
