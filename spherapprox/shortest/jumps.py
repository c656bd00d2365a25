"""Jumps of a target: no continuous head comes nearer to it than half of one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from .._types import Float64
from ..error.search import PARTITION_DIM

_PAIRS, _HALVINGS = 64, 30
"""Pairs of neighbours that differ most, and how often the arc between them is halved: to 1e-11 of a radian."""


def largest_jump(function: Callable[[Float64], Float64], x: Float64, y: Float64, least: float) -> float:
    """Return the largest jump above `least` that is found between points x (n, d) with values y (n, p), else 0."""
    # in many dimensions no point is near to another, and arcs are as good
    near = cKDTree(x).query(x, k=2)[1][:, 1] if x.shape[1] <= PARTITION_DIM + 1 else np.roll(np.arange(len(x)), 1)
    differences = np.linalg.norm(y - y[near], axis=1)
    chosen = np.argsort(-differences, kind="stable")[:_PAIRS]
    chosen = chosen[differences[chosen] > least]
    if not len(chosen):
        return 0.0
    ends, values = [x[chosen], x[near[chosen]]], [y[chosen], y[near[chosen]]]
    for _ in range(_HALVINGS):
        middle = ends[0] + ends[1]
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        at = function(middle)
        first = np.linalg.norm(at - values[0], axis=1) > np.linalg.norm(at - values[1], axis=1)
        for side, taken in ((1, first), (0, ~first)):
            ends[side] = np.where(taken[:, None], middle, ends[side])
            values[side] = np.where(taken[:, None], at, values[side])
    left = float(np.linalg.norm(values[0] - values[1], axis=1).max())
    return left if left > least else 0.0
