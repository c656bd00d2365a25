"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

Two kernels share the work. The fused one sums plain exponentials, at the speed of the hardware; the shifted one relates
them to the nearest control point of each row, and does the rows that underflow otherwise, logarithms and angles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._kernels.simd.alignment import compiled_form
from ..._kernels.summation import layout
from ..._loading import load, session
from ..._threads import for_work, slices
from ..._types import Floats
from ..method import Report, Sums, Tolerance, silent
from ..partial import Partial, write_rows
from ..problem import Problem
from . import all_pairs

RATE = 2.4e10  # work in float64 per second of a thread. Measured.
DOTS_SHARE = 0.1  # share of the tolerance that exponents from products alone may cost
_NOTHING = np.empty(0)
Packed = tuple[Floats, Floats]  # control points and weights in a kernel's layout

FAR = 48.0  # while 2 lambda is below it, all plain sums are far from underflow, and no row is relative to a shift


def sums(problem: Problem, tolerance: Tolerance, workers: int | None, report: Report) -> Sums:
    """Return the sums over all control points; the tolerance may allow exponents from products alone."""
    state, summed = partial_sums(problem, tolerance, workers, report)
    shift = 0.0 if 4.0 * problem.rate < FAR else float(state.shift.max())
    return Sums(state, all_pairs.rounding_bound(summed, shift))


def partial_sums(
    problem: Problem, tolerance: Tolerance, workers: int | None, report: Report
) -> tuple[Partial, Problem]:
    """Return the sums without a bound of their errors, and the problem as it was summed."""
    if session.ranges is None:  # arguments are checked by kernels from now on
        load("spherapprox._kernels.ranges")
        load("spherapprox._kernels.summation.whole")
        load("spherapprox._kernels.summation.shifted")
    if problem.kernel == "shifted":
        return _shifted(problem, workers, report), problem
    is_small = problem.work <= all_pairs.SMALL_WORK
    if not is_small:
        # 4.8, dot products: a share of what may be lost, so that near pairs keep their digits by default
        problem = problem._replace(dots=all_pairs.dots_error(problem) <= DOTS_SHARE * tolerance.omitted)
    return _fused(problem, is_small, workers, report=report), problem


def promise(problem: Problem, omitted: float = 0.0) -> float:
    """Bound the error of the compiled sums before they are computed."""
    return all_pairs.rounding_bound(problem)


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Return no obstacle: the method can always be used."""
    return ""


def cost(problem: Problem, tolerance: Tolerance | None = None) -> float:
    """Estimate the seconds of one thread: from counts of vector operations, and their rates on an Ice Lake Xeon."""
    return 5e-5 + problem.work / (RATE * 8.0 / problem.dtype.itemsize)


def memory(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the bytes that are held at once: control points are packed in parts."""
    count, size = min(len(problem.b), all_pairs.packed_size(problem)), problem.dtype.itemsize
    return problem.result_memory + count * size * (problem.dim + 3.0 + 1.5 * (problem.p + problem.normalize))


def _fused(problem: Problem, is_small: bool, workers: int | None, report: Report) -> Partial:
    """Return the plain sums; rows that underflow are summed relative to their nearest control point."""
    (n, d), columns = problem.b.shape, problem.p + problem.normalize
    is_whole = is_small and 32 * n * (d + 2 + columns) <= all_pairs.WHOLE and not layout.in_blocks(d, columns)
    state = _whole(problem, report) if is_whole else _in_parts(problem, workers, report)
    # 4.8, plain and shifted sums: once more, relative to the nearest control point
    if len(lost := all_pairs.lost_rows(problem, state)):
        lost_problem = problem.at_rows(lost)._replace(dtype=np.dtype(np.float64), dots=False)
        write_rows(state, lost, _shifted(lost_problem, workers, silent))
    return state


def _whole(problem: Problem, report: Report) -> Partial:
    """Return the plain sums by one call of a kernel."""
    from ..._kernels.summation import packing, whole

    (m, n, p), dtype = (len(problem.x), len(problem.b), problem.p), problem.dtype
    x, b, w = compiled_form(problem.x, dtype), compiled_form(problem.b, dtype), problem.weights(slice(0, n))
    numerators, denominator = np.empty((m, p)), np.zeros(m)
    if dtype.itemsize == 4:
        w = w.astype(dtype)
    flat, below = (w, denominator) if problem.normalize else (w.reshape(-1) if p == 1 else w, _NOTHING)
    rates, powers = packing.rates(problem.rate, dtype), packing.powers(dtype)
    whole.whole_sums(x, b, flat, problem.by_products, rates, powers, numerators, below)
    report(m * n)
    return Partial(np.zeros(m), numerators, denominator)


