"""The sums for values of any size: scaled, evaluated by the method wished for, and scaled back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .._types import Float64, Floats
from . import plan, scale
from .partial import Partial, Problem
from .plan import Plan

LOG_ROUNDINGS, LARGEST_LOG = 8.0, 1500.0
"""How often a logarithm's parts are rounded, and their size besides the result's and that of the exponents."""


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
    workers: int | None
    report: Report
    explain: bool = False

    def value(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the sums (m, p) of values (n, p), and how they were evaluated."""
        together, apart = scale.strands(table, self.rate)
        if not apart:
            scaled, taken = self._scaled(self.b, table, normalize, False)
            return scale.value(scaled, self.rate, normalize), taken
        answer, plans = np.zeros((len(self.x), table.shape[1])), []
        below = None
        if together is not None or normalize:
            first = np.zeros((len(table), 1)) if together is None else together
            scaled, taken = self._scaled(self.b, first, normalize, normalize)
            answer += scale.value(scaled, self.rate, normalize)
            below = scaled.sums if normalize else None
            plans.append(taken)
        for strand in apart:
            scaled, taken = self._scaled(self.b[strand.members], strand.table, False, True, lifted=normalize)
            sums = scale.value(scaled, self.rate, False) if below is None else scale.quotient(scaled, below, self.rate)
            answer[:, strand.columns] += sums
            plans.append(taken)
        return answer, _joint(plans, normalize)

    def logarithm(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the logarithms of the sums, where values are not negative."""
        if 4.0 * self.rate < scale.NO_UNDERFLOW:
            scaled, taken = self._scaled(self.b, table, normalize, True)
            answer = scale.logarithm(scaled, self.rate, normalize)
        else:
            columns = [self._log_column(column) for column in table.T]
            answer, taken = np.stack([column[0] for column in columns], axis=1), columns[0][1]
            taken = replace(taken, rtol=max(column[1].rtol for column in columns))
            if normalize:
                below, of_ones = self._log_column(np.ones(len(self.b)))
                answer -= below[:, None]
                taken = replace(taken, rtol=taken.rtol + of_ones.rtol)
        sizes = np.abs(answer[np.isfinite(answer)])
        rounding = LOG_ROUNDINGS * 2.0**-53 * (float(sizes.max(initial=0.0)) + 4.0 * self.rate + LARGEST_LOG)
        return answer, replace(taken, rtol=taken.rtol + rounding, atol=0.0)

    def _scaled(
        self, b: Floats, table: Floats, normalize: bool, row_by_row: bool, *, lifted: bool = False
    ) -> tuple[scale.Scaled, Plan]:
        """Return the sums of values divided by powers of 2."""
        problem, octaves = scale.as_weights(self.x, b, self.rate, self.dtype, table, normalize, lifted)
        sums, taken = self._run(problem, row_by_row)
        return scale.Scaled(sums, octaves), replace(taken, atol=scale.underflow(problem, octaves))

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
        return plan.carry_out(
            problem, self.method, self.rtol, self.workers, self.report, row_by_row, explain=self.explain
        )


def _joint(plans: list[Plan], normalize: bool) -> Plan:
    """Return the plan of sums that were evaluated in parts; the first of quotients has the denominators."""
    reason = f"{plans[0].reason}; {len(plans)} times, for values of very different size"
    worst = max(one.rtol for one in plans) + (plans[0].rtol if normalize else 0.0)
    common = any(one.scale == "largest row" for one in plans)
    return replace(
        plans[0],
        reason=reason,
        rtol=worst,
        atol=sum(one.atol for one in plans),
        scale="largest row" if common else plans[0].scale,
    )
