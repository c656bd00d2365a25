"""What the methods that call the kernels of all pairs share: layouts, constants, bounds of rounding, and the calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import lru_cache
from typing import Any

import numpy as np

from .._threads import as_done, most, slices
from .._types import Array, Floats, Indices
from .partial import Partial, Problem, compiled_form
from .tiles import CHAIN, NEAR, Task, by_products

TASK_WORK, LEAST_WORK = 1e9, 1e7
"""Work of one call of a kernel, between which the sum can be interrupted, at most and, for more than one worker, at
least: some 20 ms, and far more than the call itself takes. Tuned."""
TASKS_EACH = 16
"""Tasks for each worker, so that all end at about one time."""
PACKED = 2**17
"""Numbers of control points and values packed for a kernel at a time: they stay in the outer caches. Tuned."""
LARGEST_EXPONENT = {8: 1e13, 4: 9e4}
"""By the size of a number: the fused kernel takes exponents up to it."""
LOST = {8: 2.0**-700, 4: 2.0**-70}
"""By the size of a number: a plain sum below it may have lost terms to underflow."""

ready: set[tuple[str, np.dtype[Any]]] = set()
"""Kernels and types that are compiled in this process."""


def work(problem: Problem) -> float:
    """Count the arithmetic of all pairs, in operations of a vector's lane."""
    d, columns = problem.dim + 1, problem.p + problem.normalize
    distance = d + 3 if by_products(problem.dim) else 2 * d
    return float(len(problem.x)) * len(problem.b) * (distance + 14 + columns)


def kernel_of(problem: Problem) -> str:
    """Return the kernel that does the problem first: "fused" where it can."""
    plain = (
        problem.w is not None
        and problem.offset is None
        and 4.0 * problem.rate <= LARGEST_EXPONENT[problem.dtype.itemsize]
    )
    return "fused" if plain else "shifted"


def rounding_bound(problem: Problem, shift: float = 0.0, merges: int = 0, terms: int = CHAIN) -> float:
    """Bound the rounding errors relative to ``sum |w_k| exp(...)``, to first order and over all rows.

    `shift` is the largest of the rows', `merges` counts those of states, which are not compensated, and `terms` those
    that are added one after another.
    """
    unit = 2.0**-53 if problem.dtype.itemsize == 8 else 2.0**-24
    d = problem.dim + 1
    chain = min(d, 24) + d / 24 + 8.0  # roundings that one exponent passes
    if by_products(problem.dim):
        chain *= 4.0
    exponent = 4.0 * problem.rate
    if exponent > 709.0:
        exponent = min(exponent, problem.rate * shift + 709.0)
    return unit * (chain * exponent + terms + 16.0 + 4.0 * merges) * (2.0 if problem.normalize else 1.0)


def lost_rows(problem: Problem, state: Partial) -> Indices:
    """Return the rows whose plain sums may have lost terms to underflow, and where these matter."""
    limit = LOST[problem.dtype.itemsize]
    if 4.0 * problem.rate < -math.log(limit) or not (problem.normalize or problem.lifted):
        return np.empty(0, np.intp)
    sizes = state.denominator[:, None] if problem.normalize else np.abs(state.numerators)
    return np.flatnonzero((sizes < limit).any(axis=1))


def constants_of(problem: Problem) -> Array:
    """Return the constants that the kernels want; not to be written."""
    return _constants(problem.rate, problem.dtype)


@lru_cache(64)
def _constants(rate: float, dtype: np.dtype[Any]) -> Array:
    """Keep the constants of the last rates: they are made of fractions, which take as long as a small sum."""
    from .._kernels.simd.decay import decay_constants

    near = NEAR if rate > 0.5 else -1.0
    return np.append(decay_constants(rate, dtype), dtype.type(near))


def defects_of(x: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return ``(1 - |x|^2)/2`` of each row, or 0 where distances are from differences."""
    defects = np.zeros(len(x), dtype)
    if by_products(x.shape[1] - 1):
        from .._kernels.summation.fused import half_defects

        for rows in slices(len(x), 2**14):
            half_defects(compiled_form(x[rows], dtype), defects[rows])
    return defects


def pack(problem: Problem, part: slice, kernel: str) -> tuple[Floats, Floats]:
    """Copy control points with their half defects ("fused") or offsets ("shifted"), and weights, as the kernel wants.

    (n / group, d+1, group) and (q / c, n, c) with c = 1 for one or two columns, else `group`. The last column, of ones,
    is for sums without weights, which "shifted" always gives; ones take the place of angles too. What fills weighs 0.
    """
    from .._kernels.simd.registers import shape

    group = shape()[2]
    b, offset, w = problem.controls(part)
    (n, d), p = b.shape, problem.p
    n_filled = -(-n // group) * group
    points = np.empty((n_filled, d + 1), problem.dtype)
    points[:n, :d], points[:n, d] = b, defects_of(b, problem.dtype) if kernel == "fused" else offset
    points[n:] = points[n - 1]
    columns = pack_columns(w, n_filled, p + (problem.normalize or kernel == "shifted"), group, problem.dtype)
    return np.ascontiguousarray(points.reshape(-1, group, d + 1).transpose(0, 2, 1)), columns


def pack_columns(w: Floats, n: int, columns: int, group: int, dtype: np.dtype[Any]) -> Floats:
    """Copy weights, and ones in the columns beyond them, into the kernels' layout for n control points (see `pack`)."""
    c = 1 if columns <= 2 else group
    packed = np.zeros((-(-columns // c), n, c), dtype)
    for r in range(columns):
        packed[r // c, : len(w), r % c] = w[:, r] if r < w.shape[1] else 1.0
    return packed


def no_sums(problem: Problem, rows: int) -> tuple[Floats, Floats]:
    """Return the shifts, and the sums with their rounding errors, that the shifted kernel begins with."""
    return np.full(rows, np.inf, problem.dtype), np.zeros((rows, 2, problem.p + 1), problem.dtype)


def with_rest(shift: Floats, sums: Floats) -> Partial:
    """Return the state that a kernel's sums (m, 2, p+1) amount to; the last column is the denominators."""
    totals = np.add(sums[:, 0], sums[:, 1], dtype=np.float64)
    return Partial(shift.astype(np.float64, copy=False), totals[:, :-1], totals[:, -1])


def packed_size(problem: Problem) -> int:
    """Return how many control points to pack at a time."""
    return max(1, PACKED // (problem.dim + 2 + problem.p) // 64) * 64


def carry_out(parts: Iterator[tuple[Task, list[slice]]], workers: int | None, report: Callable[[int], object]) -> None:
    """Call each part's task for its ranges of rows."""
    for task, rows in parts:
        with closing(as_done(task, rows, workers)) as finished:
            for pairs in finished:
                report(pairs)


def task_rows(problem: Problem, n: int, workers: int | None, largest: float = TASK_WORK) -> float:
    """Return how many rows a task takes that sums over n control points: a fair part, of at most so much work."""
    m, each = len(problem.x), work(problem) / (len(problem.x) * len(problem.b)) * n
    rows = largest / each
    if (threads := most(workers)) > 1:
        rows = min(rows, max(m / (TASKS_EACH * threads), LEAST_WORK / each))
    return rows
