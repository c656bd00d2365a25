"""How many tokens each theorem asks for, from the thesis's to the floor, over accuracies and dimensions.

For functions of Lipschitz constant 1 and sup norm 1, and the thesis with its unspecified constants set to 1::

    python benchmarks/ladder.py --out results
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from harness import Experiment, main
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from tabulate import tabulate

import bounds
from bounds.report.plot.style import BLUE, PINK, RED, grid
from bounds.theorems import THEOREMS, state_all

FAMILIES = {"thesis": (PINK, "-."), "core": (BLUE, "--"), "split": (RED, "-"), "lower": ("0.25", ":")}
EPS, DIM = 0.1, 8
"""The accuracy of the panel over dimensions, the dimension of the panel over accuracies."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the accuracies and dimensions."""
    eps = np.geomspace(1e-3, 0.9, 9 if quick else 31).round(6)
    dims = (1, 2, 4, 8, 16, 64) if quick else (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
    pairs = {(float(e), m) for m in ((DIM,) if quick else (1, 2, 3, 4, DIM)) for e in [*eps, EPS]}
    return [{"eps": e, "dim": m} for e, m in sorted(pairs | {(EPS, m) for m in dims})]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the prefix length by every theorem; nan where a hypothesis fails or nothing is said."""
    rungs = bounds.ladder(case["eps"], dim=case["dim"], theorems=state_all(jackson_constant=1.0))
    return [
        case | {"theorem": b.theorem, "family": THEOREMS[b.theorem].family, "needs": " and ".join(b.failed),
                "log10_n": b.log10 if b.holds and math.isfinite(b.log) else math.nan}
        for b in rungs
    ]  # fmt: skip


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw log10 N over accuracies and over dimensions, a line for each theorem."""
    figure = Figure(figsize=(5.6, 8.4), layout="constrained")
    for axes, over, fixed in zip(figure.subplots(2, 1), ("eps", "dim"), ({"dim": DIM}, {"eps": EPS}), strict=True):
        some = [row for row in rows if fixed.items() <= row.items()]
        for theorem in dict.fromkeys(row["theorem"] for row in some):
            line = [row for row in some if row["theorem"] == theorem]
            colour, style = FAMILIES[line[0]["family"]]
            sizes = [size if (size := row["log10_n"]) > 0.3 else math.nan for row in line]  # from two tokens
            axes.plot([row[over] for row in line], sizes, color=colour, ls=style, lw=1.5)
        axes.set(xscale="log", yscale="log", ylabel="$\\log_{10} N$", ylim=(0.8, None))
        axes.yaxis.set_major_formatter("{x:,g}")
        grid(axes)
    above, below = figure.axes
    above.set(xlabel="sup error $\\epsilon$", title=f"On $S^{{{DIM}}}$")
    above.invert_xaxis()
    dims = [1, 2, 4, 8, 16, 32, 64]
    below.set(xlabel="dimension $m$ of $S^m$", title=f"For $\\epsilon$ = {EPS:g}")
    below.set_xticks(dims, map(str, dims))
    below.minorticks_off()
    lines = [Line2D([], [], color=colour, ls=style, lw=2) for colour, style in FAMILIES.values()]
    names = ("the thesis", "core heads", "split heads", "necessary")
    figure.legend(lines, names, loc="outside upper center", ncols=2, frameon=False, fontsize=11)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the prefix lengths for the common accuracy over dimensions, and what is left between the best two."""
    dims = [m for m in (1, 2, 4, 8, 16, 64) if any(row["dim"] == m for row in rows)]
    found = {(row["theorem"], row["dim"]): row["log10_n"] for row in rows if row["eps"] == EPS}
    names = list(dict.fromkeys(row["theorem"] for row in rows))
    table = [
        [name, *("" if math.isnan(size := found[name, m]) else f"{size:.2f}" for m in dims)]
        for name in names
        if any(not math.isnan(found[name, m]) for m in dims)
    ]
    split = {m: min(found[n, m] for n in names if THEOREMS[n].family == "split" and found[n, m] >= 0.0) for m in dims}
    gaps = ", ".join(f"{split[m] - found['lower', m]:.1f} on S^{m}" for m in dims)
    text = tabulate(table, headers=["log10 N", *(f"m = {m}" for m in dims)], tablefmt="pipe", disable_numparse=True,
                    colalign=["left", *["right"] * len(dims)])  # fmt: skip
    return (
        f"{text}\n\nFor the sup error {EPS:g}: an empty cell is a theorem whose hypotheses fail or that says "
        f"nothing. On S^8 the thesis asks for 10^{found['thesis-core', 8]:.0f} tokens, the "
        f"best split head for 10^{split[8]:.1f}, and 10^{found['lower', 8]:.1f} are necessary. Digits between the last "
        f"two: {gaps}."
    )


EXPERIMENT = Experiment(
    name="ladder", question="How many tokens does each theorem ask for, and how many are necessary?",
    cases=cases, measure=measure, draw=draw, summary=summary,
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
