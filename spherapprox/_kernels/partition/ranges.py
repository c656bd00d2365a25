"""Bounds of the largest cell radius of S^m in n cells for all n of a range together: docs/theorems.md, 5.6.

For centroids also of the spread, 1 - l^2, l the length of a cell's mean vector.
"""

from __future__ import annotations

import math
from typing import Any

from ..._scalars import beta
from ..._types import Float64
from ..jit import njit, subroutine
from . import centroids, collars, largest, search, zone

HALF_PI = 0.5 * math.pi
SLACK = 1e-12
FEW = 130.0
"""Boundaries with fewer cells north of them have their colatitudes from the counts."""


@subroutine
def counts_of(cell: int) -> Any:
    """Return the least and the largest count of a cell."""
    if cell < search.EXACT:
        return float(cell), float(cell)
    low = math.floor(search.EXACT * 2.0 ** ((cell - search.EXACT) / search.CELLS)) - 1.0
    return low, math.ceil(search.EXACT * 2.0 ** ((cell - search.EXACT + 1) / search.CELLS)) + 1.0


@subroutine
def measure(m: int, angle: float) -> float:
    """Return the measure of the cap of colatitude 0 < angle <= pi/2."""
    return math.exp(beta.log_half_cap(float(m), angle))


@subroutine
def rounded_down(m: int, n: float, angle: float) -> float:
    """Return a lower bound of the colatitude of the cap with n sigma(angle) - 1/2 of n cells."""
    count = n * measure(m, angle)
    if count <= 0.5:
        return 0.0
    # the measure's logarithm is concave in that of the angle, with slope 1/rim_mean
    return angle * math.exp(math.log1p(-0.5 / count) * beta.rim_mean(float(m), angle)) * (1.0 - SLACK)


@subroutine
def rounded_up(m: int, n: float, angle: float) -> float:
    """Return an upper bound of the colatitude of the cap with n sigma(angle) + 1/2 of n cells, angle <= pi/2."""
    density = math.exp(collars.log_density(m) + (m - 1.0) * beta.log_sin(angle))
    moved = angle + 0.5 / (n * density) * (1.0 + SLACK)
    return moved if moved <= math.pi - angle else math.pi


@subroutine
def inside_range(m: int, low: float, high: float, tables: Any) -> Any:
    """Return bounds of the radii and the spreads of S^m in `low` to `high` cells."""
    bounds, spreads, _, _ = tables
    slack = 1e-6 + SLACK * high
    first, last = max(1, math.ceil(low - slack)), math.floor(high + slack)
    if last < first:
        return 0.0, 0.0
    if m == 1:
        return math.pi / first, 1.0 - centroids.circle_length(first) ** 2
    if search.cell_of(last) >= len(bounds):
        return math.pi, 1.0
    radius, spread = 0.0, 0.0
    for i in range(search.cell_of(first), search.cell_of(last) + 1):
        radius, spread = max(radius, bounds[i]), max(spread, spreads[i])
    return radius, spread


@subroutine
def in_the_middle(kind: int, m: int, lower: float, off: float, fewest: float, inside: Any) -> Any:
    """Return bounds for the collar about the equator, whose middle is off it by at most `off`.

    `fewest` cells are in it at least.
    """
    if kind == largest.CENTROID:
        return centroids.about_equator(m, lower, off, fewest, inside)
    across, _ = inside
    if kind == largest.SMALLEST_CAP:
        return largest.about(kind, m, lower - off, math.pi - lower + off, across, 1.0), 1.0
    return zone.radius(lower - off, math.pi - lower + off, HALF_PI, across) + off, 1.0


@subroutine
def in_a_collar(kind: int, m: int, north: Any, south: Any, width: float, inside: Any) -> Any:
    """Return bounds for collars that begin in the interval `north` and end in `south`, no wider than `width`."""
    across, _ = inside
    wide = min(width, south[1] - north[0])
    middle = 0.5 * (north[1] + south[1])
    top = 1.0 if south[1] > HALF_PI else math.sin(south[1])
    sine = 1.0 if middle > HALF_PI else math.sin(middle)
    if south[1] >= math.pi:
        return math.pi, 1.0
    if kind == largest.CENTROID:
        return centroids.about_centroids(m, north, south, wide, inside)
    square = math.sin(0.25 * wide) ** 2 + top * sine * math.sin(0.5 * across) ** 2
    result = 2.0 * math.asin(math.sqrt(square)) if square < 1.0 else math.pi
    if kind == largest.SMALLEST_CAP:
        result = min(result, largest.about(kind, m, north[0], south[1], across, 1.0))
    elif north[0] == north[1] and south[0] == south[1]:
        result = min(result, largest.about(kind, m, north[0], south[0], across, 1.0))
    return result, 1.0


