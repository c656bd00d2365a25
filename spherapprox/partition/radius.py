"""The radius of a partition: the largest distance from a cell's centre to a point of its closure, by search.

Thresholds go down through the recursion, radii come up: docs/theorems.md, 5.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import collars, ranges, search
from .._kernels import largest as kernel
from .levels import level_of

__all__ = ["largest"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KINDS = {"midpoint": kernel.MIDPOINT, "smallest-cap": kernel.SMALLEST_CAP, "centroid": kernel.CENTROID}

_PLAIN = 3 * 10**5
"""Collars up to which a search without bounds is tried first: some 0.3 s."""

_VISITS = 3 * 10**6
"""Collars of a search, all passes together: some seconds."""

_CELLS = 2**21
"""Cells with their centroids that one sphere may keep."""

_DEPTH = 64
"""Spheres for which bounds are made, from the highest."""

_STEP, _LONG_STEP, _CHEAP = 0.985, 0.96, 2000
"""Ratio of the thresholds of consecutive passes, and that after a pass through fewer collars than the last number."""

_ROWS = 2**17
"""Collars that a kernel opens at a time, at least."""


class Rows(NamedTuple):
    """Collars that may exceed the threshold: the partition of S^m each belongs to, its ends, what is inside."""

    parent: Integers
    lower: Floats
    upper: Floats
    inner: Integers  # its count, then the number of that count among the distinct ones
    need: Floats


_Opened = tuple[int, Integers, Floats, Floats, Rows]
"""A sphere's dimension, the counts opened there, their thresholds, the largest radius known of each, and the rows."""


def largest(dim: int, n: int, center: str = "midpoint") -> tuple[float, bool]:
    """Return the largest radius of the cells about their centres, and whether it is exact or just a bound above."""
    if dim == 1 or n <= 2:
        return math.pi / n, True
    if dim == 2:
        return kernel.of_count(KINDS[center], n), True
    passes = Search(dim, n, KINDS[center])
    if center != "centroid":
        radius = passes.sweep(0.0, _PLAIN)
        if radius is not None:
            return radius, True
    passes.bounds, upper = bounds_of(passes.kind, dim, n)
    if center == "centroid":
        cap = largest(dim, n, "smallest-cap")[0] * (1.0 + kernel.ROUNDING)
        if cap <= 0.5 * math.pi:  # then a cell's cap holds its centroid too
            upper = min(upper, 2.0 * cap)
    below, last, polar = upper * _STEP, 0.0, collars.cap_of(dim, float(n))
    while passes.visits < _VISITS:
        before = passes.visits
        radius = passes.sweep(below, _VISITS - before)
        if radius is None:
            break
        if radius > below:
            return radius, True
        # below a centroid's radius a pass meets many cells, so that its threshold comes near slowly
        cheap = passes.visits - before < _CHEAP and center != "centroid"
        upper = below
        below = upper * (_LONG_STEP if cheap else _STEP)
        if radius == last > max(0.5 * upper, 1.001 * polar) and center != "centroid":
            below = radius * (1.0 - kernel.ROUNDING)  # attained twice, it is likely the radius
        last = radius
    return upper, False


def bounds_of(kind: int, dim: int, n: int) -> tuple[dict[int, Floats], float]:
    """Return bounds of the radii of the spheres below S^dim for all cells of counts, and one for S^dim in n cells."""
    most = {dim: n}
    for m in range(dim, 2, -1):
        # the broadest collar at the equator, and no collar is broader than 3/2 of the ideal angle
        top = most[m] * math.exp(collars.log_density(m)) * 1.5 * collars.ideal_angle(m, float(most[m]))
        most[m - 1] = min(most[m], 3 + int(top))
        if dim - m == _DEPTH:
            break
    low = min(most)
    if low == 2:
        most[1], low = 2, 1
    bounds = {low: np.full(search.cell_of(most[low]) + 2, math.pi)}
    for m in range(low + 1, dim):
        bounds[m] = np.empty(search.cell_of(most[m]) + 2)
        ranges.of_level(kind, m, _with_growth(m - 1, bounds[m - 1]), bounds[m])
    upper = ranges.of_range(kind, dim, float(n), float(n), _with_growth(dim - 1, bounds[dim - 1]))
    return bounds, min(math.pi, upper * (1.0 + kernel.ROUNDING))


def _with_growth(m: int, bounds: Floats) -> tuple[Floats, Floats]:
    growth = np.full(len(bounds), np.inf)
    ranges.growths(m, bounds, growth)
    return bounds, growth


