"""The figure of a validation: bounds against the interval achieved, and the error over the sphere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullFormatter

from spherapprox import _checks, sphere
from spherapprox._types import Float64
from spherapprox.error import ErrorInterval, lengths
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ...validation.check import Check
from .style import BLUE, GREEN, RED, Figure, grid

COLOURS = {"proved": GREEN, "holds": BLUE, "violated": RED}
"""Colours of verdicts, grey for others."""
_GREY = "0.55"


def validation_figure(
    checks: Sequence[Check], error: ErrorInterval, head: Head | None, target: Target | None
) -> Figure:
    """Draw the bounds and the interval achieved on a logarithmic axis, and the error as a map or a profile.

    Parameters
    ----------
    checks : sequence of Check
        Those of theorems that say nothing are left out, and their panel where none is left.
    error : ErrorInterval
    head, target
        As in `bounds.validate`; without them there is one panel.

    Returns
    -------
    matplotlib.figure.Figure
    """
    for check in checks:
        _checks.instance(check, "checks", Check)
    _checks.instance(error, "error", ErrorInterval)
    shown = [check for check in checks if check.predicted and check.achieved and check.predicted < math.inf]
    mapped = head is not None and target is not None
    heights = [*[1.1 + 0.6 * max(len(shown), 1)] * (bool(shown) or not mapped), *[3.5] * mapped]
    figure = Figure(figsize=(5.6, sum(heights)), layout=ConstrainedLayoutEngine(h_pad=0.1))
    places = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if shown or not mapped:
        _draw_intervals(figure.add_subplot(places[0]), shown, "" if target is None else target.unit)
    if head is not None and target is not None:
        _draw_error(figure, places[len(heights) - 1], head, target, error)
    return figure


def error_figure_of(head: Head, target: Target, error: ErrorInterval) -> Figure:
    """Draw the error alone, as a map of S^2 or along a great circle, for pages light and dark."""
    _checks.instance(target, "target", Target)
    _checks.instance(error, "error", ErrorInterval)
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = _draw_error(figure, 111, head, target, error)
    axes.patch.set_alpha(0.0)
    axes.set_title("")
    for part in figure.axes:  # a grey that is legible on white and on black
        part.tick_params(colors="#808080", which="both")
        part.xaxis.label.set_color("#808080")
        part.yaxis.label.set_color("#808080")
        for spine in part.spines.values():
            spine.set_color("#808080")
    return figure


def _draw_intervals(axes: Any, shown: Sequence[Check], unit: str) -> None:
    """Draw each check's interval as a bar and its bound as a tick, on a line of its own."""
    for line, check in enumerate(reversed(shown)):
        assert check.predicted is not None
        assert check.achieved is not None
        colour = COLOURS.get(check.verdict, _GREY)
        high = check.upper if check.upper < math.inf else check.achieved
        axes.plot([check.achieved, high], [line, line], color=colour, lw=7, solid_capstyle="butt")
        axes.plot([check.achieved], [line], color=colour, marker="o", ms=6)
        axes.plot([check.predicted], [line], color=colour, marker="|", ms=18, mew=3)
        axes.plot([high, check.predicted], [line, line], color=colour, lw=1, ls=":")
    axes.set_yticks(range(len(shown)), [f"{check.theorem}\n{check.verdict}" for check in reversed(shown)])
    if shown:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 300.0 * low else (1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlabel("error achieved (bar) and bound (tick)" + (f"  [{unit}]" if unit else ""))
    grid(axes)


def _draw_error(figure: Figure, place: Any, head: Head, target: Target, error: ErrorInterval) -> Any:
    if target.dim == 2:
        return _draw_map(figure, place, head, target, error)
    axes = figure.add_subplot(place)
    _draw_profile(axes, head, target, error)
    return axes


def _errors(head: Head, target: Target, x: Float64) -> Float64:
    difference = np.asarray(head(x), dtype=float) - np.asarray(target(x), dtype=float)
    return np.asarray(lengths(difference.reshape(len(x), -1)))


def _draw_map(figure: Figure, place: Any, head: Head, target: Target, error: ErrorInterval) -> Any:
    """Draw |f - h| as a Mollweide map, with a mark where it is largest."""
    latitude, longitude = np.linspace(-90, 90, 121), np.linspace(-180, 180, 241)
    rows, columns = np.meshgrid(latitude, longitude, indexing="ij")
    x = sphere.from_latitude_longitude(rows.ravel(), columns.ravel())
    values = _errors(head, target, x).reshape(rows.shape)
    axes: Any = figure.add_subplot(place, projection="mollweide")
    image = axes.pcolormesh(
        np.radians(longitude), np.radians(latitude), values, cmap="viridis", vmin=0.0, vmax=error.lower or None,
        shading="gouraud", rasterized=True,
    )  # fmt: skip
    at = error.at
    place_of = math.atan2(at[1], at[0]), math.asin(max(-1.0, min(1.0, at[2])))
    axes.plot(*place_of, marker="o", ms=11, mfc="none", mec="white", mew=3.2)
    axes.plot(*place_of, marker="o", ms=11, mfc="none", mec=RED, mew=1.8)
    axes.set_xticklabels([])
    axes.grid(color="0.6", lw=0.3, alpha=0.6)
    axes.set_latitude_grid(30)
    axes.tick_params(axis="y", labelsize=10)
    axes.set_title("Error |f - h|; the circle is where it is largest", fontsize=11)
    figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.7, pad=0.06, label=target.unit)
    return axes


def _draw_profile(axes: Any, head: Head, target: Target, error: ErrorInterval) -> None:
    """Draw |f - h| along the great circle through its largest place and the control point nearest to it."""
    at = error.at
    nearest = head.control_points[int(np.argmax(head.control_points @ at))].astype(float)
    aside = nearest - (nearest @ at) * at
    if np.linalg.norm(aside) < 1e-9:
        aside = np.eye(len(at))[int(np.argmin(np.abs(at)))]
        aside -= (aside @ at) * at
    aside /= np.linalg.norm(aside)
    angle = np.linspace(-math.pi, math.pi, 1441)
    x = np.cos(angle)[:, None] * at + np.sin(angle)[:, None] * aside
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    axes.plot(np.degrees(angle), _errors(head, target, x), color=BLUE, lw=1.4)
    axes.axhline(error.lower, color=_GREY, lw=0.8, ls="--")
    if error.upper < math.inf:
        axes.axhline(error.upper, color=GREEN, lw=1.2)
    axes.plot([0.0], [error.lower], marker="o", ms=9, mfc="none", mec=RED, mew=1.8)
    axes.set(
        xlim=(-180, 180),
        xticks=range(-180, 181, 60),
        ylim=(0, None),
        xlabel="degrees from the largest error, along a great circle",
    )
    axes.set_ylabel("|f - h|" + (f"  [{target.unit}]" if target.unit else ""))
    proven = "; green: proven" if error.upper < math.inf else ""
    axes.set_title(f"Error; the circle is where it is largest{proven}", fontsize=11)
    grid(axes)
