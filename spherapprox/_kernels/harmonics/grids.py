"""Padded grids for windows, and the patches by which their points are sorted: no numba here."""

from __future__ import annotations

from ..._types import Float64

LANES = 8  # grid points in a vector
WIDEST = 24  # grid points of the widest window in each direction: three vectors
PATCH, ARC = 8, 4096  # rows and columns of a patch on the sphere, and grid points of one on the circle
APART = 3  # patches in a row or a column, at least, so that what is beyond them touches no grid point of what is before


def margins(width: int) -> tuple[int, int]:
    """Return the numbers of cells of a padded grid before the first and beyond the last of the grid."""
    return width // 2 - 1, width // 2 + 1


def columns_of(sphere: bool) -> int:
    """Return the columns of a patch."""
    return PATCH if sphere else ARC


def padded_shape(cells: int, sphere: bool, width: int) -> tuple[int, int]:
    """Return the shape of a grid that holds all points' windows without wrapping, in whole vectors.

    Rows are an odd number of vectors apart, so that neighbours in a column share no place of the cache.
    """
    vectors = (cells + WIDEST) // LANES
    return (cells // 2 + 1 + width if sphere else 1, (vectors | 1) * LANES)


def patch_counts(cells: int, sphere: bool) -> tuple[int, int]:
    """Return the numbers of patches in a band, and in a whole grid."""
    patches = -(-cells // columns_of(sphere))
    return patches, (cells // 2 // PATCH + 1 if sphere else 1) * patches


def fold(grid: Float64, cells: int, width: int) -> Float64:
    """Return the periodic grid (last axis): sums beyond its ends are added at the other end."""
    left, right = margins(width)
    core = grid[..., left : left + cells]
    core[..., cells - left :] += grid[..., :left]
    core[..., :right] += grid[..., left + cells : width + cells]
    return core


def unfold(padded: Float64, cells: int, width: int) -> None:
    """Fill a padded grid's ends (last axis) from its periodic middle."""
    left, right = margins(width)
    padded[..., :left] = padded[..., cells : cells + left]
    padded[..., left + cells : width + cells] = padded[..., left : left + right]
