"""The thesis's figures of the kernel, its eigenvalues, the dot product, and the decoder of virtual tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Circle

from spherapprox import _checks, sphere
from spherapprox._types import Float64
from spherapprox.vmf import VonMisesFisher

from ...spectral import eigenvalue_bounds
from ...theorems.thesis import eigenvalue_lower
from .style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, Figure, grid

COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, PURPLE, SKY, "0.2")
WIDTH = 5.6
"""Inches, so that labels of 10 points are read on a phone."""
PIXELS = 200
"""Across a globe."""
CONCENTRATIONS = np.geomspace(0.1, 1e3, 401)
"""Where eigenvalues are computed."""
LARGEST_VOCABULARY = 50
"""Tangents that a figure shows apart."""


def kernel_figure(concentrations: Sequence[float] = (1.0, 5.0, 10.0), dim: int = 2) -> Figure:
    """Draw von Mises-Fisher kernels against the angle from their centre, and on S^2 (Figure B.1).

    Parameters
    ----------
    concentrations : sequence of float
        At most eight, each at least 0.
    dim : int
        The manifold's dimension m of S^m.

    Returns
    -------
    matplotlib.figure.Figure
        Densities with respect to the measure of total 1. The globes are those of dim 2, each with its own scale.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or outside its range.

    Examples
    --------
    >>> from bounds.report import plot
    >>> curves = plot.kernel_figure((1, 5, 10)).axes[-1].lines
    >>> [f"{curve.get_ydata()[0]:.13g}" for curve in curves]
    ['2.313035285499', '10.00045401991', '20.00000004122']
    """
    m = _checks.dimension(dim)
    rates = _few(concentrations, "concentrations")
    kernels = [VonMisesFisher(m, _checks.concentration(rate)) for rate in rates]
    globes = m == 2
    figure = Figure(figsize=(WIDTH, 5.6 if globes else 3.8), layout="constrained")
    if globes:
        layout: Any = [[f"{k}" for k in range(len(kernels))], ["curves"] * len(kernels)]
        panels = figure.subplot_mosaic(layout, height_ratios=[1.0, 1.0 + 0.5 * len(kernels)])
        for k, kernel in enumerate(kernels):
            _draw_globe(panels[f"{k}"], kernel)
    axes: Any = panels["curves"] if globes else figure.add_subplot()
    degrees = np.linspace(0.0, 180.0, 361)
    for kernel, colour in zip(kernels, COLOURS, strict=False):
        label = f"$\\lambda$ = {kernel.concentration:g}"
        axes.plot(degrees, kernel(np.cos(np.radians(degrees))), color=colour, lw=2, label=label)
    axes.set(xlabel="angle between $x$ and $y$ (degrees)", ylabel="$K_\\lambda(\\langle x, y\\rangle)$")
    axes.set_xticks(range(0, 181, 30))
    axes.set_title(f"The kernel on $S^{{{m}}}$: 1 on average, peaked at $y$", fontsize=12)
    axes.legend(frameon=False, fontsize=11)
    grid(axes)
    return figure


def _few(values: Sequence[Any], name: str) -> list[Any]:
    """Return the entries of a sequence of at most as many as there are colours."""
    found = list(values)
    if not 1 <= len(found) <= len(COLOURS):
        raise ValueError(f"'{name}' must have 1 to {len(COLOURS)} entries to be drawn, got {len(found)}")
    return found


def _draw_globe(axes: Any, kernel: VonMisesFisher) -> None:
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


def eigenvalue_figure(degrees: Sequence[int] = (1, 2, 3), dim: int = 2) -> Figure:
    """Draw the kernel's eigenvalues a_k against the concentration, between their bounds (Figure B.3).

    Parameters
    ----------
    degrees : sequence of int
        At most eight degrees k, each at least 1.
    dim : int
        The manifold's dimension m of S^m.

    Returns
    -------
    matplotlib.figure.Figure
        Lines are a_k, dashes Lemma B.2.3's lower bound as the thesis has it; the band lies between the bounds of 1.4.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or outside its range.

    Examples
    --------
    >>> from bounds.report import plot
    >>> exact, printed = plot.eigenvalue_figure(degrees=[1]).axes[0].lines[:2]
    >>> [f"{float(curve.get_ydata()[200]):.11f}" for curve in (exact, printed)]  # at concentration 10
    ['0.90000000412', '0.86118742081']
    """
    m = _checks.dimension(dim)
    orders = [_checks.integer(k, "degrees", minimum=1, maximum=10**6) for k in _few(degrees, "degrees")]
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes: Any = figure.add_subplot()
    for k, colour in zip(orders, COLOURS, strict=False):
        exact = [float(VonMisesFisher(m, rate).eigenvalue(k)) for rate in CONCENTRATIONS]
        printed = [math.exp(eigenvalue_lower(k, rate, m)) for rate in CONCENTRATIONS]
        low, high = np.exp([eigenvalue_bounds(k, rate, m) for rate in CONCENTRATIONS]).T
        axes.plot(CONCENTRATIONS, exact, color=colour, lw=2, label=f"$a_{{{k}}}$")
        axes.plot(CONCENTRATIONS, printed, color=colour, lw=1.4, ls="--", label=f"B.2.3 for $a_{{{k}}}$")
        axes.fill_between(CONCENTRATIONS, low, high, color=colour, alpha=0.3, lw=0)
    axes.set(xscale="log", ylim=(0.0, 1.02), xlabel="concentration $\\lambda$", ylabel="eigenvalue")
    axes.set_title(f"Eigenvalues of the kernel on $S^{{{m}}}$, and their bounds", fontsize=12)
    band = axes.fill_between([], [], color="0.3", alpha=0.3, lw=0)
    lines = [*axes.lines[::2], axes.lines[1], band]
    axes.legend(
        lines, [*(f"$a_{{{k}}}$" for k in orders), "lower bound, B.2.3", "both bounds, 1.4"], frameon=False, fontsize=11
    )
    grid(axes)
    return figure


CLOSENESS = {
    "off the circle": ((0.8, 0.35), (0.5, 0.75), (2.0, 0.6)),
    "on the circle": tuple((math.cos(angle), math.sin(angle)) for angle in (0.6, 1.3, -0.75)),
}
"""x, the nearer and the farther control point."""


def closeness_figure() -> Figure:
    """Draw three points for which the dot product misjudges distance, and three on a circle, where it cannot (4.2).

    Returns
    -------
    matplotlib.figure.Figure
        In the plane the farther control point has the larger dot product with x; on the circle it has the smaller one.

    Examples
    --------
    >>> from bounds.report import plot
    >>> for axes in plot.closeness_figure().axes:
    ...     print(axes.get_xlabel().splitlines()[0])
    distances to x: 0.50 < 1.23
    distances to x: 0.69 < 1.25
    """
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels: Any = figure.subplots(1, 2)
    for axes, (title, points) in zip(panels, CLOSENESS.items(), strict=True):
        _draw_closeness(axes, np.array(points), title)
    return figure


def _draw_closeness(axes: Any, points: Float64, title: str) -> None:
    """Draw x and two control points, with their distances and dot products below."""
    x, near, far = points
    axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color="0.75", lw=1.2))
    axes.plot(0.0, 0.0, "+", color="0.4")
    for name, point, colour in (("$p_1$", near, BLUE), ("$p_2$", far, RED)):
        axes.plot(*np.stack([x, point]).T, ls=":", color=colour, lw=1.6)
        axes.annotate(
            "", point, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        )
        axes.annotate(name, point, (4, 3), textcoords="offset points", color=colour, fontsize=12)
    axes.annotate("", x, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0})
    axes.annotate("$x$", x, (4, -10), textcoords="offset points", fontsize=12)
    distances, products = [float(np.linalg.norm(x - p)) for p in (near, far)], [float(x @ p) for p in (near, far)]
    sign = "<" if products[0] < products[1] else ">"
    axes.set_xlabel(
        f"distances to x: {distances[0]:.2f} < {distances[1]:.2f}\n"
        f"dot products: {products[0]:.2f} {sign} {products[1]:.2f}", fontsize=11,
    )  # fmt: skip
    axes.set(xlim=(-1.1, 2.3), ylim=(-1.3, 1.3), xticks=[], yticks=[], aspect="equal", title=title)
    axes.spines[:].set_visible(False)


def decoder_figure(vocabulary: int = 10) -> Figure:
    """Draw the linear functions that decode a virtual token: tangents of (x - 1/2)^2 (Figure A.1).

    Parameters
    ----------
    vocabulary : int
        Number V of symbols, 2 to 50.

    Returns
    -------
    matplotlib.figure.Figure
        Symbol i is the largest function within 1 / (2 V) of i / V: there its line is thick.

    Raises
    ------
    TypeError, ValueError
        If the vocabulary is no whole number or outside its range.

    Examples
    --------
    >>> from bounds.report import plot
    >>> tangent = plot.decoder_figure(10).axes[0].lines[0]  # of symbol 0: 1/4 - x
    >>> print(tangent.get_xydata()[[0, -1]])
    [[ 0.    0.25]
     [ 1.   -0.75]]
    """
    v = _checks.integer(vocabulary, "vocabulary", minimum=2, maximum=LARGEST_VOCABULARY)
    figure = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    axes: Any = figure.add_subplot()
    colours = [COLOURS[i % (len(COLOURS) - 1)] for i in range(v)]
    for i, colour in enumerate(colours):
        slope, offset = 2.0 * i / v - 1.0, 0.25 - (i / v) ** 2  # (A.3), i from 0
        axes.plot([0.0, 1.0], [offset, slope + offset], color=colour, lw=0.8, alpha=0.7, label=f"symbol {i}")
        ends = np.clip([(i - 0.5) / v, (i + 0.5) / v], 0.0, 1.0)
        axes.plot(ends, slope * ends + offset, color=colour, lw=3.5, solid_capstyle="butt")
        axes.plot(i / v, (i / v - 0.5) ** 2, "o", color=colour, ms=5, mec="white", mew=0.6)
        axes.annotate(
            f"{i}", (i / v, (i / v - 0.5) ** 2), (0, 7), textcoords="offset points", ha="center", color=colour,
            fontsize=11 if v <= 20 else 7,
        )  # fmt: skip
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.12, 0.31), xlabel="number that the virtual token holds", ylabel="confidence")
    axes.set_title(f"{v} linear functions under $(x-1/2)^2$:\nsymbol $i$ is the largest near $i/{v}$", fontsize=12)
    grid(axes)
    return figure
