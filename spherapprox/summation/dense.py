"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

The state of a sum is a triple for each evaluation point, and `merge` makes the triples of two parts of the control
points into the triple of their union: an associative operation, the same for blocks, threads and machines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Floats

Float64 = NDArray[np.float64]
Task = Callable[[slice], int]
"""Evaluates a range of rows and returns the number of pairs it took."""
Controls = tuple[Floats, Float64, Float64]
"""Control points (n, d), offsets (n,) and weights (n, p), p = 0 for angles."""

COMPILE_WORTH = 1e9
"""Work (see `_work`) from which on loading or compiling the kernel pays: about a second of NumPy's time. Tuned."""
TASK_WORK = 1e9
"""Work of one call of the kernel, between which the sum can be interrupted: about 30 ms. Tuned."""
PACKED = 2**18
"""Numbers of control points and values packed for the kernel at a time; they fit the second cache. Tuned."""
NUMPY_TILE = (128, 512)
"""Evaluation and control points of a tile of the NumPy path: its two buffers are 1 MiB. Tuned."""

_ready: set[np.dtype[Any]] = set()
"""Types that the kernel is compiled for in this process."""
_spent = [0.0]
"""Work that NumPy has done in this process."""


@dataclass(frozen=True)
class Partial:
    """The sums over a part of the control points, relative to the largest exponential of that part.

    With ``t_k = offset_k + |x - b_k|^2``: `nearest` is min t_k, shape (m,); `numerators` the sums of
    ``w_k exp(-rate (t_k - nearest))``, (m, p); `denominator` the sum without w_k, (m,), at least 1.
    """

    nearest: Float64
    numerators: Float64
    denominator: Float64


def merge(a: Partial, b: Partial, rate: float) -> Partial:
    """Return the triple of the union of two disjoint sets of control points."""
    nearest = np.minimum(a.nearest, b.nearest)
    by_a, by_b = np.exp(-rate * (a.nearest - nearest)), np.exp(-rate * (b.nearest - nearest))
    return Partial(
        nearest,
        a.numerators * by_a[:, None] + b.numerators * by_b[:, None],
        a.denominator * by_a + b.denominator * by_b,
    )


@dataclass(frozen=True)
class Problem:
    """The sums that are wanted: at x (m, d), over b (n, d), rate = lambda/2, computed in `dtype`.

    `w` gives the weights (n, p) of a slice of the control points; None stands for the angles between x and b_k (p = 1).
    `offset` (n,) adds to the squared distances.
    """

    x: Floats
    b: Floats
    rate: float
    dtype: np.dtype[Any]
    w: Callable[[slice], Float64] | None
    p: int = 1
    offset: Float64 | None = None

    def controls(self, part: slice) -> Controls:
        """Return a part of the control points, their offsets and weights."""
        b = self.b[part]
        offset = np.zeros(len(b)) if self.offset is None else self.offset[part]
        return b, offset, np.empty((len(b), 0)) if self.w is None else self.w(part)


def dense_sums(problem: Problem, workers: int, report: Callable[[int], object]) -> tuple[Partial, str]:
    """Return the sums over all control points and the path, "numba" or "numpy"; `report` hears of finished pairs."""
    m = len(problem.x)
    state = Partial(np.empty(m), np.empty((m, problem.p)), np.empty(m))
    compiled = _compiled(problem)
    parts = _numba_parts if compiled else _numpy_parts
    for task, rows in parts(problem, state, workers):
        with closing(_run(task, rows, workers if compiled else 1)) as finished:
            for pairs in finished:
                report(pairs)
    return state, "numba" if compiled else "numpy"


def rounding_bound(problem: Problem, sums: Partial, normalize: bool) -> float:
    """Bound the rounding errors relative to ``sum |w_k| exp(...)``, to first order and over all rows."""
    unit = float(np.finfo(problem.dtype).eps) / 2.0
    chain = int(problem.x.shape[1]) + 4.0  # roundings that one exponent passes
    exponent = min(4.0 * problem.rate, problem.rate * float(sums.nearest.max()) + 709.0)
    return unit * (chain * exponent + 80.0) * (2.0 if normalize else 1.0)


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


def _merge_into(state: Partial, rows: slice, part: Partial, rate: float, first: bool) -> None:
    """Merge a part's triple for some rows into the state."""
    before = Partial(state.nearest[rows], state.numerators[rows], state.denominator[rows])
    after = part if first else merge(before, part, rate)
    before.nearest[:], before.numerators[:], before.denominator[:] = after.nearest, after.numerators, after.denominator


def _slices(n: int, size: int) -> list[slice]:
    """Cut range(n) into slices of at most `size`."""
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def _numpy_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the NumPy path's task for each block of control points, and the ranges of rows to call it for."""
    for part in _slices(len(problem.b), NUMPY_TILE[1]):
        controls = problem.controls(part)

        def task(rows: slice, part: slice = part, controls: Controls = controls) -> int:
            sums = _numpy_tile(problem.x[rows], *controls, problem.rate)
            _merge_into(state, rows, sums, problem.rate, part.start == 0)
            return len(sums.nearest) * len(controls[0])

        yield task, _slices(len(problem.x), NUMPY_TILE[0])


def _numpy_tile(x: Floats, b: Floats, offset: Float64, w: Float64, rate: float) -> Partial:
    """Return the triple of one tile; differences are squared, so that near points lose no digits."""
    t = np.empty((len(x), len(b)))
    difference = np.empty_like(t)
    t[:] = offset
    for j in range(x.shape[1]):
        np.subtract(x[:, j, None], b[None, :, j], out=difference, dtype=np.float64)  # (m, n)
        np.multiply(difference, difference, out=difference)
        t += difference
    nearest = t.min(axis=1)
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(t), 1.0)) if w.shape[1] == 0 else None
    t -= nearest[:, None]
    t *= -rate
    np.exp(t, out=t)
    numerators = t @ w if angles is None else np.einsum("ij,ij->i", t, angles)[:, None]
    return Partial(nearest, numerators, t.sum(axis=1))


def _numba_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the compiled path's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.dense import BLOCK, GROUP, TILE_BYTES, dense_partial
    from .._kernels.exp import decay_constants

    m, d = problem.x.shape
    constants = decay_constants(problem.rate, problem.dtype)
    tile = TILE_BYTES // problem.dtype.itemsize
    per_part = max(1, PACKED // (d + problem.p) // BLOCK) * BLOCK
    for part in _slices(len(problem.b), per_part):
        n = part.stop - part.start
        packed = _pack(*problem.controls(part), problem.dtype, GROUP)
        rows_per_task = TASK_WORK / (n * (3 * d + problem.p + 25))
        if workers > 1:
            rows_per_task = min(rows_per_task, m / (4 * workers))
        rows_per_task = tile * max(1, int(rows_per_task / tile))

        def task(rows: slice, n: int = n, first: bool = part.start == 0, packed: tuple[Floats, ...] = packed) -> int:
            x = np.ascontiguousarray(problem.x[rows], dtype=problem.dtype)
            nearest, denominator = np.empty((2, len(x)), problem.dtype)
            numerators = np.empty((len(x), problem.p), problem.dtype)
            dense_partial(x, *packed, constants, nearest, numerators, denominator)
            sums = Partial(nearest.astype(np.float64), numerators.astype(np.float64), denominator.astype(np.float64))
            _merge_into(state, rows, sums, problem.rate, first)
            return len(x) * n

        yield task, _slices(m, rows_per_task)
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
