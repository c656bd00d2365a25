"""The truncated method: pairs that cannot matter to their row's sum are left out, block by block, with a proven bound.

For large concentrations in low dimensions, or clustered control points in any. Control and evaluation points are put
in an order in which neighbours are together; a tree of balls about blocks of control points says which of them matter
to a tile of evaluation points (docs/theorems.md, 4.11).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Floats
from .._threads import in_order, slices
from . import dense, sampled, shared
from .partial import Float64, Partial, Problem, Sums, put
from .tiles import Task, by_products

SLACK = 1e-6
"""Added to the exponent where truncation begins: covers the rounding of logarithms."""
SMALLEST_RATE = 1e-30
"""Rates below it are taken for it where blocks are left out: none is."""
CHUNK = 2**18
"""Numbers of weights that are looked at together."""
WORTH = 5e-3
"""Seconds of the dense method from which on a sample may be taken."""
USUAL = 2.0
"""The exponent that a row's nearest control point usually costs besides its distance."""
POINT, COORDINATE, ROW = 2e-7, 1e-8, 2e-7
"""Seconds to sort a point of either kind, for each of its coordinates and values, and to find a row's blocks. Measured
with 10^5 and 10^6 points of S^2 and 10^5 of S^16, on one thread."""
SURVIVING, SHIFTED, LOADING = 1.2, 4.0, 0.5
"""The price of a pair relative to that of the dense method, that of the shifted kernel relative to this, and the
seconds to load the kernels."""
TASK_WORK = 4 * shared.TASK_WORK
"""Work of all pairs of a task's rows; usually few of them are computed."""
TASKS = 1000
"""Tasks, at most (but for more than one worker): their call takes some 20 microseconds."""


@dataclass(frozen=True)
class _Tree:
    """The problem in an order in which neighbours are together, and the balls about blocks of control points.

    `arrays` are what the kernels want: nodes, spans, control points (n, d), and the logarithms of their least masses.
    `truncation` is what a sum may lose, relative to that of absolute values; `pairs` counts the pairs of a row.
    """

    problem: Problem
    arrays: tuple[NDArray[Any], ...]
    truncation: float
    pairs: int

    def limits(self, lost: float = math.inf, most: float = math.inf) -> Float64:
        """Return the kernels' limits; `most`: the exponent from which on nothing matters, `lost`: see `near_blocks`."""
        n, d = self.problem.b.shape
        cut = math.log(n / self.truncation) + SLACK
        return np.array([max(self.problem.rate, SMALLEST_RATE), cut, most, lost, _slack(d, self.problem.dtype)])


