"""Draw the figures of the thesis, and write the numbers of their curves.

Figure 4.1: heads on the circle, and the terms that they are sums of. 4.2: the dot product measures closeness on the
sphere, and not off it. A.1: the linear functions that decode a virtual token. B.1: the kernel against the angle from
its centre. B.2: from a function to a sum of kernels, in six steps. B.3: the kernel's eigenvalues, and their bounds.
5.1: a program that says when there were more ones than zeros. 5.2, 5.3: Listings 1 and 2, variable by variable::

    python benchmarks/thesis_figures.py --out figures
    python benchmarks/thesis_figures.py --only kernel proof --out figures
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from listings import Listings, sequence
from matplotlib.patches import Circle
from numpy.typing import NDArray

from bounds.report import plot
from bounds.report._files import write_csv, write_together
from bounds.report.plot.maps import map_points
from bounds.report.plot.style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, Figure, grid
from bounds.spectral import eigenvalue_bounds
from bounds.theorems.thesis import eigenvalue_lower
from bounds.validation._progress import each
from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    SplitHead,
    Target,
    VonMisesFisher,
    sphere,
    targets,
)
from spherapprox.prompts.recurrent import Input, LinState, Program, step

Array = NDArray[np.float64]

COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, PURPLE, SKY, "0.2")
WIDTH = 5.6
"""Inches, so that labels of 10 points are read on a phone."""
PIXELS = 200
"""Across a globe."""
CONCENTRATIONS = np.geomspace(0.1, 1e3, 401)
"""Where eigenvalues are computed."""
COLUMNS = ("figure", "panel", "curve", "x", "y")


def draw_kernels(concentrations: Sequence[float] = (1.0, 5.0, 10.0), dim: int = 2) -> Figure:
    """Draw von Mises-Fisher kernels against the angle from their centre, and on S^2, each with its own scale (B.1)."""
    kernels = [VonMisesFisher(dim, rate) for rate in concentrations]
    figure = Figure(figsize=(WIDTH, 5.6 if dim == 2 else 3.8), layout="constrained")
    if dim == 2:
        layout: Any = [[f"{k}" for k in range(len(kernels))], ["curves"] * len(kernels)]
        panels = figure.subplot_mosaic(layout, height_ratios=[1.0, 1.0 + 0.5 * len(kernels)])
        for k, kernel in enumerate(kernels):
            draw_globe(panels[f"{k}"], kernel)
    axes: Any = panels["curves"] if dim == 2 else figure.add_subplot()
    degrees = np.linspace(0.0, 180.0, 361)
    for kernel, colour in zip(kernels, COLOURS, strict=False):
        label = f"$\\lambda$ = {kernel.concentration:g}"
        axes.plot(degrees, kernel(np.cos(np.radians(degrees))), color=colour, lw=2, label=label)
    axes.set(xlabel="angle between $x$ and $y$ (degrees)", ylabel="$K_\\lambda(\\langle x, y\\rangle)$")
    axes.set_xticks(range(0, 181, 30))
    axes.set_title(f"The kernel on $S^{{{dim}}}$: 1 on average, peaked at $y$", fontsize=12)
    axes.legend(frameon=False, fontsize=11)
    grid(axes)
    return figure


def draw_globe(axes: Any, kernel: VonMisesFisher) -> None:
    """Draw a kernel of S^2 on the half of the sphere that is seen, with its centre up on the left."""
    u, v = np.meshgrid(*[np.linspace(-1.0, 1.0, PIXELS)] * 2)
    w = np.sqrt(np.maximum(1.0 - u * u - v * v, 0.0))
    centre = sphere.from_latitude_longitude(35.0, -25.0)[[1, 2, 0]]  # right, up, toward
    image = np.where(u * u + v * v < 1.0, kernel(np.clip(u * centre[0] + v * centre[1] + w * centre[2], -1, 1)), np.nan)
    axes.imshow(image, extent=(-1, 1, -1, 1), origin="lower", cmap="YlGnBu", vmin=0.0, vmax=kernel(1.0))
    axes.plot(*centre[:2], "+", color="white", ms=7)
    axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color="0.3", lw=0.8))
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.set_title(f"$\\lambda$ = {kernel.concentration:g}\n0 to {kernel(1.0):.3g}", fontsize=11)
    axes.axis("off")


def draw_eigenvalues(degrees: Sequence[int] = (1, 2, 3), dim: int = 2) -> Figure:
    """Draw the kernel's eigenvalues a_k, Lemma B.2.3's lower bound, and the band between the bounds of 1.4 (B.3)."""
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes: Any = figure.add_subplot()
    for k, colour in zip(degrees, COLOURS, strict=False):
        exact = [float(VonMisesFisher(dim, rate).eigenvalue(k)) for rate in CONCENTRATIONS]
        printed = [math.exp(eigenvalue_lower(k, rate, dim)) for rate in CONCENTRATIONS]
        low, high = np.exp([eigenvalue_bounds(k, rate, dim) for rate in CONCENTRATIONS]).T
        axes.plot(CONCENTRATIONS, exact, color=colour, lw=2, label=f"$a_{{{k}}}$")
        axes.plot(CONCENTRATIONS, printed, color=colour, lw=1.4, ls="--", label=f"B.2.3 for $a_{{{k}}}$")
        axes.fill_between(CONCENTRATIONS, low, high, color=colour, alpha=0.3, lw=0)
    axes.set(xscale="log", ylim=(0.0, 1.02), xlabel="concentration $\\lambda$", ylabel="eigenvalue")
    axes.set_title(f"Eigenvalues of the kernel on $S^{{{dim}}}$, and their bounds", fontsize=12)
    lines = [*axes.lines[::2], axes.lines[1], axes.fill_between([], [], color="0.3", alpha=0.3, lw=0)]
    names = [*(f"$a_{{{k}}}$" for k in degrees), "lower bound, B.2.3", "both bounds, 1.4"]
    axes.legend(lines, names, frameon=False, fontsize=11)
    grid(axes)
    return figure


CLOSENESS = {
    "off the circle": ((0.8, 0.35), (0.5, 0.75), (2.0, 0.6)),
    "on the circle": tuple((math.cos(angle), math.sin(angle)) for angle in (0.6, 1.3, -0.75)),
}
"""x, the nearer and the farther control point."""


def draw_closeness() -> Figure:
    """Draw three points for which the dot product misjudges distance, and three on a circle, where it cannot (4.2)."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels: Any = figure.subplots(1, 2)
    for axes, (title, points) in zip(panels, CLOSENESS.items(), strict=True):
        draw_three(axes, *np.array(points))
        axes.set_title(title)
    return figure


