"""Error against the concentration at a fixed number of tokens, and where four methods put the least.

Heads on S^2 of 500 tokens: too small a concentration blurs the target, too large a one shows the single points. The
concentration is chosen by theory for every such target (`bounds.best_concentration`), by the worst case of these very
points (`worst_case_error`), by the second-order bound of this target at these points, or by measuring. A cross on the
right edge of a figure is a choice beyond it: there a split head is the value of the nearest point::

    python benchmarks/concentration.py --out results
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import rules
from harness import Experiment, main
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import minimize_scalar
from tabulate import tabulate

import bounds
from bounds.records import Prefix
from bounds.report.plot.style import BLUE, GREEN, ORANGE, PURPLE, RED, grid
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, points, targets
from spherapprox.error import worst_case_error

HEADS = {"split": SplitHead, "core": CoreHead}
SETS: dict[str, Callable[[int], EqualMeasurePartition | PointSet]] = {
    "equal measure": partial(EqualMeasurePartition, 2),
    "Fibonacci": points.fibonacci,
    "uniform": lambda n: points.uniform(2, n, rng=0),
}
MARKS = {"theory": (ORANGE, "s"), "worst case": (GREEN, "^"), "second order": (PURPLE, "D"), "measured": (RED, "o")}
LEAST, MOST = 2.0, 2e4
"""Ends of the axis of concentrations."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return targets, point sets and heads."""
    names, sets = (("distance", "harmonic 4"), ("equal measure", "uniform")) if quick else (
        ("distance", "smooth 1.5", "harmonic 4", "field"), tuple(SETS))  # fmt: skip
    return [
        {"target": name, "points": made, "head": head, "n": 200 if quick else 500, "steps": 13 if quick else 33}
        for name in names
        for made in sets
        for head in HEADS
    ]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the curve and the choices: errors in shares of the target's largest value."""
    target, at = rules.make(case["target"], 2), SETS[case["points"]](case["n"])
    scale = rules.size(target)
    some = {name: case[name] for name in ("target", "points", "head", "n")}

    def error(lam: float) -> float:
        with warnings.catch_warnings():  # of kernels too narrow for the points
            warnings.simplefilter("ignore", RuntimeWarning)
            return rules.error(HEADS[case["head"]].from_target(target, at, lam), target) / scale

    grid = np.geomspace(LEAST, MOST, case["steps"])
    errors = [error(lam) for lam in grid]
    curve = [some | {"what": "curve", "concentration": lam, "error": e} for lam, e in zip(grid, errors, strict=True)]
    chosen = choices(case["head"], target, at) | {"measured": least(error, grid, errors)}
    return curve + [some | {"what": way, "concentration": lam, "error": error(lam)} for way, lam in chosen.items()]


def least(function: Callable[[float], float], grid: Any, values: list[float]) -> float:
    """Return the concentration of least value, between the neighbours of the least on a grid."""
    i = int(np.argmin(values))
    ends = math.log(grid[max(i - 1, 0)]), math.log(grid[min(i + 1, len(grid) - 1)])
    found = minimize_scalar(lambda log: function(math.exp(log)), bounds=ends, method="bounded", options={"xatol": 0.02})
    return math.exp(found.x) if found.fun < values[i] else float(grid[i])