def sums(problem: Problem, rtol: float | None, workers: int, report: Callable[[int], object]) -> Sums:
    """Return the sums over the control points that matter; `report` hears of finished pairs, computed or not."""
    from .._kernels.fused import VECTORS
    from .._kernels.registers import shape

    truncation = _truncation(problem, rtol)
    m = len(problem.x)
    order, x = _ordered(problem.x, problem.dtype, VECTORS * shape()[0] // problem.dtype.itemsize, workers)
    tree = _tree(replace(problem, x=x), truncation, workers)
    state = Partial(np.zeros(m), np.zeros((m, problem.p)), np.zeros(m))
    if tree is None:
        report(m * len(problem.b))
        return Sums(state, 0.0, "numba")
    if shared.kernel_of(problem) == "fused":
        shared.carry_out(_fused_parts(tree, state, workers), workers, report)
        lost = shared.lost_rows(problem, state)
        part = Partial(np.empty(len(lost)), np.empty((len(lost), problem.p)), np.empty(len(lost)))
        shared.carry_out(_shifted_parts(tree, lost, part, workers), workers, lambda pairs: None)
        put(state, lost, part)
    else:
        shared.carry_out(_shifted_parts(tree, np.arange(m), state, workers), workers, report)
    shared.ready.add(("truncated", problem.dtype))
    if not problem.normalize:
        state.denominator[:] = 0.0
    back = Partial(np.empty(m), np.empty((m, problem.p)), np.empty(m))
    put(back, order, state)
    error = 2.0 * truncation / (1.0 - truncation) if problem.normalize else truncation
    return Sums(back, shared.rounding_bound(problem, state.shift) + error, "numba")


def obstacle(problem: Problem, rtol: float | None) -> str:
    """Say why the method cannot be used."""
    return 'angles are summed by "dense" only' if problem.w is None else ""


def cost(problem: Problem, rtol: float | None, workers: int) -> float:
    """Estimate the seconds that `sums` takes; a sample says which share of the pairs it computes."""
    everything = dense.cost(problem, rtol, 1)
    cut = math.log(len(problem.b) / _truncation(problem, rtol)) + USUAL
    if everything < WORTH or 4.0 * problem.rate < cut:
        return math.inf
    share, nearest = sampled.share(problem, 64, 24, cut)
    if (problem.normalize or problem.lifted) and nearest > -math.log(shared.LOST[problem.dtype.itemsize]):
        share *= SHIFTED
    points = len(problem.x) + len(problem.b)
    ready = ("truncated", problem.dtype) in shared.ready
    rest = points * (POINT + COORDINATE * (problem.dim + problem.p)) + len(problem.x) * ROW
    return (rest + SURVIVING * share * everything) / workers + (0.0 if ready else LOADING)


def _slack(d: int, dtype: np.dtype[Any]) -> float:
    """Return a bound of the relative errors of distances and of exponents made of them."""
    return 4.0 * (d + 16) * float(np.finfo(dtype).eps)


def _truncation(problem: Problem, rtol: float | None) -> float:
    """Return what a sum may lose, so that a quotient of two loses at most rtol."""
    assert rtol is not None
    return rtol / (2.0 + rtol) if problem.normalize else min(rtol, 0.5)


def _ordered(rows: Floats, dtype: np.dtype[Any], block: int, workers: int) -> tuple[NDArray[np.int64], Floats]:
    """Return an order in which blocks of rows are neighbours, and the rows in it."""
    from .._kernels.kdtree import halve, sort_blocks

    rows = np.array(rows, dtype, order="C")
    order = np.arange(len(rows))
    parts = [slice(0, len(rows))]
    while workers > 1 and len(parts) < 4 * workers and len(parts) * block < len(rows):
        middles = in_order(lambda s: halve(rows, order, s.start, s.stop, block), parts, workers)
        halves = [(slice(s.start, i), slice(i, s.stop)) for s, i in zip(parts, middles, strict=True)]
        parts = [s for pair in halves for s in pair if s.start < s.stop]
    list(in_order(lambda s: sort_blocks(rows, order, s.start, s.stop, block), parts, workers))
    return order, rows


def _tree(problem: Problem, truncation: float, workers: int) -> _Tree | None:
    """Sort the control points that weigh anything, and build their tree; None if there are none."""
    from .._kernels.fused import BLOCK
    from .._kernels.kdtree import COLUMNS, make_tree

    assert problem.w is not None
    pairs, b, table, offset = len(problem.b), problem.b, problem.w(slice(0, len(problem.b))), problem.offset
    if not problem.normalize:
        used = np.flatnonzero(table.any(axis=1))
        if len(used) == 0:
            return None
        if len(used) < len(b):
            b, table, offset = b[used], table[used], None if offset is None else offset[used]
    order, b = _ordered(b, problem.dtype, BLOCK, workers)
    table, offset = table[order], None if offset is None else offset[order]
    upper, lower, masses = _masses(table, offset, problem, BLOCK)
    nodes = np.empty((2 * len(masses) - 1, b.shape[1] + COLUMNS), problem.dtype)
    spans = np.empty((len(nodes), 3), np.int64)
    make_tree(b, upper, masses, BLOCK, _slack(b.shape[1], problem.dtype), nodes, spans)
    problem = replace(problem, b=b, w=lambda part: table[part], offset=offset)
    filled = -(-len(b) // 4) * 4
    rows, least = np.zeros((filled, b.shape[1]), b.dtype), np.full(filled, -np.inf, b.dtype)
    rows[: len(b)], least[: len(b)] = b, lower
    return _Tree(problem, (nodes, spans, rows, least), truncation, pairs)


def _masses(table: Float64, offset: Float64 | None, problem: Problem, block: int) -> tuple[Float64, Float64, Float64]:
    """Return the logarithms of each control point's largest and least mass over the columns, and the blocks' masses.

    A mass is the size of a weight over the column's mean, times what the offset adds; columns of zeros do not count.
    """
    n = len(table)
    scale = np.array([np.abs(column).mean() for column in table.T])
    columns = np.flatnonzero(scale)
    upper, lower = np.zeros((2, n)) if offset is None else np.tile(-problem.rate * (offset - offset.min()), (2, 1))
    masses = np.empty((-(-n // block), len(columns) + problem.normalize))
    for part in slices(n, max(1, CHUNK // table.shape[1] // block) * block):
        q = np.abs(table[part][:, columns]) / scale[columns]  # (k, p)
        if problem.normalize:
            q = np.concatenate([q, np.ones((len(q), 1))], axis=1)
        starts = np.arange(0, len(q), block)
        masses[part.start // block :][: len(starts)] = np.add.reduceat(q * np.exp(upper[part])[:, None], starts)
        with np.errstate(divide="ignore"):
            upper[part] += np.log(q.max(axis=1))
            lower[part] += np.log(q.min(axis=1))
    return upper, lower, masses


def _fused_parts(tree: _Tree, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the fused kernel's task and the ranges of rows to call it for."""
    from .._kernels.truncated import truncated_sums

    problem = tree.problem
    products = by_products(problem.dim)
    constants = shared.constants_of(problem)
    packed = shared.pack(problem, slice(0, len(problem.b)), "fused")
    defects = shared.defects_of(problem.x, problem.dtype)
    lost = -math.log(shared.LOST[problem.dtype.itemsize])
    if problem.normalize or problem.lifted:
        limits = tree.limits(lost if 4.0 * problem.rate >= lost else math.inf)
    else:
        smallest = math.log(np.finfo(problem.dtype).smallest_normal)
        limits = tree.limits(most=math.log(2.0**30 * len(problem.b)) - smallest)

    def task(rows: slice) -> int:
        x = np.ascontiguousarray(problem.x[rows])
        out = np.empty((len(x), problem.p + problem.normalize), problem.dtype)
        truncated_sums(x, defects[rows], tree.arrays, *packed, products, constants, limits, out)
        shared.add_plain(problem, state, rows, out, True)
        return len(x) * tree.pairs

    yield task, _row_ranges(problem, len(problem.x), workers)


def _shifted_parts(
    tree: _Tree, which: NDArray[np.intp], state: Partial, workers: int
) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the shifted kernel's task for some of the rows, and the ranges of these to call it for."""
    from .._kernels.truncated import truncated_triples

    if len(which) == 0:
        return
    problem = tree.problem
    constants = shared.constants_of(problem)
    packed = shared.pack(problem, slice(0, len(problem.b)), "shifted")
    limits = tree.limits()

    def task(rows: slice) -> int:
        x = problem.x[which[rows]]
        shift, out = np.empty(len(x)), np.empty((len(x), problem.p + 1))
        truncated_triples(x, tree.arrays, *packed, constants, limits, shift, out)
        put(state, rows, Partial(shift, out[:, :-1], out[:, -1]))
        return len(x) * tree.pairs

    yield task, _row_ranges(problem, len(which), workers)


def _row_ranges(problem: Problem, m: int, workers: int) -> list[slice]:
    """Cut rows into whole tiles of any kernel, some for each worker, not too many for an interruption."""
    rows = max(m / TASKS, TASK_WORK / (shared.work(problem) / len(problem.x)))
    if workers > 1:
        rows = min(rows, m / (4 * workers))
    return slices(m, 96 * max(1, int(rows / 96)))
