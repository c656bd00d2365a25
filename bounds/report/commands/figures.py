"""The command ``spherapprox figures``: the thesis's figures, with the numbers of their curves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spherapprox import EqualMeasurePartition, __version__

from .._files import write_csv, write_together
from .._progress import each
from .options import add_output, chosen_target, count, show

FIGURES = {
    "head": "4.1: heads on the circle, and the terms that they are sums of",
    "closeness": "4.2: the dot product measures closeness on the sphere, and not off it",
    "kernel": "B.1: the kernel against the angle from its centre",
    "proof": "B.2: from a function to a sum of kernels, in six steps",
    "eigenvalues": "B.3: the kernel's eigenvalues, and bounds of them",
    "decoder": "A.1: the linear functions that decode a virtual token",
}
COLUMNS = ("figure", "panel", "curve", "x", "y")
FILES = {f"{name}.png": b"spherapprox, Matplotlib" for name in FIGURES} | {"figures.csv": ",".join(COLUMNS).encode()}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("--only", nargs="+", choices=list(FIGURES), metavar="FIGURE", help=f"{', '.join(FIGURES)} (default: all)")
    add("--concentrations", type=float, nargs="+", default=[1.0, 5.0, 10.0], help="of the kernels (default: 1 5 10)")
    add("--degrees", type=count, nargs="+", default=[1, 2, 3], help="of the eigenvalues (default: 1 2 3)")
    add("--dim", type=count, default=2, help="m of the S^m of kernels and eigenvalues (default: %(default)s)")
    add("--vocabulary", type=count, default=10, help="symbols that are decoded (default: %(default)s)")
    add("--n", type=count, default=500, help="cells of the proof's partition of S^2 (default: %(default)s)")
    add("--concentration", type=float, default=60.0, help="of the proof's kernel (default: %(default)s)")
    add("--target", default="geomagnetic_field", help="of the proof, on S^2 (default: %(default)s)")
    add_output(parser, "the folder that the figures are written to (default: %(default)s)", "figures")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from .. import plot  # matplotlib is loaded when a figure is asked for

    target = chosen_target(argparse.Namespace(target=options.target, dim=2, year=None))
    drawing: dict[str, Callable[[], Any]] = {
        "head": plot.head_figure,
        "closeness": plot.closeness_figure,
        "kernel": lambda: plot.kernel_figure(options.concentrations, options.dim),
        "proof": lambda: plot.proof_figure(target, EqualMeasurePartition(2, options.n), options.concentration),
        "eigenvalues": lambda: plot.eigenvalue_figure(options.degrees, options.dim),
        "decoder": lambda: plot.decoder_figure(options.vocabulary),
    }
    names = [name for name in FIGURES if options.only is None or name in options.only]
    drawn = {name: drawing[name]() for name in each(names, not options.quiet, "figure")}
    rows = [(name, *row) for name, figure in drawn.items() for row in _curves(figure)]
    writers: dict[str, Callable[[Path], object]] = {
        f"{name}.png": lambda path, figure=figure: plot.write(figure, path)  # type: ignore[misc]
        for name, figure in drawn.items()
    }
    written = write_together(options.out, FILES, writers | {"figures.csv": lambda path: write_csv(path, COLUMNS, rows)})
    said = [{"figure": name, "shows": FIGURES[name]} for name in names]
    text = [f"{line['figure']:<12} {line['shows']}" for line in said]
    show(options, text, {"made_by": f"spherapprox {__version__}", "figures": said}, written)


def _curves(figure: Any) -> Iterator[tuple[str, str, float, float]]:
    """Yield panel, label, x and y of the points of every labelled curve."""
    for axes in figure.axes:
        for line in axes.lines:
            if not (label := str(line.get_label())).startswith("_"):
                for x, y in line.get_xydata():
                    yield axes.get_title().replace("\n", ", "), label, float(x), float(y)
