"""What the figures share: colours that colour-blind readers can tell apart (Okabe and Ito), and the grid."""

from __future__ import annotations

from typing import Any

BLUE, RED, PINK, GREEN, ORANGE, SKY, YELLOW = (
    "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#E69F00", "#56B4E9", "#F0E442",
)  # fmt: skip
PURPLE = "#5D3A9B"


def grid(axes: Any) -> None:
    """Draw a light grid behind the curves."""
    axes.grid(which="major", color="0.88")
    axes.set_axisbelow(True)
