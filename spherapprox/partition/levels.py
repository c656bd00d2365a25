"""Tables of the recursive zonal partition, made on demand, and the descent of rows of cells or points through them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import special
from .._types import Float64, Int64
from .compiled import descent

_CACHED_BOUNDARIES = 2**20  # boundaries that the cache of tables may hold (40 bytes each)


class Level(NamedTuple):
    """Tables of partitions of one sphere, end to end: boundaries ``offsets[t] : offsets[t + 1]`` are table t's."""

    offsets: Int64
    first: Int64  # cells north of each boundary
    angle: Float64  # its colatitude
    cosine: Float64  # of the middle of the collar south of it
    sine: Float64
    edge: Float64  # cos |cos| of the boundary's colatitude; -2 for one at pi, which has nothing south of it


def descend(dim: int, n: int, rows: int, step: Callable[[int, Level, Int64, Int64], None]) -> Int64:
    """Descend with rows of cells or points to S^2 and return the count of cells of each one's S^2, 0 if it ended above.

    `step` gets the sphere's dimension, its tables and each row's table, and writes the slot of the zone it goes into.
    """
    if dim == 2:
        return np.full(rows, n)
    counts, table = np.array([n]), np.zeros(rows, dtype=np.int64)
    for m in range(dim, 2, -1):
        level, slot = level_of(m, counts), np.empty(rows, dtype=np.int64)
        step(m, level, table, slot)
        mask = np.zeros(len(level.first), dtype=bool)
        mask[slot[slot >= 0]] = True
        counts, table_of_slot = inside(level, np.flatnonzero(mask))
        table = np.where(slot >= 0, table_of_slot[np.maximum(slot, 0)], -1)
        if not counts.size:
            return np.zeros(rows, dtype=np.int64)
    return np.where(table >= 0, counts[np.maximum(table, 0)], 0)


def zones(dim: int, n: int, start: int, rows: int) -> tuple[list[tuple[Float64, Float64]], Int64, Int64]:
    """Return the zones of consecutive cells from the top to S^3, then the count and their numbers in the S^2 below."""
    local, intervals = np.arange(start, start + rows), []

    def step(m: int, level: Level, table: Int64, slot: Int64) -> None:
        descent.search_index(table, level.offsets, level.first, local, slot)
        lower, upper = np.empty(rows), np.empty(rows)
        descent.intervals(table, level.offsets, level.angle, slot, lower, upper)
        intervals.append((lower, upper))

    return intervals, descend(dim, n, rows, step=step), local


def inside(level: Level, collars: Int64) -> tuple[Int64, Int64]:
    """Return the distinct counts of cells in these collars, and for each boundary the index of its count."""
    counts, inverse = np.unique(level.first[collars + 1] - level.first[collars], return_inverse=True)
    table_of_slot = np.full(len(level.first), -1)
    table_of_slot[collars] = inverse
    return counts, table_of_slot


_cache: OrderedDict[tuple[int, int], tuple[Int64, Float64]] = OrderedDict()
_cache_lock = threading.Lock()


def level_of(dim: int, counts: Int64) -> Level:
    """Return the tables of S^dim for these counts, from the cache where it holds them; the others are made together."""
    keys = [(dim, count) for count in counts.tolist()]
    with _cache_lock:
        entries = {key: _cache[key] for key in keys if key in _cache}
        for key in entries:
            _cache.move_to_end(key)
    missing = [key for key in keys if key not in entries]
    if missing:
        level = _make_level(dim, np.array([count for _, count in missing]))
        if len(level.first) > _CACHED_BOUNDARIES // 4:
            return level if not entries else _make_level(dim, counts)
        trigonometry = np.stack(level[2:])  # (4, b)
        for t, key in enumerate(missing):
            part = slice(level.offsets[t], level.offsets[t + 1])
            entries[key] = level.first[part].copy(), trigonometry[:, part].copy()
        with _cache_lock:  # of which the least recently used are dropped
            _cache.update((key, entries[key]) for key in missing)
            size = sum(len(first) for first, _ in _cache.values())
            while size > _CACHED_BOUNDARIES:
                size -= len(_cache.popitem(last=False)[1][0])
    tables = [entries[key] for key in keys]
    first = np.concatenate([table[0] for table in tables])
    offsets = np.cumsum([0] + [len(table[0]) for table in tables])
    return Level(offsets, first, *np.concatenate([table[1] for table in tables], axis=1))


def _make_level(dim: int, counts: Int64) -> Level:
    """Make the tables of S^dim, dim >= 3, for these counts, by the construction of 5.1."""
    # Step 1: the polar caps, of measure 1/n
    cap = np.where(counts == 1, np.pi, np.pi / 2)
    divided = counts >= 3
    cap[divided] = special.cap_angle(dim, -np.log(counts[divided]))
    # Step 2: the ideal collar angle (w_m/n)^(1/m), and the number of collars that it fits between the caps
    ideal = np.exp((special.log_surface_area(dim) - np.log(counts)) / dim)
    collars = np.where(divided, np.maximum(1, np.floor((np.pi - 2.0 * cap) / ideal + 0.5)), 0).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(collars + 1)])
    # Step 3: the ideal counts of cells north of each boundary, rounded; b boundaries in all
    table = np.repeat(np.arange(len(counts)), collars + 1)  # (b,)
    j = np.arange(offsets[-1]) - offsets[table]
    first = _cells_north(dim, counts[table], cap[table], collars=collars[table], j=j)
    # Step 4: the colatitudes of the caps that hold so many cells, from the nearer pole
    n, half = counts[table], np.full(len(first), np.pi / 2)
    nearer = np.minimum(first, n - first)
    inner = (2 * nearer < n) & (nearer > 0)
    half[inner] = _map_distinct(special.cap_angle, dim, np.log(nearer[inner]) - np.log(n[inner]))
    angle = np.where(first == 1, cap[table], np.where(2 * first <= n, half, np.pi - half))
    middle = 0.5 * (angle + np.append(angle[1:], np.pi))
    return Level(offsets, first, angle, cosine=np.cos(middle), sine=np.sin(middle), edge=edge_of(angle))


def edge_of(angle: Float64) -> Float64:
    """Return cos |cos| of boundaries, -2 for those at pi."""
    cosine = np.cos(angle)
    return np.where(angle >= np.pi, -2.0, cosine * np.abs(cosine))


def _cells_north(dim: int, n: Int64, cap: Float64, *, collars: Int64, j: Int64) -> Int64:
    """Return the number of cells north of boundary j: n times the measure there, rounded half up.

    This is Leopardi's rounding with the remainder carried along, summed. Measures are taken from the nearer pole.
    """
    nearer = np.minimum(j, collars - j)
    angle = np.minimum(cap + nearer * ((np.pi - 2.0 * cap) / np.maximum(collars, 1)), np.pi / 2)
    # 5.1
    ideal = n * np.exp(_map_distinct(special.log_cap_measure, dim, angle))
    first: Int64 = np.where(2 * j < collars, np.floor(ideal + 0.5), n - np.ceil(ideal - 0.5)).astype(np.int64)
    first[2 * j == collars] = (n[2 * j == collars] + 1) // 2
    first[j == collars] = n[j == collars] - 1
    first[j == 0] = 1
    return first


def _map_distinct(function: Callable[[int, Float64], Float64], dim: int, values: Float64) -> Float64:
    """Map values by a function, called for distinct ones only: north and south mostly mirror each other."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return function(dim, distinct)[inverse]
