"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

Two kernels share the work. The fused one sums plain exponentials, at the speed of the hardware; the shifted one relates
them to the nearest control point of each row, and does the rows that underflow otherwise, logarithms and angles.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Floats
from .._threads import slices
from .partial import Float64, Partial, Problem, Sums, merge_into, put
from .tiles import Task, numpy_parts

COMPILE_WORTH = 1e9
"""Work (see `_work`) from which on loading or compiling a kernel pays: about a second of NumPy's time. Tuned."""
TASK_WORK = 1e9
"""Work of one call of a kernel, between which the sum can be interrupted: some 20 ms. Tuned."""
PACKED = 2**18
"""Numbers of control points and values packed for a kernel at a time: they stay in the outer caches. Tuned."""
LOST = {8: 2.0**-700, 4: 2.0**-70}
"""By the size of a number: a plain sum below it may have lost terms to underflow."""

_ready: set[tuple[str, np.dtype[Any]]] = set()
"""Kernels and types that are compiled in this process."""
_spent = [0.0]
"""Work that NumPy has done in this process."""


def sums(problem: Problem, rtol: float | None, workers: int, report: Callable[[int], object]) -> Sums:
    """Return the sums over all control points, whatever `rtol`; `report` hears of finished pairs."""
    m = len(problem.x)
    state = Partial(np.zeros(m), np.empty((m, problem.p)), np.empty(m))
    kernel = "fused" if _plain(problem) else "shifted"
    if not _compiled(kernel, problem):
        _carry_out(numpy_parts(problem, state), 1, report)
        return Sums(state, rounding_bound(problem, state.shift), "numpy")
    if kernel == "shifted":
        _carry_out(_shifted_parts(problem, state, workers), workers, report)
    else:
        _carry_out(_fused_parts(problem, state, workers), workers, report)
        lost = _lost(problem, state)
        if len(lost):
            part = Partial(np.empty(len(lost)), np.empty((len(lost), problem.p)), np.empty(len(lost)))
            _carry_out(_shifted_parts(problem.at_rows(lost), part, workers), workers, lambda pairs: None)
            put(state, lost, part)
    return Sums(state, rounding_bound(problem, state.shift), "numba")


def obstacle(problem: Problem, rtol: float | None) -> str:
    """Say why the method cannot be used: it always can."""
    return ""


def cost(problem: Problem, rtol: float | None, workers: int) -> float:
    """Estimate the seconds that `sums` takes."""
    return 5e-11 * _work(problem) / workers


def rounding_bound(problem: Problem, shift: Float64) -> float:
    """Bound the rounding errors relative to ``sum |w_k| exp(...)``, to first order and over all rows."""
    unit = float(np.finfo(problem.dtype).eps) / 2.0
    chain = min(problem.dim, 24) + problem.dim / 24 + 9.0  # roundings that one exponent passes
    if by_products(problem):
        chain *= 8.0
    exponent = min(4.0 * problem.rate, problem.rate * float(shift.max()) + 709.0)
    return unit * (chain * exponent + 80.0) * (2.0 if problem.normalize else 1.0)


def by_products(problem: Problem) -> bool:
    """Say whether squared distances are taken from products, where they are not small."""
    return problem.dim >= 11


def _plain(problem: Problem) -> bool:
    """Say whether the fused kernel can do the problem."""
    largest = {8: 1e13, 4: 9e4}[problem.dtype.itemsize]
    return problem.w is not None and problem.offset is None and 4.0 * problem.rate <= largest


def _lost(problem: Problem, state: Partial) -> NDArray[np.intp]:
    """Return the rows whose plain sums may have lost terms to underflow, and that need them."""
    limit = LOST[problem.dtype.itemsize]
    if 4.0 * problem.rate < -np.log(limit):
        return np.empty(0, np.intp)
    if problem.normalize:
        return np.flatnonzero(state.denominator < limit)
    return np.flatnonzero((np.abs(state.numerators) < limit).any(axis=1)) if problem.lifted else np.empty(0, np.intp)


def _work(problem: Problem) -> float:
    """Count the arithmetic of all pairs, in vector operations."""
    return float(len(problem.x)) * len(problem.b) * (3 * problem.dim + problem.p + 28)


def _compiled(kernel: str, problem: Problem) -> bool:
    """Decide between a kernel and NumPy: what NumPy has taken in this process so far counts as the rent paid."""
    if (kernel, problem.dtype) in _ready:
        return True
    _spent[0] += _work(problem)
    return _spent[0] > COMPILE_WORTH


def _carry_out(parts: Iterator[tuple[Task, list[slice]]], workers: int, report: Callable[[int], object]) -> None:
    """Call each part's task for its ranges of rows."""
    for task, rows in parts:
        with closing(_run(task, rows, workers)) as finished:
            for pairs in finished:
                report(pairs)


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


