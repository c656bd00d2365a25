"""The truncated method: pairs that cannot matter to their row's sum are left out, block by block, with a proven bound.

For large concentrations in low dimensions, or clustered control points in any. Control and evaluation points are put
in an order in which neighbours are together; boxes about blocks of control points say which of them matter to a tile of
evaluation points (docs/theorems.md, 4.11).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._threads import load, most, slices
from .._types import Array, Float64, Floats, Indices, Int64
from . import all_pairs as shared
from . import dense, sampled
from .partial import Partial, Problem, Sums, Tolerance, compiled_form, put
from .tiles import Task, by_products

SLACK = 1e-6
"""Added to the exponent where truncation begins: covers the rounding of logarithms."""
SMALLEST_RATE = 1e-30
"""Rates below it are taken for it where blocks are left out: none is."""
BLOCK, TILE = 24, 24
"""Control points in a block and evaluation points in a tile: those of the kernels, which need not be loaded."""
FEW = 32
"""Points in one box of a grid that stay in any order."""
TOGETHER = 768
"""Rows of whole searches, in either kernel: their number must not depend on the number of workers."""
WORTH = 5e-3
"""Seconds of the dense method from which on a sample may be taken."""
USUAL = 2.0
"""The exponent that a row's nearest control point usually costs besides its distance."""
START, POINT, COORDINATE = 1e-3, 3.5e-8, 5e-9
"""Seconds to begin; to sort a point of either kind and to look for its blocks, for each doubling beyond a thousand, as
caches hold fewer of them; and for each coordinate and value. Fitted to 2 to 9 columns, 10^3 to 10^6 points."""
SURVIVING, SHIFTED, LOADING = 1.35, 4.0, 0.5
"""The price of a pair relative to that of the dense method, that of the shifted kernel relative to this, and the
seconds to load the kernels."""
TASK_WORK = 4 * shared.TASK_WORK
"""Work of all pairs of a task's rows; usually few of them are computed."""
TASKS = 1000
"""Tasks, at most (but for more than one worker): their call takes some 20 microseconds."""


@dataclass(frozen=True)
class _Sorted:
    """The problem in an order in which neighbours are together, and the boxes about blocks of control points.

    `arrays` are what the kernels want: boxes, bundles, control points (n, d), the logarithms of their least masses, and
    that of the least mass of all; `groups`: the control points as the fused kernel wants them. `order` sorts the
    evaluation points. `truncation` is what a sum may lose, relative to that of absolute values; `pairs` counts the
    pairs of a row.
    """

    problem: Problem
    order: Int64
    arrays: tuple[Array, ...]
    groups: Float64
    truncation: float
    pairs: int

    def limits(self, lost: float = math.inf, most: float = math.inf) -> Float64:
        """Return the kernels' limits; `most`: the exponent from which on nothing matters, `lost`: see `near_blocks`."""
        n, d = self.problem.b.shape
        cut = math.log(n / self.truncation) + SLACK
        return np.array([max(self.problem.rate, SMALLEST_RATE), cut, most, lost, _slack(d)])


def sums(problem: Problem, tolerance: Tolerance, workers: int | None, report: Callable[[int], object]) -> Sums:
    """Return the sums over the control points that matter; `report` hears of finished pairs, computed or not."""
    for kernels in ("truncated", "curve"):
        load(f"spherapprox._kernels.summation.{kernels}")
    truncation = _truncation(problem, tolerance)
    m = len(problem.x)
    task = _sorted(problem, truncation)
    state = Partial(np.zeros(m), np.zeros((m, problem.p)), np.zeros(m))
    if task is None:
        report(m * len(problem.b))
        return Sums(state, 0.0, "numba")
    if shared.kernel_of(problem) == "fused":
        plain = np.zeros((m, problem.p + problem.normalize))
        shared.carry_out(_fused_parts(task, plain, workers), workers, report)
        state = replace(state, numerators=plain[:, : problem.p])
        if problem.normalize:
            state = replace(state, denominator=plain[:, problem.p])
        lost = np.zeros(m, np.bool_)
        lost[shared.lost_rows(problem, state)] = True
        which = task.order[lost[task.order]]
        shared.carry_out(_shifted_parts(task, which, state, workers), workers, lambda pairs: None)
    else:
        shared.carry_out(_shifted_parts(task, task.order, state, workers), workers, report)
    shared.ready.add(("truncated", problem.dtype))
    if not problem.normalize:
        state = replace(state, denominator=np.zeros(m))
    rounding = shared.rounding_bound(problem, float(state.shift.max()), terms=BLOCK)
    return Sums(state, rounding + _left_out(problem, truncation), "numba")


