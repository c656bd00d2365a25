"""The truncated method: pairs that cannot matter to their row's sum are left out, block by block, with a proven bound.

For large concentrations in low dimensions, or clustered control points in any. Control and evaluation points are put
in an order in which neighbours are together; boxes about blocks of control points say which of them matter to a tile of
evaluation points (docs/theorems/4.11-truncated-sums.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._kernels.simd.alignment import compiled_form
from ..._kernels.summation import layout
from ..._loading import load
from ..._threads import max_threads, slices
from ..._types import Float64, Indices, Int64
from .. import dense
from ..dense import all_pairs
from ..method import Report, Sums, Tolerance, silent
from ..partial import Partial, write_rows
from ..problem import UNSCALED, Problem
from . import sampled

if TYPE_CHECKING:
    from ..._kernels.summation.boxes import Limits, Tree

SLACK = 1e-6  # added to the exponent where truncation begins: covers the rounding of logarithms
SMALLEST_RATE = 1e-30  # rates below it are taken for it where blocks are left out: none is
WORTH = 5e-3  # seconds of the dense method from which on a sample may be taken
USUAL = 2.0  # the exponent that a row's nearest control point usually costs besides its distance
START, POINT, COORDINATE = 1e-3, 3.5e-8, 5e-9
"""Seconds to begin; to sort a point of either kind and to look for its blocks, for each doubling beyond a thousand, as
caches hold fewer of them; and for each coordinate and value. Fitted to 2 to 9 columns, 10^3 to 10^6 points."""
SURVIVING, SHIFTED = 1.35, 4.0
"""The price of a pair relative to that of the dense method, and that of the shifted kernel relative to this."""
TESTS = 0.3  # that of the tests of balls, relative to the geometric mean of all pairs and those computed. Fitted.
TASK_WORK = 4 * all_pairs.TASK_WORK  # work of all pairs of a task's rows; usually few of them are computed
TASKS = 1000  # tasks, at most (but for more than one worker): their call takes some 20 microseconds


@dataclass(frozen=True)
class _Sorted:
    """The problem in an order in which neighbours are together, and the boxes about blocks of control points.

    `groups` are the control points in the fused kernel's layout, and `order` sorts the evaluation points.
    `truncation` bounds the terms left out, relative to the sum of absolute values; `pairs` counts the pairs of a row.
    """

    problem: Problem
    order: Int64
    tree: Tree
    groups: Float64
    truncation: float
    pairs: int

    def limits(self, underflow: float = math.inf, negligible: float = math.inf) -> Limits:
        """Return the kernels' limits: exponents from which on nothing matters, and beyond which sums underflow."""
        from ..._kernels.summation.boxes import Limits

        n, d = self.problem.b.shape
        # 4.11, the allowance: log(N / epsilon)
        cut = math.log(n / self.truncation) + SLACK
        # 4.11, rounding: delta = 8 (d + 16) r_0, of squared distances and of the exponents made of them
        slack = 4.0 * (d + 16) * float(np.finfo(np.float64).eps)
        return Limits(
            max(self.problem.rate, SMALLEST_RATE), cut, negligible=negligible, underflow=underflow, slack=slack
        )


def sums(problem: Problem, tolerance: Tolerance, workers: int | None, report: Report) -> Sums:
    """Return the sums over the control points that matter; `report` counts finished pairs, computed or not."""
    for kernels in ("truncated", "curve"):
        load(f"spherapprox._kernels.summation.{kernels}")
    truncation = _truncation(problem, tolerance)
    m = len(problem.x)
    # Step 1: sort the points, and make boxes about blocks of control points
    task = _sorted(problem, truncation)
    state = Partial(np.zeros(m), np.zeros((m, problem.p)), np.zeros(m))
    if task is None:
        report(m * len(problem.b))
        return Sums(state, 0.0)
    # Step 2: sum over the near blocks; rows that may have lost terms again, relative to the nearest control point
    if problem.kernel == "fused":
        plain = _plain_sums(task, workers, report)
        state = state._replace(numerators=plain[:, : problem.p])
        if problem.normalize:
            state = state._replace(denominator=plain[:, problem.p])
        is_lost = np.zeros(m, np.bool_)
        is_lost[all_pairs.lost_rows(problem, state)] = True
        _put_shifted_sums(task, task.order[is_lost[task.order]], state, workers=workers, report=silent)
    else:
        _put_shifted_sums(task, task.order, state, workers=workers, report=report)
    if not problem.normalize:
        state = state._replace(denominator=np.zeros(m))
    # Step 3: bound the error
    rounding = all_pairs.rounding_bound(problem, float(state.shift.max()), terms=layout.NEAR_BLOCK)
    # 4.11 (quotient), (sum)
    left_out = 2.0 * truncation / (1.0 - truncation) if problem.normalize else truncation
    return Sums(state, rounding + left_out)


