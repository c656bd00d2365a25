"""Rounding bounds, lost rows and tasks for threads, of the methods whose kernels sum over pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing

import numpy as np

from ..._kernels.simd.alignment import TABLE
from ..._kernels.summation import layout
from ..._threads import as_done, max_threads
from ..._types import Float64, Floats, Indices
from ..method import Report
from ..partial import Partial
from ..problem import Problem, column_parts

TASK_WORK, LEAST_WORK = 1e9, 1e7
"""Work of one call of a kernel, between which the sum can be interrupted, at most and, for more than one worker, at
least: some 20 ms, and far more than the call itself takes. Tuned."""
SMALL_WORK = 2.2e7
"""Work of a small sum, about a millisecond: sums beyond it are not only done by all pairs, nor by differences."""
TASKS_EACH = 16  # tasks for each worker, so that all end at about one time
WHOLE = 2**20  # bytes of packed control points up to which a small sum is one call of a kernel
PACKED = 2**22  # bytes of control points and weights that are packed for a kernel at a time
LOST = {8: 2.0**-700, 4: 2.0**-70}  # by the size of a number: a plain sum below it may have lost terms to underflow


_NONE = np.empty(0, np.intp)


def rounding_bound(problem: Problem, shift: float = 0.0, merges: int = 0, terms: int = layout.CHAIN_LENGTH) -> float:
    """Bound the rounding errors relative to ``sum |w_k| exp(...)``, to first order and over all rows.

    For the rows' largest `shift`, `merges` of states, without compensation, and `terms` added one after another.
    """
    unit, quotient = unit_roundoff(problem), 2.0 if problem.normalize else 1.0
    if problem.dots:
        bound = dots_error(problem) + unit * (terms + 16.0) * quotient
        # 4.8, plain and shifted sums: rows that were summed again, by differences
        again = problem._replace(dots=False, dtype=np.dtype(np.float64))
        return max(bound, rounding_bound(again, shift, merges, terms=terms)) if shift > 0.0 else bound
    chain = layout.distance_chain_length(problem.dim + 1) + 8.0  # roundings that one exponent passes
    if problem.by_products:
        chain *= 4.0
    if problem.stretch is not None:
        chain += 3.0  # 4.8, concentrations of their own
    exponent = 4.0 * problem.rate
    if exponent > 709.0:
        exponent = min(exponent, problem.rate * shift + 709.0)
    # 4.8, rounding errors: r_0 (c min(2 lambda, 709) + terms + 16)
    return unit * (chain * exponent + terms + 16.0 + 4.0 * merges) * quotient


def dots_error(problem: Problem) -> float:
    """Bound what exponents from products alone cost, relative to ``sum |w_k| exp(...)``."""
    # 4.8, dot products: (3 c_d + 5) lambda r_0
    chain = 3.0 * layout.distance_chain_length(problem.dim + 1) + 5.0
    return unit_roundoff(problem) * chain * 2.0 * problem.rate * (2.0 if problem.normalize else 1.0)


def unit_roundoff(problem: Problem) -> float:
    """Return the unit roundoff of the type that sums are computed in."""
    return 2.0**-53 if problem.dtype.itemsize == 8 else 2.0**-24


def lost_rows(problem: Problem, state: Partial) -> Indices:
    """Return the rows whose plain sums may have lost terms to underflow that matter."""
    # 4.8, plain and shifted sums
    limit = LOST[problem.dtype.itemsize]
    if 4.0 * problem.rate < -math.log(limit) or not (problem.normalize or problem.lifted):
        return _NONE
    sizes = state.denominator[:, None] if problem.normalize else np.abs(state.numerators)
    return np.flatnonzero((sizes < limit).any(axis=1))


def empty_sums(problem: Problem, rows: int) -> tuple[Floats, Floats]:
    """Return the shifted kernel's initial shifts (m,), and sums with their rounding errors (m, 2, p+1)."""
    return np.full(rows, np.inf, problem.dtype), np.zeros((rows, 2, problem.p + 1), problem.dtype)


def as_partial(shift: Floats, sums: Floats) -> Partial:
    """Return the state of a kernel's sums and their rounding errors, (m, 2, p+1); the last column is denominators."""
    totals = sum_residuals(sums)  # (m, p+1)
    return Partial(shift.astype(np.float64, copy=False), totals[:, :-1], totals[:, -1])


def sum_residuals(sums: Floats) -> Float64:
    """Return a kernel's sums with their rounding errors added, (m, q) from (m, 2, q)."""
    totals = np.empty((len(sums), sums.shape[2]))
    for part in column_parts(sums.shape[2]):
        np.add(sums[:, 0, part], sums[:, 1, part], out=totals[:, part], dtype=np.float64)
    return totals


def rows_of_tiles(sums: Floats, m: int, columns: int) -> Float64:
    """Return the fused kernel's sums with their rounding errors added, (m, columns) from (tiles, 2, q, size)."""
    tiles, _, _, size = sums.shape
    totals = np.empty((tiles, size, columns))
    np.add(sums[:, 0, :columns], sums[:, 1, :columns], out=totals.swapaxes(1, 2), dtype=np.float64)
    return totals.reshape(-1, columns)[:m]


def packed_size(problem: Problem) -> int:
    """Return the number of control points that are packed at a time."""
    columns, size = problem.p + problem.normalize, problem.dtype.itemsize
    return layout.whole_blocks(PACKED // ((problem.dim + 2) * size + (TABLE if columns == 1 else columns * size)), size)


def run_tasks(task: Callable[[slice], int], parts: list[slice], workers: int | None, report: Report) -> None:
    """Call a task for ranges of rows, on threads if there are several, and report the pairs that each returns."""
    if len(parts) == 1:
        report(task(parts[0]))
        return
    with closing(as_done(task, parts, workers)) as finished:
        for pairs in finished:
            report(pairs)


def task_rows(problem: Problem, n: int, workers: int | None, largest: float) -> float:
    """Return the number of rows of a task over n control points: a fair part, of at most so much work."""
    m, row_work = len(problem.x), problem.work / (len(problem.x) * len(problem.b)) * n
    rows = largest / row_work
    if (threads := max_threads(workers)) > 1:
        rows = min(rows, max(m / (TASKS_EACH * threads), LEAST_WORK / row_work))
    return rows
