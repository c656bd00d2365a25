"""One level of the search for a partition's largest cell radius: its collars, those that may matter, and back up.

docs/theorems.md, 5.6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import collars, largest, zone

MEMO = 2**20
EXACT = 128
"""Counts below it have a bound each, larger ones share theirs with those of the same cell."""
CELLS = 16
"""Cells per octave of counts from EXACT on."""
HALVINGS = 24


@njit
def cell_of(count: int) -> int:
    """Return the cell of a count."""
    return count if count < EXACT else EXACT + int(CELLS * math.log2(count / EXACT))


@subroutine
def on_circle_or_sphere(kind: int, count: int, memo: Float64) -> float:
    """Return the largest radius of S^2 in `count` cells, kept in `memo` where there is room."""
    if count >= len(memo):
        return largest.of_count(kind, count)
    if memo[count] == 0.0:
        memo[count] = largest.of_count(kind, count)
    return memo[count]


@subroutine
def needed(kind: int, m: int, lower: float, upper: float, threshold: float, enough: float) -> float:
    """Return a radius of the cell inside with which that of the zone is at most `threshold`; `enough` is too large.

    Not for centroids.
    """
    low, high = 0.0, enough
    for i in range(HALVINGS):
        middle = 0.5 * (low + high) if i > 0 else low
        across = largest.about(kind, m, lower, upper, middle, 1.0)
        if across > threshold and i == 0:
            break
        if across > threshold:
            high = middle
        else:
            low = middle
    return low


@subroutine
def needed_of_centroids(m: int, lower: float, upper: float, threshold: float, inside: float, spread: float) -> float:
    """Return what `needed` does, inf where the radius is at most `threshold` with `inside`, too."""
    sine, cosine = zone.means(m, lower, upper)
    inner, outer = math.atan2(sine * largest.least_length(inside, spread), cosine), math.atan2(sine, cosine)
    threshold *= 1.0 - largest.ROUNDING
    low, high = largest.allowed(lower, upper, inner, outer, threshold), inside
    if low >= inside:
        return math.inf
    if low < 0.5 * math.pi - 1e-9:
        return low
    low = 0.5 * math.pi - 1e-9
    if largest.about_between(lower, upper, high, inner, outer) <= threshold:
        return math.inf
    for _ in range(HALVINGS // 2):
        middle = 0.5 * (low + high)
        if largest.about_between(lower, upper, middle, inner, outer) > threshold:
            high = middle
        else:
            low = middle
    return low


@subroutine
def judge(kind: int, m: int, box: Any, threshold: float, tables: Any) -> Any:
    """Return the radius of a collar (lower, upper, count) of S^m if known or -1, and otherwise what it needs inside.

    The second number is inf where the collar's radius is at most `threshold`. `tables` are bounds of radii and spreads,
    and the memo.
    """
    (lower, upper, count), (bounds, spreads, memo) = box, tables
    known = count <= 2 or m == 3
    if kind != largest.CENTROID and known:
        return largest.about(kind, m, lower, upper, on_circle_or_sphere(kind, count, memo), 1.0), math.inf
    if threshold <= 0.0:
        return -1.0, 0.0
    cell = cell_of(count)
    inside = bounds[cell] if cell < len(bounds) else math.pi
    if kind == largest.CENTROID:
        spread = spreads[cell] if cell < len(spreads) else 1.0
        if known:
            inside = math.pi / count if count <= 2 else on_circle_or_sphere(kind, count, memo)
        return -1.0, needed_of_centroids(m, lower, upper, threshold, inside, spread)
    if largest.about(kind, m, lower, upper, inside, 1.0) * (1.0 + largest.ROUNDING) <= threshold:
        return -1.0, math.inf
    return -1.0, needed(kind, m, lower, upper, threshold, inside)


@njit
def judge_all(kind: int, m: int, boxes: Any, threshold: float, tables: Any, need: Float64) -> float:
    """Judge collars in turn and return the largest known radius."""
    lower, upper, count = boxes
    known = 0.0
    for i in range(len(count)):
        value, need[i] = judge(kind, m, (lower[i], upper[i], count[i]), threshold, tables)
        known = max(known, value)
    return known


@njit
def open_all(
    kind: int, m: int, counts: Int64, threshold: Float64, tables: Any, known: Float64, rows: Any, visits: int
) -> Any:
    """Open partitions of S^m until `rows` is full or more than `visits` collars were seen.

    Writes the largest radius known of each, nan where a count is close to a tie, and the collars that may exceed the
    threshold: (partition, lower, upper, count, need). Returns the partitions opened, the rows and the collars seen.
    """
    parent, lower, upper, inner, need = rows
    size, seen = 0, 0
    for e in range(len(counts)):
        n = counts[e]
        known[e] = math.pi / n
        if n <= 2:
            continue
        space = collars.room(m, n)
        if size + space > len(need) or seen > visits:
            return e, size, seen
        first, angle = np.empty(space, np.int64), np.empty(space)
        total, close = collars.north(m, n, first, angle)
        seen += total
        if close:
            known[e] = math.nan
            continue
        known[e] = angle[0]
        half = total // 2
        for i in range(half + 2):
            if i < half:
                box = angle[i], angle[i + 1], first[i + 1] - first[i]
            elif i == half and total % 2 == 1:
                box = angle[half], math.pi - angle[half], n - 2 * first[half]
            elif i == half + 1 and total % 2 == 0 and n % 2 == 1:  # the mirror image has one cell less
                box = angle[half - 1], math.pi - angle[half], n - first[half] - first[half - 1]
            else:
                continue
            if box[2] <= 0:
                continue
            value, needs = judge(kind, m, box, threshold[e], tables)
            known[e] = max(known[e], value)
            if needs < math.inf:
                parent[size], lower[size], upper[size], inner[size], need[size] = e, box[0], box[1], box[2], needs
                size += 1
    return len(counts), size, seen


@njit
def raise_all(kind: int, m: int, rows: Any, inside: Float64, known: Float64) -> None:
    """Take the radii inside the collars up to the partitions of S^m they belong to."""
    parent, lower, upper = rows
    for i in range(len(parent)):
        known[parent[i]] = max(known[parent[i]], largest.about(kind, m, lower[i], upper[i], inside[i], 1.0))
