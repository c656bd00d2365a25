"""The share of all pairs that the truncated method computes, estimated from distances within samples."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..._kernels.summation.layout import CUBE
from ..._types import Float64, Floats
from ..problem import Problem

ROWS = 32  # evaluation points of a sample
SMALLEST, LARGEST = 512, 8192  # control points of a sample
ENOUGH = 4  # points of a sample in a block that are enough
PAIRS = 250_000  # pairs of the problem for each of these, so that the sample takes a small part of the sum's time
RANK = 2  # the nearest distance of a sample that says something: that of rank 1 may be to the point itself


def share(problem: Problem, block: int, tile: int, cut: float, limit: float = math.inf) -> tuple[float, float]:
    """Estimate the share of pairs, and the usual exponent of the nearest control point.

    A control point matters up to `cut` above the nearest one's exponent, and up to `limit`. As near to x as s of a
    sample of n are s N / n of all N: so it tells the radii of a block and a tile, and how many are within reach. Held
    against what was computed for uniform points, circles, clusters and smooth images of cubes in 2 to 64 columns.
    """
    n, m = len(problem.b), len(problem.x)
    x = np.asarray(problem.x[:: max(1, m // ROWS)], np.float64)
    size = int(min(max(m * n / PAIRS, SMALLEST), LARGEST))
    to_controls = _Near(x, _sample(problem.b, min(size, ENOUGH * n // block)), n, count=block)
    own = _Near(x, _sample(problem.x, min(size, ENOUGH * m // tile)), m, count=tile)
    nearest = to_controls.radius(1.0) ** 2  # (r,)
    rate = max(problem.rate, 1e-30)
    reach = np.sqrt(np.minimum(np.minimum(nearest + cut / rate, limit / rate), 16.0))
    # a block matters to a tile at most if balls about their boxes meet, and if its box is within reach of a row
    radii = to_controls.radius(float(block)), own.radius(float(tile))
    within = [reach + radii[0] * to_controls.diagonal() + radii[1] * own.diagonal(), to_controls.beside(reach, block)]
    if problem.x.shape[1] > CUBE:  # and if its ball is
        within.append(reach + radii[0] * to_controls.ball() + radii[1] * own.ball())
    shares = [float(np.minimum(to_controls.count(radius), n).mean()) / n for radius in within]
    return min(shares[0], tile * shares[1], *shares[2:]), problem.rate * float(np.median(nearest))


@lru_cache(1)
def _distances() -> tuple[Float64, Float64]:
    """Return distances from the centre of a large box of many dimensions, and from the box, in its half diagonals."""
    centres = np.geomspace(0.02, 50.0, 100)
    a = 1.0 / centres  # half a side over the deviation of a coordinate of the way
    tails = np.array([0.5 * math.erfc(t / math.sqrt(2.0)) for t in a])
    # the mean of max(|z| - a, 0)^2 for a normal z
    squares = 2.0 * ((1.0 + a**2) * tails - a * np.exp(-0.5 * a**2) / math.sqrt(2.0 * math.pi))
    return centres, centres * np.sqrt(np.maximum(squares, 0.0))


def _sample(rows: Floats, size: int) -> Float64:
    """Return some of the rows, at equal distances in their order."""
    return np.asarray(rows[:: max(1, len(rows) // max(size, SMALLEST))], np.float64)


class _Near:
    """The distances of points from a sample of `total` others; below its least ones they go on as powers."""

    def __init__(self, x: Float64, sample: Float64, total: int, count: int) -> None:
        # (r, n), without BLAS, whose threads would stay awake beside ours
        self.squares = np.einsum("ij,jk->ik", x, np.ascontiguousarray(sample.T))
        self.squares *= -2.0
        self.squares += (x**2).sum(axis=1)[:, None]
        self.squares += (sample**2).sum(axis=1)
        self.factor = self.squares.shape[1] / total
        ranks = min(max(4 * RANK, int(count * self.factor) + 1), self.squares.shape[1])
        if ranks < self.squares.shape[1]:
            self.squares.partition(ranks - 1, axis=1)
        self.distances = np.sqrt(np.maximum(np.sort(self.squares[:, :ranks], axis=1), 1e-30))
        last = min(4 * RANK, ranks) - 1
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

    def ball(self) -> float:
        """Return the usual radius of a block over that of the ball about one of its points that holds as many.

        In many dimensions points are 2^(1/2) times as far from each other as from their mean. Fitted.
        """
        return 0.7 + 1.0 / max(self.dimension, 2.0)

    def beside(self, reach: Float64, count: int) -> Float64:
        """Return the usual distance from the centre of a box of `count` points that is at a distance of `reach`.

        In a usual direction coordinates are as those of a normal vector, each hardly longer than the box in many
        dimensions.
        """
        d = min(max(self.dimension, 1.0), 40.0)
        half = self.radius(float(count)) * self.diagonal() / math.sqrt(d)  # (r,)
        centres, boxes = _distances()
        return np.asarray(half * math.sqrt(d) * np.interp(reach / (half * math.sqrt(d)), boxes, centres))

    def count(self, radius: Float64) -> Float64:
        """Return the estimated number of all points within the radii."""
        ranks = (self.squares <= radius[:, None] ** 2).sum(axis=1)
        small = self.first * np.minimum(radius / self.least, 1.0) ** self.dimension
        return np.asarray(np.where(ranks < self.first, small, ranks) / self.factor)
