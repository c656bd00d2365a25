"""Bounds for collars whose cells have their centroids as centres: of radii, and of 1 - l^2: docs/theorems.md, 5.6.

l is the length of a cell's mean vector, and 1 - l^2 its spread: the mean of half the squared chord between two points.
"""

from __future__ import annotations

import math
from typing import Any

from ..jit import subroutine
from . import largest, zone

HALF_PI = 0.5 * math.pi


@subroutine
def circle_length(n: int) -> float:
    """Return the length of the mean vector of an arc of S^1 in n arcs."""
    half = math.pi / n
    return math.sin(half) / half if n > 1 else 0.0


@subroutine
def cap_spread(m: int, angle: float) -> float:
    """Return 1 - l^2 for a polar cap."""
    return 1.0 - zone.centroid(m, 0.0, angle, 0.0)[1] ** 2


@subroutine
def variance(m: int, width: float) -> float:
    """Return a bound of the variance of the colatitude in a zone of that width."""
    return min(width * width / 12.0, 1.0 / (m - 1.0))


@subroutine
def about_equator(m: int, lower: float, off: float, fewest: float, inside: Any) -> Any:
    """Return what `ranges.in_the_middle` does, for centroids."""
    across, spread = inside
    sine, _ = zone.means(m, lower, math.pi - lower)
    if off > 0.0:
        off = math.atan2(math.cos(lower), max(1.0, fewest) * largest.least_length(across, spread) * sine)
    wide = variance(m, math.pi - 2.0 * lower)
    return zone.radius(lower, math.pi - lower, HALF_PI, across) + off, wide + spread


@subroutine
def about_centroids(m: int, north: Any, south: Any, wide: float, inside: Any) -> Any:
    """Return what `in_a_collar` does for centroids."""
    across, spread = inside
    single = north[0] == north[1] and south[0] == south[1]
    least = largest.least_length(across, spread)
    sine, cosine = zone.means(m, north[0], south[0])
    last_sine, last_cosine = (sine, cosine) if single else zone.means(m, north[1], south[1])
    inner = min(math.atan2(sine, cosine), math.atan2(sine * least, cosine))
    last = math.atan2(last_sine, last_cosine)
    outer = max(last, math.atan2(last_sine * least, last_cosine))
    result = largest.about_between(north[0], south[1], across, inner, outer)
    if single:
        return result, 1.0 - sine * sine - cosine * cosine + sine * sine * spread + 1e-15
    top = 1.0 if south[1] > HALF_PI else last_sine
    middle = 0.5 * (north[0] + south[0])
    if south[1] <= HALF_PI and middle > 0.5 * wide and across <= HALF_PI:
        # by the width: a centroid lies this far south of the middle at most, and that far north of it
        beyond, _ = zone.centroid(m, middle - 0.5 * wide, middle + 0.5 * wide, 1.0)
        back = last - math.atan2(least * math.sin(last), math.cos(last))
        if math.tan(last) ** 2 * least >= 1.0:  # an inner one moves by more
            back = 0.5 * math.pi - 2.0 * math.atan(math.sqrt(least))
        shift = max(beyond - middle, back)
        largest_sine = math.sin(min(HALF_PI, 0.5 * (north[1] + south[1]) + max(0.0, beyond - middle)))
        square = math.sin(min(HALF_PI, 0.25 * wide + 0.5 * shift)) ** 2
        square += math.sin(south[1]) * largest_sine * math.sin(0.5 * across) ** 2
        if square < 1.0:
            result = min(result, 2.0 * math.asin(math.sqrt(square)))
    return result, variance(m, wide) + top * top * spread


@subroutine
def rest_of_centroids(m: int, here: Any, largest_across: float) -> Any:
    """Return what `rest` does, for centroids and m > 2.

    Radii inside are at most across / sqrt(sin a sin b) and `largest_across`, and spreads `ratio` times their squares.
    """
    angle, narrow, wide, across, ratio = here
    cot, middle, half = math.cos(angle) / math.sin(angle), angle + 0.5 * narrow, 0.5 * wide
    spread, most = ratio * across * across, ratio * largest_across**2
    if middle <= half or half > 0.5 or most > 0.75:
        return math.pi, 1.0
    beyond = zone.centroid(m, middle - half, middle + half, 1.0)[0] - middle + 1e-15
    before, after = 1.0 + half * cot, 1.0 + beyond * cot
    length = math.sqrt(1.0 - most)
    back = math.atan(spread * cot * before * after / (math.cos(half) * length * (1.0 + length)))
    square = math.sin(min(HALF_PI, 0.5 * (half + max(beyond, back)))) ** 2 + 0.25 * across * across * before * after
    radius = 2.0 * math.asin(math.sqrt(square)) if square < 1.0 else math.pi
    return radius, wide * wide / 12.0 + spread * before * after**2 / math.cos(half)
