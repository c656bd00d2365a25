"""Smoothness against prefix length: errors of heads of random targets of smoothness s, and their rates.

Sums of powers |x - y|^s of distances, which polynomials of degree n approximate within O(n^-s), on S^1, S^2 and S^3,
and an analytic bump. Spectral core heads on Gauss rules can follow this rate, N^(-s/m); heads with positive weights
cannot beat N^(-2/m), the second order of their kernel. Errors are shares of the largest value::

    python benchmarks/smoothness.py --out results
"""

from __future__ import annotations

import math
import statistics
import warnings
from typing import Any

import numpy as np
import rules
from harness import Experiment, main
from matplotlib.figure import Figure
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, grid
from spherapprox import shortest_head, targets
from spherapprox.shortest import SearchOptions

COLOURS = {0.25: PINK, 0.5: ORANGE, 1.0: RED, 1.5: GREEN, 3.0: SKY, 5.0: BLUE, math.inf: PURPLE}
"""By smoothness; infinite: the bump."""
RULES = ("split Riemann", "core spectral")
EPS = 0.01
ROUNDING = 1e-11
"""Errors below it are left out of rates."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return spheres, smoothnesses, rules and random targets."""
    smooth = (0.5, 1.5, 3.0) if quick else tuple(COLOURS)
    counts = [32, 100, 316] if quick else [32, 100, 316, 1000, 3162]
    grid = [(m, s, seed) for m in (1, 2, 3) for s in smooth for seed in range(1 if quick or s == math.inf else 3)]
    fixed = [{"dim": m, "s": s, "seed": seed, "rule": rule, "n": counts} for m, s, seed in grid for rule in RULES]
    tokens = 6 if quick else 24
    free = [{"dim": m, "s": s, "seed": 0, "rule": "split free", "eps": EPS, "max_tokens": tokens}
            for m, s, seed in grid if seed == 0]  # fmt: skip
    return [*fixed, *free]