def _fused_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the fused kernel's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.exp import decay_constants
    from .._kernels.fused import BLOCK, GROUP, NEAR, VECTORS, fused_sums
    from .._kernels.registers import shape

    columns = problem.p + problem.normalize
    near = NEAR if problem.rate > 0.5 else -1.0
    constants = np.append(decay_constants(problem.rate, problem.dtype), problem.dtype.type(near))
    tile = VECTORS * shape()[0] // problem.dtype.itemsize
    products = by_products(problem)
    for part in slices(len(problem.b), _packed_size(problem, BLOCK)):
        n = part.stop - part.start
        b, w = _pack_groups(problem, part, GROUP, products)

        def task(rows: slice, n: int = n, first: bool = part.start == 0, b: Floats = b, w: Floats = w) -> int:
            x = np.ascontiguousarray(problem.x[rows], dtype=problem.dtype)
            out = np.empty((len(x), columns), problem.dtype)
            fused_sums(x, b, w, products, constants, out)
            _add_plain(problem, state, rows, out, first)
            return len(x) * n

        yield task, _row_ranges(problem, n, tile, workers)
        _ready.add(("fused", problem.dtype))


def _add_plain(problem: Problem, state: Partial, rows: slice, sums: Floats, first: bool) -> None:
    """Add plain sums to the state; without `normalize` nobody asks for the denominators."""
    if first:
        state.numerators[rows], state.denominator[rows] = sums[:, : problem.p], sums[:, -1]
    else:
        state.numerators[rows] += sums[:, : problem.p]
        state.denominator[rows] += sums[:, -1]


def _pack_groups(problem: Problem, part: slice, group: int, products: bool) -> tuple[Floats, Floats]:
    """Copy control points with their half defects, and weights, into the fused kernel's layout.

    (n / group, d+1, group) and (q / c, n, c) with c = 1 for one or two columns, else `group`; what fills weighs 0.
    """
    from .._kernels.fused import half_defects

    b, _, w = problem.controls(part)
    (n, d), p = b.shape, problem.p
    n_filled = -(-n // group) * group
    columns = p + problem.normalize
    c = 1 if columns <= 2 else group
    points = np.zeros((n_filled, d + 1), problem.dtype)
    points[:n, :d] = b
    if products:
        half_defects(points[:n, :d], points[:n, d])
    weights = np.zeros((n_filled, -(-columns // c) * c), problem.dtype)
    weights[:n, :p] = w
    weights[:n, p:columns] = 1.0
    return (
        np.ascontiguousarray(points.reshape(-1, group, d + 1).transpose(0, 2, 1)),
        np.ascontiguousarray(weights.reshape(n_filled, -1, c).transpose(1, 0, 2)),
    )


def _packed_size(problem: Problem, block: int) -> int:
    """Return how many control points to pack at a time."""
    return max(1, PACKED // (problem.dim + 2 + problem.p) // block) * block


def _row_ranges(problem: Problem, n: int, tile: int, workers: int) -> list[slice]:
    """Cut the rows into whole tiles of the kernel, some for each worker, not too many for an interruption."""
    m = len(problem.x)
    rows = TASK_WORK / (_work(problem) / (m * len(problem.b)) * n)
    if workers > 1:
        rows = min(rows, m / (4 * workers))
    return slices(m, tile * max(1, int(rows / tile)))


def _shifted_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the shifted kernel's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.exp import decay_constants
    from .._kernels.shifted import BLOCK, GROUP, TILE_BYTES, shifted_sums

    constants = decay_constants(problem.rate, problem.dtype)
    tile = TILE_BYTES // problem.dtype.itemsize
    for part in slices(len(problem.b), _packed_size(problem, BLOCK)):
        n = part.stop - part.start
        packed = _pack(*problem.controls(part), problem.dtype, GROUP)

        def task(rows: slice, n: int = n, first: bool = part.start == 0, packed: tuple[Floats, ...] = packed) -> int:
            x = np.ascontiguousarray(problem.x[rows], dtype=problem.dtype)
            shift, denominator = np.empty((2, len(x)), problem.dtype)
            numerators = np.empty((len(x), problem.p), problem.dtype)
            shifted_sums(x, *packed, constants, shift, numerators, denominator)
            sums = Partial(shift.astype(np.float64), numerators.astype(np.float64), denominator.astype(np.float64))
            merge_into(state, rows, sums, problem.rate, first)
            return len(x) * n

        yield task, _row_ranges(problem, n, tile, workers)
        _ready.add(("shifted", problem.dtype))


def _pack(b: Floats, offset: Float64, w: Float64, dtype: np.dtype[Any], group: int) -> tuple[Floats, Floats, Floats]:
    """Copy control points, offsets and weights into the kernel's layout; what fills groups weighs nothing."""
    n, p = w.shape
    n_filled, p_filled = -(-n // group) * group, p if p <= 1 else -(-p // group) * group
    b_packed = np.zeros((n_filled, b.shape[1]), dtype)
    offset_packed = np.full(n_filled, np.inf, dtype)
    w_packed = np.zeros((n_filled, p_filled), dtype)
    b_packed[:n], offset_packed[:n], w_packed[:n, :p] = b, offset, w
    return b_packed, offset_packed, w_packed
