"""The minimum of the theorems on the split head that join in."""

from __future__ import annotations

from collections.abc import Iterable

from ..records.bound import Bound, settle
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from . import nearest, pack
from .requirements import COVER

_NAME = "sharp-split"


def _error(prefix: Prefix) -> Promise:
    parts = [nearest.THEOREM] if prefix.separation is None else [nearest.THEOREM, pack.THEOREM]
    return min(part.error(prefix) for part in parts if part.error)


def smallest(theorems: Iterable[Theorem]) -> Theorem:
    """Return the theorem that is the minimum of all that join it."""
    counts = [part.count for part in theorems if part.joins == _NAME and part.count]

    def split(problem: Problem) -> Bound:
        return min((settle(count(problem), strict=False) for count in counts), key=lambda bound: bound.log)

    return Theorem(
        _NAME, "docs/theorems/4.4-split-head.md (nearest) and 4.A-separated-points.md",
        "the smallest of the split ones", "split", count=split,
        constants=("lipschitz",), error=_error, needs=nearest.THEOREM.needs, uses=("sup_norm", "separation"),
        requires=COVER, validated=True, free_concentration=nearest.least_concentration,
    )  # fmt: skip
