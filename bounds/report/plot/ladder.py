"""Figures of the ladder of prefix lengths and of the concentration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spherapprox import _checks
from spherapprox._types import Array
from spherapprox.heads.registry import FAMILIES

from ...theorems import THEOREMS
from ..ladder import Curves
from .style import BLUE, GREEN, PINK, RED, WINE, Figure, Label, grid, label_ends

_HEADS = ((BLUE, "--"), (RED, "-"), (GREEN, "-"))
_FAMILY = {"thesis": (WINE, "-."), "lower": ("0.35", ":")} | dict(zip(FAMILIES, _HEADS, strict=False))


def ladder_figure(curves: Curves) -> Figure:
    """Draw log10 N of every theorem against eps or dim, with the gap between split heads and their floor shaded.

    Above are the thesis's theorems, which need hundreds of digits, where one speaks; below this library's. The best of
    each family where the curves end is bold; eps falls to the right, so that all curves rise.

    Parameters
    ----------
    curves : Curves
        The result of `bounds.report.evaluate_ladder`.

    Raises
    ------
    TypeError
        When `curves` are none.

    Examples
    --------
    >>> import bounds
    >>> from bounds.report import plot
    >>> (axes,) = plot.ladder_figure(bounds.report.evaluate_ladder([0.2, 0.8], dim=2)).axes
    >>> axes.get_title()
    'Prefix length on $S^{2}$'
    """
    _checks.instance(curves, "curves", Curves)
    thesis_speaks = any(np.isfinite(y).any() for name, y in curves.log10.items() if THEOREMS[name].printed)
    heights = (1.0, 2.8) if thesis_speaks else (1.0,)
    figure = Figure(figsize=(9.5, 8.2 if thesis_speaks else 6.0), layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    above, below = panels[0], panels[-1]
    floor = np.nan_to_num(curves.log10["lower"])  # 0, one token, where the theorem says nothing
    lengths = [y for name, y in curves.log10.items() if THEOREMS[name].family == "split"]
    below.fill_between(curves.axis, floor, np.fmin.reduce(lengths), color="0.87", zorder=0)
    if curves.over == "eps":
        above.set_title(f"Prefix length on $S^{{{curves.fixed:g}}}$")
        below.set(xscale="log", xlabel="sup error $\\epsilon$", xlim=(curves.axis.max(), curves.axis.min()))
    else:
        above.set_title(f"Prefix length for the sup error $\\epsilon$ = {curves.fixed:g}")
        above.set_yscale("log")
        below.set(xscale="log", xlabel="dimension $m$ of $S^m$", yscale="log")
        below.set_xticks(curves.axis, [f"{dim:g}" for dim in curves.axis])
        below.set_xlim(curves.axis.min(), curves.axis.max())
        below.minorticks_off()
    for axes in panels:
        names = [name for name in curves.log10 if THEOREMS[name].printed == (axes is not below)]
        labels = [_rung(axes, curves, name) for name in names]
        axes.set_ylabel("$\\log_{10} N$")
        grid(axes)
        axes.set_ylim((0.0 if curves.over == "eps" else 1.0) if axes is below else None, None)
        label_ends(axes, [label for label in labels if label is not None])
    below.annotate(
        "shaded: between the floor 4.5 and split heads", (0.98, 0.02), xycoords="axes fraction", ha="right", color="0.4"
    )
    return figure


def _rung(axes: Any, curves: Curves, name: str) -> Label | None:
    """Draw one theorem's curve, bold for the best of its family; returns its name for the right end."""
    family = THEOREMS[name].family
    colour, line = _FAMILY[family]
    end = int(np.argmin(curves.axis) if curves.over == "eps" else np.argmax(curves.axis))  # on the right
    mates = {mate: y for mate, y in curves.log10.items() if THEOREMS[mate].family == family}
    ends = {mate: float(y[end]) for mate, y in mates.items() if np.isfinite(y[end])}
    best = min(ends, key=lambda mate: ends[mate] * (1 if curves.sides[mate] == "upper" else -1), default=None)
    bold = name == best
    axes.plot(curves.axis, curves.log10[name], label=name, color=colour, ls=line, lw=2.8 if bold else 1.1)
    if name not in ends:
        return None
    exponent = f"{ends[name]:.0f}" if ends[name] >= 1000.0 else f"{ends[name]:.4g}"
    return Label(f"{name}, $10^{{{exponent}}}$", ends[name], colour, bold=bold)


def concentration_figure(eps: Array, curves: Sequence[Array], dim: int) -> Figure:
    """Draw Lambda(eps), (n,), of the thesis, with C_R = 1 and with a proven C_R, and the sharp threshold of 4.1."""
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.add_subplot()
    labels = ("thesis (4.6), $C_R = C_H = 1$", "thesis (4.6), proven $C_R$, $C_H = 1$", "sharp (4.1)")
    colours = (PINK, WINE, BLUE)
    for values, label, colour in zip(curves, labels, colours, strict=True):
        if (values > 0.0).any():  # else every concentration will do
            axes.plot(eps, np.where(values > 0.0, values, np.nan), label=label, color=colour, lw=1.6)
    axes.set(xscale="log", yscale="log", xlabel="convolution error $\\epsilon$")
    axes.set_ylabel("concentration $\\Lambda(\\epsilon)$")
    axes.set_title(f"The concentration from which the kernel itself is accurate, on $S^{{{dim}}}$", fontsize=11)
    grid(axes)
    axes.legend(frameon=False, fontsize=9)
    return figure
