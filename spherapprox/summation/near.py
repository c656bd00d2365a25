"""Control points near to the rows of a block: a k-d tree leaves out those whose terms are too small."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .._threads import slices
from .._types import Float64, Indices

_TREE_COLUMNS = 10  # columns up to which a k-d tree finds near control points faster than all are taken. Tuned.
_ROWS = 32  # rows of a block that shares its near control points. Tuned.
_NUMBERS = 2**17  # differences that are held at once by each worker


class NearBlocks:
    """Blocks of rows x (m, d) with the control points, columns (d, n), whose terms are kept for them.

    Those whose squared distance exceeds the nearest one's by at most `room`, or whose distance exceeds the root of such
    a square by at most `margin`, and others.
    """

    def __init__(self, x: Float64, columns: Float64, room: float, margin: float = 0.0) -> None:
        self.x, self.n, self.d, self.room, self.margin = x, columns.shape[1], x.shape[1], room, margin
        self.tree = None
        self.order = np.arange(len(x))
        if self.d <= _TREE_COLUMNS and math.sqrt(self.room) + margin < 0.7 and self.n > _ROWS:
            from scipy.spatial import cKDTree

            self.tree = cKDTree(columns.T)
            self.order = cKDTree(x, leafsize=_ROWS).indices
        self.rows = _ROWS if self.tree else max(1, _NUMBERS // (self.n * self.d))

    def parts(self, block: slice) -> Iterator[tuple[Indices, Indices | slice]]:
        """Yield rows of a block and their control points."""
        rows = self.order[block]
        if self.tree is None:
            yield rows, slice(None)
            return
        points = self.x[rows]
        centre = points.mean(axis=0)
        radius = float(np.sqrt(np.square(points - centre).sum(axis=1).max()))
        farthest = float(self.tree.query(points)[0].max())
        reach = radius + math.sqrt(farthest**2 + self.room) + self.margin
        near = self.tree.query_ball_point(centre, reach, return_sorted=True)
        candidates = np.array(near, dtype=np.intp)
        for part in slices(len(rows), max(1, _NUMBERS // (len(candidates) * self.d))):
            yield rows[part], candidates
