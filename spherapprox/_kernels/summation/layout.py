"""Sizes of the kernels' blocks and sums, for designs, bounds and prices before any is loaded: no numba here."""

from __future__ import annotations

BLOCK, SHORT_BLOCK = 240, 64
"""Control points in a block, whose sums are added with their rounding errors, in float64 and in float32. Tuned."""
RUN, SHORT_RUN = 60, 16
"""Control points in a running sum where exponentials of a block are kept until they meet the columns of their weights,
in float64 and in float32: whole parts of a block."""
PART, TOGETHER = 2**19, 8
"""Bytes of control points and weights that some tiles meet one after another, and how many of these. Tuned."""
MANY = 100  # coordinates and columns together above which that is the way. Tuned.
CHAIN = 24  # coordinates in a running sum: its rounding errors grow with it, not with the dimension
CHAIN_LENGTH = 64  # roundings that a term passes in a block of all pairs: those of a group or a run, and their sum
NEAR = 0.5  # where a squared distance is below it, differences are as accurate as it is small; products are not
NEAR_BLOCK, NEAR_TILE = 24, 24
"""Control points in a block that is left out as one, but the last, and evaluation points for which it is. Tuned."""
ATTENTION_TILE = (256, 512)  # queries and keys of a tile of logits, whole blocks of registers. Tuned.

CUBE = 9
"""Columns of points up to which they are ordered along a curve on the faces of a cube; beyond, blocks have balls."""


def block_length(itemsize: int) -> int:
    """Return the number of control points of a block: whole groups."""
    return BLOCK if itemsize == 8 else SHORT_BLOCK


def in_blocks(d: int, columns: int) -> bool:
    """Tell whether exponentials are kept for their products with weights: else these are done while in registers.

    Coordinates and sums that each group of control points reads no longer fit into the innermost cache then.
    """
    return columns > 1 and d + columns > MANY


def whole_blocks(n: int, itemsize: int) -> int:
    """Return about n control points: whole blocks, and at least one."""
    block = block_length(itemsize)
    return max(1, n // block) * block


def distance_chain_length(d: int) -> float:
    """Count the additions that a coordinate's square passes in a squared distance."""
    return min(d, CHAIN) + d / CHAIN
