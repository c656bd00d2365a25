"""Error against prefix length for every rule of coefficients, on the Earth's magnetic field: a table and a figure.

For each prefix length the concentration is the best of a few::

    python benchmarks/coefficients.py --out coefficients.png

``--large 100000`` interpolates at as many points by iteration instead, and at 5000 points beside
`scipy.interpolate.RBFInterpolator` with the same kernel.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from bounds.report.plot.style import BLUE, GREEN, ORANGE, PINK, PURPLE, RED, SKY, Figure, grid
from spherapprox import CoreHead, PointSet, SplitHead, coefficients, points, sup_error, targets
from spherapprox.coefficients import iteration

Head = CoreHead | SplitHead
FIELD = targets.geomagnetic_field(2025.0)
SUP = float(np.abs(FIELD(points.fibonacci(100_000).points)).max())
MANY = (100, 200, 500, 1000, 2000, 5000, 10_000)
FEW = (100, 150, 200, 256, 324, 400, 500, 600, 800, 1000)
NEAR_POLES = np.random.default_rng(0).normal([0.0, 0.0, 3.0], 0.2, (200, 3)) * np.repeat([[1.0], [-1.0]], 100, axis=0)
PROBES = np.vstack([points.fibonacci(1500).points, NEAR_POLES / np.linalg.norm(NEAR_POLES, axis=1, keepdims=True)])


@dataclass(frozen=True)
class Result:
    """The best head of a rule at one prefix length."""

    rule: str
    n: int
    concentration: float
    error: float
    seconds: float


COLOURS = (BLUE, RED, GREEN, ORANGE, PINK, SKY, "0.3", PURPLE)
MARKERS = "osD^vPX<"
OFFSETS = {
    "right": ((9, 0), "left", "center"),
    "left": ((-9, 0), "right", "center"),
    "above": ((4, 8), "right", "bottom"),
    "below": ((4, -8), "right", "top"),
}


@dataclass(frozen=True)
class Rule:
    """How heads of a rule are made, and between which concentrations the best is looked for."""

    name: str
    make: Callable[[PointSet, float], Head]
    prefixes: Sequence[int]
    least: Callable[[int], float]
    largest: Callable[[int], float]
    sets: Callable[[int], PointSet] = points.fibonacci
    place: int = -1
    side: str = "right"


def draw(curves: Sequence[tuple[Rule, list[Result]]]) -> Figure:
    """Draw relative sup errors against the prefix length on logarithmic axes, each curve with its name beside it."""
    figure = Figure(figsize=(8.6, 5.6), layout="constrained")
    axes: Any = figure.add_subplot()
    for (rule, results), colour, marker in zip(curves, COLOURS, MARKERS, strict=False):
        line = [(result.n, result.error) for result in results]
        axes.plot(*zip(*line, strict=True), color=colour, marker=marker, ms=5.5, lw=1.8, mec="white", mew=0.6)
        offset, horizontal, vertical = OFFSETS[rule.side]
        axes.annotate(rule.name, line[rule.place], offset, textcoords="offset points", ha=horizontal, va=vertical,
                      color=colour, fontsize=11, fontweight="bold")  # fmt: skip
    unit = float(np.finfo(float).eps)
    axes.axhline(unit, color="0.45", ls=":", lw=1.5)
    axes.annotate("machine precision", (1.0, unit), (-6, 4), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", va="bottom", color="0.35", fontsize=10)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="prefix length $N$ (control points)", ylabel="relative sup error")
    axes.set_ylim(unit / 4.0, 3.0)
    axes.set_yticks(10.0 ** np.arange(-16, 1, 2))
    axes.set_title("The Earth's magnetic field (IGRF-14, radial) by one attention head\n", fontsize=12.5)
    axes.annotate(
        "straight lines: a power of $N$;   falling ever more steeply: exponential", (0.5, 1.0), (0, 5),
        xycoords="axes fraction", textcoords="offset points", ha="center", va="bottom", color="0.35", fontsize=10.5,
    )  # fmt: skip
    grid(axes)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def gauss(n: int) -> PointSet:
    """Return the product Gauss rule of about n points."""
    return points.gauss_product(2, max(1, round(math.sqrt(2.0 * n)) - 1))


def refined(nodes: PointSet, concentration: float) -> Head:
    """Return a split head after 10 residual steps."""
    return SplitHead.from_target(FIELD, nodes, concentration).refine(FIELD, 10)


def from_rule(head: type[CoreHead] | type[SplitHead], rule: str) -> Callable[[PointSet, float], Head]:
    """Return a function that makes a head of the field by a rule."""
    return functools.partial(_make, head, rule)


def _make(head: type[CoreHead] | type[SplitHead], rule: str, nodes: PointSet, concentration: float) -> Head:
    return head.from_target(FIELD, nodes, concentration, rule)


def small(n: int) -> float:
    """Return a concentration at which 1000 points make a matrix that is singular to rounding."""
    return 6.0


def narrow(n: int) -> float:
    """Return a concentration beyond which least squares are not best."""
    return 24.0


def wide(n: int) -> float:
    """Return a concentration at which kernels are as narrow as points are apart."""
    return max(9.0, n / 8.0)


def rules() -> list[Rule]:
    """Return the rules in the order of the figure's colours."""
    return [
        Rule("core Riemann", from_rule(CoreHead, "riemann"), MANY, lambda n: n / 80, lambda n: n / 5.0, side="above"),
        Rule("split Riemann", from_rule(SplitHead, "riemann"), MANY, lambda n: n / 20, lambda n: n / 2.0, side="below"),
        Rule("split refined (10 steps)", refined, MANY, lambda n: n / 80, lambda n: n / 8.0, side="below"),
        Rule("split interpolation", from_rule(SplitHead, "interpolation"), FEW, small, wide, place=8),
        Rule("core interpolation", from_rule(CoreHead, "interpolation"), FEW, small, wide, place=4, side="left"),
        Rule("core least squares", from_rule(CoreHead, "least_squares"), FEW, small, narrow, place=6, side="left"),
        Rule("core spectral", from_rule(CoreHead, "spectral"), FEW, small, wide, gauss, place=5),
        Rule("split least squares", from_rule(SplitHead, "least_squares"), FEW, small, narrow),
    ]


