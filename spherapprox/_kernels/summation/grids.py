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
    """Return the cells of a padded grid before the first and beyond the last of the grid."""
    return LEFT, WIDTH - LEFT


def padded_shape(cells: int, sphere: bool) -> tuple[int, int]:
    """Return the shape of a grid that holds all points' windows without wrapping."""
    return (cells // 2 + 1 + WIDTH if sphere else 1, cells + WIDTH)


def patch_counts(cells: int, sphere: bool) -> tuple[int, int]:
    """Return the patches in a band, and those of a whole grid."""
    patches = -(-cells // PATCH)
    return patches, (cells // 2 // BAND + 1 if sphere else 1) * patches


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
