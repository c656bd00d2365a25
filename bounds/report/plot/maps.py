"""Maps of a target on S^2 and of a head that approximates it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke

from spherapprox import _checks, sphere, targets
from spherapprox._types import Array
from spherapprox.heads.head import Head
from spherapprox.target import Target

from .errors import heading
from .style import Figure

MOST_PIXELS = 10_000
"""Points of a map from pole to pole, at most."""
_EARTHLY = ("geomagnetic", "land")
"""Words in the names of targets whose maps show coastlines."""


def maps_figure(
    head: Head, target: Target, worst: float, *, resolution: int = 181, coastlines: bool | None = None
) -> Figure:
    """Draw a target on S^2, a head's approximation and the error, as three Mollweide maps.

    Of vectors the Euclidean lengths are drawn. Colours start at 0 where the target has no values below it, as a
    density has none; else they are those of two signs, as are the errors'.

    Parameters
    ----------
    head : CoreHead or SplitHead
        The approximation.
    target : Target
        What it approximates, with dim 2.
    worst : float
        The head's sup error, as measured; it sets the scale of the third map.
    resolution : int
        Points from pole to pole.
    coastlines : bool, optional
        Draw the coasts of `targets.land`; by default for the catalogue's targets on the Earth.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the target is not on S^2.
    """
    _checks.instance(target, "target", Target)
    _checks.instance(head, "head", Head)
    worst = _checks.real(worst, "worst", minimum=0.0)
    resolution = _checks.integer(resolution, "resolution", minimum=2, maximum=MOST_PIXELS)
    coastlines = None if coastlines is None else _checks.flag(coastlines, "coastlines")
    _checks.same_dim(target.dim, "target", 2, "to be drawn as a map")
    latitude, longitude, x = map_grid(resolution)
    truth, made = (np.asarray(f(x), dtype=float).reshape(len(x), -1) for f in (target, head))  # (n, p)
    vector = truth.shape[1] > 1
    drawn = [_drawn(values, vector).reshape(len(latitude), -1) for values in (truth, made, made - truth)]
    top = float(np.abs(drawn[0]).max())
    rate = _checks.concentration_text(head.concentration, 4)
    titles = (
        heading(target) + (", length" if vector else ""),
        f"{head.family.capitalize()} head, $N$ = {len(head.control_points)}, concentration {rate}",
        f"Error, the largest found {worst:.4g}",
    )
    figure = Figure(figsize=(5.6, 7.8), layout=ConstrainedLayoutEngine(rect=(0.02, 0.0, 0.98, 1.0)))  # for labels at 0
    if coastlines is None:
        coastlines = any(word in (target.name or "") for word in _EARTHLY)
    for place, (values, limit, title) in enumerate(zip(drawn, (top, top, worst), titles, strict=True)):
        signed = not vector and (place == 2 or float(drawn[0].min()) < -1e-9 * top)
        axes = _map(figure, place, (latitude, longitude), values, limit, title, target.unit, signed=signed)
        if coastlines:
            draw_coastlines(axes)
    return figure


def map_grid(resolution: int) -> tuple[Array, Array, Array]:
    """Return latitudes and longitudes of a map of S^2, in degrees, and its points (n, 3), row by row."""
    latitude, longitude = np.linspace(-90, 90, resolution), np.linspace(-180, 180, 2 * resolution - 1)
    cells = np.meshgrid(latitude, longitude, indexing="ij")
    return latitude, longitude, sphere.from_latitude_longitude(cells[0].ravel(), cells[1].ravel())


def draw_coastlines(axes: Any) -> None:
    """Draw the coasts of `targets.land` on Mollweide axes."""
    latitude, longitude = np.arange(-89.25, 90.0, 1.0), np.arange(-179.25, 180.0, 1.0)  # every other cell of the map
    cells = np.meshgrid(latitude, longitude, indexing="ij")
    land = targets.land()(sphere.from_latitude_longitude(cells[0].ravel(), cells[1].ravel())).reshape(cells[0].shape)
    axes.contour(np.radians(longitude), np.radians(latitude), land, levels=[0.5], colors="0.25", linewidths=0.5)


def _drawn(values: Array, vector: bool) -> Array:
    """Return the drawn numbers of values (n, p): themselves, or the lengths of vectors."""
    return np.asarray(np.linalg.norm(values, axis=1)) if vector else values[:, 0]


def _map(
    figure: Figure, place: int, grid: tuple[Array, Array], values: Array, limit: float, title: str,
    unit: str, *, signed: bool,
) -> Any:  # fmt: skip
    axes: Any = figure.add_subplot(3, 1, place + 1, projection="mollweide")
    image = axes.pcolormesh(
        np.radians(grid[1]), np.radians(grid[0]), values, cmap="RdBu_r" if signed else "viridis",
        vmin=-limit if signed else 0.0, vmax=limit, shading="gouraud", rasterized=True,
    )  # fmt: skip
    axes.set_latitude_grid(30)
    axes.set_longitude_grid(90)  # room for labels inside
    axes.grid(color="0.3", lw=0.3, alpha=0.6)
    axes.set_title(title, fontsize=11)
    axes.tick_params(labelsize=10)
    for label in axes.get_xticklabels():  # they stand on the map
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white", alpha=0.8)])
    figure.colorbar(image, ax=axes, shrink=0.8, pad=0.03, label=unit)
    return axes
