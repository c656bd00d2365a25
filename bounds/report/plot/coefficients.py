"""The figure of errors against prefix length, for several rules that choose the coefficients of a head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spherapprox import _checks

from .style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, Figure, grid

_COLOURS = (BLUE, RED, GREEN, ORANGE, PINK, SKY, "0.3", PURPLE)
_MARKERS = "osD^vPX<"


@dataclass(frozen=True)
class Curve:
    """The errors of one rule.

    Parameters
    ----------
    label : str
        What is written beside the curve.
    n : sequence of int
        Prefix lengths.
    error : sequence of float
        Sup errors relative to the target's largest value.
    place : int
        Index of the point at which the label stands.
    side : {"left", "right", "above", "below"}
        Where it stands from there; above and below, it ends there.
    """

    label: str
    n: Sequence[int]
    error: Sequence[float]
    place: int = -1
    side: str = "right"


_OFFSETS = {
    "right": ((9, 0), "left", "center"),
    "left": ((-9, 0), "right", "center"),
    "above": ((4, 8), "right", "bottom"),
    "below": ((4, -8), "right", "top"),
}


def coefficients_figure(curves: Sequence[Curve], title: str) -> Figure:
    """Draw relative sup errors against the prefix length on logarithmic axes, each curve with its name beside it.

    Parameters
    ----------
    curves : sequence of Curve
        At most eight.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        Powers of N are straight lines, exponentials fall ever more steeply, down to float64's rounding unit.
    """
    for curve in curves:
        _checks.instance(curve, "curves", Curve)
    figure = Figure(figsize=(8.6, 5.6), layout="constrained")
    axes: Any = figure.add_subplot()
    for curve, colour, marker in zip(curves, _COLOURS, _MARKERS, strict=False):
        axes.plot(curve.n, curve.error, color=colour, marker=marker, ms=5.5, lw=1.8, mec="white", mew=0.6)
        offset, horizontal, vertical = _OFFSETS[curve.side]
        axes.annotate(
            curve.label, (curve.n[curve.place], curve.error[curve.place]), offset, textcoords="offset points",
            ha=horizontal, va=vertical, color=colour, fontsize=11, fontweight="bold",
        )  # fmt: skip
    unit = float(np.finfo(float).eps)
    axes.axhline(unit, color="0.45", ls=":", lw=1.5)
    axes.annotate("machine precision", (1.0, unit), (-6, 4), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", va="bottom", color="0.35", fontsize=10)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="prefix length $N$ (control points)", ylabel="relative sup error")
    axes.set_ylim(unit / 4.0, 3.0)
    axes.set_yticks(10.0 ** np.arange(-16, 1, 2))
    axes.set_title(f"{title}\n", fontsize=12.5)
    axes.annotate(
        "straight lines: a power of $N$;   falling ever more steeply: exponential", (0.5, 1.0), (0, 5),
        xycoords="axes fraction", textcoords="offset points", ha="center", va="bottom", color="0.35", fontsize=10.5,
    )  # fmt: skip
    grid(axes)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
