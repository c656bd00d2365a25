"""The tasks of a sum at an array of Dask: a graph that is evaluated when and where its owner computes it."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask import delayed

from .sources import Points, Values, edges, is_dask, pieces
from .tasks import MAKING, TASK_WORK, Recipe, result_of, state_of, union

FAN = 16
"""States that one task of the graph unites."""
MOST_TASKS = 10**5
"""Tasks of a graph: beyond, each takes more control points. Dask takes about 1 ms to plan one."""


def lazy(recipe: Recipe, x: Any, controls: Points, values: Values, dtype: np.dtype[Any], step: int | None) -> Any:
    """Return the result as an array of Dask, chunked along its rows as x is."""
    x = x.rechunk({1: -1})
    lengths = x.chunks[0]
    shared = delayed(recipe, traverse=False)
    step = step or _step(recipe, x.shape[1] - 1, controls.n, lengths)
    parts = [
        (_single(piece.rows), _single(piece.table), piece.start, piece.stop)
        for piece in pieces(controls, values, edges(controls, values, step))
    ]
    blocks = []
    for block, length in zip(x.to_delayed().ravel(), lengths, strict=True):
        states = [delayed(state_of, pure=False)(shared, block, *part) for part in parts]
        while len(states) > 1:
            groups = (states[i : i + FAN] for i in range(0, len(states), FAN))
            states = [delayed(union, pure=False)(shared, *group) for group in groups]
        result = delayed(result_of, pure=False)(shared, dtype, states[0])
        blocks.append(da.from_delayed(result, (length, *recipe.shape), dtype=dtype))
    return da.concatenate(blocks)


def _step(recipe: Recipe, dim: int, n: int, lengths: tuple[int, ...]) -> int:
    """Return control points per task: about a second of work, and not too many tasks."""
    second = TASK_WORK / ((3 * (dim + 1) + recipe.p + 25) * (max(lengths) + MAKING))
    return max(1, min(n, int(max(second, n * len(lengths) / MOST_TASKS))))


def _single(array: Any) -> Any:
    """Return an array as one delayed object; None stays."""
    if array is None:
        return None
    return array.rechunk(-1).to_delayed().item() if is_dask(array) else delayed(array, traverse=False)