def promise(problem: Problem, omitted: float) -> float:
    """Bound the error before the sums are computed."""
    return all_pairs.rounding_bound(problem, terms=layout.NEAR_BLOCK) + omitted


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Return the obstacle to the method; empty if there is none."""
    if max(len(problem.x), len(problem.b)) >= 2**32:
        return "it sorts fewer than 2^32 points"
    return 'angles are summed by "dense" only' if problem.values is None else ""


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds of one thread, from the share of the pairs that it computes within a sample."""
    everything, once = dense.cost(problem, tolerance), least_cost(problem)
    cut = math.log(len(problem.b) / _truncation(problem, tolerance)) + USUAL
    if everything < WORTH or 4.0 * problem.rate < cut:
        return math.inf
    negligible = math.inf if problem.normalize or problem.lifted else _negligible_exponent(problem)
    share, nearest = sampled.share(problem, layout.NEAR_BLOCK, layout.NEAR_TILE, cut=cut, limit=negligible)
    if (problem.normalize or problem.lifted) and nearest > -math.log(all_pairs.LOST[problem.dtype.itemsize]):
        share *= SHIFTED
    relative = share + TESTS * math.sqrt(share) if problem.x.shape[1] > layout.CUBE else SURVIVING * share
    return once + relative * everything


