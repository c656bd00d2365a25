"""Figures of the ladder of prefix lengths and of the concentration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .style import BLUE, PINK, RED, grid

if TYPE_CHECKING:
    from ..rungs import Curves

_FAMILY = {
    "thesis": (PINK, "-."),
    "sharp-core": (BLUE, "--"),
    "sharp-split": (RED, "-"),
    "lower": ("0.35", ":"),
}
_SHAPES = "osD^vP*X"


def ladder_figure(curves: Curves) -> Figure:
    """Draw log10 N of every theorem against eps or dim, with the gap between split heads and their floor shaded.

    Parameters
    ----------
    curves : Curves
        The result of `bounds.rungs.curves`.

    Returns
    -------
    matplotlib.figure.Figure
        Above the thesis's theorems, which need hundreds of digits; below this library's.
    """
    figure = Figure(figsize=(9.5, 7.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.0, 2.4))
    below.fill_between(curves.axis, *curves.gap(), color="0.87", label="between split heads and 4.5", zorder=0)
    for axes, thesis in ((above, True), (below, False)):
        for name in curves.log10:
            if name.startswith("thesis") == thesis:
                _rung(axes, curves, name)
        axes.set_ylabel("$\\log_{10} N$")
        grid(axes)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    if curves.over == "eps":
        above.set_title(f"Prefix length on $S^{{{curves.fixed:g}}}$")
        below.set(xscale="log", xlabel="sup error $\\epsilon$", ylim=(0.0, None))
    else:
        above.set_title(f"Prefix length for the sup error $\\epsilon$ = {curves.fixed:g}")
        above.set_yscale("log")
        below.set(xscale="log", xlabel="dimension $m$ of $S^m$", yscale="log", ylim=(1.0, None))
        below.set_xticks(curves.axis, [f"{dim:g}" for dim in curves.axis])
        below.minorticks_off()
    return figure


def _rung(axes: Any, curves: Curves, name: str) -> None:
    """Draw one theorem's curve; theorems of a family share a colour and differ in their markers."""
    family = next(f for f in _FAMILY if name.startswith(f))
    colour, line = _FAMILY[family]
    mates = [other for other in curves.log10 if other.startswith(family)]
    every = max(1, len(curves.axis) // 8)
    marker = _SHAPES[mates.index(name)]
    style = {"color": colour, "ls": line, "marker": marker, "ms": 5, "markevery": every, "mfc": "white", "lw": 1.3}
    axes.plot(curves.axis, curves.log10[name], label=name, **style)


def concentration_figure(
    eps: NDArray[Any], printed: NDArray[Any], proven: NDArray[Any], sharp: NDArray[Any], dim: int
) -> Figure:
    """Draw Lambda(eps) of the thesis, with C_R = 1 and with a proven C_R, beside the sharp threshold of 4.1.

    Parameters
    ----------
    eps, printed, proven, sharp : ndarray, shape (n,)
        The axis, and the concentrations.
    dim : int
        For the title.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.add_subplot()
    labels = ("thesis (4.6), $C_R = C_H = 1$", "thesis (4.6), proven $C_R$, $C_H = 1$", "sharp (4.1)")
    colours = (_FAMILY["thesis"][0], "#882255", BLUE)
    for values, label, colour in zip((printed, proven, sharp), labels, colours, strict=True):
        shown = np.where(values > 0.0, values, np.nan)
        if np.isnan(shown).all():  # every concentration will do
            continue
        axes.plot(eps, shown, label=label, color=colour, lw=1.6)
    axes.set(xscale="log", yscale="log", xlabel="convolution error $\\epsilon$")
    axes.set_ylabel("concentration $\\Lambda(\\epsilon)$")
    axes.set_title(f"The concentration from which the kernel itself is accurate, on $S^{{{dim}}}$", fontsize=11)
    grid(axes)
    axes.legend(frameon=False, fontsize=9)
    return figure