def make(dim: int, s: float, seed: int) -> rules.Target:
    """Make a target of a smoothness."""
    return rules.make("bump", dim) if s == math.inf else targets.random_smooth(dim, s, rng=seed)


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the error for each number of tokens, or the fewest tokens found for an error."""
    some = {name: case[name] for name in ("dim", "s", "seed", "rule")}
    target = make(case["dim"], case["s"], case["seed"])
    scale = spread(target)
    if case["rule"] in RULES:
        heads = [head for n in case["n"] if (head := rules.best(target, case["rule"], n)) is not None]
        return [some | {"n": len(head), "error": rules.error(head, target) / scale} for head in heads]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the error is not reached
        found = shortest_head(
            target, EPS * scale, search=SearchOptions(max_tokens=case["max_tokens"], starts=1, lower=False)
        )
    return [some | {"n": found.n, "error": rules.error(found.head, target) / scale, "reached": found.reached}]


def spread(target: rules.Target) -> float:
    """Return half the difference of the largest and the least value: what a constant leaves."""
    values = target(rules.probes(target, 20_000))
    return float(np.ptp(values)) / 2.0


def slope(rows: list[dict[str, Any]]) -> float:
    """Return the median over targets of the exponent of N, nan with fewer than three errors above rounding."""
    found = []
    for seed in {row["seed"] for row in rows}:
        some = [(row["n"], row["error"]) for row in rows if row["seed"] == seed and row["error"] > ROUNDING]
        if len(some) > 2:
            found.append(float(np.polyfit(*np.log(some).T, 1)[0]))
    return statistics.median(found) if found else math.nan


def needed(rows: list[dict[str, Any]]) -> str:
    """Return the tokens for the error EPS, the median over targets, between the counts on a line of logarithms."""
    found = []
    for seed in {row["seed"] for row in rows}:
        some = sorted((row["n"], row["error"]) for row in rows if row["seed"] == seed)
        first = next((i for i, (_, error) in enumerate(some) if error <= EPS), None)
        if first is None:
            found.append(math.inf)
        elif first == 0:
            found.append(0.0)
        else:
            (n, error), (more, less) = np.log(some[first - 1 : first + 1])
            found.append(math.exp(n + (more - n) * (error - math.log(EPS)) / (error - less)))
    middle, ends = statistics.median_low(found), sorted(row["n"] for row in rows)
    return f"over {ends[-1]}" if middle == math.inf else f"{middle:.0f}" if middle else f"under {ends[0]}"


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw the median errors against N, a panel for each sphere and rule, a colour for each smoothness."""
    dims = sorted({row["dim"] for row in rows})
    figure = Figure(figsize=(5.6, 2.5 * len(dims) + 1.0), layout="constrained")
    panels = figure.subplots(len(dims), 2, sharex=True, sharey="row", squeeze=False)
    for line, dim in zip(panels, dims, strict=True):
        for axes, rule in zip(line, RULES, strict=True):
            for s, colour in COLOURS.items():
                some = [r for r in rows if (r["dim"], r["rule"], r["s"]) == (dim, rule, s)]
                curve = [(n, statistics.median(r["error"] for r in some if r["n"] == n))
                         for n in sorted({r["n"] for r in some})]  # fmt: skip
                if curve:
                    name = "analytic" if s == math.inf else f"$s$ = {s:g}"
                    axes.plot(*zip(*curve, strict=True), color=colour, marker="o", ms=4, label=name)
            axes.set(xscale="log", yscale="log", xlim=(8, 5e3), ylim=(1e-7, 2.0))
            axes.set_xticks([10, 100, 1000])
            axes.xaxis.set_minor_formatter("")
            axes.set_title(f"{rule}, $S^{dim}$", fontsize=11)
            grid(axes)
    for axes in panels[-1]:
        axes.set_xlabel("tokens $N$")
    figure.supylabel("sup error / half the range", fontsize=10)
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=4, frameon=False, fontsize=10)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return exponents of N beside theory's, and tokens for one per cent."""
    lines = []
    for dim, s in sorted({(row["dim"], row["s"]) for row in rows}):
        by = {
            rule: [r for r in rows if (r["dim"], r["s"], r["rule"]) == (dim, s, rule)]
            for rule in (*RULES, "split free")
        }
        free = by["split free"][0]
        rates = [f"{slope(by[rule]):.2f}" for rule in RULES]
        theory = ["", f"{-2 / dim:.2f}"] if s == math.inf else [f"{-s / dim:.2f}", f"{-min(s, 2.0) / dim:.2f}"]
        fewest = str(free["n"]) if free["reached"] else f"over {free['n']}"
        lines.append([str(dim), "analytic" if s == math.inf else f"{s:g}", rates[1], theory[0], rates[0], theory[1],
                      needed(by["core spectral"]), needed(by["split Riemann"]), fewest])  # fmt: skip
    headers = ["m", "s", "spectral: exponent", "-s/m", "split: exponent", "-min(s, 2)/m", "spectral: N for 1 %",
               "split: N for 1 %", "points that move: N for 1 %"]  # fmt: skip
    text = tabulate(lines, headers=headers, tablefmt="pipe", disable_numparse=True, colalign=["right"] * len(headers))
    pairs = [(float(line[2]), float(line[3])) for line in lines if line[3] and line[2] != "nan"]
    off = statistics.median(abs(found - due) for found, due in pairs)
    seeds = len({row["seed"] for row in rows})
    return (
        f"{text}\n\nMedians of {seeds} random target{'s' * (seeds > 1)}; errors are shares of half the range of "
        f"values. The exponents of spectral core heads differ from -s/m by {off:.2f} in the median."
    )


EXPERIMENT = Experiment(
    name="smoothness", question="How many prefix tokens does a function take as it becomes smoother?",
    cases=cases, measure=measure, draw=draw, summary=summary,
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
