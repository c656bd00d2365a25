"""The partition of S^1 into equal arcs, in eighths of a turn: exact up to n = 2^53."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine

TURNS = 64  # turns that a table holds at most
STRIP = 512  # directions that are written before they go into rows: they stay in the first-level cache
_TURNED = 2**40  # arcs from which on each centre is made anew: a turn's rounding is no longer small against half an arc


@subroutine
def center(k: int, n: int) -> Any:
    """Return cosine and sine of the azimuth (2k + 1) pi / n; a single arc has its centre at the pole, like S^m."""
    if n == 1:
        return 0.0, 1.0
    octant, remainder = divmod(4 * (2 * k + 1), n)
    if octant % 2:
        remainder = n - remainder
    angle = (remainder / n) * (math.pi / 4.0)
    c, s = math.cos(angle), math.sin(angle)
    if octant in (1, 2, 5, 6):
        c, s = s, c
    return (-c if octant in (2, 3, 4, 5) else c), (-s if octant >= 4 else s)


@subroutine
def index_of(x: float, y: float, n: int) -> int:
    """Return the arc [2 pi k/n, 2 pi (k+1)/n) that holds the direction of (x, y)."""
    u, v = abs(x), abs(y)
    if u == 0.0 and v == 0.0:
        return 0
    # no branches: they would be taken at random
    lower = int(y < 0.0) | (int(y == 0.0) & int(x <= 0.0))
    odd = int(x >= 0.0) if lower else int(x <= 0.0)
    octant = 2 * (2 * lower + odd) + (int(v > u) ^ odd)
    sign = 1 - 2 * (octant % 2)
    base = (octant + octant % 2) * n
    share = math.atan(min(u, v) / max(u, v)) * (4.0 / math.pi) * n
    arcs = (base % 8 + sign * share) / 8.0
    arc = math.floor(arcs)
    if min(arcs - arc, arc + 1 - arcs) < 1e-15 * n:  # the quotient's rounding might matter
        share = math.atan2(min(u, v), max(u, v)) * (4.0 / math.pi) * n
        arc = math.floor((base % 8 + sign * share) / 8.0)
    return min(max(base // 8 + arc, 0), n - 1)


@subroutine
def turns(n: int, cosine: Float64, sine: Float64) -> int:
    """Write the turns by 0, 1, 2, ... of n arcs and return their number: about sqrt(n) saves the most sines."""
    count = 1
    while 2 * count <= len(cosine) and 2 * count * count <= n:
        count *= 2
    for j in range(count):
        angle = 2.0 * math.pi * (j / n)
        cosine[j], sine[j] = math.cos(angle), math.sin(angle)
    return count


@subroutine
def directions(k: int, n: int, turn: Any, cosine: Float64, sine: Float64) -> None:
    """Write cosines and sines of the centres of arcs k, k + 1, ... of n; `turn` is (count, cosine, sine) from `turns`.

    Arcs 0, count, 2 count, ... are made anew, whichever is the first, the others from there by one turn.
    """
    count, cos_turn, sin_turn = turn
    row = 0
    while row < len(cosine):
        j = (k + row) % count
        c, s = center(k + row - j, n)
        end = min(row + count - j, len(cosine))
        x, y, u, v = cosine[row:end], sine[row:end], cos_turn[j:count], sin_turn[j:count]
        for i in range(len(x)):
            x[i], y[i] = c * u[i] - s * v[i], s * u[i] + c * v[i]
        row = end


@njit
def centers(start: int, n: int, out: Float64) -> None:
    """Write the centres of consecutive arcs of S^1."""
    if n > _TURNED:
        for i in range(len(out)):
            out[i, 0], out[i, 1] = center(start + i, n)
        return
    cos_turn, sin_turn = np.empty(TURNS), np.empty(TURNS)
    turn = turns(n, cos_turn, sin_turn), cos_turn, sin_turn
    cosine, sine = np.empty(STRIP), np.empty(STRIP)
    for low in range(0, len(out), STRIP):
        size = min(STRIP, len(out) - low)
        directions(start + low, n, turn, cosine[:size], sine[:size])
        for i in range(size):
            out[low + i, 0], out[low + i, 1] = cosine[i], sine[i]


@njit
def indices(x: Float64, n: int, index: Int64) -> None:
    """Write the arc of S^1 that holds each point."""
    for i in range(len(index)):
        index[i] = index_of(x[i, 0], x[i, 1], n)
