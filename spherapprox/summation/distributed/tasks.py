"""What one task of a distributed sum computes, how two results become one, and how large tasks are: no Dask here."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._threads import slices
from ..._types import Float64, Floats
from .. import plan, scaling
from ..partial import Partial
from ..problem import Problem
from ..scaling import Scaled

TASK_WORK = 2e10
"""Arithmetic of a task, in vector operations: about a second on one thread. Tuned."""
LEAST_WORK = 1e9
"""A task is not made shorter than this for the sake of more tasks: some 20 times what Dask takes for it. Tuned."""
ROWS = 2**14
"""Evaluation points of a task: few enough that its result is small, many enough to make control points for. Tuned."""
MAKING = 64
"""A control point that is made in the task takes about as long as it does for so many evaluation points. Tuned."""
NUMBERS = 2**22
"""Numbers of one array that a task is sent, sends or makes at a time: 32 MiB."""
SENT = 2**14
"""Numbers of a result, for each of the tasks that are united on a worker before the result leaves it: 128 KiB."""

NOWHERE = 16.0
"""Shift of an empty sum: above all others, which are at most 4.01 + 745/rate, since rate >= 75 where it is used."""

State = dict[Hashable, Scaled]
"""The sums over a part of the control points: of all columns by TOGETHER, of each alone by its number where values are
in the exponents, or by band and number what `scaling.strands` puts apart."""
TOGETHER = "together"


@dataclass(frozen=True)
class Recipe:
    """What every task needs to know: sent once to each worker.

    `centers(start, stop)` makes control points, None if they come with the task; `values` is a number or a function of
    the control points, None if they come with the task. `shape` is () for one column, else (p,).
    """

    rate: float
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    normalize: bool
    log: bool
    method: str
    rtol: float | None
    centers: Callable[[int, int], ArrayLike] | None = None
    values: Callable[[Any], ArrayLike] | float | None = None

    @property
    def p(self) -> int:
        """Number of columns."""
        return math.prod(self.shape)

    @property
    def in_exponents(self) -> bool:
        """Whether logarithms of values enter the exponents."""
        return self.log and 4.0 * self.rate >= scaling.NO_UNDERFLOW


class Sizes(NamedTuple):
    """Evaluation and control points of a task, and how many tasks' results are united on a worker."""

    rows: int
    controls: int
    fan: int


