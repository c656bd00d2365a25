"""The dense method: all pairs of evaluation and control points, in memory that does not grow with their product.

Two kernels share the work. The fused one sums plain exponentials, at the speed of the hardware; the shifted one relates
them to the nearest control point of each row, and does the rows that underflow otherwise, logarithms and angles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .._checks import Floats
from .._threads import slices
from . import shared
from .partial import Partial, Problem, Sums, compiled_form, merge_into, put
from .shared import (
    TASK_WORK,
    add_plain,
    carry_out,
    constants_of,
    defects_of,
    kernel_of,
    lost_rows,
    pack,
    packed_size,
    rounding_bound,
    work,
)
from .tiles import Task, by_products, numpy_parts

COMPILE_WORTH = 1e9
"""Work from which on loading or compiling a kernel pays: about a second of NumPy's time. Tuned."""
LOADING = 0.4
"""Seconds that it takes to load a kernel that has been compiled. Measured."""
RATE, NUMPY_RATE = 2.4e10, 5e9
"""Work in float64 per second, of the kernels on each thread and of NumPy. Measured."""

_spent = [0.0]
"""Work that NumPy has done in this process."""


def sums(problem: Problem, rtol: float | None, workers: int, report: Callable[[int], object]) -> Sums:
    """Return the sums over all control points, whatever `rtol`; `report` hears of finished pairs."""
    m = len(problem.x)
    state = Partial(np.zeros(m), np.empty((m, problem.p)), np.empty(m))
    kernel = kernel_of(problem)
    by_kernel = _compiled(kernel, problem)
    if not by_kernel:
        carry_out(numpy_parts(problem, state), 1, report)
    elif kernel == "shifted":
        carry_out(_shifted_parts(problem, state, workers), workers, report)
    else:
        carry_out(_fused_parts(problem, state, workers), workers, report)
        _repair(problem, state, workers)
    if not problem.normalize:
        state.denominator[:] = 0.0
    return Sums(state, rounding_bound(problem, state.shift), "numba" if by_kernel else "numpy")


def obstacle(problem: Problem, rtol: float | None) -> str:
    """Say why the method cannot be used: it always can."""
    return ""


def cost(problem: Problem, rtol: float | None, workers: int) -> float:
    """Estimate the seconds that `sums` takes: from counts of vector operations, and their rates on an Ice Lake Xeon."""
    pairs = work(problem)
    if (kernel_of(problem), problem.dtype) not in shared.ready and _spent[0] + pairs <= COMPILE_WORTH:
        return 1e-4 + pairs / NUMPY_RATE
    loading = 0.0 if (kernel_of(problem), problem.dtype) in shared.ready else LOADING
    return loading + 5e-5 + pairs / (RATE * 8.0 / problem.dtype.itemsize * workers)


def _repair(problem: Problem, state: Partial, workers: int) -> None:
    """Sum again, relative to their nearest control points, rows whose plain sums may have lost terms to underflow."""
    lost = lost_rows(problem, state)
    if len(lost):
        part = Partial(np.empty(len(lost)), np.empty((len(lost), problem.p)), np.empty(len(lost)))
        few = replace(problem.at_rows(lost), dtype=np.dtype(np.float64))
        carry_out(_shifted_parts(few, part, workers), workers, lambda pairs: None)
        put(state, lost, part)


def _compiled(kernel: str, problem: Problem) -> bool:
    """Decide between a kernel and NumPy: what NumPy has taken in this process so far counts as the rent paid."""
    if (kernel, problem.dtype) in shared.ready:
        return True
    _spent[0] += work(problem)
    return _spent[0] > COMPILE_WORTH


def _fused_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the fused kernel's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.fused import VECTORS, fused_sums
    from .._kernels.registers import shape

    constants = constants_of(problem)
    tile = VECTORS * shape()[0] // problem.dtype.itemsize
    products = by_products(problem.dim)
    defects = defects_of(problem.x, problem.dtype)
    for part in slices(len(problem.b), packed_size(problem)):
        n = part.stop - part.start
        b, w = pack(problem, part, "fused")

        def task(rows: slice, n: int = n, first: bool = part.start == 0, b: Floats = b, w: Floats = w) -> int:
            x = compiled_form(problem.x[rows], problem.dtype)
            out = np.empty((len(x), problem.p + problem.normalize), problem.dtype)
            fused_sums(x, defects[rows], b, w, products, constants, out)
            add_plain(problem, state, rows, out, first)
            return len(x) * n

        yield task, _row_ranges(problem, n, tile, workers)
        shared.ready.add(("fused", problem.dtype))


def _row_ranges(problem: Problem, n: int, tile: int, workers: int) -> list[slice]:
    """Cut the rows into whole tiles of the kernel, some for each worker, not too many for an interruption."""
    m = len(problem.x)
    rows = TASK_WORK / (work(problem) / (m * len(problem.b)) * n)
    if workers > 1:
        rows = min(rows, m / (4 * workers))
    return slices(m, tile * max(1, int(rows / tile)))


def _shifted_parts(problem: Problem, state: Partial, workers: int) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the shifted kernel's task for each part of the control points that is packed, and the ranges of rows."""
    from .._kernels.fused import VECTORS
    from .._kernels.registers import shape
    from .._kernels.shifted import shifted_sums

    constants = constants_of(problem)
    tile = VECTORS * shape()[0] // problem.dtype.itemsize
    for part in slices(len(problem.b), packed_size(problem)):
        n = part.stop - part.start
        b, w = pack(problem, part, "shifted")

        def task(rows: slice, n: int = n, first: bool = part.start == 0, b: Floats = b, w: Floats = w) -> int:
            x = compiled_form(problem.x[rows], problem.dtype)
            shift, out = np.empty(len(x)), np.empty((len(x), problem.p + 1))
            shifted_sums(x, b, w, problem.w is None, constants, shift, out)
            merge_into(state, rows, Partial(shift, out[:, :-1], out[:, -1]), problem.rate, first)
            return len(x) * n

        yield task, _row_ranges(problem, n, tile, workers)
        shared.ready.add(("shifted", problem.dtype))
