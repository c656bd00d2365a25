"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

Two kernels share the work. The fused one sums plain exponentials, at the speed of the hardware; the shifted one relates
them to the nearest control point of each row, and does the rows that underflow otherwise, logarithms and angles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..._loading import load
from ..._threads import slices
from ..._types import Floats
from ..method import Report, Sums, Tolerance, silent
from ..partial import Partial, write_rows
from ..problem import Problem, compiled_form
from . import all_pairs, numpy_tiles

COMPILE_WORTH = 1e9
"""Work from which on loading or compiling a kernel pays: a fifth of a second of NumPy's time. Tuned."""
CALL = 5e5  # work that takes as long as a call by NumPy does besides its own
LOADING = 0.4  # seconds that it takes to load a kernel that has been compiled. Measured.
RATE, NUMPY_RATE = 2.4e10, 5e9  # work in float64 per second, of the kernels on each thread and of NumPy. Measured.
DOTS_SHARE = 0.1  # share of the tolerance that exponents from products alone may cost
Packed = tuple[Floats, Floats]  # control points and weights in a kernel's layout

_spent = [0.0]  # work that NumPy has done in this process


def sums(problem: Problem, tolerance: Tolerance | None, workers: int | None, report: Report) -> Sums:
    """Return the sums over all control points; the tolerance may allow exponents from products alone."""
    if not _compiled(problem):
        merges = len(problem.b) // numpy_tiles.columns(problem)
        state, path = numpy_tiles.sums(problem, report), "numpy"
    else:
        load("spherapprox._kernels.summation.shifted")  # and the fused one
        if tolerance is not None and problem.kernel == "fused" and problem.work > all_pairs.SMALL_WORK:
            # 4.8, dot products: a share of what may be lost, so that near pairs keep their digits by default
            problem = replace(problem, dots=all_pairs.dots_error(problem) <= DOTS_SHARE * tolerance.omitted)
        state, path, merges = (_fused if problem.kernel == "fused" else _shifted)(problem, workers, report), "numba", 0
    if not problem.normalize:
        state.denominator[:] = 0.0
    return Sums(state, all_pairs.rounding_bound(problem, float(state.shift.max()), merges), path)


def promise(problem: Problem, omitted: float = 0.0) -> float:
    """Bound the error of the compiled sums before they are computed."""
    return all_pairs.rounding_bound(problem)


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Return no obstacle: the method can always be used."""
    return ""


def cost(problem: Problem, tolerance: Tolerance | None = None) -> float:
    """Estimate the seconds of one thread: from counts of vector operations, and their rates on an Ice Lake Xeon."""
    by_kernel = 5e-5 + problem.work / (RATE * 8.0 / problem.dtype.itemsize)
    if (problem.kernel, problem.dtype) in all_pairs.ready:
        return by_kernel
    by_numpy = (CALL + problem.work) / NUMPY_RATE
    if _spent[0] + problem.work <= COMPILE_WORTH:
        return by_numpy
    # loading is for the sums to come, too: no sum costs more than what it would cost without
    return min(by_numpy, LOADING + by_kernel)


def _compiled(problem: Problem) -> bool:
    """Decide between a kernel and NumPy, by the work that NumPy has done in this process so far."""
    if (problem.kernel, problem.dtype) in all_pairs.ready:
        return True
    _spent[0] += CALL + problem.work
    return _spent[0] > COMPILE_WORTH


def _fused(problem: Problem, workers: int | None, report: Report) -> Partial:
    """Return the plain sums; rows that underflow are summed relative to their nearest control point."""
    from ..._kernels.summation import fused, packing

    dtype, columns, products = problem.dtype, problem.p + problem.normalize, problem.by_products
    scale, rates, totals = 1.0, None, np.zeros((len(problem.x), 2, columns), dtype)
    if problem.dots:
        scale = packing.octaves(problem.rate)
    else:
        rates = packing.rates(problem.rate, dtype)

    def pack(part: slice) -> Packed:
        b, _, w = problem.controls(part)
        points = packing.pack_points(b, scale * packing.half_defects(b, dtype, products), dtype)
        return points, packing.pack_weights(w, columns, problem.dim + 1, dtype)

    def add(packed: Packed, x: Floats, rows: slice) -> None:
        if problem.dots:
            x, last = packing.in_octaves(x, problem.rate, dtype)
        else:
            last = packing.half_defects(x, dtype, products)
        fused.fused_sums(x, last, *packed, products, rates, totals[rows])

    _over_parts(problem, pack, add, workers=workers, report=report)
    all_pairs.ready.add(("fused", dtype))
    if problem.normalize:
        state = all_pairs.as_partial(np.zeros(len(totals)), totals)
    else:
        state = Partial(np.zeros(len(totals)), all_pairs.sum_residuals(totals), np.zeros(len(totals)))
    # 4.8, plain and shifted sums: once more, relative to the nearest control point
    if len(lost := all_pairs.lost_rows(problem, state)):
        lost_problem = replace(problem.at_rows(lost), dtype=np.dtype(np.float64), dots=False)
        write_rows(state, lost, _shifted(lost_problem, workers, silent))
    return state


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
    all_pairs.ready.add(("shifted", dtype))
    return all_pairs.as_partial(shift, totals)


def _over_parts(
    problem: Problem, pack: Callable[[slice], Packed], add: Callable[[Packed, Floats, slice], None],
    workers: int | None, report: Report,
) -> None:  # fmt: skip
    """Add the sums over each part of the control points, packed."""
    n, size = len(problem.b), all_pairs.packed_size(problem)
    for part in slices(n, size):
        _over_part(problem, part, pack, add=add, workers=workers, report=report)


def _over_part(
    problem: Problem, part: slice, pack: Callable[[slice], Packed], add: Callable[[Packed, Floats, slice], None],
    workers: int | None, report: Report,
) -> None:  # fmt: skip
    """Add the sums over a part of the control points by whole tiles of rows, some for each worker."""
    from ..._kernels.summation.tiles import tile_rows

    count: int = part.stop - part.start
    packed, tile = pack(part), tile_rows(problem.dtype)

    def task(rows: slice) -> int:
        x = compiled_form(problem.x[rows], problem.dtype)
        add(packed, x, rows)
        return len(x) * count

    rows = all_pairs.task_rows(problem, count, workers, largest=all_pairs.TASK_WORK)
    all_pairs.run_tasks(task, slices(len(problem.x), tile * max(1, int(rows / tile))), workers, report=report)
