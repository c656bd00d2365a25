"""The radius of a partition, the largest distance from a cell's centre to a point of its closure, and its diameter.

Partitions inside with as many cells are alike: each sphere has few different ones. docs/theorems/5.6-largest-radius.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from .. import special
from .._types import Float64, Int64
from .compiled import bundles, collars, diameters, sweep
from .compiled import largest as kernel
from .levels import inside, level_of

CODES = {"midpoint": 0, "smallest-cap": 1, "centroid": 2}  # numbers of the kinds of centres, as the kernels have them
BUNDLES, FINER = 2**22, 8
"""Bundles of cells that are lifted at a time, about, and the factor between one such number and the next."""
_ROOM = 2**17  # collars or bundles that a kernel has room for, at least
_ZONES = 2e5  # zones, of all the different partitions of lower spheres together, that are gone through: about a second


class Opened(NamedTuple):
    """The different partitions of S^m inside a partition: the radii of their polar caps, and their collars."""

    m: int
    caps: Float64
    rows: sweep.Collars  # in the order of the partitions


def largest(dim: int, n: int, center_kind: str = "midpoint") -> tuple[float, bool]:
    """Return the largest radius of the cells about their centres, and whether it is exact or an upper bound."""
    lower, upper = enclose_radius(dim, n, center_kind)
    return max(lower, upper), lower >= upper


def enclose_radius(dim: int, n: int, center_kind: str = "midpoint", *, n_bundles: int = BUNDLES) -> tuple[float, float]:
    """Return a lower and an upper bound of the largest radius of the cells about their centres, equal if exact."""
    if dim == 1 or n <= 2:
        return math.pi / n, math.pi / n
    if dim == 2:
        radius = kernel.of_count(CODES[center_kind], n)
        return radius, radius
    # Step 1: the different partitions, from the top down to S^2
    opened, counts = _open_spheres(dim, n)
    # Step 2: their radii, from S^2 up
    if center_kind == "centroid":  # by bundles of cells, as many and so as small as time permits
        lower, upper = 0.0, math.pi
        limit = max(1, n_bundles // (1 + sum(len(rows.parent) for _, _, rows in opened)))
        while True:
            bounds, lifts = _raise_bundles(opened, counts, limit)
            lower, upper, limit = max(lower, bounds[0]), min(upper, bounds[1]), limit * FINER
            if lower >= upper or FINER * lifts > n_bundles:
                return lower, max(lower, upper)
    inside = np.empty(len(counts))
    kernel.of_counts(CODES[center_kind], counts, inside)
    for _, caps, rows in reversed(opened):
        sweep.raise_all(CODES[center_kind], rows, inside, caps)
        inside = caps
    return float(inside[0]), float(inside[0])


def _open_spheres(dim: int, n: int) -> tuple[list[Opened], Int64]:
    """Return the different partitions on each sphere from the top, and the counts of cells of those on the lowest."""
    opened, counts = [], np.array([n])
    for m in range(dim, 2, -1):
        caps, rows = _open(m, counts)
        inner = rows.inner
        if len(inner) and inner.max() <= len(inner):  # a table is faster than sorting
            present = np.zeros(inner.max() + 1, dtype=bool)
            present[inner] = True
            counts, index = np.flatnonzero(present), (np.cumsum(present) - 1)[inner]
        else:
            counts, index = np.unique(inner, return_inverse=True)
        opened.append(Opened(m, caps, rows._replace(inner=index)))
        if not len(counts):
            break
    return opened, counts


def _open(m: int, counts: Int64) -> tuple[Float64, sweep.Collars]:
    """Return the radii of the polar caps of S^m in these counts of cells, and the collars."""
    # Step 1: the kernel's collars, as far as no count is near a tie
    caps, parts, start = np.empty(len(counts)), [], 0
    space = max(_ROOM, collars.room(m, int(counts.max())))
    while start < len(counts):
        reals, integers = np.empty((2, space)), np.empty((2, space), np.int64)
        rows = sweep.Collars(integers[0], reals[0], reals[1], inner=integers[1])
        start, size = sweep.open_all(m, counts, start, caps, rows)
        parts.append(sweep.Collars._make(column[:size].copy() for column in rows))
    # Step 2: the others, rounded as the cells themselves are
    for e in np.flatnonzero(np.isnan(caps)).tolist():
        level = level_of(m, counts[e : e + 1])
        inner = np.diff(level.first)
        full, caps[e] = np.flatnonzero(inner), level.angle[0]
        parts.append(sweep.Collars(np.full(len(full), e), level.angle[full], level.angle[full + 1], inner=inner[full]))
    # Step 3: all in the order of their partitions
    rows = sweep.Collars._make(map(np.concatenate, zip(*parts, strict=True)))
    if len(parts) > 1 and np.any(rows.parent[1:] < rows.parent[:-1]):
        order = np.argsort(rows.parent, kind="stable")
        rows = sweep.Collars._make(column[order] for column in rows)
    return caps, rows


def _raise_bundles(opened: list[Opened], counts: Int64, limit: int) -> tuple[tuple[float, float], int]:
    """Return bounds of the largest radius by at most `limit` bundles of each partition, and the number lifted."""
    lifts = 0
    offsets, rows = _collect_bundles(partial(bundles.write_spheres, counts, limit), len(counts), limit)
    for m, caps, collars_of_m in reversed(opened):
        lifts += int(np.diff(offsets)[collars_of_m.inner].sum())
        bundles_of_caps = np.empty((len(caps), rows.shape[1]))
        bundles.write_caps(m, caps, bundles_of_caps)
        write = partial(bundles.raise_bundles, m, collars_of_m, bundles_of_caps, (offsets, rows), limit)
        offsets, rows = _collect_bundles(write, len(caps), limit)
    return (float(rows[:, bundles.RADIUS].max()), float(rows[:, bundles.UPPER].max())), lifts


def _collect_bundles(write: Callable[..., int], number: int, limit: int) -> tuple[Int64, Float64]:
    """Collect offsets and bundles of `number` partitions from `write`, which writes as far as there is room."""
    offsets, parts, start = np.zeros(number + 1, np.int64), [np.empty((0, bundles.LENGTH + 1))], 0
    while start < number:
        out = np.empty((max(_ROOM, limit), bundles.LENGTH + 1))
        stop = write(offsets, out, start)
        parts.append(out[: offsets[stop]].copy())
        offsets[start + 1 : stop + 1] += offsets[start]
        start = stop
    return offsets, np.concatenate(parts)


def largest_diameter(dim: int, n: int) -> float | None:
    """Return the largest cell diameter, or None where there are too many zones: docs/theorems/5.5-diameters.md.

    A cell's diameter grows with that of the cell of S^(m-1) inside it, so a collar needs only the largest of those.
    """
    if dim == 1 or n <= 2:
        return min(np.pi, 2.0 * np.pi / n)
    # Step 1: the different partitions, from the top down to S^2
    levels, counts, zones = [], np.array([n]), 0.0
    for m in range(dim, 2, -1):
        zones += _zones(m, counts)
        if zones > _ZONES:
            return None
        level = level_of(m, counts)
        is_collar = np.ones(len(level.first), dtype=bool)
        is_collar[level.offsets[1:] - 1] = False
        counts, table_of_slot = inside(level, np.flatnonzero(is_collar))
        levels.append((level, table_of_slot))
        if not counts.size:
            break
    if zones + _zones(2, counts) > _ZONES:
        return None
    # Step 2: their largest diameters, from S^2 up
    diameter = np.empty(len(counts))
    diameters.of_counts(counts, diameter)
    for level, table_of_slot in reversed(levels):
        inner = np.append(diameter, np.nan)[table_of_slot]
        diameter = np.empty(len(level.offsets) - 1)
        # 5.5
        diameters.of_tables(level.offsets, level.angle, inner, diameter)
    return float(diameter[0])


def _zones(dim: int, counts: Int64) -> float:
    """Estimate the number of collars of the partitions of S^dim into these counts, together, from above."""
    return float(np.sum(np.pi * np.exp((np.log(counts) - special.log_surface_area(dim)) / dim)))
