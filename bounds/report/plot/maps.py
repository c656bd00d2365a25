"""Maps of functions on S^2 with points, and the three of a target, a head and its error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from spherapprox import _checks, sphere, targets
from spherapprox._types import Array, Float64
from spherapprox.error import lengths
from spherapprox.heads.head import Head
from spherapprox.target import Target

from .errors import heading
from .style import ORANGE, Figure

MOST_PIXELS = 10_000
"""Points of a map from pole to pole, at most."""
_EARTHLY = ("geomagnetic", "land")
"""Words in the names of targets whose maps show coastlines."""


class Map(NamedTuple):
    """What `draw_map` has drawn, for colour bars: the image of the function and the points, each None for none."""

    image: Any
    points: Any


def draw_map(
    axes: Any, function: Callable[[Float64], ArrayLike] | ArrayLike | None = None, points: ArrayLike | None = None, *,
    marks: Mapping[str, Any] | None = None, coastlines: bool = False, resolution: int = 181, **colours: Any,
) -> Map:  # fmt: skip
    """Draw a function on S^2, points on it, or both, as a map.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Made with ``projection="mollweide"``.
    function : callable or array_like, shape (rows, columns), optional
        A function of points (n, 3) with values (n,) or (n, p), of which the Euclidean lengths are drawn; or its values,
        rows from pole to pole, columns from 180 degrees west to 180 degrees east.
    points : array_like, shape (n, 3), optional
        Points of S^2 that are marked.
    marks : mapping, optional
        How they are: options of ``Axes.scatter``, such as ``{"c": values, "s": areas}``.
    coastlines : bool
        Draw the coasts of `targets.land`.
    resolution : int
        Points from pole to pole at which a function is called, 2 to 10000.
    **colours
        Options of ``Axes.pcolormesh``: ``cmap=``, the limits ``vmin=`` and ``vmax=``. By default those of two signs,
        with limits as far below 0 as above, where there are negative values; else they start at 0.

    Returns
    -------
    Map
        ``.image`` and ``.points``, for ``figure.colorbar``.

    Raises
    ------
    TypeError, ValueError
        For axes of another projection, points that are not on S^2, or values of another shape.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from matplotlib.figure import Figure
    >>> from spherapprox import points, targets
    >>> axes = Figure().add_subplot(projection="mollweide")
    >>> image, dots = plot.draw_map(axes, targets.zonal_harmonic(2, 3), points.fibonacci(50).points)
    >>> image.get_clim(), len(dots.get_offsets())
    ((-1.0, 1.0), 50)
    """
    if getattr(axes, "name", "") != "mollweide":
        raise TypeError(f"'axes' must be Mollweide axes, got {type(axes).__name__}: projection='mollweide' makes them")
    image = dots = None
    axes.set(xticks=[], yticks=[])
    if function is not None:
        values = _as_map(function(map_points(resolution)), resolution) if callable(function) else function
        values = _checks.reals(values, "function")
        _checks.shaped(values, "function", ("rows", "columns"))
        latitude, longitude = (np.linspace(-a, a, n) for a, n in zip((0.5 * np.pi, np.pi), values.shape, strict=True))
        style = {"shading": "gouraud", "rasterized": True} | _colours(values) | colours
        image = axes.pcolormesh(longitude, latitude, values, **style)
    if _checks.flag(coastlines, "coastlines"):
        latitude, longitude = np.arange(-89.25, 90.0, 1.0), np.arange(-179.25, 180.0, 1.0)  # every other cell of it
        cells = np.meshgrid(latitude, longitude, indexing="ij")
        land = targets.land()(sphere.from_latitude_longitude(cells[0].ravel(), cells[1].ravel()))
        style = {"levels": [0.5], "colors": "0.25", "linewidths": 0.5}
        axes.contour(np.radians(longitude), np.radians(latitude), land.reshape(cells[0].shape), **style)
    if points is not None:
        rows = _checks.shaped(_checks.reals(points, "points"), "points", ("n", 3))
        north, east = sphere.to_latitude_longitude(rows, degrees=False)
        colour = {} if marks and {"c", "color", "facecolors"} & marks.keys() else {"color": ORANGE}
        style = {"s": 45.0, "edgecolors": "black", "linewidths": 0.8, "zorder": 3} | colour
        dots = axes.scatter(east, north, **style | dict(marks or {}))
    return Map(image, dots)


def map_points(resolution: int) -> Float64:
    """Return the points (n, 3) of a map, row by row."""
    rows = _checks.integer(resolution, "resolution", minimum=2, maximum=MOST_PIXELS)
    cells = np.meshgrid(np.linspace(-90, 90, rows), np.linspace(-180, 180, 2 * rows - 1), indexing="ij")
    return sphere.from_latitude_longitude(cells[0].ravel(), cells[1].ravel())


def _as_map(values: ArrayLike, resolution: int) -> Array:
    """Return values at the points of a map, or their lengths, as its rows and columns."""
    rows = np.asarray(values, dtype=float).reshape(resolution * (2 * resolution - 1), -1)  # (n, p)
    return np.asarray(rows[:, 0] if rows.shape[1] == 1 else lengths(rows)).reshape(resolution, -1)


def _colours(values: Array) -> dict[str, Any]:
    """Return the colours of values: of two signs where there are any below 0, but for rounding."""
    top = float(np.abs(values).max())
    signed = float(values.min()) < -1e-9 * top
    return {"cmap": "RdBu_r" if signed else "viridis", "vmin": -top if signed else 0.0, "vmax": top}


def maps_figure(
    head: Head, target: Target, worst: float, *, resolution: int = 181, coastlines: bool | None = None
) -> Figure:
    """Draw a target on S^2, a head's approximation and the error, as three Mollweide maps.

    Of vectors the Euclidean lengths are drawn. Colours start at 0 where the target has no values below it, as a
    density has none; else they are those of two signs, as are the errors'.

    Parameters
    ----------
    head, target : CoreHead or SplitHead, and Target with dim 2
    worst : float
        The head's sup error, as measured; it sets the scale of the third map.
    resolution : int
        Points from pole to pole.
    coastlines : bool, optional
        Draw the coasts of `targets.land`; by default for the catalogue's targets on the Earth.

    Raises
    ------
    TypeError, ValueError
        When the target is none on S^2, or the head none.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> wave = targets.zonal_harmonic(2, 3)
    >>> head = SplitHead.from_target(wave, EqualMeasurePartition(2, 200), 30.0)
    >>> figure = plot.maps_figure(head, wave, 0.15, resolution=19)
    >>> [axes.get_title() for axes in figure.axes[::2]]
    ['Zonal harmonic 3', 'Split head, $N$ = 200, concentration 30', 'Error, the largest found 0.15']
    """
    _checks.instance(target, "target", Target)
    _checks.instance(head, "head", Head)
    worst = _checks.real(worst, "worst", minimum=0.0)
    _checks.same_dim(target.dim, "target", 2, why="to be drawn as a map")
    if coastlines is None:
        coastlines = any(word in (target.name or "") for word in _EARTHLY)
    x = map_points(resolution)
    truth, approximation = (np.asarray(f(x), dtype=float).reshape(len(x), -1) for f in (target, head))  # (n, p)
    vector, values = truth.shape[1] > 1, _as_map(truth, resolution)
    rate = _checks.concentration_text(head.concentration, 4)
    titles = (
        heading(target) + (", length" if vector else ""),
        f"{head.family.capitalize()} head, $N$ = {len(head.control_points)}, concentration {rate}",
        f"Error, the largest found {worst:.4g}",
    )
    signed = {"cmap": "RdBu_r", "vmin": -worst, "vmax": worst}
    colours = [_colours(values)] * 2 + [{"cmap": "viridis", "vmin": 0.0, "vmax": worst} if vector else signed]
    figure = Figure(figsize=(5.6, 7.8), layout=ConstrainedLayoutEngine(rect=(0.02, 0.0, 0.98, 1.0)))  # for labels at 0
    for place, difference in enumerate((truth, approximation, approximation - truth)):
        axes: Any = figure.add_subplot(3, 1, place + 1, projection="mollweide")
        image = draw_map(axes, _as_map(difference, resolution), coastlines=coastlines, **colours[place]).image
        axes.set_latitude_grid(30)
        axes.set_longitude_grid(90)  # room for labels inside
        axes.grid(color="0.3", lw=0.3, alpha=0.6)
        axes.tick_params(labelsize=10)
        for label in axes.get_xticklabels():  # which stand on the map
            label.set_path_effects([withStroke(linewidth=2.5, foreground="white", alpha=0.8)])
        axes.set_title(titles[place], fontsize=11)
        figure.colorbar(image, ax=axes, shrink=0.8, pad=0.03, label=target.unit)
    return figure
