"""Which share of all pairs the truncated method computes: an estimate from distances within samples."""

from __future__ import annotations

import math

import numpy as np

from .._checks import Floats
from .partial import Float64, Problem

ROWS = 48
"""Evaluation points of a sample."""
SMALLEST, LARGEST = 128, 4096
"""Control points of a sample."""
PAIRS = 200_000
"""Pairs of the problem for each of these, so that the sample takes a small part of the sum's time."""
RANK = 2
"""The nearest distance of a sample that says something: that of rank 1 may be to the point itself."""


def share(problem: Problem, block: int, tile: int, cut: float) -> tuple[float, float]:
    """Estimate the share of pairs, and the usual exponent of the nearest control point.

    Where N control points are, s of a sample of n are as near to x as s N / n of all. So the sample tells the radii of
    a block and of a tile near x, and how many points are within the reach of x and these radii. Fitted to the shares
    that were computed for uniform points in dimensions 1 to 16 and clusters, 10^4 to 10^6 points, concentrations
    10^2 to 10^8.
    """
    n, m = len(problem.b), len(problem.x)
    x = np.asarray(problem.x[:: max(1, m // ROWS)], np.float64)
    size = int(min(max(m * n / PAIRS, SMALLEST), LARGEST))
    to_controls = _Near(x, _sample(problem.b, size), n)
    own = _Near(x, _sample(problem.x, size), m)
    nearest = to_controls.radius(1.0) ** 2
    reach = np.sqrt(np.minimum(nearest + cut / max(problem.rate, 1e-30), 16.0))
    reach += to_controls.radius(float(block)) * to_controls.diagonal() + own.radius(float(tile)) * own.diagonal()
    return float(to_controls.count(reach).mean()) / n, problem.rate * float(np.median(nearest))


def _sample(rows: Floats, size: int) -> Float64:
    """Return some of the rows, at equal distances in their order."""
    return np.asarray(rows[:: max(1, len(rows) // size)], np.float64)


class _Near:
    """The sorted distances of points from a sample of `total` others; below its least ones they go on as powers."""

    def __init__(self, x: Float64, sample: Float64, total: int) -> None:
        squares = (x**2).sum(axis=1)[:, None] + (sample**2).sum(axis=1) - 2.0 * (x @ sample.T)
        self.distances = np.sort(np.sqrt(np.maximum(squares, 1e-30)), axis=1)  # (r, n)
        self.factor = self.distances.shape[1] / total
        last = min(4 * RANK, self.distances.shape[1]) - 1
        first = min(RANK, last + 1) - 1
        growth = np.log(self.distances[:, last] / self.distances[:, first]).mean()
        self.dimension = math.log((last + 1) / (first + 1)) / max(growth, 1e-3) if last > first else 1.0
        self.first, self.least = first + 1, self.distances[:, first]

    def radius(self, count: float) -> Float64:
        """Return the radii of balls that hold `count` of all points."""
        rank = count * self.factor
        if rank < self.first:
            return np.asarray(self.least * (rank / self.first) ** (1.0 / self.dimension))
        return np.asarray(self.distances[:, min(int(rank), self.distances.shape[1]) - 1])

    def diagonal(self) -> float:
        """Return half the diagonal of a cube that has the volume of the unit ball: blocks are boxes."""
        d = min(max(self.dimension, 1.0), 40.0)
        return 0.5 * math.sqrt(d * math.pi) / math.exp(math.lgamma(0.5 * d + 1.0) / d)

    def count(self, radius: Float64) -> Float64:
        """Return how many of all points are within the radii."""
        ranks = (self.distances <= radius[:, None]).sum(axis=1)
        small = self.first * np.minimum(radius / self.least, 1.0) ** self.dimension
        return np.asarray(np.where(ranks < self.first, small, ranks) / self.factor)
