"""A cell [lower, upper] x (a cell of the orthogonal sphere): the colatitude of its centre, and its radius about it.

`across` is the radius of the cell of the orthogonal sphere about its own centre, `length` that of its mean vector. A
zone that reaches a pole is a cap, with its centre there. docs/theorems/5.1-zonal-partition.md.
"""

from __future__ import annotations

import math
from typing import Any

from ..._scalars import beta
from ..._scalars.gauss import gauss_legendre
from ..jit import subroutine
from ..scalars import subroutines  # noqa: F401

_NODES, _WEIGHTS = gauss_legendre(32)
# In the units of the weight's standard deviation, 1/sqrt(m), collars are a few wide and lie within 7 of the equator:
# the weight is a Gauss function there, or an exponential, whose rounding error the rule reaches.

_NO_LENGTH = 1e-14  # a mean vector this short is rounding: that of an annulus about the equator


@subroutine
def distance(t: float, center: float, across: float) -> float:
    """Return the distance between colatitudes `t` and `center` at distance `across` inside the orthogonal sphere."""
    # sin^2(d/2) and cos^2(d/2) as sums of squares: no digit is lost near 0 or pi
    product = math.sin(t) * math.sin(center)
    sine = math.sin(0.5 * (t - center)) ** 2 + product * math.sin(0.5 * across) ** 2
    cosine = math.cos(0.5 * (t + center)) ** 2 + product * math.cos(0.5 * across) ** 2
    return 2.0 * math.atan2(math.sqrt(sine), math.sqrt(cosine))


@subroutine
def radius(lower: float, upper: float, center: float, across: float) -> float:
    """Return the largest distance from the centre, at colatitude `center`, to a point of the closed cell."""
    if lower <= 0.0 and center <= 0.0:
        return upper
    if upper >= math.pi and center >= math.pi:
        return math.pi - lower
    # 5.2
    largest = max(distance(lower, center, across), distance(upper, center, across))
    if across > 0.5 * math.pi:
        # cos d = A cos(t - phase) may have its minimum inside
        far = math.atan2(math.sin(center) * math.cos(across), math.cos(center)) + math.pi
        if lower < far < upper:
            largest = max(largest, distance(far, center, across))
    return largest


@subroutine
def diameter(lower: float, upper: float, across: float) -> float:
    """Return the diameter of a cell without pole, `across` that of the cell of the orthogonal sphere."""
    # 5.5
    return max(radius(lower, upper, lower, across), radius(lower, upper, upper, across))


@subroutine
def midpoint(lower: float, upper: float) -> float:
    """Return the middle colatitude, or the pole for a cap."""
    if lower <= 0.0:
        return 0.0
    if upper >= math.pi:
        return math.pi
    return 0.5 * (lower + upper)


@subroutine
def smallest_cap(lower: float, upper: float, across: float) -> float:
    """Return the colatitude of the centre of the smallest cap that holds the cell: docs/theorems/5.3."""
    if lower <= 0.0:
        return 0.0
    if upper >= math.pi:
        return math.pi
    # 5.3: the three cases for R' > pi/2
    if across > 0.5 * math.pi:
        if across < min(upper, math.pi - lower):
            return 0.5 * math.pi
        return 0.0 if upper <= math.pi - lower else math.pi
    # 5.3: min(phi, eta), reflected in the south
    middle, south = 0.5 * (lower + upper), lower + upper > math.pi
    end = upper
    if south:
        middle, end = math.pi - middle, math.pi - lower
    cosine = math.cos(across)
    nearest = math.atan2(math.sin(end) * cosine, math.cos(end))
    equal = math.atan2(math.sin(middle), math.cos(middle) * cosine)
    center = min(nearest, equal)
    return math.pi - center if south else center


@subroutine
def means(dim: int, lower: float, upper: float) -> Any:
    """Return the means of the sine and the cosine of colatitude over a zone of S^dim; a cap has no sine."""
    if lower <= 0.0 and upper >= math.pi:
        return 0.0, 0.0
    # 5.4: sin^m t / (m int_0^t sin^(m-1)) for a cap C(t)
    if lower <= 0.0 or upper >= math.pi:
        angle = upper if lower <= 0.0 else math.pi - lower
        mean = math.sin(angle) / (dim * angle * beta.rim_mean(float(dim), angle))
        return 0.0, (mean if lower <= 0.0 else -mean)
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    sine, cosine = math.sin(middle), math.cos(middle)
    # at colatitude middle + t the weight is e^((dim - 1) g(t)), up to a factor, with e^g = sin(middle + t)/sin(middle)
    cot = cosine / sine
    mode = min(max(0.5 * math.pi - middle, -half), half)
    top = math.log1p(cot * math.sin(mode) - 2.0 * math.sin(0.5 * mode) ** 2)
    total, along, versine = 0.0, 0.0, 0.0
    for i in range(len(_NODES)):
        t = half * _NODES[i]
        sin_t, bend = math.sin(t), 2.0 * math.sin(0.5 * t) ** 2
        weight = _WEIGHTS[i] * math.exp((dim - 1.0) * (math.log1p(cot * sin_t - bend) - top))
        total += weight
        along += weight * sin_t
        versine += weight * bend
    along, straight = along / total, 1.0 - versine / total
    return sine * straight + cosine * along, cosine * straight - sine * along


@subroutine
def toward(lower: float, upper: float, sine: float, cosine: float, length: float) -> Any:
    """Return colatitude and length of the mean vector, from the zone's means (5.4); of length 0 it has the middle."""
    # 5.4
    mean = math.hypot(sine * length, cosine)
    if mean <= _NO_LENGTH:
        return midpoint(lower, upper), 0.0
    return math.atan2(sine * length, cosine), mean


@subroutine
def centroid(dim: int, lower: float, upper: float, length: float) -> Any:
    """Return colatitude and length of the cell's mean vector in S^dim, dim >= 2."""
    sine, cosine = means(dim, lower, upper)
    return toward(lower, upper, sine, cosine, length)
