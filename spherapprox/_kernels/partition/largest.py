"""The largest radius of a cell of S^2 in n cells, from the collars near the poles.

docs/theorems/5.6-largest-radius.md.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import cap, zone

MIDPOINT, SMALLEST_CAP, CENTROID = 0, 1, 2

SPHERE = np.int64(2)  # the dimension of S^2, typed: for a literal numba would compile all that is below once more
ROUNDING = 1e-14  # relative error that a computed radius or bound never reaches here


@subroutine
def about(center_kind: int, lower: float, upper: float, across: float) -> float:
    """Return the radius of a cell about its centre, which is not a centroid."""
    center = zone.midpoint(lower, upper) if center_kind == MIDPOINT else zone.smallest_cap(lower, upper, across)
    return zone.radius(lower, upper, center, across)


@subroutine
def of_arcs(center_kind: int, lower: float, upper: float, arcs: int) -> float:
    """Return the radius of the cells of a collar of S^2."""
    half = math.pi / arcs
    if center_kind != CENTROID:
        return about(center_kind, lower, upper, half)
    center, _ = zone.centroid(SPHERE, lower, upper, math.sin(half) / half if arcs > 1 else 0.0)
    return zone.radius(lower, upper, center, half)


@subroutine
def equatorial_bound(center_kind: int, n: float, angle: float, step: float) -> float:
    """Bound the radii of all collars of S^2 between colatitudes `angle` and pi - `angle`."""
    sine, cosine = math.sin(angle), math.cos(angle)
    # 5.6, collars of S^2
    margin = (1.0 / n + 4e-15) / sine
    narrow, wide = step - 2.0 * margin, step + 2.0 * margin
    if narrow <= 0.0 or wide >= math.pi:
        return math.pi
    shift = 0.0
    if center_kind == CENTROID:
        outwards = cosine / sine * (wide - math.sin(wide)) / (wide + math.sin(wide))
        loss = (math.pi / (n * sine * math.sin(0.5 * narrow))) ** 2 / 6.0
        if loss >= 0.5:
            return math.pi
        shift = math.atan(max(outwards, loss / (1.0 - loss) * sine * (1.0 + outwards / sine)))
    cot, across = cosine / sine, math.pi / (2.0 * n * math.sin(0.5 * narrow))
    far, near = math.sin(0.5 * wide), math.sin(shift)
    square = math.sin(0.25 * wide + 0.5 * shift) ** 2 + across * across * (1.0 + cot * far) * (1.0 + cot * near)
    return 2.0 * math.asin(math.sqrt(square)) * (1.0 + ROUNDING) if square < 1.0 else math.pi


@subroutine
def of_count(center_kind: int, n: int) -> float:
    """Return the largest cell radius of S^2 in n cells; few collars need to be looked at, for plain Python too."""
    if n <= 2:
        return math.pi / n
    angle, fitting, collars = cap.layout(n)
    largest, lower, upper = angle, angle, math.pi - angle
    first, last = 1, n - 1
    for j in range((collars + 1) // 2):
        # collar j from the north and collar j from the south, which are one in the middle
        inner = cap.first_of(n, angle, fitting, collars, j + 1)
        below = cap.boundary(n, inner)
        largest = max(largest, of_arcs(center_kind, lower, below, inner - first))
        if 2 * j + 1 == collars:
            break
        first, lower = inner, below
        inner = cap.first_of(n, angle, fitting, collars, collars - j - 1)
        above = cap.boundary(n, inner)
        largest = max(largest, of_arcs(center_kind, above, upper, last - inner))
        last, upper = inner, above
        middle = min(lower, math.pi - upper, angle + (j + 1) * fitting)
        if equatorial_bound(center_kind, float(n), middle, fitting) <= largest:
            break
    return largest


@njit
def of_counts(center_kind: int, counts: Int64, radius: Float64) -> None:
    """Write the largest cell radius of S^2 in n cells, for each n of `counts`."""
    for i in range(len(counts)):
        radius[i] = of_count(center_kind, counts[i])