@subroutine
def about_half(m: int, total: int, j: int, ideal: Any, counts: Any) -> Any:
    """Return what boundary j may be: the interval of its colatitude, of the cells north of it, and its largest moves.

    `ideal` is the interval of the colatitude before rounding, and the moves are from there to the north and the south.
    """
    n1, n2 = counts
    if 2 * j == total:  # at the equator; for odd n just beyond, and its image just before
        last = HALF_PI
        if n1 < n2 or n1 % 2.0 == 1.0:
            last = math.pi - beta.half_cap_angle(float(m), math.log(0.5 * (n1 - 1.0) / n1))
        return (math.pi - last, last), (math.floor(0.5 * n1), math.floor(0.5 * (n2 + 1.0))), (0.0, last - HALF_PI)
    fewest = math.floor(n1 * measure(m, ideal[0]) * (1.0 - SLACK) + 0.5 - 1e-9)
    most = math.floor(n2 * measure(m, ideal[1]) * (1.0 + SLACK) + 0.5 + 1e-9)
    first, last = rounded_down(m, n1, ideal[0]), rounded_up(m, n1, ideal[1])
    moves = ideal[0] - first, rounded_up(m, n1, ideal[0]) - ideal[0]
    if 1.0 <= fewest < FEW and 2.0 * fewest <= n2:
        first = max(first, beta.half_cap_angle(float(m), math.log(fewest / n2)))
    if most < FEW and 2.0 * most <= n1:
        last = min(last, beta.half_cap_angle(float(m), math.log(most / n1)))
    return (first, last), (fewest, most), moves


@subroutine
def between(m: int, north: Any, step: Any, counts: Any) -> Any:
    """Return an interval for the cells of a collar that begins in `north`, of an angle in `step`, before rounding."""
    end = north[1] + step[1]
    most = measure(m, min(HALF_PI, end)) - measure(m, north[1])
    if end > HALF_PI:
        most += math.exp(collars.log_density(m)) * (end - HALF_PI)
    return counts[0] * (measure(m, north[0] + step[0]) - measure(m, north[0])), counts[1] * most


@njit
def growths(power: float, bounds: Float64, out: Float64) -> None:
    """Write for each cell the largest of n^power times the bound over it and all larger counts."""
    largest_yet = 0.0
    for i in range(len(bounds) - 1, 0, -1):
        largest_yet = max(largest_yet, bounds[i] * counts_of(i)[1] ** power)
        out[i] = largest_yet


@subroutine
def rest(kind: int, m: int, n: float, angle: float, step: Any, tables: Any) -> Any:
    """Return bounds for all collars between colatitudes `angle` and pi - `angle`: docs/theorems.md, 5.6."""
    growth, growth_of_spreads = tables[2], tables[3]
    density = math.exp(collars.log_density(m))
    sine = math.sin(angle)
    there = density * sine ** (m - 1.0)
    moved = (0.5 / n + 1e-15) / there
    narrow, wide = step[0] - 2.0 * moved, step[1] + 2.0 * moved
    if narrow <= 0.0 or wide >= math.pi:
        return math.pi, 1.0
    if m == 2:
        around = math.pi / (n * math.sin(0.5 * narrow)) * (1.0 + math.cos(angle) / sine * math.sin(0.5 * wide))
        return largest.rest(kind, n, angle, step), wide * wide / 12.0 + around * around / 3.0
    fewest = max(1.0, math.floor(n * there * narrow * (1.0 - SLACK)))
    if search.cell_of(int(fewest)) >= len(growth):
        return math.pi, 1.0
    size = growth[search.cell_of(int(fewest))]
    if size > HALF_PI * fewest ** (1.0 / (m - 1.0)):
        return math.pi, 1.0
    across = size * (n * density * narrow) ** (-1.0 / (m - 1.0))
    square = math.sin(0.25 * wide) ** 2 + 0.25 * across * across * (1.0 + 0.5 * wide * math.cos(angle) / sine)
    if kind == largest.CENTROID:
        here = angle, narrow, wide, across, growth_of_spreads[search.cell_of(int(fewest))] / size**2
        return centroids.rest_of_centroids(m, here, size * fewest ** (-1.0 / (m - 1.0)))
    return (2.0 * math.asin(math.sqrt(square)) if square < 1.0 else math.pi), 1.0