def _in_parts(problem: Problem, workers: int | None, report: Report) -> Partial:
    """Return the plain sums by parts of the control points and tasks of rows."""
    from ..._kernels.summation import fused, packing, tiles

    dtype, columns, products, d = problem.dtype, problem.p + problem.normalize, problem.by_products, problem.dim + 1
    m, tile = len(problem.x), tiles.tile_rows(problem.dtype)
    totals = np.zeros((-(-m // tile), 2, packing.columns_of(columns, d), tile), dtype)
    scale, rates = (packing.octaves(problem.rate), None) if problem.dots else (1.0, packing.rates(problem.rate, dtype))

    def pack(part: slice) -> Packed:
        b, w = problem.b[part], problem.numbers(part)
        defects = packing.half_defects(b, dtype, products)
        points = packing.pack_points(b, scale * defects if problem.dots else defects, dtype)
        return points, packing.pack_weights(w, columns, d, dtype)

    def add(packed: Packed, x: Floats, rows: slice) -> None:
        if problem.dots:
            x, last = packing.in_octaves(x, problem.rate, dtype)
        else:
            last = packing.half_defects(x, dtype, products)
        fused.fused_sums(x, last, *packed, products, rates, totals[rows.start // tile : -(-rows.stop // tile)])

    _over_parts(problem, pack, add, workers=workers, report=report)
    sums = all_pairs.rows_of_tiles(totals, m, columns)
    below = sums[:, -1] if problem.normalize else np.zeros(m)
    return Partial(np.zeros(m), sums[:, : problem.p], below)


def _shifted(problem: Problem, workers: int | None, report: Report) -> Partial:
    """Return the sums relative to each row's nearest control point, or of angles."""
    from ..._kernels.summation import packing, shifted

    dtype, columns, angles = problem.dtype, problem.p + 1, problem.values is None
    rates = packing.rates(problem.rate, dtype)
    shift, totals = all_pairs.empty_sums(problem, len(problem.x))

    def pack(part: slice) -> Packed:
        b, offset, w = problem.controls(part)
        return shifted.pack(b, offset, dtype, problem.stretched(part)), packing.pack_columns(w, columns, dtype)

    def add(packed: Packed, x: Floats, rows: slice) -> None:
        shifted.shifted_sums(x, *packed, angles, rates, shift[rows], totals[rows])

    _over_parts(problem, pack, add, workers=workers, report=report)
    state = all_pairs.as_partial(shift, totals)
    return state if problem.normalize else state._replace(denominator=np.zeros(len(shift)))


def _over_parts(
    problem: Problem, pack: Callable[[slice], Packed], add: Callable[[Packed, Floats, slice], None],
    workers: int | None, report: Report,
) -> None:  # fmt: skip
    """Add the sums over parts of the control points."""
    threads = for_work(workers, cost(problem))
    for part in slices(len(problem.b), all_pairs.packed_size(problem)):
        _over_part(problem, part, pack, add=add, threads=threads, report=report)


def _over_part(
    problem: Problem, part: slice, pack: Callable[[slice], Packed], add: Callable[[Packed, Floats, slice], None],
    threads: int, report: Report,
) -> None:  # fmt: skip
    """Add the sums over a part of the control points, packed, by whole tiles of rows, some for each thread."""
    from ..._kernels.summation import tiles

    count: int = part.stop - part.start
    packed, tile = pack(part), tiles.tile_rows(problem.dtype)

    def task(rows: slice) -> int:
        x = compiled_form(problem.x[rows], problem.dtype)
        add(packed, x, rows)
        return len(x) * count

    rows = all_pairs.task_rows(problem, count, threads, largest=all_pairs.TASK_WORK)
    all_pairs.run_tasks(task, slices(len(problem.x), tile * max(1, int(rows / tile))), threads, report=report)
