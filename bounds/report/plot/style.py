"""Colours for colour-blind readers (Okabe and Ito), axes, labels and files of the figures."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import matplotlib
import matplotlib.figure
import matplotlib.ticker
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from spherapprox import _checks

BLUE, RED, PINK, GREEN, ORANGE, SKY = "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#E69F00", "#56B4E9"
PURPLE, WINE = "#5D3A9B", "#882255"


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks show, though pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        write(self, png := io.BytesIO())
        return png.getvalue()


def grid(axes: Any) -> None:
    """Draw a light grid behind the curves."""
    axes.grid(which="major", color="0.88")
    axes.set_axisbelow(True)


def count_axis(axes: Any, counts: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic, with numbers at powers of ten, or at the counts if these are few."""
    axes.set_xscale("log")
    decades = [10.0**k for k in range(20) if min(counts) <= 10**k <= max(counts)]
    if len(decades) < 2:
        numbers = sorted(set(counts))
        letter = 0.018 * math.log(1.5625 * numbers[-1] / numbers[0])  # of an axis of some 500 points
        ticks = numbers[:1]
        for count in numbers[1:]:  # those that fit beside each other
            letters = 0.5 * (len(f"{count:g}") + len(f"{ticks[-1]:g}")) + 1.0
            if math.log(count / ticks[-1]) >= letters * letter:
                ticks.append(count)
        axes.set_xticks(ticks, [f"{count:g}" for count in ticks])
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.set_xlim(min(counts) / 1.25, max(counts) * 1.25)


class Label(NamedTuple):
    """A curve's name, to stand beside its end."""

    text: str
    y: float
    colour: str
    bold: bool = False


def label_ends(axes: Any, labels: Sequence[Label]) -> None:
    """Write the names of curves beside the right end of the axes, as near to the ends of the curves as they fit.

    The vertical limits are to be set before.
    """
    size = 10.0
    height = axes.figure.get_figheight() * 72.0 * axes.get_position().height
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [float(to_axes.transform((axes.get_xlim()[1], label.y))[1]) for label in labels]
    places = _apart(ends, 1.3 * size / height)
    for label, end, place in zip(labels, ends, places, strict=True):
        axes.annotate(
            label.text, (1.0, min(max(end, 0.0), 1.0)), (1.045, place), xycoords="axes fraction",
            textcoords="axes fraction", color=label.colour, fontsize=size, va="center", annotation_clip=False,
            fontweight="bold" if label.bold else "normal",
            arrowprops={"arrowstyle": "-", "color": label.colour, "lw": 0.7, "relpos": (0.0, 0.5), "shrinkA": 1,
                        "shrinkB": 0},
        )  # fmt: skip


def _apart(ends: Sequence[float], gap: float) -> list[float]:
    """Return places at least a gap apart, in the order of the ends and near to them, within 0 and 1 if they fit.

    Groups that overlap are joined, and stand about the mean of their ends.
    """
    order = np.argsort(ends, kind="stable")
    groups: list[list[int]] = []
    for i in map(int, order):
        groups.append([i])
        while len(groups) > 1 and _start(groups[-1], ends, gap) < _start(groups[-2], ends, gap) + gap * len(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    places = [0.0] * len(ends)
    for group in groups:
        for k, i in enumerate(group):
            places[i] = _start(group, ends, gap) + gap * k
    return places


def _start(group: Sequence[int], ends: Sequence[float], gap: float) -> float:
    """Return the place of a group's first member."""
    width = gap * (len(group) - 1)
    middle = math.fsum(ends[i] for i in group) / len(group)
    return min(max(middle - width / 2.0, 0.0), max(1.0 - width, 0.0))


def write(figure: Figure, path: Path | IO[bytes], dpi: int = 150) -> None:
    """Write a figure as a PNG with the maker's name, by which the command recognises it.

    Parameters
    ----------
    figure, path, dpi : matplotlib.figure.Figure, Path or binary file, int
        Dots per inch.

    Raises
    ------
    TypeError
        When `figure` is none.

    Examples
    --------
    >>> import io
    >>> from bounds.report import plot
    >>> from spherapprox import EqualMeasurePartition
    >>> plot.write(plot.partition_figure(EqualMeasurePartition(2, 40)), file := io.BytesIO())
    >>> file.getvalue()[1:4]
    b'PNG'
    """
    _checks.instance(figure, "figure", matplotlib.figure.Figure)
    software = f"spherapprox, Matplotlib {matplotlib.__version__}"
    figure.set_dpi(dpi)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)  # `Figure.savefig` would draw all twice for it
    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(path, metadata={"Software": software})