def relative_error(head: Head) -> float:
    """Return the sup error, relative to the field's."""
    return sup_error(head, FIELD, n=4000, refine=4, workers=-1).lower / SUP


def best(rule: Rule, n: int, trials: int) -> Result:
    """Try concentrations in a geometric progression and return the best head's result."""
    nodes = rule.sets(n)
    tried = []
    for concentration in np.geomspace(rule.least(n), rule.largest(n), trials):
        start = time.perf_counter()
        head = rule.make(nodes, float(concentration))
        seconds = time.perf_counter() - start
        tried.append((float(np.abs(head(PROBES) - FIELD(PROBES)).max()), seconds, head))
    _, seconds, head = min(tried, key=lambda trial: trial[0])
    return Result(rule.name, len(head), head.concentration, relative_error(head), seconds)


def compare(trials: int, out: Path) -> None:
    """Print the table and write the figure, whole or not at all."""
    curves, rows = [], []
    for rule in tqdm(rules(), unit="rule", disable=None):
        results = [best(rule, n, trials) for n in rule.prefixes]
        rows += [[r.rule, r.n, f"{r.concentration:.4g}", f"{r.error:.2e}", f"{r.seconds:.3g}"] for r in results]
        curves.append((rule, results))
    print(tabulate(rows, ["rule", "N", "concentration", "relative sup error", "seconds"], disable_numparse=True))
    figure = draw(curves)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(unfinished := out.with_suffix(".part"), dpi=130, format="png")
    os.replace(unfinished, out)
    print(f"wrote {out}")


def large(n: int, condition: float) -> None:
    """Interpolate at many points by iteration; and at 5000 beside SciPy."""
    from scipy.interpolate import RBFInterpolator

    rows = []
    for count in (5000, n):
        nodes = points.fibonacci(count)
        concentration = coefficients.well_conditioned_concentration(nodes, condition)
        _make(CoreHead, "interpolation", points.fibonacci(5000), concentration * 5000 / count)  # compiles
        with mock.patch.object(iteration, "sums", wraps=iteration.sums) as products:
            start = time.perf_counter()
            head = _make(CoreHead, "interpolation", nodes, concentration)
            seconds = time.perf_counter() - start
        iterations = products.call_count - 1  # the last is of the residual
        f = FIELD(nodes.points)
        residual = float(np.linalg.norm(head(nodes.points) - f) / np.linalg.norm(f))
        peer = ""
        if count == 5000:
            start = time.perf_counter()
            RBFInterpolator(nodes.points, f, kernel="gaussian", epsilon=math.sqrt(concentration / 2.0), degree=-1)
            peer = f"{(time.perf_counter() - start):.3g}"
        error = relative_error(head)
        rows.append(
            [count, f"{concentration:.4g}", iterations, f"{seconds:.3g}", f"{residual:.1e}", f"{error:.1e}", peer]
        )
    head_row = ["N", "concentration", "iterations", "seconds", "residual", "relative sup error", "RBFInterpolator (s)"]
    print(tabulate(rows, head_row, disable_numparse=True))


def main() -> None:
    """Run the comparisons that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=7, help="concentrations tried for each head")
    parser.add_argument("--out", type=Path, default=Path("coefficients.png"))
    parser.add_argument("--large", type=int, help="interpolate at so many points by iteration instead")
    parser.add_argument("--condition", type=float, default=1e4, help="of the kernel matrix, for --large")
    chosen = parser.parse_args()
    if chosen.large is None:
        compare(chosen.trials, chosen.out)
    else:
        large(chosen.large, chosen.condition)


if __name__ == "__main__":
    main()
