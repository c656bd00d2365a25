"""Figures of a study: errors and bounds against prefix length, with the thesis's counts for the same errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from spherapprox import _checks
from spherapprox.heads.registry import FAMILIES
from spherapprox.target import Target

from ...api import prefix_length
from .._study import Row, Study
from .style import BLUE, GREEN, PINK, PURPLE, RED, WINE, Figure, Label, count_axis, grid, label_ends

_COLOUR = dict(zip(FAMILIES, (BLUE, RED, GREEN), strict=False))
_MARKER = {"theory": "o", "second-order": "v", "best": "D", "fixed": "s", "mean": "^"}
_WAY = {
    "theory": "$\\lambda$ of least bound", "best": "$\\lambda$ of least error", "fixed": "$\\lambda$ fixed",
    "mean": "mean error", "second-order": "$\\lambda$ of its 2nd-order bound",
}  # fmt: skip


def error_figure(study: Study) -> Figure:
    """Draw measured errors and a-priori bounds against the number of control points, each with its name and slope.

    Where the thesis speaks, the prefix lengths that it asks for the same errors stand in a second panel; elsewhere a
    line says what it needs, and what it asks for on the least sphere of which it speaks. "Any method on its worst
    target" is the floor 4.5: no method that samples at N points promises less for all targets of this Lipschitz
    constant. Second-order bounds (4.H), those of these very points, are proven at each point; their largest values
    found are drawn, and the band is between one and the error that it bounds. Estimated constants are called so. Dashes
    just above the marks are proven upper bounds.

    Parameters
    ----------
    study : Study
        The result of `bounds.report.run_study`.

    Raises
    ------
    TypeError
        When `study` is none.

    Examples
    --------
    >>> import bounds
    >>> from bounds.report import plot
    >>> from spherapprox import targets
    >>> study = bounds.report.run_study(targets.distance(3), [20, 50], choices=[5.0], points=200)
    >>> plot.error_figure(study).axes[0].get_title()
    'Distance on $S^{3}$'
    """
    _checks.instance(study, "study", Study)
    thesis = [row for row in study.rows if row.thesis_log10_n is not None and row.error > 0.0]
    figure = Figure(figsize=(11.5 if thesis else 9.5, 5.4), layout="constrained")
    widths = [3, 1] if thesis else [1]
    panels = figure.subplots(1, len(widths), squeeze=False, sharey=True, width_ratios=widths)[0]
    label_ends(panels[0], _draw_errors(panels[0], study))
    if thesis:
        _draw_thesis(panels[1], thesis)
    elif study.target.lipschitz is not None:
        figure.supxlabel(_silence(study), color=WINE, fontsize=10, wrap=True)
    return figure


def _draw_errors(axes: Any, study: Study) -> list[Label]:
    """Draw the curves of one study on log-log axes; returns their names with their slopes, the best heads' in bold."""
    labels: list[Label] = []
    estimated = "estimated " if study.estimated else ""
    for head, colour in _COLOUR.items():
        series = {way: [row for row in study.rows if (row.head, row.choice) == (head, way)] for way in _MARKER}
        series = {way: rows for way, rows in series.items() if rows}  # by increasing n
        best = min(series.keys() - {"second-order"}, key=lambda way: series[way][-1].error, default=None)
        for way, rows in series.items():
            own = PURPLE if way == "second-order" else colour
            labels += _draw_second_order(axes, rows) if way in ("second-order", "fixed") else []
            errors = [row.mean_error if way == "mean" else row.error for row in rows]
            name = "sup error" if way == "best" and "mean" in series else _WAY[way]
            labels += _curve(
                axes, rows, errors, label=f"{head} head, {name}", color=own, marker=_MARKER[way], ms=6,
                lw=2.6 if way in (best, "mean") else 1.1, mfc="white" if way == "best" else own,
            )  # fmt: skip
            upper_ends = [(row.n, row.upper) for row in rows if row.upper is not None and way != "mean"]
            if upper_ends:
                axes.scatter(*zip(*upper_ends, strict=True), color=own, marker="_", s=120, lw=1.6, zorder=3)
            if way in ("theory", "fixed"):
                bounds = [row.bound for row in rows]
                labels += _curve(
                    axes, rows, bounds, label=f"{head} head, {estimated}bound", color=colour, ls="--", lw=1.1
                )
    floor = tuple({row.n: row for row in study.rows}.values())
    label = f"any method on its worst target{' (estimate)' if estimated else ''}"
    labels += _curve(axes, floor, [row.floor for row in floor], label=label, color="0.45", ls=":", lw=1.8)
    count_axis(axes, [row.n for row in study.rows])
    axes.set(yscale="log", xlabel="control points $N$ (prefix tokens)")
    error = "error" if any(row.choice == "mean" for row in study.rows) else "sup error"
    axes.set_ylabel(error + (f"  [{study.target.unit}]" if study.target.unit else ""))
    axes.set_title(f"{heading(study.target)} on $S^{{{study.target.dim}}}$", fontsize=12)
    grid(axes)
    if not any(0.0 < row.error < math.inf for row in study.rows):
        remark = "Every sup error is 0 or infinite:\na logarithmic axis shows none."
        axes.text(0.5, 0.5, remark, transform=axes.transAxes, ha="center", va="center")
        axes.yaxis.set_visible(bool(labels))
    return labels


