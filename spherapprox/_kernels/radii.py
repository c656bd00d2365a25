"""Radii of cells of the recursive zonal partition about their centres."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from . import cap, zone
from .jit import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit
def _about_midpoint(lower: float, upper: float, across: float) -> float:
    """Return the radius of a zone about its midpoint."""
    return zone.radius(lower, upper, zone.midpoint(lower, upper), across)


@njit
def of_counts(counts: Integers, radius: Floats) -> None:
    """Write the largest cell radius of S^2 in n cells, for each n of `counts`."""
    for i in range(len(counts)):
        n = counts[i]
        if n <= 2:
            radius[i] = math.pi / n
            continue
        angle, fitting, collars = cap.layout(n)
        radius[i] = angle
        north, lower = 1, angle
        for j in range(collars):
            south = cap.first_of(n, angle, fitting, collars, j + 1)
            upper = cap.boundary(n, south)
            radius[i] = max(radius[i], _about_midpoint(lower, upper, math.pi / (south - north)))
            north, lower = south, upper


@njit
def of_tables(offsets: Integers, angle: Floats, inner: Floats, radius: Floats) -> None:
    """Write the largest cell radius of each table, `inner` being that of the partition inside each collar."""
    for t in range(len(radius)):
        radius[t] = angle[offsets[t]]
        for j in range(offsets[t], offsets[t + 1] - 1):
            radius[t] = max(radius[t], _about_midpoint(angle[j], angle[j + 1], inner[j]))
