"""The thesis's figures of heads: terms and sums on the circle, and the steps of the proof as maps of S^2."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from spherapprox import ClassicalHead, CoreHead, SplitHead, _checks, sphere
from spherapprox._types import Float64
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target
from spherapprox.vmf import VonMisesFisher

from .maps import map_grid
from .style import BLUE, ORANGE, RED, Figure, grid
from .thesis import WIDTH

MOST_CELLS = 20_000
CENTRE = (20.0, 40.0)
"""Latitude and longitude of the point at which the kernel is drawn."""


def proof_figure(
    target: Target, partition: EqualMeasurePartition, concentration: float, *, resolution: int = 181
) -> Figure:
    """Draw the steps from a function on S^2 to a sum of kernels, as six maps (Figure B.2).

    Parameters
    ----------
    target : Target
        f, with dim 2 and one output.
    partition : EqualMeasurePartition
        With dim 2 and at most 20000 cells.
    concentration : float
        lambda of the kernel.
    resolution : int
        Points from pole to pole.

    Returns
    -------
    matplotlib.figure.Figure
        A: f. B: the kernel about one point x. C: cells of equal measure. D: f, constant in each cell. E: the kernel of
        x, constant in each cell. F: the core head that the values of D and the kernels of E add up to. D and F name
        their largest errors on the map.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or outside its range, or not on S^2.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox import EqualMeasurePartition, targets
    >>> field = targets.zonal_harmonic(2, 3)
    >>> figure = plot.proof_figure(field, EqualMeasurePartition(2, 200), 20.0, resolution=37)
    >>> figure.axes[5].get_title(loc="left")
    'F  sum of 200 kernels, off by 0.222'
    """
    _checks.same_dim(_checks.instance(target, "target", Target).dim, "target", 2, "to be drawn as a map")
    cells = _checks.instance(partition, "partition", EqualMeasurePartition)
    _checks.same_dim(cells.dim, "partition", 2, "to be drawn as a map")
    if cells.n > MOST_CELLS:
        raise ValueError(f"'partition' must have at most {MOST_CELLS} cells to be drawn, got {cells.n}")
    kernel = VonMisesFisher(2, _checks.concentration(concentration))
    latitude, longitude, x = map_grid(resolution)
    truth = np.asarray(target(x), dtype=float).reshape(len(x), -1)
    _checks.shaped(truth, "target", (len(x), 1), remedy="draw one output at a time")
    centre, centres, where = sphere.from_latitude_longitude(*CENTRE), cells.centers(), cells.locate(x)
    steps = np.asarray(target(centres), dtype=float).reshape(-1)[where]
    head = CoreHead.from_target(target, cells, kernel.concentration)
    made = np.asarray(head(x), dtype=float).reshape(-1)
    peaks = [np.asarray(kernel(np.clip(rows @ centre, -1.0, 1.0))) for rows in (x, centres)]
    f = truth[:, 0]
    top, unit = float(np.abs(f).max()), f" {target.unit}" if target.unit else ""
    maps = (
        (f"A  $f$, at most {top:.3g}{unit}", f, "RdBu_r"),
        (f"B  kernel, $\\lambda$ = {kernel.concentration:g}", peaks[0], "YlGnBu"),
        (f"C  {cells.n} cells of equal measure", np.random.default_rng(0).permutation(cells.n)[where], "Pastel1"),
        (f"D  constant in cells, off by {np.abs(steps - f).max():.3g}", steps, "RdBu_r"),
        ("E  kernel, constant in cells", peaks[1][where], "YlGnBu"),
        (f"F  sum of {cells.n} kernels, off by {np.abs(made - f).max():.3g}", made, "RdBu_r"),
    )
    figure = Figure(figsize=(WIDTH + 1.4, 6.6), layout="constrained")
    for place, (title, values, colours) in enumerate(maps):
        axes: Any = figure.add_subplot(3, 2, place + 1, projection="mollweide")
        limits = {"vmin": -top, "vmax": top} if colours == "RdBu_r" else {}
        axes.pcolormesh(np.radians(longitude), np.radians(latitude), values.reshape(len(latitude), -1), cmap=colours,
                        shading="nearest", rasterized=True, **limits)  # fmt: skip
        if place == 2 and cells.n <= 1000:
            _draw_points(axes, centres)
        axes.set_title(title, fontsize=12, loc="left")
        axes.set(xticks=[], yticks=[])
    return figure


def _draw_points(axes: Any, points: Float64) -> None:
    """Draw points (n, 3) on Mollweide axes."""
    latitude, longitude = sphere.to_latitude_longitude(points, degrees=False)
    axes.plot(longitude, latitude, ".", color="0.15", ms=3)


WAVE = Target(lambda x: 0.6 * x[:, 1] + 0.4 * (4.0 * x[:, 0] ** 3 - 3.0 * x[:, 0]), 1, name="wave", lipschitz=1.8)
"""0.6 sin(t) + 0.4 cos(3 t) on the circle."""


def head_figure(
    target: Target = WAVE, counts: Sequence[int] = (10, 40), concentrations: Sequence[float] = (6.0, 60.0)
) -> Figure:
    r"""Draw heads on the circle and the terms that they are sums of, for few and many control points (Figure 4.1).

    Parameters
    ----------
    target : Target
        f, with dim 1 and one output.
    counts : sequence of int
        Numbers N of control points, a row for each.
    concentrations : sequence of float
        lambda of the kernels, a column for each.

    Returns
    -------
    matplotlib.figure.Figure
        The grey terms, each a kernel about one control point times its value, add up to the core head. The classical
        head, which divides by the sum of the kernels, is near it where this sum is nearly constant.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or outside its range, or the target not on S^1.

    Examples
    --------
    >>> from bounds.report import plot
    >>> print(plot.head_figure(counts=[40], concentrations=[60.0]).axes[0].get_title())
    $N$ = 40, $\lambda$ = 60
    core off by 0.033, classical 0.033
    """
    _checks.same_dim(_checks.instance(target, "target", Target).dim, "target", 1, "to be drawn as a curve")
    rates = [_checks.concentration(rate) for rate in concentrations]
    sizes = [_checks.integer(n, "counts", minimum=1, maximum=1000) for n in counts]
    if not rates or not sizes:
        raise ValueError("'counts' and 'concentrations' must have an entry to be drawn")
    figure = Figure(figsize=(WIDTH, 0.6 + 2.7 * len(sizes)), layout="constrained")
    panels = figure.subplots(len(sizes), len(rates), squeeze=False, sharex=True, sharey=True)
    for row, n in zip(panels, sizes, strict=True):
        for axes, rate in zip(row, rates, strict=True):
            _draw_heads(axes, target, EqualMeasurePartition(1, n), rate)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=11)
    for axes in panels[-1]:
        axes.set_xlabel("angle (degrees)", fontsize=11)
    return figure


def _draw_heads(axes: Any, target: Target, cells: EqualMeasurePartition, rate: float) -> None:
    """Draw a target on the circle, the heads of one partition and concentration, and the core head's terms."""
    degrees = np.linspace(0.0, 360.0, 721)
    x = np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    f = _checks.shaped(np.asarray(target(x), dtype=float).reshape(len(x), -1), "target", (len(x), 1))[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what kernels too narrow for their points do, is seen
        core = CoreHead.from_target(target, cells, rate)
    split = ClassicalHead.from_head(SplitHead.from_target(target, cells, rate))
    b, values = core.control_points, np.asarray(core.values).reshape(-1)
    terms = values * np.exp(rate * (x @ b.T - 1.0))  # (n, N)
    by_core, by_split = (np.asarray(head(x), dtype=float).reshape(-1) for head in (core, split))
    axes.plot(degrees, terms, color="0.75", lw=0.6)
    axes.plot([], [], color="0.75", label="terms of the core head")
    axes.plot(degrees, f, color="black", lw=1.6, label="$f$")
    axes.plot(degrees, by_core, color=BLUE, lw=2, label="core head")
    axes.plot(degrees, by_split, color=RED, lw=1.6, ls="--", label="classical head")
    axes.plot(np.degrees(np.arctan2(b[:, 1], b[:, 0])) % 360.0, np.zeros(len(b)), "|", color=ORANGE, ms=7)
    errors = [float(np.abs(h - f).max()) for h in (by_core, by_split)]
    axes.set_title(
        f"$N$ = {cells.n}, $\\lambda$ = {rate:g}\ncore off by {errors[0]:.2g}, classical {errors[1]:.2g}", fontsize=10.5
    )
    axes.set_xticks(range(0, 361, 90))
    grid(axes)