def promise(problem: Problem, omitted: float) -> float:
    """Bound the error beforehand."""
    return shared.rounding_bound(problem, terms=BLOCK) + omitted


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Say why the method cannot be used."""
    if max(len(problem.x), len(problem.b)) >= 2**32:
        return "it sorts fewer than 2^32 points"
    return 'angles are summed by "dense" only' if problem.w is None else ""


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds that one thread takes; a sample says which share of the pairs it computes."""
    everything = dense.cost(problem, tolerance)
    cut = math.log(len(problem.b) / _truncation(problem, tolerance)) + USUAL
    if everything < WORTH or 4.0 * problem.rate < cut:
        return math.inf
    most = math.inf if problem.normalize or problem.lifted else _most(problem)
    share, nearest = sampled.share(problem, BLOCK, TILE, cut, most)
    if (problem.normalize or problem.lifted) and nearest > -math.log(shared.LOST[problem.dtype.itemsize]):
        share *= SHIFTED
    points = len(problem.x) + len(problem.b)
    each = POINT * math.log2(2.0 + points / 2000.0) + COORDINATE * (problem.dim + 1 + problem.p)
    loading = 0.0 if ("truncated", problem.dtype) in shared.ready else LOADING
    return START + loading + points * each + SURVIVING * share * everything


def _slack(d: int) -> float:
    """Return a bound of the relative errors of distances and of exponents made of them."""
    return 4.0 * (d + 16) * float(np.finfo(np.float64).eps)


def _truncation(problem: Problem, tolerance: Tolerance) -> float:
    """Return what a sum may lose, so that it, or a quotient of two, keeps to the tolerance with all roundings."""
    room = max(tolerance.total - promise(problem, 0.0), np.finfo(np.float64).eps)
    loss = min(tolerance.omitted, room)
    return loss / (2.0 + loss) if problem.normalize else min(loss, 0.5)


def _left_out(problem: Problem, truncation: float) -> float:
    """Return what a sum, or a quotient of two, loses."""
    return 2.0 * truncation / (1.0 - truncation) if problem.normalize else truncation


def _most(problem: Problem) -> float:
    """Return the exponent from which on all that a plain sum leaves out is far below the smallest normal number."""
    return math.log(2.0**30 * len(problem.b)) - math.log(np.finfo(problem.dtype).smallest_normal)


def curve_order(rows: Floats) -> Int64:
    """Return an order of points of the sphere in which neighbours are together."""
    from .._kernels.summation.curve import CUBE, CUBE_BITS, number

    n, d = rows.shape
    order, keys = np.arange(n), np.empty(n, np.uint64)
    parts, bits = np.array([[0, n]]), 0
    if d <= CUBE:
        bits = max(1, min(math.ceil(math.log2(n) / (d - 1)), CUBE_BITS // (d - 1)))
    while len(parts):
        number(rows, order, parts, bits, keys)
        for first, last in parts:
            keys[first:last].sort()
            order[first:last] = keys[first:last] & np.uint64(2**32 - 1)
        parts, bits = _together(keys, parts), 0
    return order


def _together(keys: NDArray[np.uint64], parts: Int64) -> Int64:
    """Return the ranges, within parts, of more than FEW keys of one number."""
    found = [np.empty((0, 2), np.int64)]
    for first, last in parts:
        numbers = keys[first:last] >> np.uint64(32)
        if (numbers[FEW:] == numbers[:-FEW]).any():
            ends = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1], [True]])) + first
            runs = np.stack([ends[:-1], ends[1:]], axis=1)
            found.append(runs[runs[:, 1] - runs[:, 0] > FEW])
    return np.concatenate(found)


