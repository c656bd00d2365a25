"""The recursive zonal partition of S^2: sigma(C(t)) = sin^2(t/2) puts every boundary into closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import Float64, Int64
from ..jit import njit, subroutine
from . import circle


@subroutine
def layout(n: int) -> Any:
    """Return the polar caps' colatitude, the fitting angle and the number of collars of S^2 in n >= 3 cells."""
    # 5.1: sin^2(cap/2) = 1/n, and the ideal angle is (4 pi/n)^(1/2)
    cap = 2.0 * math.asin(math.sqrt(1 / n))
    span = math.pi - 2.0 * cap
    count = max(1, math.floor(span / math.sqrt(4.0 * math.pi / n) + 0.5))
    return cap, span / count, count


@subroutine
def first_of(n: int, cap: float, fitting: float, count: int, j: int) -> int:
    """Return the number of cells north of boundary j: n sigma(C) rounded half up, from the nearer pole."""
    if j == 0:
        return 1
    if j == count:
        return n - 1
    if 2 * j == count:
        return (n + 1) // 2
    half = math.sin(0.5 * (cap + min(j, count - j) * fitting))
    ideal = n * half * half
    if 2 * j < count:
        return math.floor(ideal + 0.5)
    return n - math.ceil(ideal - 0.5)


@subroutine
def boundary(n: int, first: int) -> float:
    """Return the colatitude of the cap of S^2 that holds `first` of n cells."""
    if 2 * first == n:
        return 0.5 * math.pi
    if 2 * first < n:
        return 2.0 * math.asin(math.sqrt(first / n))
    return math.pi - 2.0 * math.asin(math.sqrt((n - first) / n))


@subroutine
def collar_of_index(n: int, k: int) -> Any:
    """Return (cells north of the collar, north of its end) of the collar that holds cell k, 0 < k < n - 1."""
    cap, fitting, count = layout(n)
    j = int((boundary(n, k) - cap) / fitting)
    j = min(max(j, 0), count - 1)
    while first_of(n, cap, fitting, count, j) > k:
        j -= 1
    while first_of(n, cap, fitting, count, j + 1) <= k:
        j += 1
    return first_of(n, cap, fitting, count, j), first_of(n, cap, fitting, count, j + 1)


@subroutine
def zone_of_index(n: int, k: int) -> Any:
    """Return (cells north of the zone, north of its end) of the zone of S^2 that holds cell k."""
    if k == 0:
        return 0, 1
    if k == n - 1:
        return n - 1, n
    return collar_of_index(n, k)


@njit
def collar_counts(n: int, j: int, counts: Int64) -> None:
    """Write the numbers of cells in collars j, j + 1, ... of S^2 in n >= 3 cells; the first is that below the cap."""
    cap, fitting, count = layout(n)
    north = first_of(n, cap, fitting, count, j)
    for i in range(len(counts)):
        south = first_of(n, cap, fitting, count, j + i + 1)
        counts[i] = south - north
        north = south


@njit
def centers(n: int, k: int, scale: float, tail: Float64, out: Float64) -> None:
    """Write `scale` times the midpoints of cells k, k + 1, ... of S^2 in n cells, and `tail` behind each."""
    cos_turn, sin_turn = np.empty(circle.TURNS), np.empty(circle.TURNS)
    cosine, sine = np.empty(circle.STRIP), np.empty(circle.STRIP)
    north, south, turn = 0, 0, (0, cos_turn, sin_turn)
    cos_theta, sin_theta = 0.0, 0.0
    row = 0
    while row < len(out):
        cell = k + row
        end = row + 1
        if cell == 0 or cell == n - 1:
            out[row, 0], out[row, 1], out[row, 2] = 0.0, 0.0, scale if cell == 0 else -scale
        else:
            if cell >= south:
                north, south = collar_of_index(n, cell)
                theta = 0.5 * (boundary(n, north) + boundary(n, south))
                cos_theta, sin_theta = math.cos(theta), math.sin(theta)
                turn = circle.turns(south - north, cos_turn, sin_turn), cos_turn, sin_turn
            end = min(row + circle.STRIP, row + south - cell, len(out))
            circle.directions(cell - north, south - north, turn, cosine[: end - row], sine[: end - row])
            for i in range(end - row):
                out[row + i, 0] = scale * (sin_theta * cosine[i])
                out[row + i, 1] = scale * (sin_theta * sine[i])
                out[row + i, 2] = scale * cos_theta
        if len(tail):
            for i in range(row, end):
                for column in range(len(tail)):
                    out[i, 3 + column] = tail[column]
        row = end


@subroutine
def zone_of_colatitude(n: int, shape: Any, colatitude: float) -> Any:
    """Return (cells north of the zone, north of its end) of the zone of S^2 in n >= 3 cells; `shape` is its layout."""
    cap, fitting, count = shape
    j = min(max(int((colatitude - cap) / fitting), 0), count - 1)
    north, south = first_of(n, cap, fitting, count, j), first_of(n, cap, fitting, count, j + 1)
    while colatitude < boundary(n, north):
        if j == 0:
            return 0, 1
        j -= 1
        north, south = first_of(n, cap, fitting, count, j), north
    while colatitude >= boundary(n, south):
        if j == count - 1:
            return n - 1, n
        j += 1
        north, south = south, first_of(n, cap, fitting, count, j + 1)
    return north, south


@njit
def table_sizes(counts: Int64, sizes: Int64) -> None:
    """Write the numbers of boundaries of S^2 in these counts of cells."""
    for i in range(len(counts)):
        sizes[i] = 1 if counts[i] < 3 else layout(counts[i])[2] + 1


@njit
def tables(counts: Int64, offsets: Int64, first: Int64, angle: Float64) -> None:
    """Write the cells north of each boundary of S^2, and its colatitude, table after table; pi for a single cell."""
    for i in range(len(counts)):
        n, begin, end = counts[i], offsets[i], offsets[i + 1]
        cap, fitting, count = layout(max(n, 3))
        for j in range(end - begin):
            first[begin + j] = first_of(n, cap, fitting, count, j)
            angle[begin + j] = boundary(n, first[begin + j])


@njit
def intervals(count: Int64, local: Int64, box: Float64) -> None:
    """Write (colatitudes, azimuths) of cells `local` of S^2 in `count` cells (0: all of it), shape (n, 2, 2)."""
    for i in range(len(count)):
        n, k = count[i], local[i]
        box[i, 0, 0], box[i, 0, 1], box[i, 1, 0], box[i, 1, 1] = 0.0, math.pi, 0.0, 2.0 * math.pi
        if n < 2:
            continue
        north, south = zone_of_index(n, k)
        if north > 0:
            box[i, 0, 0] = boundary(n, north)
        if south < n:
            box[i, 0, 1] = boundary(n, south)
        arcs = south - north
        box[i, 1, 0] = 2.0 * math.pi * ((k - north) / arcs)
        box[i, 1, 1] = 2.0 * math.pi * ((k - north + 1) / arcs)
