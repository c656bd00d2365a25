"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from typing import Any

import numpy as np

from .._checks import Floats
from .._threads import slices
from .partial import Float64, Partial, Problem, Sums, merge_into
from .tiles import Task, numpy_parts

COMPILE_WORTH = 1e9
"""Work (see `_work`) from which on loading or compiling the kernel pays: about a second of NumPy's time. Tuned."""
TASK_WORK = 1e9
"""Work of one call of the kernel, between which the sum can be interrupted: about 30 ms. Tuned."""
PACKED = 2**18
"""Numbers of control points and values packed for the kernel at a time; they fit the second cache. Tuned."""

_ready: set[np.dtype[Any]] = set()
"""Types that the kernel is compiled for in this process."""
_spent = [0.0]
"""Work that NumPy has done in this process."""


def sums(problem: Problem, rtol: float | None, workers: int, report: Callable[[int], object]) -> Sums:
    """Return the sums over all control points, whatever `rtol`; `report` hears of finished pairs."""
    m = len(problem.x)
    state = Partial(np.empty(m), np.empty((m, problem.p)), np.empty(m))
    compiled = _compiled(problem)
    parts = _numba_parts if compiled else numpy_parts
    for task, rows in parts(problem, state, workers):
        with closing(_run(task, rows, workers if compiled else 1)) as finished:
            for pairs in finished:
                report(pairs)
    return Sums(state, rounding_bound(problem, state.shift), "numba" if compiled else "numpy")


def rounding_bound(problem: Problem, shift: Float64) -> float:
    """Bound the rounding errors relative to ``sum |w_k| exp(...)``, to first order and over all rows."""
    unit = float(np.finfo(problem.dtype).eps) / 2.0
    chain = problem.dim + 5.0  # roundings that one exponent passes
    exponent = min(4.0 * problem.rate, problem.rate * float(shift.max()) + 709.0)
    return unit * (chain * exponent + 80.0) * (2.0 if problem.normalize else 1.0)


def obstacle(problem: Problem, rtol: float | None) -> str:
    """Say why the method cannot be used: it always can."""
    return ""


def cost(problem: Problem, rtol: float | None, workers: int) -> float:
    """Estimate the seconds that `sums` takes."""
    return 5e-11 * _work(problem) / workers


def _work(problem: Problem) -> float:
    """Count the arithmetic of all pairs, in vector operations."""
    return float(len(problem.x)) * len(problem.b) * (3 * int(problem.x.shape[1]) + problem.p + 25)


def _compiled(problem: Problem) -> bool:
    """Decide between the kernel and NumPy: what NumPy has taken in this process so far counts as the rent paid."""
    if problem.dtype in _ready:
        return True
    _spent[0] += _work(problem)
    return _spent[0] > COMPILE_WORTH


def _run(task: Task, rows: list[slice], workers: int) -> Generator[int, None, None]:
    """Call the task for each range of rows; an interruption waits for the calls that run and drops the others."""
    if workers == 1 or len(rows) == 1:
        yield from map(task, rows)
        return
    pool = ThreadPoolExecutor(min(workers, len(rows)))
    try:
        for future in as_completed([pool.submit(task, part) for part in rows]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _numba_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the compiled path's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.dense import BLOCK, GROUP, TILE_BYTES, dense_partial
    from .._kernels.exp import decay_constants

    m, d = problem.x.shape
    constants = decay_constants(problem.rate, problem.dtype)
    tile = TILE_BYTES // problem.dtype.itemsize
    per_part = max(1, PACKED // (d + problem.p) // BLOCK) * BLOCK
    for part in slices(len(problem.b), per_part):
        n = part.stop - part.start
        packed = _pack(*problem.controls(part), problem.dtype, GROUP)
        rows_per_task = TASK_WORK / (n * (3 * d + problem.p + 25))
        if workers > 1:
            rows_per_task = min(rows_per_task, m / (4 * workers))
        rows_per_task = tile * max(1, int(rows_per_task / tile))

        def task(rows: slice, n: int = n, first: bool = part.start == 0, packed: tuple[Floats, ...] = packed) -> int:
            x = np.ascontiguousarray(problem.x[rows], dtype=problem.dtype)
            shift, denominator = np.empty((2, len(x)), problem.dtype)
            numerators = np.empty((len(x), problem.p), problem.dtype)
            dense_partial(x, *packed, constants, shift, numerators, denominator)
            sums = Partial(shift.astype(np.float64), numerators.astype(np.float64), denominator.astype(np.float64))
            merge_into(state, rows, sums, problem.rate, first)
            return len(x) * n

        yield task, slices(m, rows_per_task)
        _ready.add(problem.dtype)


def _pack(b: Floats, offset: Float64, w: Float64, dtype: np.dtype[Any], group: int) -> tuple[Floats, Floats, Floats]:
    """Copy control points, offsets and weights into the kernel's layout; what fills groups weighs nothing."""
    n, p = w.shape
    n_filled, p_filled = -(-n // group) * group, p if p <= 1 else -(-p // group) * group
    b_packed = np.zeros((n_filled, b.shape[1]), dtype)
    offset_packed = np.full(n_filled, np.inf, dtype)
    w_packed = np.zeros((n_filled, p_filled), dtype)
    b_packed[:n], offset_packed[:n], w_packed[:n, :p] = b, offset, w
    return b_packed, offset_packed, w_packed