def memory(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the bytes that are held at once: copies of the points in order, and boxes."""
    d, columns = problem.dim + 1.0, problem.p + float(problem.normalize)
    return problem.result_memory + 8.0 * (len(problem.x) * d + len(problem.b) * (9.0 + 2.1 * d + 3.4 * columns))


def least_cost(problem: Problem) -> float:
    """Estimate the seconds of one thread without any pair."""
    points = len(problem.x) + len(problem.b)
    point_seconds = POINT * math.log2(2.0 + points / 2000.0) + COORDINATE * (problem.dim + 1 + problem.p)
    return START + points * point_seconds


def _truncation(problem: Problem, tolerance: Tolerance) -> float:
    """Return the relative truncation of a sum at which it, or a quotient, keeps to the tolerance with all roundings."""
    room = max(tolerance.total - promise(problem, 0.0), np.finfo(np.float64).eps)
    loss = min(tolerance.omitted, room)
    # 4.11, the allowance: epsilon of quotients and of sums
    return loss / (2.0 + loss) if problem.normalize else min(loss, 0.5)


def _negligible_exponent(problem: Problem) -> float:
    """Return the exponent from which on all that a plain sum leaves out is far below the smallest normal number."""
    # 4.11, underflow: exp(-lambda tau / 2) <= 2^-30 eta / N
    return math.log(2.0**30 * len(problem.b)) - math.log(np.finfo(problem.dtype).smallest_normal)


def _sorted(problem: Problem, truncation: float) -> _Sorted | None:
    """Sort the points, without control points of weight 0, and make boxes about blocks; None if all weigh 0."""
    from ..._kernels.summation import boxes, curve

    pairs, table, offset = len(problem.b), problem.weights(slice(0, len(problem.b))), problem.offset
    x = compiled_form(problem.x, problem.dtype)
    b = x if problem.b is problem.x else compiled_form(problem.b, problem.dtype)
    # Step 1: order the evaluation points along a Hilbert curve
    order = curve.order_of(x)
    if not problem.normalize:
        # Step 2: leave out control points without any weight
        weighted = table.any(axis=1)
        if not weighted.any():
            return None
        if not weighted.all():
            b, table, offset = b[weighted], table[weighted], None if offset is None else offset[weighted]
    # Step 3: order the control points alike
    by = order if b is x else curve.order_of(b)
    table, offset = table.take(by, axis=0), None if offset is None else offset[by]  # (N, p), (N,)
    factors = np.zeros(len(table)) if offset is None else -problem.rate * (offset - offset.min())
    # Step 4: make the boxes of blocks and of bundles
    sizes = np.abs(table)  # (N, p)
    # 4.11, the allowance: c_r; columns of zeros are left out
    scale = sizes.mean(axis=0)
    if problem.normalize:
        sizes, scale = np.concatenate([sizes, np.ones((len(sizes), 1))], axis=1), np.append(scale, 1.0)  # (N, p+1)
    masses = [sizes[:, column] / scale[column] for column in np.flatnonzero(scale)]
    tree, groups = boxes.plant(b, by, masses, factors=factors, by_products=problem.by_products)
    problem = problem._replace(x=x, b=tree.rows[: len(by)], values=table, octaves=UNSCALED, offset=offset)
    return _Sorted(problem, order, tree, groups=groups, truncation=truncation, pairs=pairs)


def _plain_sums(task: _Sorted, workers: int | None, report: Report) -> Float64:
    """Return the fused kernel's sums (m, p), or (m, p+1) with the denominators last."""
    from ..._kernels.summation import packing
    from ..._kernels.summation.truncated import truncated_sums

    problem, products = task.problem, task.problem.by_products
    out = np.zeros((len(problem.x), problem.p + problem.normalize))
    rates = packing.rates(problem.rate, problem.dtype)
    w = packing.pack_columns(problem.weights(slice(0, len(problem.b))), out.shape[1], problem.dtype)
    defects = packing.half_defects(problem.x, problem.dtype, products)
    underflow = -math.log(all_pairs.LOST[problem.dtype.itemsize])
    if problem.normalize or problem.lifted:
        limits = task.limits(underflow if 4.0 * problem.rate >= underflow else math.inf)
    else:
        limits = task.limits(negligible=_negligible_exponent(problem))

    def evaluate(part: slice) -> int:
        order = task.order[part]
        x = problem.x.take(order, axis=0)  # (rows, d)
        truncated_sums(x, order, defects, task.tree, task.groups, w, products, rates, limits, out)
        return len(x) * task.pairs

    all_pairs.run_tasks(evaluate, _row_ranges(problem, len(problem.x), workers), workers, report=report)
    return out


def _put_shifted_sums(task: _Sorted, which: Indices, state: Partial, workers: int | None, report: Report) -> None:
    """Write the shifted kernel's sums at some of the rows into the state."""
    from ..._kernels.summation import packing, shifted
    from ..._kernels.summation.truncated import truncated_triples

    if len(which) == 0:
        return
    problem = task.problem
    rates = packing.rates(problem.rate, problem.dtype)
    b, offset, w = problem.controls(slice(0, len(problem.b)))
    packed = shifted.pack(b, offset, problem.dtype), packing.pack_columns(w, problem.p + 1, problem.dtype)
    limits = task.limits()

    def evaluate(part: slice) -> int:
        rows = which[part]
        shift, totals = all_pairs.empty_sums(problem, len(rows))
        x = problem.x.take(rows, axis=0)  # (rows, d)
        truncated_triples(x, task.tree, *packed, rates, limits, shift, totals)
        write_rows(state, rows, all_pairs.as_partial(shift, totals))
        return len(rows) * task.pairs

    all_pairs.run_tasks(evaluate, _row_ranges(problem, len(which), workers), workers, report=report)


def _row_ranges(problem: Problem, m: int, workers: int | None) -> list[slice]:
    """Cut rows into ranges of whole searches, some for each worker."""
    from ..._kernels.summation.truncated import SEARCH_ROWS

    rows = all_pairs.task_rows(problem, len(problem.b), workers, largest=TASK_WORK)
    if max_threads(workers) == 1:
        rows = max(rows, m / TASKS)
    return slices(m, SEARCH_ROWS * max(1, int(rows / SEARCH_ROWS)))
