"""The radius of a partition: the largest distance from a cell's centre to a point of its closure, by search.

Thresholds go down through the recursion, radii come up: docs/theorems.md, 5.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels.partition import bundles, collars, search
from .._kernels.partition import largest as kernel
from .._types import Float64, Int64
from .bounds import Tables, bounds_of
from .levels import level_of

__all__ = ["largest"]


KINDS = {"midpoint": kernel.MIDPOINT, "smallest-cap": kernel.SMALLEST_CAP, "centroid": kernel.CENTROID}

_PLAIN = 3 * 10**5
"""Collars up to which a search without bounds is tried first: some 0.3 s."""

_VISITS = 3 * 10**6
"""Collars of a search, all passes together: some seconds."""
_WITHIN, _MOST_VISITS = 1.05, 3 * 10**7
"""As long as a bound may be larger than the first times the radius, so many are visited."""

_BUNDLES, _LEAST, _FINER = 2**22, 16, 8
"""Bundles of cells that a pass lifts, about; that one partition keeps whatever it takes; and times as many if few."""

_GUESS = 0.985
"""The first threshold for centroids over the radius about midpoints, below which radii about centroids seldom are."""

_NEAR = 1.03
"""The first threshold where those are above pi/2, over the radius about smallest caps."""

_CLOSE = 1.001
"""Ratio of the bounds for centroids at which one more pass is not worth a third of all collars."""

_LIFTS = 10
"""Bundles that take as long as a collar."""

_STEP, _LONG_STEP, _CHEAP = 0.985, 0.96, 2000
"""Ratio of the thresholds of consecutive passes, and that after a pass through fewer collars than the last number."""

_ROWS = 2**17
"""Collars that a kernel opens at a time, at least."""


class Rows(NamedTuple):
    """Collars that may exceed the threshold: the partition of S^m each belongs to, its ends, what is inside."""

    parent: Int64
    lower: Float64
    upper: Float64
    inner: Int64  # its count, then the number of that count among the distinct ones
    need: Float64


_NOTHING = Tables(np.empty(0), np.empty(0))

_Opened = tuple[int, Int64, Float64, Float64, Rows]
"""A sphere's dimension, the counts opened there, their thresholds, the largest radius known of each, and the rows."""


def largest(dim: int, n: int, center: str = "midpoint") -> tuple[float, bool]:
    """Return the largest radius of the cells about their centres, and whether it is exact or just a bound above."""
    lower, upper = enclosed(dim, n, center)
    return max(lower, upper), lower >= upper


def enclosed(dim: int, n: int, center: str = "midpoint") -> tuple[float, float]:
    """Return a lower and an upper bound of the largest radius of the cells about their centres, equal if exact."""
    if dim == 1 or n <= 2:
        return math.pi / n, math.pi / n
    if dim == 2:
        radius = kernel.of_count(KINDS[center], n)
        return radius, radius
    passes = Search(dim, n, KINDS[center])
    if center == "centroid":
        return _between(passes)
    found = passes.sweep(0.0, _PLAIN)
    if found is not None:
        return found
    passes.prepare()
    lower, upper = 0.0, passes.upper
    below, last = upper * _STEP, 0.0
    while passes.visits < _VISITS:
        before = passes.visits
        found = passes.sweep(below, _VISITS - before)
        if found is None:
            break
        radius = found[0]
        if radius > below:
            return found
        cheap = passes.visits - before < _CHEAP
        lower, upper = max(lower, radius), below
        below = upper * (_LONG_STEP if cheap else _STEP)
        if radius == last > max(0.5 * upper, 1.001 * passes.polar):
            below = radius * (1.0 - kernel.ROUNDING)  # attained twice, it is likely the radius
        last = radius
    return lower, upper


