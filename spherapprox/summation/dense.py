"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

Two kernels share the work. The fused one sums plain exponentials, at the speed of the hardware; the shifted one relates
them to the nearest control point of each row, and does the rows that underflow otherwise, logarithms and angles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .._threads import load, slices
from .._types import Floats
from . import shared
from .partial import Partial, Problem, Sums, Tolerance, compiled_form, put
from .shared import (
    carry_out,
    constants_of,
    defects_of,
    kernel_of,
    lost_rows,
    no_sums,
    pack,
    packed_size,
    rounding_bound,
    task_rows,
    with_rest,
    work,
)
from .tiles import Task, by_products, columns, numpy_parts

COMPILE_WORTH = 1e9
"""Work from which on loading or compiling a kernel pays: about a second of NumPy's time. Tuned."""
LOADING = 0.4
"""Seconds that it takes to load a kernel that has been compiled. Measured."""
RATE, NUMPY_RATE = 2.4e10, 5e9
"""Work in float64 per second, of the kernels on each thread and of NumPy. Measured."""

_spent = [0.0]
"""Work that NumPy has done in this process."""


def sums(problem: Problem, tolerance: Tolerance | None, workers: int | None, report: Callable[[int], object]) -> Sums:
    """Return the sums over all control points, whatever the tolerance; `report` hears of finished pairs."""
    kernel = kernel_of(problem)
    by_kernel = _compiled(kernel, problem)
    merges = 0
    if by_kernel:
        load("spherapprox._kernels.summation.shifted")  # and the fused one
    if not by_kernel:
        m, merges = len(problem.x), len(problem.b) // columns(problem)
        state = Partial(np.zeros(m), np.empty((m, problem.p)), np.empty(m))
        carry_out(numpy_parts(problem, state), 1, report)
    elif kernel == "shifted":
        state = _shifted(problem, workers, report)
    else:
        state = _fused(problem, workers, report)
        lost = lost_rows(problem, state)
        if len(lost):
            few = replace(problem.at_rows(lost), dtype=np.dtype(np.float64))
            put(state, lost, _shifted(few, workers, lambda pairs: None))
    if not problem.normalize:
        state.denominator[:] = 0.0
    error = rounding_bound(problem, float(state.shift.max()), merges)
    return Sums(state, error, "numba" if by_kernel else "numpy")


def promise(problem: Problem, omitted: float = 0.0) -> float:
    """Bound the error of the compiled sums beforehand."""
    return rounding_bound(problem)


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Say why the method cannot be used: it always can."""
    return ""


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds of one thread: from counts of vector operations, and their rates on an Ice Lake Xeon."""
    pairs = work(problem)
    if (kernel_of(problem), problem.dtype) not in shared.ready and _spent[0] + pairs <= COMPILE_WORTH:
        return 1e-4 + pairs / NUMPY_RATE
    loading = 0.0 if (kernel_of(problem), problem.dtype) in shared.ready else LOADING
    return loading + 5e-5 + pairs / (RATE * 8.0 / problem.dtype.itemsize)


def _compiled(kernel: str, problem: Problem) -> bool:
    """Decide between a kernel and NumPy: what NumPy has taken in this process so far counts as the rent paid."""
    if (kernel, problem.dtype) in shared.ready:
        return True
    _spent[0] += work(problem)
    return _spent[0] > COMPILE_WORTH


def _fused(problem: Problem, workers: int | None, report: Callable[[int], object]) -> Partial:
    """Return the plain sums."""
    from .._kernels.summation.fused import fused_sums

    m, constants, products = len(problem.x), constants_of(problem), by_products(problem.dim)
    defects = defects_of(problem.x, problem.dtype)
    totals = np.zeros((m, 2, problem.p + problem.normalize), problem.dtype)

    def add(b: Floats, w: Floats, x: Floats, rows: slice) -> None:
        fused_sums(x, defects[rows], b, w, products, constants, totals[rows])

    carry_out(_parts(problem, "fused", add, workers), workers, report)
    if problem.normalize:
        return with_rest(np.zeros(m), totals)
    return Partial(np.zeros(m), np.add(totals[:, 0], totals[:, 1], dtype=np.float64), np.zeros(m))


def _shifted(problem: Problem, workers: int | None, report: Callable[[int], object]) -> Partial:
    """Return the sums relative to each row's nearest control point, or of angles."""
    from .._kernels.summation.shifted import shifted_sums

    constants, angles = constants_of(problem), problem.w is None
    shift, totals = no_sums(problem, len(problem.x))

    def add(b: Floats, w: Floats, x: Floats, rows: slice) -> None:
        shifted_sums(x, b, w, angles, constants, shift[rows], totals[rows])

    carry_out(_parts(problem, "shifted", add, workers), workers, report)
    return with_rest(shift, totals)


def _parts(
    problem: Problem, kernel: str, add: Callable[[Floats, Floats, Floats, slice], None], workers: int | None
) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the kernel's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.simd.registers import shape
    from .._kernels.summation.fused import VECTORS

    tile = VECTORS * shape()[0] // problem.dtype.itemsize
    for part in slices(len(problem.b), packed_size(problem)):
        n, (b, w) = part.stop - part.start, pack(problem, part, kernel)

        def task(rows: slice, n: int = n, b: Floats = b, w: Floats = w) -> int:
            x = compiled_form(problem.x[rows], problem.dtype)
            add(b, w, x, rows)
            return len(x) * n

        yield task, _row_ranges(problem, n, tile, workers)
        shared.ready.add((kernel, problem.dtype))


def _row_ranges(problem: Problem, n: int, tile: int, workers: int | None) -> list[slice]:
    """Cut the rows into whole tiles of the kernel, some for each worker, not too many for an interruption."""
    return slices(len(problem.x), tile * max(1, int(task_rows(problem, n, workers) / tile)))
