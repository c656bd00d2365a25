"""Trees of tables: those that a range of cells, or the whole partition, passes through, end to end from the top."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Bools, Int64
from .compiled import cap
from .levels import Level, edge_of, inside, level_of


class _Part(NamedTuple):
    """Cells low, ..., high - 1 of a table, or, on the way to it, of the partition inside a collar."""

    table: int
    low: int
    high: int


class Tree(NamedTuple):
    """Levels of a partition, top first: boundaries ``offsets[t] : offsets[t + 1]`` are table t's."""

    level: Level
    below: Int64  # table of the partition inside the collar south of each boundary; -1: not among these
    counts: Int64  # the distinct counts of the S^2 below, which are numbered like tables


def tree_of_range(dim: int, n: int, start: int, stop: int) -> Tree:
    """Return the tables that cells start, ..., stop - 1 pass through, dim >= 2.

    At each level these are whole tables, but for one that the range enters and one that it leaves midway; r cells pass
    through O(sqrt(r)) tables of a level, as their counts are distinct.
    """
    return _grow(dim, n, [_Part(0, start, stop)], limit=None)  # type: ignore[return-value]


def tree_of_points(dim: int, n: int, limit: int) -> Tree | None:
    """Return the tables of all cells, S^2 included, dim >= 2, unless they have more than `limit` boundaries.

    `below` is the number of arcs in the collars of S^2.
    """
    tree = _grow(dim, n, [], limit=limit)
    if tree is None:
        return None
    sizes = np.empty(len(tree.counts), dtype=np.int64)
    cap.table_sizes(tree.counts, sizes)
    if len(tree.below) + sizes.sum() > limit:
        return None
    offsets = np.cumsum(np.append(0, sizes))
    first, angle = np.empty(offsets[-1], dtype=np.int64), np.empty(offsets[-1])
    cap.tables(tree.counts, offsets, first, angle)
    level = _concatenate([tree.level, Level(offsets, first, angle, cosine=angle, sine=angle, edge=edge_of(angle))])
    return Tree(level, np.concatenate([tree.below, np.diff(first, append=0)]), tree.counts)


def _grow(dim: int, n: int, parts: list[_Part], limit: int | None) -> Tree | None:
    """Make the tables that are needed, whole or in parts, level by level; None beyond `limit` boundaries."""
    counts, entire, tables, boundaries = np.array([n]), np.array([not parts]), 0, 0
    levels: list[Level] = []
    below: list[Int64] = []
    for m in range(dim, 2, -1):
        if not counts.size:
            break
        # Step 1: the tables of S^m, and which of their collars are passed through
        level = level_of(m, counts)
        full, parts = _collars(level, entire, parts)
        mask = full.copy()
        mask[[j for j, _, _ in parts]] = True
        tables, boundaries = tables + len(counts), boundaries + len(level.first)
        # Step 2: the counts of the partitions inside these collars, which are the tables of S^(m-1)
        counts, child = inside(level, np.flatnonzero(mask))
        entire = np.zeros(len(counts), dtype=bool)
        entire[child[full]] = True
        parts = [_Part(int(child[j]), low, high) for j, low, high in parts]
        levels.append(level)
        below.append(np.where(child >= 0, child + tables, -1))
        if limit is not None and boundaries + len(counts) > limit:
            return None
    return Tree(_concatenate(levels), np.concatenate([*below, np.empty(0, dtype=np.int64)]), counts)


def _collars(level: Level, entire: Bools, parts: list[_Part]) -> tuple[Bools, list[_Part]]:
    """Split the collars into those passed through from end to end, and the others with the cells inside that are."""
    full = np.repeat(entire, np.diff(level.offsets))  # (boundaries,)
    full[level.offsets[1:] - 1] = False
    midway: list[_Part] = []
    for part in parts:
        begin, last = int(level.offsets[part.table]), int(level.offsets[part.table + 1]) - 1
        first = level.first[begin : last + 1]
        low, high = max(part.low, int(first[0])), min(part.high, int(first[-1]))  # without the polar caps
        if low >= high or entire[part.table]:
            continue
        start, stop = (begin + np.searchsorted(first, [low, high - 1], side="right") - 1).tolist()
        full[start + 1 : stop] = True
        for j in {start, stop}:
            north, south = level.first[j : j + 2].tolist()
            if low <= north and south <= high:
                full[j] = True
            else:
                midway.append(_Part(j, max(low, north) - north, min(high, south) - north))
    return full, midway


def _concatenate(levels: list[Level]) -> Level:
    """Lay the tables of several levels end to end."""
    starts = np.cumsum([0] + [len(level.first) for level in levels])
    offsets = [level.offsets[:-1] + start for level, start in zip(levels, starts[:-1], strict=True)]
    columns = [np.concatenate([level[i] for level in levels] or [np.empty(0)]) for i in range(2, len(Level._fields))]
    first = np.concatenate([np.empty(0, dtype=np.int64), *(level.first for level in levels)])
    return Level(np.concatenate([*offsets, starts[-1:]]), first, *columns)
