"""Padded grids for windows, and the patches by which their points are sorted: no numba here."""

from __future__ import annotations

from ..._types import Float64
from .layout import WIDTH

LEFT = WIDTH // 2 - 1
"""Grid points of a window before the cell of its middle: a padded grid begins so many cells before 0."""
BAND = 24
"""Rows of a patch."""
PATCH = 16
"""Columns of a patch."""


def margins() -> tuple[int, int]:
    """Return the numbers of cells of a padded grid before the first and beyond the last of the grid."""
    return LEFT, WIDTH - LEFT


def padded_shape(cells: int, sphere: bool) -> tuple[int, int]:
    """Return the shape of a grid that holds all points' windows without wrapping."""
    return (cells // 2 + 1 + WIDTH if sphere else 1, cells + WIDTH)


def patch_counts(cells: int, sphere: bool) -> tuple[int, int]:
    """Return the numbers of patches in a band, and in a whole grid."""
    patches = -(-cells // PATCH)
    return patches, (cells // 2 // BAND + 1 if sphere else 1) * patches


def fold(grid: Float64) -> Float64:
    """Return the periodic grid (last axis): sums beyond its ends are added at the other end."""
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