def draw_three(axes: Any, x: Array, near: Array, far: Array) -> None:
    """Draw x and two control points, with their distances and dot products below."""
    axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color="0.75", lw=1.2))
    axes.plot(0.0, 0.0, "+", color="0.4")
    for name, point, colour in (("$x$", x, "black"), ("$p_1$", near, BLUE), ("$p_2$", far, RED)):
        axes.plot(*np.stack([x, point]).T, ls=":", color=colour, lw=1.6)
        arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", point, (0.0, 0.0), arrowprops=arrow)
        place = (4, -10 if name == "$x$" else 3)
        axes.annotate(name, point, place, textcoords="offset points", color=colour, fontsize=12)
    distances, products = [float(np.linalg.norm(x - p)) for p in (near, far)], [float(x @ p) for p in (near, far)]
    sign = "<" if products[0] < products[1] else ">"
    axes.set_xlabel(
        f"distances to x: {distances[0]:.2f} < {distances[1]:.2f}\n"
        f"dot products: {products[0]:.2f} {sign} {products[1]:.2f}", fontsize=11,
    )  # fmt: skip
    axes.set(xlim=(-1.1, 2.3), ylim=(-1.3, 1.3), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)


def draw_decoder(vocabulary: int = 10) -> Figure:
    """Draw the linear functions that decode a virtual token: tangents of (x - 1/2)^2, thick where largest (A.1)."""
    v, figure = vocabulary, Figure(figsize=(WIDTH, 4.4), layout="constrained")
    axes: Any = figure.add_subplot()
    for i in range(v):
        colour = COLOURS[i % (len(COLOURS) - 1)]
        slope, offset = 2.0 * i / v - 1.0, 0.25 - (i / v) ** 2  # (A.3), i from 0
        axes.plot([0.0, 1.0], [offset, slope + offset], color=colour, lw=0.8, alpha=0.7, label=f"symbol {i}")
        ends = np.clip([(i - 0.5) / v, (i + 0.5) / v], 0.0, 1.0)
        axes.plot(ends, slope * ends + offset, color=colour, lw=3.5, solid_capstyle="butt")
        point = (i / v, (i / v - 0.5) ** 2)
        axes.plot(*point, "o", color=colour, ms=5, mec="white", mew=0.6)
        axes.annotate(f"{i}", point, (0, 7), textcoords="offset points", ha="center", color=colour, fontsize=11)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.12, 0.31), xlabel="number that the virtual token holds", ylabel="confidence")
    axes.set_title(f"{v} linear functions under $(x-1/2)^2$:\nsymbol $i$ is the largest near $i/{v}$", fontsize=12)
    grid(axes)
    return figure


