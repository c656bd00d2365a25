"""The README's picture: a frozen layer that computes the magnetic field, and tokens that theorems ask for.

A `torch.nn.MultiheadAttention` of random weights gets the shortest prefix for the radial field of 2025 to 0.1 % and is
drawn as it answers; beside it, the tokens with which any function on S^8 of Lipschitz constant 1 is within 0.1, by the
thesis, by its proof with a constant that is proven, and by this library, and how many are necessary. A minute or two::

    python docs/picture.py --out docs/picture.png
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import bounds
from bounds.report import plot
from bounds.report.plot.maps import draw_map, map_points
from bounds.report.plot.style import BLUE, GREEN, RED, WINE
from spherapprox import SplitHead, shortest_head, targets
from spherapprox.prompts.prefix.torch_modules import program_module
from spherapprox.shortest import SearchOptions

FIELD = targets.geomagnetic_field(2025.0)
ROWS = 121
"""Of the map, from pole to pole."""


def programmed(eps: float) -> tuple[SplitHead, Any]:
    """Return the shortest head for the field, and a random frozen layer that its tokens program."""
    head = shortest_head(FIELD, eps, relative=True, search=SearchOptions(lower=False)).head
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(64, 4, batch_first=True, dtype=torch.float64).requires_grad_(False)
    rng = np.random.default_rng(0)
    embedding, readout = np.linalg.qr(rng.standard_normal((64, 3)))[0], rng.standard_normal(64) / 8.0
    shift = 0.3 * rng.standard_normal(64)
    return head, program_module(layer, head, embedding=embedding, readout=readout, shift=shift, offset=60.0)


def draw_layer(axes: Any, eps: float) -> None:
    """Draw the layer's outputs on Mollweide axes, with a dot at each token."""
    head, module = programmed(eps)
    x = map_points(ROWS)
    with torch.no_grad():
        values = torch.cat([module(part) for part in torch.tensor(x).split(1000)]).numpy()
    error = np.abs(values - FIELD(x)).max()
    if not error <= eps * FIELD.sup_norm:
        raise SystemExit(f"the layer errs by {error}")
    marks = {"s": 55.0, "linewidths": 1.0}
    draw_map(axes, values.reshape(ROWS, -1), head.control_points, marks=marks, coastlines=True)
    axes.set_anchor("N")
    axes.set_title(f"{len(head)} tokens make a frozen layer\ncompute the Earth's magnetic field", fontsize=17, pad=12)
    axes.set_xlabel(f"to {100 * eps:g} %; no weight is trained", fontsize=15, labelpad=10)


def draw_counts(axes: Any) -> None:
    """Draw the tokens of four theorems as bars on an axis of powers of ten."""
    thesis = bounds.theorems.state("thesis-core", jackson_constant=1.0)
    rows = (
        ("thesis, as printed", WINE, bounds.prefix_length(0.1, dim=8, theorem=thesis)),
        ("same, constant proven", RED, bounds.prefix_length(0.1, dim=8, theorem="thesis-core")),
        ("here, proven", GREEN, bounds.prefix_length(0.1, dim=8)),
        ("necessary", BLUE, bounds.prefix_length(0.1, dim=8, theorem="lower")),
    )
    for place, (name, colour, bound) in enumerate(rows):
        digits = 0 if bound.log10 > 100.0 else 1
        axes.barh(place, bound.log10, height=0.34, color=colour)
        axes.text(0.0, place - 0.26, f"{name}: $10^{{{bound.log10:.{digits}f}}}$", fontsize=17, color=colour,
                  fontweight="bold", va="bottom")  # fmt: skip
    axes.set(yticks=[], xticks=[0, 250, 500, 750], ylim=(3.4, -0.85))
    axes.set_xticklabels(["$1$", "$10^{250}$", "$10^{500}$", "$10^{750}$"], fontsize=14)
    axes.set_title("Tokens for every function on $S^8$\nof Lipschitz constant 1, error 0.1", fontsize=17, pad=12)
    axes.spines[["top", "right", "left"]].set_visible(False)


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("picture.png"))
    parser.add_argument("--eps", type=float, default=0.001, help="error of the map over the largest value")
    options = parser.parse_args()
    figure = Figure(figsize=(9.2, 4.0), layout=ConstrainedLayoutEngine(wspace=0.06))
    cells = figure.add_gridspec(1, 2, width_ratios=(1.2, 1.0))
    draw_layer(figure.add_subplot(cells[0], projection="mollweide"), options.eps)
    draw_counts(figure.add_subplot(cells[1]))
    plot.write(figure, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
