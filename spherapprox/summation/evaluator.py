"""The sums for values of any size: scaled, evaluated by the method wished for, and scaled back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._checks import Floats
from . import plan, scale
from .partial import Float64, Partial, Problem
from .plan import Plan


class Report(Protocol):
    """Hears of finished pairs, and of more to come."""

    def __call__(self, pairs: int, total: int = 0) -> None:
        """Add finished pairs, and how many there will be more of."""


@dataclass(frozen=True)
class Evaluator:
    """The sums at given points over given control points, for any values."""

    x: Floats
    b: Floats
    rate: float
    dtype: np.dtype[Any]
    method: str
    rtol: float | None
    workers: int
    report: Report

    def value(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the sums (m, p) of values (n, p), and how they were evaluated."""
        scaled, taken = self._scaled(table, normalize, False)
        return scale.value(scaled, self.rate, normalize), taken

    def logarithm(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the logarithms of the sums, where values are not negative."""
        if 4.0 * self.rate < scale.NO_UNDERFLOW:
            scaled, taken = self._scaled(table, normalize, True)
            return scale.logarithm(scaled, self.rate, normalize), taken
        columns = [self._log_column(column) for column in table.T]
        answer = np.stack([column[0] for column in columns], axis=1)
        if normalize:
            answer -= self._log_column(np.ones(len(self.b)))[0][:, None]
        return answer, columns[0][1]

    def _scaled(self, table: Floats, normalize: bool, row_by_row: bool) -> tuple[scale.Scaled, Plan]:
        """Return the sums of values divided by powers of 2."""
        problem, octaves = scale.as_weights(self.x, self.b, self.rate, self.dtype, table, normalize)
        sums, taken = self._run(problem, row_by_row)
        return scale.Scaled(sums, octaves), taken

    def _log_column(self, column: Floats) -> tuple[Float64, Plan]:
        """Return the logarithm for one column of values."""
        lifted = scale.in_exponents(self.x, self.b, self.rate, self.dtype, column)
        if lifted is None:
            return np.full(len(self.x), -np.inf), Plan("dense", "all values are 0", 0.0, "numpy")
        problem, top = lifted
        sums, taken = self._run(problem, True)
        return np.log(sums.denominator) + (top - self.rate * sums.shift), taken

    def _run(self, problem: Problem, row_by_row: bool) -> tuple[Partial, Plan]:
        """Evaluate, by the method wished for or the cheapest."""
        self.report(0, len(problem.x) * len(problem.b))
        return plan.carry_out(problem, self.method, self.rtol, self.workers, self.report, row_by_row)
