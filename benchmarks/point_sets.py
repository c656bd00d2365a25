"""How good are the makers of control points: covering radius, separation, quadrature error and worst case against N.

Covering radii are proven (upper ends of `PointSet.covering_interval`), over the angle of a cap of measure
1/N, which no N points undercut. Separation is the least distance over the same angle. The quadrature error is the
largest of polynomials of degree ``(N/2)^(1/m)`` at most and mean square 1 (`quadrature_error`), with the maker's own
weights. W is the largest error of a split head over all targets of Lipschitz constant 1 (`worst_case_error`), at the
best of four concentrations, with equal weights; over the angle too::

    python benchmarks/point_sets.py --out results
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Experiment, main
from makers import MAKERS
from matplotlib.figure import Figure
from tabulate import tabulate

from bounds.covering import covering_radius
from bounds.report.plot.style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, WINE, count_axis, grid
from spherapprox.error import worst_case_error

SIZES = {2: (30, 100, 300, 1000), 3: (30, 100, 300, 1000), 8: (30, 100, 300)}
NAMES = {
    "partition": BLUE, "partition, relaxed": "0.1", "fibonacci": ORANGE, "greedy": PURPLE, "gauss_product": PINK,
    "lattice_cover": WINE, "partition, centroid": GREEN, "partition, smallest-cap": SKY, "sobol": RED, "uniform": "0.5",
}  # fmt: skip
QUANTITIES = {
    "covering": "covering radius / cap angle", "separation": "least distance / cap angle",
    "quadrature": "quadrature error", "worst": "worst case W / cap angle",
}  # fmt: skip


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the makers, spheres and numbers of points."""
    sizes = {2: (30, 100, 300), 3: (30, 100)} if quick else SIZES
    return [{"dim": dim, "n": n, "maker": maker} for dim, counts in sizes.items() for n in counts for maker in NAMES]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure the points of a maker, if it has any of this number."""
    dim, maker = case["dim"], case["maker"]
    made = MAKERS[maker](dim, case["n"], 0)
    if isinstance(made, str):
        return []
    n = len(made)
    angle = covering_radius(n, dim=dim, method="lower").value
    covering = made.covering_interval()
    concentrations = dim * np.geomspace(2.0, 500.0, 4) / angle**2
    return [{
        "dim": dim, "maker": maker, "asked": case["n"], "n": n, "angle": angle, "covering": covering.upper / angle,
        "separation": made.smallest_distance() / angle,
        "quadrature": made.quadrature_error(max(1, int((n / 2) ** (1.0 / dim)))),
        "worst": min(worst_case_error(made.points, c, n=2000, refine=8).lower for c in concentrations) / angle,
    }]  # fmt: skip


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw a row of panels for each sphere, a panel for each quantity."""
    dims = list(dict.fromkeys(row["dim"] for row in rows))
    figure = Figure(figsize=(5.6 * 1.5, 2.6 * len(QUANTITIES)), layout="constrained")
    panels: Any = figure.subplots(len(QUANTITIES), len(dims), squeeze=False)
    for column, dim in zip(panels.T, dims, strict=True):
        here = [row for row in rows if row["dim"] == dim]
        for panel, quantity in zip(column, QUANTITIES, strict=True):
            count_axis(panel, [row["asked"] for row in here])
            panel.set_xlim(left=min(row["n"] for row in here) / 1.25)
            for maker, colour in NAMES.items():
                line = [(row["n"], row[quantity]) for row in here if row["maker"] == maker]
                if line:
                    panel.plot(*zip(*line, strict=True), "o-", ms=4, lw=1.4, color=colour, label=maker)
            if quantity == "quadrature":
                panel.set_yscale("log")
                panel.set_ylim(0.5 * min(row[quantity] for row in here if row[quantity] > 1e-12), 1.5)
                panel.annotate("gauss_product: 0", (0.03, 0.03), xycoords="axes fraction", color=PINK, fontsize=10)
            panel.tick_params(labelsize=10)
            panel.spines[["top", "right"]].set_visible(False)
            grid(panel)
        column[0].set_title(f"$S^{{{dim}}}$", fontsize=13)
        column[-1].set_xlabel("control points $N$", fontsize=11)
    for panel, label in zip(panels[:, 0], QUANTITIES.values(), strict=True):
        panel.set_ylabel(label, fontsize=10.5)
    handles = {
        name: line for panel in panels.flat for line, name in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper left", ncols=3, frameon=False, fontsize=10.5)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the table at the largest number of points, and the best makers by each quantity."""
    last = {(row["dim"], row["maker"]): row for row in rows}
    cells = [
        [f"S^{dim}", maker, row["n"], *(f"{row[quantity]:.3g}" for quantity in QUANTITIES)]
        for (dim, maker), row in last.items()
    ]
    table = tabulate(cells, ["", "points", "N", *QUANTITIES.values()], tablefmt="github", disable_numparse=True)
    said = []
    for dim in dict.fromkeys(row["dim"] for row in rows):
        here = [row for (own, _), row in last.items() if own == dim]
        best = {q: (max if q == "separation" else min)(here, key=lambda row, q=q: row[q])["maker"] for q in QUANTITIES}
        said.append(f"on S^{dim} {best['covering']} covers best, {best['separation']} is the most separated, "
                    f"{best['quadrature']} integrates best and {best['worst']} has the least worst case")  # fmt: skip
    text = "; ".join(said)
    return f"{table}\n\n{text[0].upper()}{text[1:]}."


EXPERIMENT = Experiment(
    name="point_sets",
    question="Which makers of control points cover, separate and integrate best?",
    cases=cases, measure=measure, draw=draw, summary=summary,
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
