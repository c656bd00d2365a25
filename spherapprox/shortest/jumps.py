"""Jumps of a target: no continuous head comes nearer to it than half of one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from .._types import Float64
from ..error.search import PARTITION_DIM

_PAIRS, _HALVINGS = 64, 30
"""Pairs of neighbours that differ most, and how often the arc between them is halved: to 1e-11 of a radian."""
_LAST, _KEPT = 10, 0.5
"""Over so many halvings a jump keeps more than this share of its height: what is continuous falls."""


def largest_jump(function: Callable[[Float64], Float64], x: Float64, y: Float64, least: float) -> float:
    """Return the largest jump above `least` that is found between points x (n, d) with values y (n, p), else 0."""
    # Step 1: pairs of neighbours that differ most
    n, d = x.shape
    if d > PARTITION_DIM + 1:  # no point is near to another, and any arcs are as good
        first, second = np.arange(n), np.roll(np.arange(n), 1)
    else:
        near = cKDTree(x).query(x, k=min(d + 1, n))[1][:, 1:]  # on a circle one on each side
        first, second = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    differences = np.linalg.norm(y[first] - y[second], axis=1)
    largest = np.argsort(-differences, kind="stable")[:_PAIRS]
    largest = largest[differences[largest] > least]
    if not len(largest):
        return 0.0
    # Step 2: halve the arcs between them
    sides = first[largest], second[largest]
    ends, values, before = [x[side] for side in sides], [y[side] for side in sides], differences[largest]
    for i in range(_HALVINGS):
        if i == _HALVINGS - _LAST:
            before = np.linalg.norm(values[0] - values[1], axis=1)
        middle = ends[0] + ends[1]
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        at = function(middle)
        upper = np.linalg.norm(at - values[0], axis=1) > np.linalg.norm(at - values[1], axis=1)
        for side, mask in ((1, upper), (0, ~upper)):
            ends[side] = np.where(mask[:, None], middle, ends[side])
            values[side] = np.where(mask[:, None], at, values[side])
    heights = np.linalg.norm(values[0] - values[1], axis=1)
    return float(heights[(heights > least) & (heights > _KEPT * before)].max(initial=0.0))
