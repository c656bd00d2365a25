"""The protocol of a method of summation: its tolerance, its sums and the bound of their errors."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, Protocol

from .._types import Indices
from .partial import Partial
from .problem import Problem

Scale = Literal["each row", "largest row"]
"""What errors are relative to: the row's own sum of absolute terms, or the largest row's."""


class Report(Protocol):
    """A counter of finished pairs, and of pairs to come."""

    def __call__(self, pairs: int, total: int = 0) -> None:
        """Add finished pairs, and pairs to come."""


def silent(pairs: int, total: int = 0) -> None:
    """Show no finished pairs."""


class Tolerance(NamedTuple):
    """The truncation error that a method may have, and the largest bound of all its errors, relative to its scale."""

    omitted: float
    total: float


EXACT = Tolerance(0.0, math.inf)
"""What leaves out nothing, whatever its roundings are."""


class Sums(NamedTuple):
    """The sums of a method, and the bound of their errors on the method's scale.

    `doubtful` lists rows whose denominator is too small for this error: they are to be summed densely.
    """

    partial: Partial
    error: float
    doubtful: Indices | None = None


class Method(Protocol):
    """A module that evaluates sums; all but `dense` are given problems in float64, so that few kernels are compiled."""

    def obstacle(self, problem: Problem, tolerance: Tolerance) -> str:
        """Return the obstacle to the method; empty if there is none."""

    def promise(self, problem: Problem, omitted: float) -> float:
        """Return the bound of all errors that the method expects to prove."""

    def cost(self, problem: Problem, tolerance: Tolerance) -> float:
        """Estimate the seconds of one thread."""

    def memory(self, problem: Problem, tolerance: Tolerance) -> float:
        """Estimate the bytes that are held at once, the result included."""

    def sums(self, problem: Problem, tolerance: Tolerance, workers: int | None, report: Report) -> Sums:
        """Return the sums over all control points, and report finished pairs."""
