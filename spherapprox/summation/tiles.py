"""The NumPy path of the dense method: small problems in a fresh process do not wait for a compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .._checks import Floats
from .._threads import slices
from .partial import Controls, Float64, Partial, Problem, merge_into

Task = Callable[[slice], int]
"""Evaluates a range of rows and returns the number of pairs it took."""
TILE = (128, 512)
"""Evaluation and control points of a tile: its two buffers are 1 MiB. Tuned."""


def numpy_parts(problem: Problem, state: Partial) -> Iterator[tuple[Task, list[slice]]]:
    """Yield the task for each block of control points, and the ranges of rows to call it for."""
    for part in slices(len(problem.b), TILE[1]):
        controls = problem.controls(part)

        def task(rows: slice, part: slice = part, controls: Controls = controls) -> int:
            sums = tile_sums(problem.x[rows], *controls, problem.rate)
            merge_into(state, rows, sums, problem.rate, part.start == 0)
            return len(sums.shift) * len(controls[0])

        yield task, slices(len(problem.x), TILE[0])


def tile_sums(x: Floats, b: Floats, offset: Float64, w: Float64, rate: float) -> Partial:
    """Return the triple of one tile; differences are squared, so that near points lose no digits."""
    t = np.empty((len(x), len(b)))
    difference = np.empty_like(t)
    t[:] = offset
    for j in range(x.shape[1]):
        np.subtract(x[:, j, None], b[None, :, j], out=difference, dtype=np.float64)  # (m, n)
        np.multiply(difference, difference, out=difference)
        t += difference
    shift = t.min(axis=1)
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(t), 1.0)) if w.shape[1] == 0 else None
    t -= shift[:, None]
    t *= -rate
    np.exp(t, out=t)
    numerators = t @ w if angles is None else np.einsum("ij,ij->i", t, angles)[:, None]
    return Partial(shift, numerators, t.sum(axis=1))
