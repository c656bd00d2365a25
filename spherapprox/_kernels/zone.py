"""One cell [lower, upper] x (a cell of the orthogonal sphere): the colatitude of its centre, and its radius about it.

`across` is the radius of the cell of the orthogonal sphere about its own centre, `length` that of its mean vector. A
zone that reaches a pole is a cap, with its centre there. docs/theorems.md, section 5.
"""

from __future__ import annotations

import math

from .jit import njit


@njit
def distance(t: float, center: float, across: float) -> float:
    """Return the distance between colatitudes `t` and `center` at distance `across` inside the orthogonal sphere."""
    # sin^2(d/2) and cos^2(d/2) as sums of squares: no digit is lost near 0 or pi
    product = math.sin(t) * math.sin(center)
    sine = math.sin(0.5 * (t - center)) ** 2 + product * math.sin(0.5 * across) ** 2
    cosine = math.cos(0.5 * (t + center)) ** 2 + product * math.cos(0.5 * across) ** 2
    return 2.0 * math.atan2(math.sqrt(sine), math.sqrt(cosine))


@njit
def radius(lower: float, upper: float, center: float, across: float) -> float:
    """Return the largest distance from the centre, at colatitude `center`, to a point of the closed cell."""
    if lower <= 0.0 and center <= 0.0:
        return upper
    if upper >= math.pi and center >= math.pi:
        return math.pi - lower
    largest = max(distance(lower, center, across), distance(upper, center, across))
    if across > 0.5 * math.pi:
        # cos d = A cos(t - phase) may have its minimum inside
        far = math.atan2(math.sin(center) * math.cos(across), math.cos(center)) + math.pi
        if lower < far < upper:
            largest = max(largest, distance(far, center, across))
    return largest


@njit
def midpoint(lower: float, upper: float) -> float:
    """Return the middle colatitude, or the pole for a cap."""
    if lower <= 0.0:
        return 0.0
    if upper >= math.pi:
        return math.pi
    return 0.5 * (lower + upper)
