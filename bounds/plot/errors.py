"""Figures of a study: errors and bounds against prefix length, and maps of a target on S^2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from spherapprox import sphere
from spherapprox.heads import CoreHead, SplitHead
from spherapprox.target import Target

from .style import BLUE, RED, grid

if TYPE_CHECKING:
    from ..study import Row, Study

_COLOUR = {"core": BLUE, "split": RED}
_MARKER = {"theory": "o", "best": "D", "fixed": "s"}
_WAY = {"theory": "of least bound", "best": "of least error", "fixed": "fixed"}


def slope(n: Sequence[float], error: Sequence[float]) -> float:
    """Return the least-squares slope of log(error) against log(n).

    Examples
    --------
    >>> round(slope([10, 100, 1000], [1.0, 0.1, 0.01]), 12)
    -1.0
    """
    return float(np.polyfit(np.log(n), np.log(error), 1)[0])


def error_figure(study: Study) -> Figure:
    """Draw measured errors and a-priori bounds against the number of control points, with their slopes.

    Parameters
    ----------
    study : Study
        The result of `bounds.study.run`.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig(path)``.
    """
    figure = Figure(figsize=(9.5, 5.6), layout="constrained")
    axes = figure.add_subplot()
    _draw_errors(axes, study, slopes=True)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


def error_grid(studies: Sequence[Study]) -> Figure:
    """Draw one panel of errors and bounds for each study: a row for each target, a column for each dim.

    Parameters
    ----------
    studies : sequence of Study
        All with the same kinds of curves.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = list(dict.fromkeys(study.target.name for study in studies))
    dims = sorted({study.target.dim for study in studies})
    figure = Figure(figsize=(3.4 * len(dims), 2.9 * len(names) + 1.0), layout="constrained")
    panels = figure.subplots(len(names), len(dims), squeeze=False, sharey="row")
    for axes in panels.flat:
        axes.set_visible(False)
    for study in studies:
        axes = panels[names.index(study.target.name), dims.index(study.target.dim)]
        axes.set_visible(True)
        _draw_errors(axes, study, slopes=False)
        axes.label_outer()
    curves, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(curves, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _draw_errors(axes: Any, study: Study, *, slopes: bool) -> None:
    """Draw the curves of one study on log-log axes."""
    for head, colour in _COLOUR.items():
        for choice, marker in _MARKER.items():
            rows = study.series(head, choice)
            face = "white" if choice == "best" else colour
            label = f"{head} head, measured, $\\lambda$ {_WAY[choice]}"
            _curve(axes, rows, lambda row: row.error, label, slopes, color=colour, marker=marker, mfc=face)
            if choice != "best":
                label = f"{head} head, a-priori bound"
                _curve(axes, rows, lambda row: row.bound, label, slopes, color=colour, ls="--", lw=1.2)
    floor = tuple({row.n: row for row in study.rows}.values())
    label = "no method can promise less for\nevery $f$ of this Lipschitz constant"
    _curve(axes, floor, lambda row: row.floor, label, slopes, color="0.45", ls=":", lw=2)
    axes.set(xscale="log", yscale="log", xlabel="control points $N$ (prefix tokens)")
    axes.set_ylabel("sup error" + (f"  [{study.target.unit}]" if study.target.unit else ""))
    axes.set_title(f"{_title(study.target)} on $S^{{{study.target.dim}}}$", fontsize=11)
    grid(axes)


def _title(target: Target) -> str:
    name = target.name or "target"
    return name[:1].upper() + name[1:]


def _curve(
    axes: Any, rows: Sequence[Row], value: Callable[[Row], float | None], label: str, slopes: bool, **style: Any
) -> None:
    """Draw one curve, with its slope in the legend when asked."""
    points = [(row.n, y) for row in rows if (y := value(row)) is not None and y > 0.0 and math.isfinite(y)]
    if not points:
        return
    counts, errors = [n for n, _ in points], [error for _, error in points]
    rate = f"  (slope {round(slope(counts, errors), 2) + 0.0:.2f})" if slopes and len(points) > 1 else ""
    axes.plot(counts, errors, label=label + rate, ms=6, **style)


def maps_figure(head: CoreHead | SplitHead, target: Target, worst: float, *, resolution: int = 181) -> Figure:
    """Draw a target on S^2, a head's approximation and the error, as three Mollweide maps.

    Of vectors the Euclidean lengths are drawn.

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

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the target is not on S^2.
    """
    if target.dim != 2:
        raise ValueError(f"'target' must have dim = 2 to be drawn as a map, got {target.dim}")
    latitude, longitude = np.linspace(-90, 90, resolution), np.linspace(-180, 180, 2 * resolution - 1)
    grid = np.meshgrid(latitude, longitude, indexing="ij")
    x = sphere.from_latitude_longitude(grid[0].ravel(), grid[1].ravel())
    truth, made = (np.asarray(f(x), dtype=float).reshape(len(x), -1) for f in (target, head))
    vector = truth.shape[1] > 1
    drawn = [_drawn(values, vector).reshape(grid[0].shape) for values in (truth, made, made - truth)]
    top = float(np.abs(drawn[0]).max())
    kind = "Core" if isinstance(head, CoreHead) else "Split"
    titles = (
        _title(target) + (", length" if vector else ""),
        f"{kind} head, $N$ = {len(head.control_points)}, concentration {head.concentration:.4g}",
        f"Error, the largest found {worst:.4g}",
    )
    figure = Figure(figsize=(7.2, 10.2), layout=ConstrainedLayoutEngine(rect=(0.02, 0.0, 0.98, 1.0)))  # for labels at 0
    for place, (values, limit, title) in enumerate(zip(drawn, (top, top, worst), titles, strict=True)):
        _map(figure, place, (latitude, longitude), values, limit, title, target.unit, signed=not vector)
    return figure


def _drawn(values: NDArray[Any], vector: bool) -> NDArray[Any]:
    """Return what is drawn of the values (n, p): the numbers themselves, or the lengths of vectors."""
    return np.asarray(np.linalg.norm(values, axis=1)) if vector else values[:, 0]


def _map(
    figure: Figure, place: int, grid: tuple[NDArray[Any], NDArray[Any]], values: NDArray[Any], limit: float, title: str,
    unit: str, *, signed: bool,
) -> None:  # fmt: skip
    axes: Any = figure.add_subplot(3, 1, place + 1, projection="mollweide")
    image = axes.pcolormesh(
        np.radians(grid[1]), np.radians(grid[0]), values, cmap="RdBu_r" if signed else "viridis",
        vmin=-limit if signed else 0.0, vmax=limit, shading="gouraud", rasterized=True,
    )  # fmt: skip
    axes.set_latitude_grid(30)
    axes.set_longitude_grid(60)
    axes.grid(color="0.3", lw=0.3, alpha=0.6)
    axes.set_title(title, fontsize=11)
    axes.tick_params(axis="x", labelsize=7, colors="0.25")
    axes.tick_params(axis="y", labelsize=8)
    figure.colorbar(image, ax=axes, shrink=0.8, pad=0.03, label=unit)