def _between(passes: Search) -> tuple[float, float]:
    """Return what `enclosed` does, for centroids."""
    found = passes.sweep(0.0, _PLAIN // 10)
    if found is not None and found[0] == found[1]:
        return found
    passes.prepare()
    lower, upper = passes.polar, passes.upper
    below = _GUESS * enclosed(passes.dim, passes.n)[0]
    bracketed = below > 0.5 * math.pi  # then midpoints are no guide
    if bracketed:
        least, most = _by_caps(passes.dim, passes.n)
        lower, upper = max(lower, least), min(upper, most)
        below = min(_NEAR * lower, math.sqrt(lower * upper))
    if found is not None:
        below = lower = max(lower, found[0])
        upper = min(upper, found[1])
    while lower < upper:
        limit = (_VISITS if upper <= _WITHIN * lower else _MOST_VISITS) - passes.visits
        if limit <= 0:
            break
        before, found = (lower, upper), passes.sweep(below, limit)
        if found is not None:
            lower, upper = max(lower, found[0]), min(upper, max(below, found[1]))
        if lower < below and not bracketed:
            least, most = _by_caps(passes.dim, passes.n)
            lower, upper, bracketed = max(lower, least), min(upper, most), True
        elif (lower, upper) == before or (upper < lower * _CLOSE and 3 * passes.visits > _VISITS):
            break
        below = lower if lower >= below else math.sqrt(lower * upper)
    return lower, upper


def _by_caps(dim: int, n: int) -> tuple[float, float]:
    """Return bounds of the largest radius about centroids from that about smallest caps, which no other is below."""
    lower, upper = enclosed(dim, n, "smallest-cap")
    # a cap of at most pi/2 that holds a cell holds its centroid too
    upper = 2.0 * upper * (1.0 + kernel.ROUNDING) if upper < 0.5 * math.pi else math.pi
    return lower * (1.0 - kernel.ROUNDING), upper


@dataclass
class Search:
    """Passes through the recursion for one partition, and what they have in common."""

    dim: int
    n: int
    kind: int

    def __post_init__(self) -> None:
        self.bounds: dict[int, Tables] = {}
        self.upper, self.polar = math.pi, collars.cap_of(self.dim, float(self.n))
        self.memo = np.zeros(search.MEMO)
        self.visits = 0

    def prepare(self) -> None:
        """Make the bounds."""
        self.bounds, (self.upper, _) = bounds_of(self.kind, self.dim, self.n)

    def sweep(self, threshold: float, limit: int) -> tuple[float, float] | None:
        """Return a cell's radius and a bound of the radii above the threshold; None beyond the limit of visits.

        The two are one unless cells had to be bundled.
        """
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
            return self._raise_finely(levels, counts, thresholds)
        radius = np.empty(0)
        for m, _, _, known, rows in reversed(levels):
            if len(rows.parent):
                search.raise_all(self.kind, m, rows[:3], radius[rows.inner], known)
            radius = known
        return float(radius[0]), float(radius[0])

    def _open(self, m: int, counts: Int64, thresholds: Float64, last: int) -> tuple[Float64, Rows] | None:
        """Open partitions of S^m: the largest radius known of each, and the collars that may exceed its threshold.

        None if that takes more than `last` visits.
        """
        known, parts, start = np.empty(len(counts)), [], 0
        tables = *self.bounds.get(m - 1, _NOTHING), self.memo
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

    def _open_closely(self, m: int, counts: Int64, thresholds: Float64, known: Float64, e: int) -> Rows:
        """Open a partition some of whose counts are near a tie: rounded as the cells themselves are."""
        level = level_of(m, counts[e : e + 1])
        full = np.flatnonzero(np.diff(level.first))
        boxes = level.angle[full], level.angle[full + 1], np.diff(level.first)[full]
        need, tables = np.empty(len(full)), (*self.bounds.get(m - 1, _NOTHING), self.memo)
        known[e] = max(level.angle[0], search.judge_all(self.kind, m, boxes, thresholds[e], tables, need))
        self.visits += len(full)
        keep = np.flatnonzero(need < np.inf)
        return Rows(np.full(len(keep), e), boxes[0][keep], boxes[1][keep], boxes[2][keep], need[keep])

    def _raise_finely(self, levels: list[_Opened], deepest: Int64, needed: Float64) -> tuple[float, float]:
        """Take the cells that may matter up from S^2, in bundles as small as time permits."""
        most, lower, upper = max(_LEAST, _BUNDLES // (1 + sum(len(rows.parent) for *_, rows in levels))), 0.0, math.pi
        while True:
            before = self.visits
            found = self._raise_bundles(levels, deepest, needed, most)
            lower, upper = max(lower, found[0]), min(upper, found[1])
            if lower >= upper or _FINER * _LIFTS * (self.visits - before) > _BUNDLES:
                return lower, max(lower, upper)
            most *= _FINER

    def _raise_bundles(self, levels: list[_Opened], deepest: Int64, needed: Float64, most: int) -> tuple[float, float]:
        """Take the cells that may matter up from S^2, in at most `most` bundles of each partition."""

        def spheres(*room: Any) -> tuple[int, int]:
            return bundles.of_spheres(deepest, needed, most, *room), 0

        inside = self._written(spheres, len(deepest), most)
        for m, _, thresholds, known, rows in reversed(levels):
            order = np.argsort(rows.parent, kind="stable")
            begin = np.searchsorted(rows.parent[order], np.arange(len(known) + 1))
            some = begin, rows.lower[order], rows.upper[order], rows.inner[order], rows.need[order]
            caps = np.empty((len(known), 5))
            bundles.of_caps(m, known, caps)
            task = partial(bundles.raise_all, m, some, (thresholds, caps), inside, most)
            inside = self._written(task, len(known), most)
        return float(inside[1][:, 3].max()), float(inside[1][:, 0].max())

    def _written(self, write: Callable[..., tuple[int, int]], number: int, most: int) -> tuple[Int64, Float64]:
        """Return offsets and bundles of `number` partitions, which `write` writes as far as there is room."""
        offsets, parts, start = np.zeros(number + 1, np.int64), [np.empty((0, 5))], 0
        while start < number:
            out = np.empty((max(_ROWS, most), 5))
            done, lifted = write(offsets, out, start)
            parts.append(out[: offsets[done]].copy())
            offsets[start + 1 : done + 1] += offsets[start]
            self.visits += lifted // _LIFTS
            start = done
        return offsets, np.concatenate(parts)


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
