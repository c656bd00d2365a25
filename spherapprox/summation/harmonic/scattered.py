"""Points sorted for a grid: sums of windows onto it, and values interpolated from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._checks import Floats
from ..._kernels import gridding
from ..._kernels.gridding import PATCH, WIDTH
from ..._threads import each_block
from ..partial import Float64
from .window import Window

CHAIN = 1024
"""Points whose windows are added one after another: partial sums keep the rounding errors of many points small."""
LEFT = WIDTH // 2 - 1
"""Grid points of a window before the cell of its middle: a padded grid begins so many cells before 0."""
BLOCK = 2**16
"""Points in one call of a kernel, between which a sum can be interrupted: a few ms."""


@dataclass(frozen=True)
class Scattered:
    """Grid cells and places in them of n points, one row for each coordinate, sorted by bands of the first one.

    `order` says where the points came from, `starts` where the bands begin.
    """

    place: NDArray[np.int64]
    fraction: Float64
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def scattered(x: Floats, window: Window, workers: int) -> Scattered:
    """Return points of S^1 or S^2 (rows, whose length does not matter), sorted."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    n, sphere = len(x), x.shape[1] == 3
    place, fraction = np.empty((x.shape[1] - 1, n), np.int64), np.empty((x.shape[1] - 1, n))

    def locate(rows: slice) -> None:
        if sphere:
            gridding.sphere_positions(x, window.n, rows.start, rows.stop, place, fraction)
        else:
            gridding.circle_positions(x, window.n, rows.start, rows.stop, place, fraction)

    each_block(locate, n, BLOCK, workers)
    cells = window.n // 2 + 1 if sphere else window.n
    band = max(WIDTH + 8, cells // 64)
    patches = window.n // PATCH + 1 if sphere else 1
    order, starts = np.empty(n, np.int64), np.empty(-(-cells // band) + 1, np.int64)
    gridding.sort_order(place[0], place[-1], band, patches, order, starts)
    return Scattered(place.take(order, axis=1), fraction.take(order, axis=1), order, starts)


def spread(points: Scattered, weights: Float64, window: Window, workers: int) -> Float64:
    """Return the padded grid of the sums of each point's weight times its window.

    The bands of one parity go first, then the others; no two of one parity share a grid point, so that every grid point
    has its sums in one order, whatever the number of threads.
    """
    grid = np.zeros(_padded_shape(points, window))
    ordered = weights[points.order]
    for parity in (0, 1):
        bands = np.arange(parity, len(points.starts) - 1, 2)
        bands = bands[points.starts[bands] < points.starts[bands + 1]]

        def add(some: slice, bands: NDArray[np.intp] = bands) -> None:
            for band in bands[some]:
                for start in range(points.starts[band], points.starts[band + 1], CHAIN):
                    _add(points, slice(start, min(start + CHAIN, points.starts[band + 1])), ordered, window, grid)

        each_block(add, len(bands), 1 if workers > 1 else max(len(bands), 1), workers)
    return grid


def _add(points: Scattered, some: slice, ordered: Float64, window: Window, grid: Float64) -> None:
    """Add some points of one band to the grid, by way of the part of it that they touch."""
    places = points.place[:, some]
    corner = np.array([places[0].min(), places[-1].min()])
    shape = (np.array([places[0].max(), places[-1].max()]) - corner + WIDTH)[2 - grid.ndim :]
    part = np.zeros(shape)
    gridding.spread_points(
        some.start, some.stop, points.place, points.fraction, window.polynomials, ordered, corner, shape[-1],
        part.reshape(-1),
    )  # fmt: skip
    grid[tuple(slice(c, c + s) for c, s in zip(corner[2 - grid.ndim :], shape, strict=True))] += part


def interpolate(points: Scattered, grid: Float64, window: Window, workers: int) -> Float64:
    """Return the sums over a padded grid of its values times each point's window, in the points' own order."""
    values = np.empty(len(points.order))
    flat = grid.reshape(-1)

    def read(rows: slice) -> None:
        gridding.interpolate_points(
            rows.start, rows.stop, points.place, points.fraction, window.polynomials, grid.shape[-1], flat, values
        )

    each_block(read, len(values), BLOCK, workers)
    result = np.empty_like(values)
    result[points.order] = values
    return result


def _padded_shape(points: Scattered, window: Window) -> tuple[int, ...]:
    """Return the shape of a grid that holds all points' windows without wrapping."""
    if len(points.place) == 1:
        return (window.n + WIDTH,)
    return (window.n // 2 + 1 + WIDTH, window.n + WIDTH)


def fold(grid: Float64) -> Float64:
    """Return the periodic grid (last axis): what was summed beyond its ends is added where it belongs."""
    n = grid.shape[-1] - WIDTH
    core = grid[..., LEFT : LEFT + n]
    core[..., n - LEFT :] += grid[..., :LEFT]
    core[..., : WIDTH - LEFT] += grid[..., LEFT + n :]
    return core


def unfold(padded: Float64) -> None:
    """Fill a padded grid's ends (last axis) from its periodic middle."""
    n = padded.shape[-1] - WIDTH
    padded[..., :LEFT] = padded[..., n : n + LEFT]
    padded[..., LEFT + n :] = padded[..., LEFT:WIDTH]
