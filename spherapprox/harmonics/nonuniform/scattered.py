"""Points sorted for a grid: sums of windows onto it, and values interpolated from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._kernels.harmonics import gridding, places
from ..._kernels.harmonics.grids import APART, columns_of, padded_shape, patch_counts
from ..._kernels.simd.alignment import aligned_zeros
from ..._threads import each_block
from ..._types import Float64, Floats, Int32, Int64
from .window import Window

POINTS = 2**15  # points in one call of a kernel, between which a sum can be interrupted: a few ms
PER_PATCH, CHUNKS = 64, 4
"""Points of one patch that a chunk has, at least, if all patches have equally many; unless there were fewer chunks."""
GRIDS, COPIES = 16, 16
"""Grids onto which chunks are spread apart, at most, and how many fewer cells than points these have."""
UNIT = 2.0**-53  # unit roundoff
TASKS = 64  # parts of a large grid onto which points are spread, about


@dataclass(frozen=True)
class Scattered:
    """Grid cells and places in them of n points, (n, dim), chunk by chunk sorted by patches of the grid.

    `order` (n,) says where the points came from, `starts`, (chunks, patches + 1), where each chunk's points of a patch
    begin, of which `band` make a row; `off` is the largest ``|1 - |x|^2| / 2``.
    """

    place: Int32
    fraction: Float64
    order: Int64
    starts: Int64
    band: int
    off: float

    @property
    def length_error(self) -> float:
        """Bound the deviation of the points' lengths from 1."""
        return self.off * (1.0 + self.off) + UNIT / 8.0


def scattered(x: Floats, window: Window, workers: int) -> Scattered:
    """Sort points of S^1 or S^2 (rows, whose length does not matter) by patches of the window's grid."""
    x = np.require(x, np.float64, ["C", "W"])  # numba compiles a kernel again for other arrays
    n, sphere = len(x), x.shape[1] == 3
    band, total = patch_counts(window.n, sphere)
    chunk = max(POINTS, min(PER_PATCH * total, -(-n // CHUNKS)))
    place, fraction, order = np.empty((n, x.shape[1] - 1), np.int32), np.empty((n, x.shape[1] - 1)), np.empty(n, int)
    starts, off = np.empty((-(-n // chunk), total + 1), np.int64), np.zeros(-(-n // chunk))

    def sort(rows: slice) -> None:
        i = rows.start // chunk
        off[i] = places.sort_points(
            x[rows], rows.start, window.n, patches=band, columns=columns_of(sphere), place=place[rows],
            fraction=fraction[rows], order=order[rows], starts=starts[i],
        )  # fmt: skip

    each_block(sort, n, chunk, workers=workers)
    return Scattered(place, fraction, order, starts=starts, band=band, off=float(off.max()))


def spread(points: Scattered, weights: Float64, signs: int, window: Window, workers: int) -> Float64:
    """Return the padded grid of the sums of each point's weight times its window, (1, rows, columns), in one order.

    With two `signs`, (2, rows, columns), one grid is of the weights that are not negative, one of the others' sizes.
    """
    sphere = points.place.shape[1] == 2
    shape = (signs, *padded_shape(window.n, sphere, window.width))
    (chunks, total), band = points.starts.shape, points.band
    bands = (total - 1) // band

    ordered = np.empty(len(weights))

    def take(part: slice) -> None:
        np.take(weights, points.order[part], out=ordered[part], mode="clip")  # the default makes a copy

    each_block(take, len(weights), POINTS, workers=workers)

    def add(rows: tuple[int, int], blocks: tuple[int, int], chunks: tuple[int, int], grids: Float64) -> None:
        arguments = points.starts, points.place, points.fraction, window.polynomials, window.width, ordered, grids
        if sphere:
            gridding.spread_sphere(rows, blocks, chunks, band, *arguments, *gridding.workspace())
        else:
            gridding.spread_circle(blocks, chunks, *arguments, *gridding.workspace())

    if COPIES * shape[1] * shape[2] <= len(weights):
        return _by_copies(add, shape, chunks, bands=bands, band=band, workers=workers)
    return _by_turns(add, shape, chunks, bands=bands, band=band, workers=workers)


_Add = Callable[[tuple[int, int], tuple[int, int], tuple[int, int], Float64], None]
"""It adds the points of some rows, blocks of patches and chunks to grids."""


def _by_copies(add: _Add, shape: tuple[int, ...], chunks: int, bands: int, band: int, workers: int) -> Float64:
    """Return the sum of several grids, onto each of which some chunks are spread."""
    apart = min(chunks, GRIDS)
    ends = [chunks * i // apart for i in range(apart + 1)]
    grids = aligned_zeros((apart, *shape))

    def spread_part(part: slice) -> None:
        for i in range(part.start, part.stop):
            add((0, bands), (0, band), (ends[i], ends[i + 1]), grids[i])

    each_block(spread_part, apart, 1, workers=workers)
    for i in range(1, apart):
        grids[0] += grids[i]
    return np.asarray(grids[0])


def _by_turns(add: _Add, shape: tuple[int, ...], chunks: int, bands: int, band: int, workers: int) -> Float64:
    """Return one grid: every other row of blocks, and of these every other block, share no grid points."""
    result = aligned_zeros(shape)
    high, wide = APART, max(APART, -(-band * bands // (APART * TASKS)))
    for turn in range(4):
        rows, blocks = range(turn // 2 * high, bands, 2 * high), range(turn % 2 * wide, band, 2 * wide)
        corners = [(i, j) for i in rows for j in blocks]

        def turns(part: slice, corners: list[tuple[int, int]] = corners) -> None:
            for i, j in corners[part]:
                add((i, min(i + high, bands)), (j, min(j + wide, band)), (0, chunks), result)

        each_block(turns, len(corners), 1, workers=workers)
    return result


def interpolate(
    points: Scattered, grid: Float64, window: Window, workers: int, *, out: Float64 | None = None
) -> Float64:
    """Return the sums over a padded grid of its values times each point's window, in the points' own order."""
    values = np.empty(len(points.order)) if out is None else out

    def interpolate_rows(rows: slice) -> None:
        in_order = np.empty(rows.stop - rows.start)
        gridding.interpolate_points(
            rows.start, rows.stop, points.place, points.fraction, window.polynomials, window.width, grid, in_order,
            *gridding.workspace(),
        )  # fmt: skip
        values[points.order[rows]] = in_order  # at once: a kernel that writes here and there waits for each place

    each_block(interpolate_rows, len(values), POINTS, workers=workers)
    return values
