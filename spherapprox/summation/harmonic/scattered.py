"""Points sorted for a grid: sums of windows onto it, and values interpolated from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._kernels.simd.alignment import aligned_zeros
from ..._kernels.summation import gridding
from ..._kernels.summation.grids import padded_shape, patch_counts
from ..._threads import each_block
from ..._types import Float64, Floats, Indices, Int32, Int64
from ..problem import compiled_form
from .window import Window

POINTS = 2**16
"""Points in one call of a kernel, between which a sum can be interrupted: a few ms."""


@dataclass(frozen=True)
class Scattered:
    """Grid cells and places in them of n points, one row for each coordinate, sorted by patches of the grid.

    `order` says where the points came from, `starts` where the patches begin, of which `patches` make a row.
    """

    place: Int32
    fraction: Float64
    order: Int64
    starts: Int64
    patches: int


def scattered(x: Floats, window: Window, workers: int) -> Scattered:
    """Sort points of S^1 or S^2 (rows, whose length does not matter) by patches of the window's grid."""
    x = compiled_form(x, np.dtype(np.float64))
    n, sphere = len(x), x.shape[1] == 3
    place, fraction = np.empty((x.shape[1] - 1, n), np.int32), np.empty((x.shape[1] - 1, n))
    write = gridding.sphere_positions if sphere else gridding.circle_positions
    each_block(lambda rows: write(x[rows], window.n, place[:, rows], fraction[:, rows]), n, POINTS, workers)
    patches, total = patch_counts(window.n, sphere)
    starts = np.empty(total + 1, np.int64)
    result = Scattered(np.empty_like(place), np.empty_like(fraction), np.empty(n, np.int64), starts, patches)
    gridding.sort_points(place, fraction, patches, result.place, result.fraction, result.order, starts)
    return result


def spread(points: Scattered, weights: Float64, signs: int, window: Window, workers: int) -> Float64:
    """Return the padded grid of the sums of each point's weight times its window, (1, rows, columns).

    With two `signs`, (2, rows, columns), one grid is of the weights that are not negative, one of the others' sizes.
    Every other band of patches goes first, then the rest; no two of one turn share a grid point, so that every grid
    point has its sums in one order, whatever the number of threads.
    """
    grids = aligned_zeros((signs, *padded_shape(window.n, len(points.place) == 2)))
    total = len(points.starts) - 1
    band = points.patches if len(points.place) == 2 else max(total // 64, 2)  # patches
    for parity in (0, 1):
        firsts = np.arange(parity * band, total, 2 * band)

        def add(some: slice, firsts: Indices = firsts) -> None:
            for first in firsts[some]:
                gridding.spread_patches(
                    first, min(first + band, total), points.patches, points.starts, points.place, points.fraction,
                    points.order, window.polynomials, weights, grids,
                )  # fmt: skip

        each_block(add, len(firsts), 1, workers)
    return grids


def interpolate(points: Scattered, grid: Float64, window: Window, workers: int) -> Float64:
    """Return the sums over a padded grid of its values times each point's window, in the points' own order."""
    values = np.empty(len(points.order))

    def read(rows: slice) -> None:
        gridding.interpolate_points(
            rows.start, rows.stop, points.place, points.fraction, points.order, window.polynomials, grid, values
        )

    each_block(read, len(values), POINTS, workers)
    return values