def choices(head: str, target: rules.Target, at: Any) -> dict[str, float]:
    """Return the concentrations that need no measured error."""
    if head == "core":
        equal = EqualMeasurePartition(2, len(at)).cell_radius()
        found = bounds.best_concentration(target=target, theorem="sharp-core", points=Prefix(n=len(at), radius=equal))
        return {"theory": found.concentration}
    cells = isinstance(at, EqualMeasurePartition)
    theorems = ("sharp-split-mean", "sharp-split-equal") if cells else ("sharp-split-nearest",)
    known = [bounds.best_concentration(target=target, points=at, theorem=theorem) for theorem in theorems]
    chosen = {"theory": min(known, key=lambda bound: bound.value).concentration}
    grid = np.geomspace(LEAST, MOST, 17)

    def worst(lam: float) -> float:
        return worst_case_error(at, lam, n=5000, refine=4).lower

    chosen["worst case"] = least(worst, grid, [worst(lam) for lam in grid])
    if target.degree is not None:
        smooth = targets.with_constants(target)
        second = bounds.best_concentration(target=smooth, points=at, theorem="second-order-local")
        chosen["second order"] = second.concentration
    return chosen


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw the curves of split and core heads with the choices on them."""
    names = list(dict.fromkeys(row["target"] for row in rows))
    sets = [name for name in ("equal measure", "uniform") if any(row["points"] == name for row in rows)]
    figure = Figure(figsize=(5.6, 2.3 * len(names) + 1.3), layout="constrained")
    panels = figure.subplots(len(names), len(sets), sharex=True, sharey="row", squeeze=False)
    for line, name in zip(panels, names, strict=True):
        for axes, made in zip(line, sets, strict=True):
            panel(axes, [row for row in rows if (row["target"], row["points"]) == (name, made)])
            axes.set_title(f"{name}, {made}", fontsize=10)
        lowest = min(row["error"] for row in rows if row["target"] == name and row["points"] in sets)
        line[0].set_ylim(lowest / 2.0, 3.0)
        line[0].yaxis.set_minor_formatter("")
    for axes in panels[-1]:
        axes.set_xlabel("concentration $\\lambda$")
    figure.supylabel("sup error / largest value", fontsize=10)
    lines = [Line2D([], [], color="k", ls="-"), Line2D([], [], color=BLUE, ls="--")]
    lines += [Line2D([], [], color=colour, marker=mark, ls="") for colour, mark in MARKS.values()]
    lines += [Line2D([], [], color="0.4", marker="x", mew=2, ls="")]
    labels = ["split head", "core head", *MARKS, "beyond the edge"]
    figure.legend(lines, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=10)
    return figure


def panel(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw one target at one set of points."""
    for head, (colour, style) in {"split": ("k", "-"), "core": (BLUE, "--")}.items():
        curve = [row for row in rows if row["head"] == head and row["what"] == "curve"]
        axes.plot([r["concentration"] for r in curve], [r["error"] for r in curve], color=colour, ls=style, lw=1.3)
        for row in rows:
            if row["head"] == head and row["what"] != "curve":
                tone, mark = MARKS[row["what"]]
                beyond = not LEAST <= row["concentration"] <= MOST
                lam = min(max(row["concentration"], LEAST), MOST)
                axes.plot(lam, row["error"], color=tone, marker="x" if beyond else mark, ms=8 if beyond else 6,
                          mew=2 if beyond else 1, clip_on=False, zorder=3)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(LEAST, MOST))
    grid(axes)


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the concentrations that the methods choose for split heads, with the errors there."""
    lines, over = [], dict[str, list[float]]()
    keys = dict.fromkeys((r["target"], r["points"], r["head"]) for r in rows)
    for key in keys:
        found = {r["what"]: r for r in rows if (r["target"], r["points"], r["head"]) == key and r["what"] != "curve"}
        best = found["measured"]["error"]
        cells = []
        for way in MARKS:
            r = found.get(way)
            cells.append(f"{r['error']:.3g} ({number(r['concentration'])})" if r else "")
            if r and key[2] == "split" and way != "measured":
                over.setdefault(way, []).append(r["error"] / best)
        lines.append([*key, *cells])
    headers = ["target", "points", "head", *(f"{way} (lambda)" for way in MARKS)]
    text = tabulate(lines, headers=headers, tablefmt="pipe", disable_numparse=True,
                    colalign=["left"] * 3 + ["right"] * len(MARKS))  # fmt: skip
    ratios = ", ".join(f"{way} {min(some):.2f} to {max(some):.2f}" for way, some in over.items())
    return (
        f"{text}\n\nErrors of heads of {rows[0]['n']} tokens, as shares of the largest value, with the concentration "
        f"in brackets. Split heads at the concentrations chosen err by so many times the least error: {ratios}."
    )


def number(value: float) -> str:
    """Return a concentration in short."""
    return f"{value:.0f}" if value < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


EXPERIMENT = Experiment(
    name="concentration", question="Which concentration gives the least error, and which methods find it?",
    cases=cases, measure=measure, draw=draw, summary=summary,
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
