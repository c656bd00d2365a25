"""The figure of a validation: bounds against the interval achieved, and the error over the sphere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter

from spherapprox import _checks
from spherapprox._types import Float64
from spherapprox.error import ErrorInterval, lengths
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ...validation.check import Check
from .maps import draw_map
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
    error, head, target
        As in `bounds.validate`; without head and target there is one panel.

    Raises
    ------
    TypeError
        When a check or the error is none.

    Examples
    --------
    >>> import bounds
    >>> from bounds.report import plot
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(1)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(1, 30), concentration=100.0)
    >>> validation = bounds.validate(head, target, n=500)
    >>> len(plot.validation_figure(validation.checks, validation.error, head, target).axes)
    2
    """
    for check in checks:
        _checks.instance(check, "checks", Check)
    _checks.instance(error, "error", ErrorInterval)
    telling = [check for check in checks if check.predicted and check.achieved and check.predicted < math.inf]
    mapped = head is not None and target is not None
    heights = [*[1.1 + 0.6 * max(len(telling), 1)] * (bool(telling) or not mapped), *[3.5] * mapped]
    figure = Figure(figsize=(5.6, sum(heights)), layout=ConstrainedLayoutEngine(h_pad=0.1))
    places = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if telling or not mapped:
        _draw_intervals(figure.add_subplot(places[0]), telling, "" if target is None else target.unit)
    if head is not None and target is not None:
        flat = target.dim == 2
        axes = figure.add_subplot(places[len(heights) - 1], projection="mollweide" if flat else None)
        (_draw_map if flat else _draw_profile)(axes, head, target, error=error)
    return figure


def _draw_intervals(axes: Any, checks: Sequence[Check], unit: str) -> None:
    """Draw each check's interval as a bar and its bound as a tick, on a line of its own."""
    for line, check in enumerate(reversed(checks)):
        assert check.predicted is not None
        assert check.achieved is not None
        colour = COLOURS.get(check.verdict, _GREY)
        high = check.upper if check.upper < math.inf else check.achieved
        axes.plot([check.achieved, high], [line, line], color=colour, lw=7, solid_capstyle="butt")
        axes.plot([check.achieved], [line], color=colour, marker="o", ms=6)
        axes.plot([check.predicted], [line], color=colour, marker="|", ms=18, mew=3)
        axes.plot([high, check.predicted], [line, line], color=colour, lw=1, ls=":")
    axes.set_yticks(range(len(checks)), [f"{check.theorem}\n{check.verdict}" for check in reversed(checks)])
    if checks:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 300.0 * low else (1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(-0.6, len(checks) - 0.4)
    axes.set_xlabel("error achieved (bar) and bound (tick)" + (f"  [{unit}]" if unit else ""))
    grid(axes)


def _errors(head: Head, target: Target, x: Float64) -> Float64:
    difference = np.asarray(head(x), dtype=float) - np.asarray(target(x), dtype=float)
    return np.asarray(lengths(difference.reshape(len(x), -1)))


def _draw_map(axes: Any, head: Head, target: Target, *, error: ErrorInterval) -> None:
    """Draw |f - h| as a map, with a ring where it is largest."""
    halo = [withStroke(linewidth=4.5, foreground="white")]
    ring = {"s": 120.0, "facecolors": "none", "edgecolors": RED, "linewidths": 1.8, "path_effects": halo}
    image = draw_map(
        axes, lambda x: _errors(head, target, x), error.at[None], marks=ring, resolution=121, cmap="viridis", vmin=0.0,
        vmax=error.lower or None,
    ).image  # fmt: skip
    axes.set_longitude_grid(30)
    axes.set_latitude_grid(30)
    axes.set_xticklabels([])
    axes.grid(color="0.6", lw=0.3, alpha=0.6)
    axes.tick_params(axis="y", labelsize=10)
    axes.set_title("Error |f - h|; the circle is where it is largest", fontsize=11)
    axes.figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.7, pad=0.06, label=target.unit)


def _draw_profile(axes: Any, head: Head, target: Target, *, error: ErrorInterval) -> None:
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
    axes.set(xlim=(-180, 180), xticks=range(-180, 181, 60), ylim=(0, None))
    axes.set_xlabel("degrees from the largest error, along a great circle")
    axes.set_ylabel("|f - h|" + (f"  [{target.unit}]" if target.unit else ""))
    remark = "; green: proven" if error.upper < math.inf else ""
    axes.set_title(f"Error; the circle is where it is largest{remark}", fontsize=11)
    grid(axes)