@dataclass
class Search:
    """Passes through the recursion for one partition, and what they have in common."""

    dim: int
    n: int
    kind: int

    def __post_init__(self) -> None:
        self.bounds: dict[int, Floats] = {}
        self.memo = np.zeros(search.MEMO)
        self.visits = 0

    def sweep(self, threshold: float, limit: int) -> float | None:
        """Return the largest radius if it exceeds the threshold, else a smaller number; None beyond the limit."""
        counts, thresholds, before = np.array([self.n]), np.array([threshold]), self.visits
        levels: list[_Opened] = []
        for m in range(self.dim, 2, -1):
            opened = self._open(m, counts, thresholds, before + limit)
            if opened is None:
                return None
            known, rows = opened
            counts_below, back = np.unique(rows.inner, return_inverse=True)
            levels.append((m, counts, thresholds, known, rows._replace(inner=back)))
            counts, thresholds = counts_below, np.full(len(counts_below), np.inf)
            np.minimum.at(thresholds, back, rows.need)
            if not len(counts):
                break
        if self.kind == kernel.CENTROID:
            return self._raise_cells(levels, counts, thresholds, before + limit)
        radius = np.empty(0)
        for m, _, _, known, rows in reversed(levels):
            if len(rows.parent):
                search.raise_all(self.kind, m, rows[:3], radius[rows.inner], known)
            radius = known
        return float(radius[0])

    def _open(self, m: int, counts: Integers, thresholds: Floats, last: int) -> tuple[Floats, Rows] | None:
        """Open partitions of S^m: the largest radius known of each, and the collars that may exceed its threshold.

        None if that takes more than `last` visits.
        """
        known, parts, start = np.empty(len(counts)), [], 0
        tables = self.bounds.get(m - 1, np.empty(0)), self.memo
        space = max(_ROWS, collars.room(m, int(counts.max())))
        while start < len(counts):
            rows = _room(space)
            some = counts[start:], thresholds[start:], tables, known[start:], rows, last - self.visits
            done, size, seen = search.open_all(self.kind, m, *some)
            parts.append(_shortened(rows, size, start))
            start, self.visits = start + done, self.visits + seen
            if self.visits > last:
                return None
        for e in np.flatnonzero(np.isnan(known)).tolist():
            parts.append(self._open_closely(m, counts, thresholds, known, e))
        return known, _joined(parts)

    def _open_closely(self, m: int, counts: Integers, thresholds: Floats, known: Floats, e: int) -> Rows:
        """Open a partition some of whose counts are near a tie: rounded as the cells themselves are."""
        level = level_of(m, counts[e : e + 1])
        inner = np.diff(level.first)
        need = np.empty(len(inner))
        boxes, tables = (level.angle[:-1], level.angle[1:], inner), (self.bounds.get(m - 1, np.empty(0)), self.memo)
        known[e] = max(level.angle[0], search.judge_all(self.kind, m, boxes, thresholds[e], tables, need))
        self.visits += len(inner)
        keep = np.flatnonzero(need < np.inf)
        return Rows(np.full(len(keep), e), boxes[0][keep], boxes[1][keep], inner[keep], need[keep])

    def _raise_cells(self, levels: list[_Opened], deepest: Integers, needed: Floats, last: int) -> float | None:
        """Take the cells that may matter up from S^2, each with its centroid; None if that takes too many."""
        m = levels[-1][0] - 1
        cells = [_cells(m, n, t) for n, t in zip(deepest.tolist(), needed.tolist(), strict=True)]
        for m, _, thresholds, known, rows in reversed(levels):
            new = [[(known[e : e + 1], search.cap_lengths(m, known[e : e + 1]))] for e in range(len(known))]
            size = 0
            for parent, lower, upper, inner, _ in zip(*rows, strict=True):
                radius, length = cells[inner][0].copy(), cells[inner][1].copy()
                kept = search.raise_cells(m, (lower, upper), thresholds[parent], radius, length)
                new[parent].append((radius[:kept], length[:kept]))
                size += kept
                self.visits += 1 + len(radius)
                if size > _CELLS or self.visits > last:
                    return None
            cells = [(np.concatenate([c[0] for c in some]), np.concatenate([c[1] for c in some])) for some in new]
        return float(cells[0][0].max())


def _room(rows: int) -> Rows:
    whole, real = np.empty((2, rows), np.int64), np.empty((3, rows))
    return Rows(whole[0], real[0], real[1], whole[1], real[2])


def _shortened(rows: Rows, size: int, start: int) -> Rows:
    parent, inner = rows.parent[:size] + start, rows.inner[:size].copy()
    return Rows(parent, rows.lower[:size].copy(), rows.upper[:size].copy(), inner, rows.need[:size].copy())


def _joined(parts: list[Rows]) -> Rows:
    lower, upper, need = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("lower", "upper", "need")
    )
    parent, inner = (np.concatenate([getattr(part, name) for part in parts]) for name in ("parent", "inner"))
    return Rows(parent, lower, upper, inner, need)


def _cells(m: int, n: int, threshold: float) -> tuple[Floats, Floats]:
    """Return radius and mean vector's length of cells of S^2 that may matter, or of S^m in one or two cells."""
    if m > 2 or n <= 2:
        return np.full(1, math.pi / n), search.cap_lengths(m, np.full(1, math.pi / n))
    size, room = -1, 64
    while size < 0:
        room *= 4
        radius, length = np.empty(room), np.empty(room)
        size = kernel.cells_of(n, threshold, radius, length)
    return radius[:size], length[:size]