def draw_proof(target: Target, cells: EqualMeasurePartition, rate: float, rows: int = 181) -> Figure:
    """Draw the steps from a function on S^2 to a sum of kernels, as six maps (B.2).

    A: f. B: the kernel about a point. C: cells of equal measure. D: f, constant in each cell. E: the kernel, constant
    in each cell. F: the core head that the values of D and the kernels of E add up to.
    """
    x, centres, y = map_points(rows), cells.centers(), sphere.from_latitude_longitude(20.0, 40.0)
    where, f, values = cells.locate(x), target(x), target(centres)
    made, steps = CoreHead.from_target(target, cells, rate)(x), values[where]
    by_point, by_cell = (VonMisesFisher(2, rate)(np.clip(places @ y, -1.0, 1.0)) for places in (x, centres))
    top, unit = float(np.abs(f).max()), f" {target.unit}" if target.unit else ""
    own: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -top, "vmax": top}
    plain: dict[str, Any] = {"cmap": "YlGnBu", "vmin": None, "vmax": None}
    colours = np.random.default_rng(0).permutation(cells.n)[where]
    maps: Any = (
        (f"A  $f$, at most {top:.3g}{unit}", f, own),
        (f"B  kernel, $\\lambda$ = {rate:g}", by_point, plain),
        (f"C  {cells.n} cells of equal measure", colours, plain | {"cmap": "Pastel1"}),
        (f"D  constant in cells, off by {np.abs(steps - f).max():.3g}", steps, own),
        ("E  kernel, constant in cells", by_cell[where], plain),
        (f"F  sum of {cells.n} kernels, off by {np.abs(made - f).max():.3g}", made, own),
    )
    figure = Figure(figsize=(WIDTH + 1.4, 6.6), layout="constrained")
    for place, (title, shown, style) in enumerate(maps):
        axes: Any = figure.add_subplot(3, 2, place + 1, projection="mollweide")
        points = centres if place == 2 and cells.n <= 1000 else None
        marks = {"s": 9.0, "color": "0.15", "edgecolors": "none", "marker": "."}
        plot.draw_map(axes, shown.reshape(rows, -1), points, marks=marks, shading="nearest", **style)
        axes.set_title(title, fontsize=12, loc="left")
    return figure


WAVE = Target(lambda x: 0.6 * x[:, 1] + 0.4 * (4.0 * x[:, 0] ** 3 - 3.0 * x[:, 0]), 1, name="wave", lipschitz=1.8)
"""0.6 sin(t) + 0.4 cos(3 t) on the circle."""


def draw_heads(counts: Sequence[int] = (10, 40), rates: Sequence[float] = (6.0, 60.0)) -> Figure:
    """Draw heads on the circle and the terms that they are sums of, for few and many points (4.1).

    The grey terms, each a kernel about one control point times its value, add up to the core head. The classical head,
    which divides by the sum of the kernels, is near it where this sum is nearly constant.
    """
    figure = Figure(figsize=(WIDTH, 0.6 + 2.7 * len(counts)), layout="constrained")
    panels = figure.subplots(len(counts), len(rates), squeeze=False, sharex=True, sharey=True)
    for row, n in zip(panels, counts, strict=True):
        for axes, rate in zip(row, rates, strict=True):
            draw_terms(axes, EqualMeasurePartition(1, n), rate)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=11)
    for axes in panels[-1]:
        axes.set_xlabel("angle (degrees)", fontsize=11)
    return figure


