"""Checks of the weights and the covering radius of a point set."""

from __future__ import annotations

import math

import numpy as np

from .. import _checks, special
from .._types import Float64

_SUM_TOLERANCE = 1e-6  # how far the weights' sum may be from 1: it catches mistakes, it is no statement of accuracy
_LARGEST_WEIGHT = 1e100
"""Sizes of weights up to which their products with each other and with sums of values cannot overflow."""


def check_weights(weights: Float64, n: int) -> None:
    """Check the shape, the sizes and the sum of weights."""
    _checks.shaped(weights, "weights", (n,), note=", one for each of 'points'")
    largest = weights[np.argmax(np.abs(weights))]
    if abs(largest) > _LARGEST_WEIGHT:
        raise ValueError(f"'weights' must be at most {_LARGEST_WEIGHT:g} in size, got {largest:g}: use smaller ones")
    total = math.fsum(weights)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"'weights' must sum to 1, got {total:.9g}: divide them by their sum")


def check_radius(radius: float, n: int, dim: int) -> None:
    """Raise where n caps of a radius have less than the sphere's measure, and so cannot cover it."""
    least = float(special.cap_angle(dim, -math.log(n)))
    if radius < least * (1.0 - 1e-9):
        raise ValueError(
            f"'covering_radius' must be at least {least:.6g}, the radius of a cap of measure 1/{n}, for {n} points of "
            f"S^{dim}, got {radius:.6g}: give an upper bound, or None where none is known"
        )
