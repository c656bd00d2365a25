"""One task of a distributed sum, the union of two results, and the size of tasks: no Dask here."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64, Floats
from .. import plan, scaling
from ..partial import Partial
from ..problem import Problem
from ..scaling import Scaled
from .sources import values_at

TASK_WORK = 2e10  # arithmetic of a task, in vector operations: about a second on one thread. Tuned.
ROWS = 2**14
"""Evaluation points of a task: few enough that its result is small, many enough to make control points for. Tuned."""
MAKING = 64
"""A control point that is made in the task takes about as long as it does for so many evaluation points. Tuned."""
NUMBERS = 2**22  # numbers of one array that a task is sent, sends or makes at a time: 32 MiB
NOWHERE = 16.0
"""Shift of an empty sum: above all others, which are at most 4.01 + 745/rate, since rate >= 75 where it is used."""

State = dict[Hashable, Scaled]
"""The sums over a part of the control points: of all columns by TOGETHER, of each alone by its number where values are
in the exponents, or by band and number what `scaling.strands` puts apart."""
TOGETHER = "together"


@dataclass(frozen=True)
class Recipe:
    """The part of a sum that all tasks share: sent once to each worker.

    `centers(start, stop)` makes control points and `values` their values; None where these come with the task. `shape`
    is () for one column, else (p,).
    """

    rate: float
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    normalize: bool
    log: bool
    rtol: float | None
    centers: Callable[..., ArrayLike] | None = None
    values: Callable[..., ArrayLike] | None = None

    @property
    def p(self) -> int:
        """Number of columns."""
        return math.prod(self.shape)

    @property
    def in_exponents(self) -> bool:
        """Whether logarithms of values enter the exponents."""
        return self.log and 4.0 * self.rate >= scaling.NO_UNDERFLOW


def sizes(m: int, n: int, dim: int, p: int) -> tuple[int, int]:
    """Return the numbers of evaluation and control points of a task of about a second; fewer where memory is short."""
    rows = max(1, min(m, ROWS, NUMBERS // (dim + p + 3)))
    controls = int(TASK_WORK / ((3 * (dim + 1) + p + 25) * (rows + MAKING)))
    return rows, max(1, min(n, controls, NUMBERS // (dim + 1 + p)))


def state_of(recipe: Recipe, x: Floats, rows: Floats | None, values: Floats | None, part: slice) -> State:
    """Return the sums over a range of control points, sent with the task or made here."""
    n = part.stop - part.start
    try:
        points = recipe.centers(part.start, part.stop) if recipe.centers else rows
        b = _checks.rows(points, "control_points", dim=x.shape[1] - 1)  # type: ignore[arg-type]
        note = f" for start, stop = {part.start}, {part.stop}"
        _checks.shaped(b, "control_points", (n, x.shape[1]), note=note, verb="return")
        table = values if values is not None else values_at(recipe.values, b)
        _checks.shaped(table, "values", (n, *recipe.shape), note=", as at the first")
        if recipe.log:
            _checks.non_negative_for_log(table)
    except Exception as error:
        error.add_note(f"at control points {part.start} to {part.stop - 1}")
        raise
    return _sums(recipe, x, b, table=table.reshape(n, -1))  # (n, p)


def union(recipe: Recipe, a: State, b: State) -> State:
    """Return the sums over the union of two disjoint sets of control points."""
    return a | {key: scaling.join(a[key], sums, recipe.rate) if key in a else sums for key, sums in b.items()}


def answer(recipe: Recipe, state: State) -> Float64:
    """Return the sums, quotients or logarithms (m, p) of a state over all control points."""
    rate, normalize = recipe.rate, recipe.normalize
    if recipe.in_exponents:
        with np.errstate(divide="ignore"):
            logs = np.stack([np.log(s.sums.denominator) - rate * s.sums.shift for s in state.values()], axis=1)
        return np.asarray(logs[:, :-1] - logs[:, -1:] if normalize else logs)
    joint = state[TOGETHER]
    if recipe.log:
        return scaling.logarithm(joint, rate, normalize)
    quotient = scaling.value(joint, rate, normalize)
    for key, sums in state.items():
        if isinstance(key, tuple):
            own = scaling.quotient(sums, joint.sums, rate) if normalize else scaling.value(sums, rate, False)
            quotient[:, key[1]] += own[:, 0]
    return quotient


def _sums(recipe: Recipe, x: Floats, b: Floats, table: Floats) -> State:
    """Return the sums over control points (n, dim+1) with values (n, p)."""
    if recipe.in_exponents:
        columns = [*table.T, np.ones(len(b))] if recipe.normalize else [*table.T]
        return {number: _log_sums(recipe, x, b, column=column) for number, column in enumerate(columns)}
    together, apart = (table, []) if recipe.log else scaling.strands(table, recipe.rate)
    together = np.zeros_like(table) if together is None else together
    state: State = {TOGETHER: _scaled(recipe, x, b, table=together, normalize=recipe.normalize)}
    for strand in apart:
        scaled = _scaled(recipe, x, b[strand.members], table=strand.table, normalize=False, lifted=recipe.normalize)
        for i, column in enumerate(strand.columns):
            own = scaled.sums._replace(numerators=scaled.sums.numerators[:, i : i + 1])
            state[strand.band, column] = Scaled(own, scaled.octaves[i : i + 1])
    return state


def _scaled(recipe: Recipe, x: Floats, b: Floats, table: Floats, normalize: bool, *, lifted: bool = False) -> Scaled:
    """Return the sums of values divided by powers of 2."""
    problem = scaling.as_weights(
        Problem(x, b, recipe.rate, dtype=recipe.dtype, values=table, normalize=normalize, lifted=lifted)
    )
    return Scaled(_evaluated(recipe, problem), problem.octaves)


def _log_sums(recipe: Recipe, x: Floats, b: Floats, column: Floats) -> Scaled:
    """Return the sum over one column of values, as a denominator that is relative to one number for all parts."""
    no_octaves, no_numerators = np.empty(0, np.int32), np.empty((len(x), 0))
    lifted = scaling.in_exponents(Problem(x, b, recipe.rate, dtype=recipe.dtype, values=None), column)
    if lifted is None:
        return Scaled(Partial(np.full(len(x), NOWHERE), no_numerators, np.zeros(len(x))), no_octaves)
    problem, top = lifted
    sums = _evaluated(recipe, problem)
    return Scaled(sums._replace(shift=sums.shift - top / recipe.rate, numerators=no_numerators), no_octaves)


def _evaluated(recipe: Recipe, problem: Problem) -> Partial:
    """Evaluate on one thread, with an error that is relative to each row's own sum."""
    return plan.evaluated(problem, plan.Wish("auto", recipe.rtol, workers=1), row_by_row=True)[0]