def _sorted(problem: Problem, truncation: float) -> _Sorted | None:
    """Sort the points, and the control points that weigh anything, and make boxes about these; None if none does."""
    from .._kernels.simd.registers import shape
    from .._kernels.summation import boxes

    assert problem.w is not None
    pairs, table, offset = len(problem.b), problem.w(slice(0, len(problem.b))), problem.offset
    x = compiled_form(problem.x, problem.dtype)
    b = x if problem.b is problem.x else compiled_form(problem.b, problem.dtype)
    order = curve_order(x)
    if not problem.normalize:
        used = table.any(axis=1)
        if not used.any():
            return None
        if not used.all():
            b, table, offset = b[used], table[used], None if offset is None else offset[used]
    by = order if b is x else curve_order(b)
    (n, d), group = b.shape, shape()[2]
    filled, blocks = -(-n // group) * group, -(-n // boxes.BLOCK)
    rows, groups = np.empty((filled, d)), np.empty((filled // group, d + 1, group))
    widths = (-(-k // boxes.LANES) * boxes.LANES for k in (blocks, -(-blocks // boxes.BUNDLE)))
    of_blocks, of_bundles = (np.empty((2 * d + 2, width)) for width in widths)
    boxes.make(b, by, rows, groups, of_blocks, of_bundles)
    table, offset = table.take(by, axis=0), None if offset is None else offset[by]
    problem = replace(problem, x=x, b=rows[:n], w=lambda part: table[part], offset=offset)
    lower = np.full(filled, -np.inf)
    lower[:n], least = _weigh(problem, table, of_blocks[2 * d :, :blocks], of_bundles[2 * d :])
    return _Sorted(problem, order, (of_blocks, of_bundles, rows, lower, np.array([least])), groups, truncation, pairs)


def _weigh(problem: Problem, table: Float64, of_blocks: Float64, of_bundles: Float64) -> tuple[Float64, float]:
    """Write the logarithms of the largest mass of a point, and of the least of all, of blocks and of bundles.

    A mass is the size of a weight over the column's mean, times what the offset adds; columns of zeros do not count.
    Returns the logarithms of the least mass of each point over the columns, and of the least of all points.
    """
    from .._kernels.summation.boxes import BLOCK, BUNDLE

    sizes = np.abs(table)
    scale = sizes.mean(axis=0)
    if problem.normalize:
        sizes, scale = np.concatenate([sizes, np.ones((len(sizes), 1))], axis=1), np.append(scale, 1.0)
    logs = np.zeros(len(table)) if problem.offset is None else -problem.rate * (problem.offset - problem.offset.min())
    factor = 1.0 if problem.offset is None else np.exp(logs)
    sums = np.zeros((np.count_nonzero(scale), of_blocks.shape[1]))
    most, least, starts = np.zeros(len(table)), np.full(len(table), np.inf), np.arange(0, len(table), BLOCK)
    for r, column in enumerate(np.flatnonzero(scale)):
        mass = sizes[:, column] / scale[column]
        sums[r] = np.add.reduceat(mass * factor, starts)
        np.maximum(most, mass, out=most)
        np.minimum(least, mass, out=least)
    with np.errstate(divide="ignore"):
        upper = np.log(most) + logs
        lower = upper if len(sums) == 1 else np.log(least) + logs
        of_blocks[0] = np.maximum.reduceat(upper, starts)
        of_blocks[1] = np.maximum(np.maximum.reduceat(lower, starts), np.log(sums.min(axis=0)))
        starts = np.arange(0, of_blocks.shape[1], BUNDLE)
        inner = np.add.reduceat(sums, starts, axis=1).min(axis=0)
        of_bundles[0, : len(starts)] = np.maximum.reduceat(of_blocks[0], starts)
        of_bundles[1, : len(starts)] = np.maximum(np.maximum.reduceat(of_blocks[1], starts), np.log(inner))
        return lower, float(np.log(sums.sum(axis=1).min()))


def _fused_parts(task: _Sorted, out: Float64, workers: int | None) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the fused kernel's task and the ranges of rows to call it for."""
    from .._kernels.summation.truncated import truncated_sums

    problem = task.problem
    products = by_products(problem.dim)
    constants = shared.constants_of(problem)
    n, p, group = len(task.arrays[2]), problem.p + problem.normalize, task.groups.shape[2]
    w = shared.pack_columns(problem.controls(slice(0, n))[2], n, p, group, problem.dtype)
    if products:
        task.groups[:, -1] = shared.defects_of(task.arrays[2], problem.dtype).reshape(len(task.groups), -1)
    defects = shared.defects_of(problem.x, problem.dtype)
    lost = -math.log(shared.LOST[problem.dtype.itemsize])
    if problem.normalize or problem.lifted:
        limits = task.limits(lost if 4.0 * problem.rate >= lost else math.inf)
    else:
        limits = task.limits(most=_most(problem))

    def evaluate(part: slice) -> int:
        order = task.order[part]
        x = problem.x.take(order, axis=0)
        truncated_sums(x, order, defects, task.arrays, task.groups, w, products, constants, limits, out)
        return len(x) * task.pairs

    yield evaluate, _row_ranges(problem, len(problem.x), workers)


def _shifted_parts(
    task: _Sorted, which: Indices, state: Partial, workers: int | None
) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the shifted kernel's task for some of the rows, and the ranges of these to call it for."""
    from .._kernels.summation.truncated import truncated_triples

    if len(which) == 0:
        return
    problem = task.problem
    constants = shared.constants_of(problem)
    packed = shared.pack(problem, slice(0, len(problem.b)), "shifted")
    limits = task.limits()

    def evaluate(part: slice) -> int:
        rows = which[part]
        shift, totals = shared.no_sums(problem, len(rows))
        x = problem.x.take(rows, axis=0)
        truncated_triples(x, task.arrays, *packed, constants, limits, shift, totals)
        put(state, rows, shared.with_rest(shift, totals))
        return len(rows) * task.pairs

    yield evaluate, _row_ranges(problem, len(which), workers)


def _row_ranges(problem: Problem, m: int, workers: int | None) -> list[slice]:
    """Cut rows into what either kernel searches for together, some for each worker."""
    rows = shared.task_rows(problem, len(problem.b), workers, TASK_WORK)
    if most(workers) == 1:
        rows = max(rows, m / TASKS)
    return slices(m, TOGETHER * max(1, int(rows / TOGETHER)))