def draw_terms(axes: Any, cells: EqualMeasurePartition, rate: float) -> None:
    """Draw the wave, the heads of one partition and concentration, and the core head's terms."""
    degrees = np.linspace(0.0, 360.0, 721)
    x = np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what kernels too narrow for their points do, is seen
        core = CoreHead.from_target(WAVE, cells, rate)
    split = ClassicalHead.from_head(SplitHead.from_target(WAVE, cells, rate))
    f, by_core, by_split, b = WAVE(x), core(x), split(x), core.control_points
    axes.plot(degrees, core.values * np.exp(rate * (x @ b.T - 1.0)), color="0.75", lw=0.6)  # (n, N)
    axes.plot([], [], color="0.75", label="terms of the core head")
    axes.plot(degrees, f, color="black", lw=1.6, label="$f$")
    axes.plot(degrees, by_core, color=BLUE, lw=2, label="core head")
    axes.plot(degrees, by_split, color=RED, lw=1.6, ls="--", label="classical head")
    axes.plot(np.degrees(np.arctan2(b[:, 1], b[:, 0])) % 360.0, np.zeros(len(b)), "|", color=ORANGE, ms=7)
    errors = [float(np.abs(h - f).max()) for h in (by_core, by_split)]
    title = f"$N$ = {cells.n}, $\\lambda$ = {rate:g}\ncore off by {errors[0]:.2g}, classical {errors[1]:.2g}"
    axes.set_title(title, fontsize=10.5)
    axes.set_xticks(range(0, 361, 90))
    grid(axes)


def draw_cells() -> Figure:
    """Draw what Listing 1 remembers of a query and of 2 x 2 cells, the third of which has the query (5.2)."""
    prompt = [[0.5, a, b, value] for (a, b), value in zip(product((0.0, 0.5), repeat=2), (3, 1, 4, 2), strict=True)]
    return plot.trace_figure(Listings(bound=4.0).continuous(2, 1), sequence([[0.7, 0.2]], prompt))


def draw_lookup() -> Figure:
    """Draw what Listing 2 remembers, of CAN and the prompt AUS VIE BUL SOF CAN OTT, with 1 for A (5.3)."""
    letters = np.array([[ord(letter) - 64.0] for letter in "CANAUSVIEBULSOFCANOTT"])
    return plot.trace_figure(Listings(bound=64.0).tokens(3), letters)


def draw_majority() -> Figure:
    """Draw the program that says when there were more ones than zeros (5.1)."""
    balance = LinState(2.0 * Input(1, name="bit") - 1.0, 1.0, name="balance")
    return plot.program_figure(Program(step(balance), "more ones than zeros"))


FIGURES: dict[str, Callable[[], Figure]] = {
    "head": draw_heads, "closeness": draw_closeness, "kernel": draw_kernels,
    "proof": lambda: draw_proof(targets.geomagnetic_field(2025.0), EqualMeasurePartition(2, 500), 60.0),
    "eigenvalues": draw_eigenvalues, "decoder": draw_decoder, "majority": draw_majority, "cells": draw_cells,
    "lookup": draw_lookup,
}  # fmt: skip


def curves(figure: Any) -> Iterator[tuple[str, str, float, float]]:
    """Yield panel, label, x and y of the points of every labelled curve."""
    for axes in figure.axes:
        for line in axes.lines:
            if not (label := str(line.get_label())).startswith("_"):
                for x, y in line.get_xydata():
                    yield axes.get_title().replace("\n", ", "), label, float(x), float(y)


def main(argv: list[str] | None = None) -> None:
    """Write the figures and figures.csv, all or none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(FIGURES), metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args(argv)
    drawn = {name: FIGURES[name]() for name in each(options.only or list(FIGURES), None, "figure")}
    rows = [(name, *row) for name, figure in drawn.items() for row in curves(figure)]
    writers: dict[str, Callable[[Path], object]] = {
        f"{name}.png": lambda path, figure=figure: plot.write(figure, path)  # type: ignore[misc]
        for name, figure in drawn.items()
    }
    written = write_together(options.out, {}, writers | {"figures.csv": lambda path: write_csv(path, COLUMNS, rows)})
    print(*(f"wrote {path}" for path in written), sep="\n")


if __name__ == "__main__":
    main()