@subroutine
def with_collars(kind: int, m: int, total: int, step: Any, counts: Any, tables: Any) -> Any:
    """Return bounds for all n in the interval `counts` with `total` collars of an angle in `step`."""
    half = total // 2
    # boundary j lies at pi/2 - (total/2 - j) step before rounding
    before = HALF_PI - 0.5 * total * step[1], HALF_PI - 0.5 * total * step[0]
    north, cells, moves = before, (1.0, 1.0), (0.0, 0.0)
    radius, spread = before[1], centroids.cap_spread(m, before[1]) if kind == largest.CENTROID else 1.0
    for j in range(1, half + 1):
        ideal = HALF_PI - (0.5 * total - j) * step[1], HALF_PI - (0.5 * total - j) * step[0]
        south, more, other = about_half(m, total, j, ideal, counts)
        fewest, most = between(m, before, step, counts)
        inside = inside_range(m - 1, max(fewest - 1.0, more[0] - cells[1]), min(most + 1.0, more[1] - cells[0]), tables)
        here = in_a_collar(kind, m, north, south, step[1] + moves[0] + other[1], inside)
        radius, spread = max(radius, here[0]), max(spread, here[1])
        before, north, cells, moves = ideal, south, more, other
        if j >= 3 and half > j + 2:
            others = rest(kind, m, counts[0], min(before[0], north[0]), step, tables)
            if others[0] <= radius:
                return radius, max(spread, others[1])
    if total % 2 == 1:
        off = 0.0
        if cells[0] < cells[1]:  # where a count is a tie, the collar is not symmetric
            off = 0.5 / (counts[0] * math.exp(collars.log_density(m) + (m - 1.0) * beta.log_sin(north[0])))
        fewest = max(counts[0] * (1.0 - 2.0 * measure(m, before[1])) - 1.0, counts[0] - 2.0 * cells[1])
        most = min(counts[1] * (1.0 - 2.0 * measure(m, before[0])) + 1.0, counts[1] - 2.0 * cells[0])
        here = in_the_middle(kind, m, north[0], off, fewest, inside_range(m - 1, fewest, most, tables))
        radius, spread = max(radius, here[0]), max(spread, here[1])
    return radius, spread


@njit
def of_range(kind: int, m: int, n1: float, n2: float, tables: Any) -> Any:
    """Return bounds of the radii and spreads of S^m in n cells, n1 <= n <= n2: n1 = n2 or n1 > 2."""
    if n1 <= 2.0:
        return math.pi / n1, 1.0 if n1 <= 1.0 else centroids.cap_spread(m, HALF_PI)
    cap1, cap2 = collars.cap_of(m, n1) * (1.0 + SLACK), collars.cap_of(m, n2) * (1.0 - SLACK)
    angle1, angle2 = collars.ideal_angle(m, n1) * (1.0 + SLACK), collars.ideal_angle(m, n2) * (1.0 - SLACK)
    least = max(1, math.floor((math.pi - 2.0 * cap1) / angle1 + 0.5 - SLACK))
    most = max(1, math.floor((math.pi - 2.0 * cap2) / angle2 + 0.5 + SLACK))
    radius, spread = 0.0, 0.0
    for total in range(least, most + 1):
        narrow, broad = (math.pi - 2.0 * cap1) / total, (math.pi - 2.0 * cap2) / total
        if total > 1:
            narrow = max(narrow, (1.0 - 0.5 / total) * angle2)
        broad = min(broad, (1.0 + 0.5 / total) * angle1)
        if narrow > broad:
            continue
        low, high = n1, n2
        if least < most:
            low = max(n1, math.ceil((1.0 - SLACK) / measure(m, HALF_PI - 0.5 * total * narrow)))
            high = min(n2, math.floor((1.0 + SLACK) / measure(m, HALF_PI - 0.5 * total * broad)))
        if low <= high:
            here = with_collars(kind, m, total, (narrow, broad), (low, high), tables)
            radius, spread = max(radius, here[0]), max(spread, here[1])
    return radius, spread


@njit
def of_level(kind: int, m: int, tables: Any, bounds: Float64, spreads: Float64) -> None:
    """Write bounds of the radii and spreads of S^m for each cell of counts, from those of S^(m-1)."""
    bounds[0] = spreads[0] = 0.0
    for i in range(1, len(bounds)):
        n1, n2 = counts_of(i)
        radius, spread = of_range(kind, m, n1, n2, tables)
        bounds[i] = min(math.pi, radius * (1.0 + 10.0 * SLACK))
        spreads[i] = min(1.0, spread * (1.0 + 10.0 * SLACK) + 1e-15)
