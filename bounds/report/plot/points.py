"""The figure of a partition of S^2 with its cells and centres."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Circle

from spherapprox import PointSet, _checks, special, sphere
from spherapprox._types import Float64
from spherapprox.partition import EqualMeasurePartition

from .style import RED, Figure

MOST_CELLS = 20_000
"""Cells that a figure can show apart."""

PIXELS = 700
"""Across the sphere."""

COLOURS = "YlGnBu"

_VIEWS = ((25.0, 30.0), (-25.0, 210.0))
"""Latitude and longitude in degrees from which the two halves of the sphere are seen."""


def partition_figure(partition: EqualMeasurePartition) -> Figure:
    """Draw the cells of a partition of S^2 and their centres, from two opposite sides.

    A cell's colour is its radius over the angle of a cap of the same measure, which no cell can undercut.

    Parameters
    ----------
    partition : EqualMeasurePartition
        With dim 2 and at most 20000 cells.

    Raises
    ------
    TypeError, ValueError
        When the partition is none, is not on S^2 or has too many cells to be drawn.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox import EqualMeasurePartition
    >>> plot.partition_figure(EqualMeasurePartition(2, 40)).get_suptitle().splitlines()[0]
    '$S^2$ in 40 cells of equal measure:'
    """
    _checks.instance(partition, "partition", EqualMeasurePartition)
    _checks.same_dim(partition.dim, "partition", 2, why="to be drawn")
    if partition.n > MOST_CELLS:
        raise ValueError(f"'partition' must have at most {MOST_CELLS} cells to be drawn, got {partition.n}")
    share = partition.radii() / special.cap_angle(2, -math.log(partition.n))
    norm = Normalize(1.0, max(1.5, float(share.max())))
    figure = Figure(figsize=(9.6, 5.3), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, view in zip(panels, _VIEWS, strict=True):
        _draw_globe(axes, partition, share, view=view, norm=norm)
    bar = figure.colorbar(
        ScalarMappable(norm, COLOURS), ax=panels, orientation="horizontal", shrink=0.5, aspect=40, pad=0.02
    )
    bar.set_label("cell radius / angle of a cap of measure $1/N$")
    kind = "" if partition.center_kind == "midpoint" else f" ({partition.center_kind} centres)"
    cells = "1 cell" if partition.n == 1 else f"{partition.n} cells"
    covering = PointSet(partition.centers()).covering_interval().upper
    radii = f"largest cell radius {partition.cell_radius():.4g}, covering radius of the centres {covering:.4g}"
    figure.suptitle(f"$S^2$ in {cells} of equal measure{kind}:\n{radii}", fontsize=12)
    return figure


def _edges(box: Float64) -> list[Float64]:
    """Return the sides of a cell of S^2, a point for each 2 degrees and nan after each."""
    (low, high), (west, east) = box
    azimuth, height = (
        np.linspace(start, end, max(2, math.ceil((end - start) / math.radians(2.0))))
        for start, end in ((west, east), (low, high))
    )
    sides = [np.column_stack([np.full_like(azimuth, t), azimuth]) for t in (low, high) if 0.0 < t < math.pi]
    if east - west < 2.0 * math.pi:
        sides.append(np.column_stack([height, np.full_like(height, west)]))
    return [np.vstack([sphere.from_polar(side), np.full((1, 3), np.nan)]) for side in sides]


def _draw_globe(
    axes: Any, partition: EqualMeasurePartition, values: Float64, *, view: tuple[float, float], norm: Any
) -> None:
    """Draw the visible half of the sphere: a colour for each pixel's cell, the sides, and the centres."""
    toward = sphere.from_latitude_longitude(*view)
    right = np.array([-toward[1], toward[0], 0.0]) / math.hypot(toward[0], toward[1])
    frame = np.stack([right, np.cross(toward, right), toward], axis=1)  # (3, 3), the view as columns
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, PIXELS), np.linspace(-1.0, 1.0, PIXELS))
    inside = u * u + v * v < 1.0
    pixels = np.column_stack([u[inside], v[inside], np.sqrt(1.0 - u[inside] ** 2 - v[inside] ** 2)])  # (pixels, 3)
    image = np.full(u.shape, np.nan)
    image[inside] = values[partition.locate(pixels @ frame.T)]
    axes.imshow(image, extent=(-1.0, 1.0, -1.0, 1.0), origin="lower", cmap=COLOURS, norm=norm, interpolation="none")
    sides = [side for i in range(partition.n) for side in _edges(partition.cell(i))]
    if sides:
        lines = np.concatenate(sides) @ frame
        lines[lines[:, 2] < 0.0] = np.nan
        axes.plot(lines[:, 0], lines[:, 1], color="0.15", lw=min(0.7, 20.0 / math.sqrt(partition.n)))
    front = partition.centers() @ frame
    front = front[front[:, 2] >= 0.0]
    axes.plot(front[:, 0], front[:, 1], ".", color=RED, ms=min(5.0, 60.0 / math.sqrt(partition.n)), zorder=3)
    axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color="0.3", lw=0.8, zorder=4))
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.02, 1.02), aspect="equal")
    axes.set_title(f"from {abs(view[0]):g}° {'north' if view[0] > 0 else 'south'}", fontsize=9, color="0.3")
    axes.axis("off")