def _draw_second_order(axes: Any, rows: Sequence[Row]) -> list[Label]:
    """Draw the second-order bounds of heads, and the band between the local one and their errors."""
    local = [(row.n, row.error, row.second_order_local) for row in rows if row.second_order_local]
    if local:
        axes.fill_between(*zip(*local, strict=True), color=PURPLE, alpha=0.15, lw=0.0)
    by_class, by_derivatives = [row.second_order for row in rows], [row.second_order_local for row in rows]
    return [
        *_curve(axes, rows, by_class, label="split head, 2nd-order bound by $L, H$", color=PURPLE, ls="-.", lw=1.1),
        *_curve(axes, rows, by_derivatives, label="split head, 2nd-order bound", color=PURPLE, ls="--", lw=2.2),
    ]


def _curve(
    axes: Any, rows: Sequence[Row], values: Sequence[float | None], label: str, *, color: str, lw: float, **style: Any
) -> list[Label]:
    """Draw one curve; returns its name with its slope, or nothing for an empty one."""
    points = [(row.n, y) for row, y in zip(rows, values, strict=True) if y is not None and 0.0 < y < math.inf]
    if not points:
        return []
    counts, errors = zip(*points, strict=True)
    if len(points) == 1:  # no line is seen
        style = {"marker": "_", "ms": 16, "mew": 2} | style
    axes.plot(counts, errors, label=label, color=color, lw=lw, **style)
    if len(points) > 1:
        slope = float(np.polyfit(np.log(counts), np.log(errors), 1)[0])
        label += f", $N^{{{round(slope, 2) + 0.0:.2f}}}$"
    return [Label(label, errors[-1], color, bold=lw > 2.0)]


def _draw_thesis(axes: Any, rows: Sequence[Row]) -> None:
    """Draw the thesis's prefix lengths for the errors achieved, on an axis of powers of ten."""
    for head, colour in _COLOUR.items():
        pairs = sorted((row.thesis_log10_n, row.error) for row in rows if row.head == head and row.thesis_log10_n)
        if pairs:
            axes.plot(*zip(*pairs, strict=True), color=PINK, marker=".", mfc=colour, mec=colour, ms=9, lw=1.4)
            axes.annotate(f"{head} head", pairs[0], (7, 3), textcoords="offset points", color=colour, fontsize=10)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    axes.xaxis.set_major_formatter(lambda exponent, _: f"$10^{{{exponent:.0f}}}$")
    axes.set_xlabel("tokens, with the proven $C_R$, $C_H = 1$")
    axes.tick_params(axis="y", left=False, which="both")
    axes.spines["left"].set_linestyle((0, (2, 3)))  # the axis is broken here
    axes.set_title("The thesis, 4.12 - 4.15,\nfor the same errors", fontsize=11, color=WINE)
    axes.margins(x=0.3)
    grid(axes)


def _silence(study: Study) -> str:
    """Return the thesis's failing hypotheses here, and its prefix length on S^8, in words."""
    target, errors = study.target, [row.error for row in study.rows if row.error > 0.0]
    needs = next((row.thesis_needs for row in study.rows if row.thesis_needs), "")
    remark = f"The thesis (Theorems 4.12, 4.15) {needs.replace('>=', '≥')}"
    if needs != "needs dim >= 8" or not errors or not target.lipschitz or not target.sup_norm:
        return remark if needs else ""
    bound = prefix_length(
        min(errors), dim=8, lipschitz=target.lipschitz, sup_norm=target.sup_norm, theorem="thesis-split"
    )
    constants = "estimated constants" if study.estimated else "constants"
    return (
        f"{remark}: on $S^8$, with the same {constants}, it takes $10^{{{bound.log10:.0f}}}$ tokens "
        "for the least error shown here"
    )


def heading(target: Target) -> str:
    """Return the target's name with a capital."""
    name = target.name or "target"
    return name[:1].upper() + name[1:]