def sizes(m: int, n: int, dim: int, p: int, threads: int, sent: bool, chunks: tuple[int, int] | None = None) -> Sizes:
    """Return sizes for which a task takes about a second, or less where there would be too few of them, or `chunks`.

    `sent` says whether control points or values are sent with the tasks.
    """
    rows, controls = _chunks(m, n, dim, p, threads, sent) if chunks is None else (min(chunks[0], m), min(chunks[1], n))
    fan = min(16, rows * (p + 2) // SENT)
    if sent:
        fan = min(fan, 2 * NUMBERS // (controls * (dim + 1 + p)))
    return Sizes(rows, controls, max(1, fan))


def _chunks(m: int, n: int, dim: int, p: int, threads: int, sent: bool) -> tuple[int, int]:
    """Return the evaluation and control points of a task."""
    unit = 3 * (dim + 1) + p + 25
    task = min(max(float(m) * n * unit / (4 * max(threads, 1)), LEAST_WORK), TASK_WORK)
    rows = max(1, min(m, ROWS, NUMBERS // (dim + p + 3)))
    controls = max(1, min(n, int(task / (unit * (rows + MAKING)))))
    if controls == n:  # few control points: shorter ranges of rows
        rows = min(rows, max(128, int(task / (unit * n))))
    return rows, max(1, min(controls, NUMBERS // (dim + 1 + p))) if sent else controls


def state_of(recipe: Recipe, x: Floats, rows: Floats | None, values: Floats | None, start: int, stop: int) -> State:
    """Return the sums over control points start, ..., stop - 1, made or taken in parts that fit into memory."""
    x = _checks.rows(x, "x")
    step = max(1, NUMBERS // (x.shape[1] + recipe.p))
    states = (_part(recipe, x, rows, values, start, part) for part in slices(stop - start, step))
    return reduce(lambda a, b: union(recipe, a, b), states)


def union(recipe: Recipe, *states: State) -> State:
    """Return the sums over the union of disjoint sets of control points, united from left to right."""

    def both(a: State, b: State) -> State:
        return a | {key: scaling.join(a[key], sums, recipe.rate) if key in a else sums for key, sums in b.items()}

    return reduce(both, states)


def answer(recipe: Recipe, state: State) -> Float64:
    """Return the sums, quotients or logarithms (m, p) that a state over all control points stands for."""
    if recipe.in_exponents:
        with np.errstate(divide="ignore"):
            logs = np.stack([np.log(s.sums.denominator) - recipe.rate * s.sums.shift for s in state.values()], axis=1)
        return np.asarray(logs[:, :-1] - logs[:, -1:] if recipe.normalize else logs)
    joint = state[TOGETHER]
    if recipe.log:
        return scaling.logarithm(joint, recipe.rate, recipe.normalize)
    found = scaling.value(joint, recipe.rate, recipe.normalize)
    for key, sums in state.items():
        if isinstance(key, tuple):
            own = (
                scaling.quotient(sums, joint.sums, recipe.rate)
                if recipe.normalize
                else scaling.value(sums, recipe.rate, False)
            )
            found[:, key[1]] += own[:, 0]
    return found


def result_of(recipe: Recipe, dtype: np.dtype[Any], state: State) -> Floats:
    """Return `answer` in the result's shape and type."""
    found = answer(recipe, state)
    return found.reshape(len(found), *recipe.shape).astype(dtype, copy=False)


def _part(recipe: Recipe, x: Floats, rows: Floats | None, values: Floats | None, start: int, part: slice) -> State:
    """Return the sums over a part of a task's control points."""
    dim, n = x.shape[1] - 1, part.stop - part.start
    first, last = start + part.start, start + part.stop
    try:
        made = recipe.centers(first, last) if recipe.centers is not None else None
        b = _checks.rows(made if rows is None else rows[part], "control_points", dim=dim)  # type: ignore[arg-type]
        if len(b) != n:
            raise ValueError(f"'control_points' must return {n} rows, got {len(b)}")
        table = values_at(recipe.values, b) if values is None else _checks.values_for(values[part], "values", n, "them")
        if table.shape[1:] != recipe.shape:
            raise ValueError(f"'values' must have shape {(n, *recipe.shape)}, as at the first, got {table.shape}")
        if recipe.log and table.min() < 0.0:
            raise ValueError(f"'values' must be at least 0 for log=True, got {table.min():g}: use log=False")
    except Exception as error:
        error.add_note(f"at control points {first} to {last - 1}")
        raise
    return _sums(recipe, x, b, table.reshape(n, -1))


def values_at(values: Callable[[Any], ArrayLike] | float | None, b: Floats) -> Floats:
    """Return the values at control points: a function's, or the same for all."""
    if callable(values):
        return _checks.values_for(values(b), "values", len(b), "the control points")
    return np.full(len(b), values, b.dtype)


def _sums(recipe: Recipe, x: Floats, b: Floats, table: Floats) -> State:
    """Return the sums over control points (n, dim+1) with values (n, p)."""
    if recipe.in_exponents:
        columns = [*table.T, np.ones(len(b))] if recipe.normalize else [*table.T]
        return {number: _log_sums(recipe, x, b, column) for number, column in enumerate(columns)}
    together, apart = (table, []) if recipe.log else scaling.strands(table, recipe.rate)
    state: State = {
        TOGETHER: _scaled(recipe, x, b, np.zeros_like(table) if together is None else together, recipe.normalize)
    }
    for strand in apart:
        scaled = _scaled(recipe, x, b[strand.members], strand.table, False, lifted=recipe.normalize)
        for i, column in enumerate(strand.columns):
            own = replace(scaled.sums, numerators=scaled.sums.numerators[:, i : i + 1])
            state[strand.band, column] = Scaled(own, scaled.octaves[i : i + 1])
    return state


def _scaled(recipe: Recipe, x: Floats, b: Floats, table: Floats, normalize: bool, *, lifted: bool = False) -> Scaled:
    """Return the sums of values divided by powers of 2."""
    problem = scaling.as_weights(Problem(x, b, recipe.rate, recipe.dtype, table, normalize, lifted))
    return Scaled(_evaluated(recipe, problem), problem.octaves)


def _log_sums(recipe: Recipe, x: Floats, b: Floats, column: Floats) -> Scaled:
    """Return the sum over one column of values, as a denominator that is relative to the same for all parts."""
    no_octaves, no_numerators = np.empty(0, np.int32), np.empty((len(x), 0))
    lifted = scaling.in_exponents(Problem(x, b, recipe.rate, recipe.dtype, None), column)
    if lifted is None:
        return Scaled(Partial(np.full(len(x), NOWHERE), no_numerators, np.zeros(len(x))), no_octaves)
    problem, top = lifted
    sums = _evaluated(recipe, problem)
    return Scaled(replace(sums, shift=sums.shift - top / recipe.rate, numerators=no_numerators), no_octaves)


def _evaluated(recipe: Recipe, problem: Problem) -> Partial:
    """Evaluate on one thread, with an error that is relative to each row's own sum."""
    return plan.evaluated(problem, plan.Wish(recipe.method, recipe.rtol, workers=1), row_by_row=True)[0]
