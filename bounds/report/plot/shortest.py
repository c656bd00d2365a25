"""Figures of a search for the shortest head: errors against tokens, and the control points over the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import SymLogNorm

from spherapprox import _checks
from spherapprox.error import lengths
from spherapprox.shortest import ShortestHead
from spherapprox.target import Target

from .errors import heading
from .maps import draw_map
from .style import BLUE, GREEN, ORANGE, PURPLE, RED, WINE, Figure, Label, grid, label_ends

Points = Sequence[tuple[int, float]]
"""Numbers of tokens with their errors."""
_COLOURS = (RED, ORANGE, PURPLE, BLUE)


def shortest_figure(
    search: ShortestHead, target: Target, *, others: Mapping[str, Points] | None = None, floor: Points = (),
    remark: str = "",
) -> Figure:  # fmt: skip
    """Draw the errors of the heads of a search against their tokens, beside those of other methods.

    Parameters
    ----------
    search, target : ShortestHead, Target
        The search, of which the head that is picked stands out and those that missed eps are hollow; its target.
    others : mapping of str to sequence of (int, float), optional
        By the name of a method, tokens and errors.
    floor : sequence of (int, float)
        Lower bounds of the number of tokens, each for an error: to the left of them no head of this kind lies.
    remark : str
        A line below the figure.

    Raises
    ------
    TypeError
        When `search` is no search, or `target` none.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox import shortest_head, targets
    >>> bump = targets.bump(2)
    >>> search = shortest_head(bump, 1e-6, "core")
    >>> figure = plot.shortest_figure(search, bump)
    >>> figure.axes[0].get_title()
    'Bump 10 on $S^{2}$, core heads'
    """
    _checks.instance(search, "search", ShortestHead)
    _checks.instance(target, "target", Target)
    figure = Figure(figsize=(9.5, 5.4), layout="constrained")
    axes: Any = figure.subplots()
    labels = []
    least = 0.25 * min(search.eps, search.error.lower or search.eps)
    for (name, points), colour in zip((others or {}).items(), _COLOURS, strict=False):
        curve = [points[i] for i in range(len(points)) if i == 0 or points[i - 1][1] > least]
        axes.plot(*zip(*curve, strict=True), color=colour, marker="o", ms=4, lw=1.4)
        labels.append(Label(name, max(curve[-1][1], least), colour))
    front: list[tuple[int, float]] = []
    for row in search.history:  # those that no shorter one beats
        if not front or row.lower < front[-1][1]:
            front.append((row.n, row.lower))
    front = [(n, max(error, least)) for n, error in front]
    axes.plot(*zip(*front, strict=True), color=GREEN, lw=2.6)
    for row in search.history:
        inside = row.lower <= search.eps
        axes.plot(row.n, max(row.lower, least), "o", ms=6, color=GREEN, mfc=GREEN if inside else "white", zorder=3)
    axes.plot(search.n, max(search.error.lower, least), "*", ms=17, color=GREEN, mec="black", mew=0.7, zorder=4)
    labels.append(Label(f"free points: {search.n} tokens", front[-1][1], GREEN, bold=True))
    if search.norm == "sup":
        axes.axhline(search.eps, color="0.35", lw=1.0, ls="--")
        axes.annotate(f"eps = {search.eps:.4g}", (1, search.eps), (4, 4), textcoords="offset points", color="0.35")
    axes.set(xscale="log", yscale="log", xlabel="tokens $N$")
    axes.set(ylim=(least, None), xlim=(0.8, None))
    if floor:
        _draw_floor(axes, floor)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}".replace(",", " "))
    axes.set_ylabel("sup error" + (f"  [{target.unit}]" if target.unit else ""))
    axes.set_title(f"{heading(target)} on $S^{{{target.dim}}}$, {search.head.family} heads", fontsize=12)
    grid(axes)
    label_ends(axes, labels)
    if remark:
        figure.supxlabel(remark, fontsize=10, color=WINE)
    return figure


def _draw_floor(axes: Any, floor: Points) -> None:
    """Hatch the numbers of tokens below the lower bounds."""
    start, (low, high) = axes.get_xlim()[0], axes.get_ylim()
    steps = sorted((error, n) for n, error in floor)
    corners = [(steps[0][1], low)]
    for i, (error, n) in enumerate(steps):
        corners += [(n, error), (steps[i + 1][1] if i + 1 < len(steps) else start, error)]
    axes.fill([*(n for n, _ in corners), start], [*(error for _, error in corners), low], facecolor="none",
              edgecolor="0.65", hatch="///", lw=0.0)  # fmt: skip
    axes.plot(*zip(*corners, strict=True), color="0.4", lw=1.2)
    axes.set_xlim(start, None)
    inside = axes.transLimits.transform(np.log10(corners[0]))[0] > 0.25  # else the label is wider than what it names
    axes.annotate("proven: no such head", corners[0], (-6 if inside else 6, 8), textcoords="offset points", color="0.3",
                  ha="right" if inside else "left", fontsize=10,
                  bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1.0})  # fmt: skip
    axes.set_ylim(low, high)


def control_points_figure(search: ShortestHead, target: Target, *, resolution: int = 181) -> Figure:
    """Draw the control points of a head over its error on S^2, as a Mollweide map.

    Points are coloured by their value (of vectors: by its length), on a scale that is linear about 0 and logarithmic
    beyond; with a concentration for each token, the area of a point is that concentration.

    Parameters
    ----------
    search, target : ShortestHead, and Target with dim 2
        The search, whose picked head is drawn, and what it approximates.
    resolution : int
        Points of the map from pole to pole.

    Raises
    ------
    TypeError, ValueError
        When `search` is no search, or `target` none on S^2.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox import shortest_head, targets
    >>> bump = targets.bump(2)
    >>> search = shortest_head(bump, 1e-6, "core")
    >>> figure = plot.control_points_figure(search, bump, resolution=19)
    >>> figure.axes[0].get_title()
    'Bump 10: 1 tokens'
    """
    _checks.instance(search, "search", ShortestHead)
    _checks.instance(target, "target", Target)
    _checks.same_dim(target.dim, "target", 2, why="to be drawn as a map")
    head = search.head
    table = head.values.reshape(len(head), -1)
    values = table[:, 0] if table.shape[1] == 1 else lengths(table)
    largest, typical = float(np.abs(values).max()) or 1.0, float(np.median(np.abs(values))) or 1.0
    scale = np.broadcast_to(np.asarray(head.concentration, dtype=float), len(head))
    areas = 70.0 * np.clip(scale / max(float(scale.mean()), 1e-300), 0.15, 6.0)
    norm = SymLogNorm(typical, vmin=-largest, vmax=largest)
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    axes: Any = figure.add_subplot(projection="mollweide")
    error, points = draw_map(
        axes, lambda x: lengths((head(x) - target(x)).reshape(len(x), -1)), head.control_points,
        marks={"c": values, "s": areas, "norm": norm, "cmap": "RdBu_r"}, resolution=resolution, cmap="Greys",
        vmin=0.0, vmax=search.error.lower,
    )  # fmt: skip
    sizes = "" if np.ndim(head.concentration) == 0 else ", area: concentration"
    axes.set_title(f"{heading(target)}: {search.n} tokens{sizes}", fontsize=12)
    unit = f"  [{target.unit}]" if target.unit else ""
    figure.colorbar(error, ax=axes, orientation="horizontal", shrink=0.5, pad=0.03, label="error" + unit)
    figure.colorbar(points, ax=axes, shrink=0.7, pad=0.02, label="value" + unit)
    return figure
