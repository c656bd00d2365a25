"""Error against prefix length: targets from discontinuous to analytic, every rule of coefficients, the fewest tokens.

On S^1, S^2, S^3, S^4 and S^8, each head at the concentration of least error, beside what is proven for every target of
the same modulus of continuity, and with certificates on S^1 and S^2. Errors are shares of the target's largest value.
The case "limit" is the thesis's reader's first question: f = x_3 on S^2 at lambda = 4, whose split heads come no nearer
than 1 - coth 4 + 1/4, however many their tokens::

    python benchmarks/prefix_length.py --out results
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

import bounds
from bounds.records import Prefix
from bounds.report.plot.style import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, WINE, grid
from spherapprox import EqualMeasurePartition, SplitHead, VonMisesFisher, shortest_head, sup_error, targets
from spherapprox.error import Proof
from spherapprox.shortest import SearchOptions

COUNTS = (10, 32, 100, 316, 1000, 3162)
EPS = 0.01
FREE = {"core free": "core", "split free": "split"}
"""Heads whose control points move: the kinds that `shortest_head` searches."""
STYLES = {
    "core Riemann": (ORANGE, "--", "s"), "split Riemann": (RED, "-", "o"), "core spectral": (GREEN, "--", "^"),
    "core interpolation": (BLUE, "--", "D"), "split interpolation": (SKY, "-", "v"),
    "core least squares": (WINE, "--", "x"), "core free": (PURPLE, "--", "*"), "split free": (PURPLE, "-", "P"),
}  # fmt: skip
LIMIT = VonMisesFisher(2, 4.0).eigenvalue_complement(1)
"""1 - coth 4 + 1/4."""
LOWEST = {"discontinuous": 0.1, "Lipschitz": 1e-3, "C1": 1e-5, "C2": 1e-5}
"""Ends of the vertical axes."""
ONE = ("land", "field")
"""Targets on S^2 alone."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return targets, spheres and rules; numbers of tokens for fixed points, the error wanted for free ones."""
    dims, names = ((1, 2, 8), ("step", "distance", "harmonic 4")) if quick else ((1, 2, 3, 4, 8), tuple(rules.TARGETS))
    most, tokens = (100, 8) if quick else (COUNTS[-1], 24)
    pairs = [(m, name) for m in dims for name in names if m == 2 or name not in ONE]
    fixed = [
        {"target": name, "dim": m, "rule": rule, "n": [n for n in COUNTS if n <= min(most, how.most)]}
        for m, name in pairs
        for rule, how in rules.RULES.items()
    ]
    free = [
        {"target": name, "dim": m, "rule": rule, "eps": EPS, "max_tokens": tokens}
        for m, name in pairs
        if rules.TARGETS[name][0] != "discontinuous" and not (quick and m > 2)
        for rule in FREE
    ]
    theory = [
        {"target": name, "dim": m, "rule": "bounds", "n": [n for n in COUNTS if n <= most]}
        for m, name in pairs
        if rules.TARGETS[name][0] != "discontinuous"
    ]
    return [*fixed, *free, *theory, {"rule": "limit", "n": [100, 10_000] if quick else [100, 10_000, 1_000_000]}]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a case, a row for each number of tokens."""
    if case["rule"] == "limit":
        return limit(case)
    target = rules.make(case["target"], case["dim"])
    some = {name: case[name] for name in ("target", "dim", "rule")} | {"kind": rules.TARGETS[case["target"]][0]}
    parts = theory if case["rule"] == "bounds" else free if case["rule"] in FREE else fixed
    return [some | row for row in parts(case, target)]


def limit(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure split heads of x_3 with more and more tokens at one concentration."""
    height = targets.zonal_harmonic(2, 1)
    found = [SplitHead.from_target(height, EqualMeasurePartition(2, n), 4.0) for n in case["n"]]
    some = {"target": "height", "dim": 2, "rule": "limit"}
    x = np.eye(3)[[2]]  # the error is largest at the poles
    return [
        some | {"n": len(h), "concentration": 4.0, "error": sup_error(h, height, points=x, refine=1).lower}
        for h in found
    ]


def fixed(case: dict[str, Any], target: rules.Target) -> list[dict[str, Any]]:
    """Measure heads at fixed points."""
    heads = [head for n in case["n"] if (head := rules.best(target, case["rule"], n)) is not None]
    different = {len(head): head for head in heads}.values()  # Gauss rules of few lengths
    return [row(head, target, certified=len(head) == 100 and case["rule"] == "split Riemann") for head in different]


def free(case: dict[str, Any], target: rules.Target) -> list[dict[str, Any]]:
    """Measure the heads of all lengths that a search for the fewest tokens tried."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the error is not reached
        found = shortest_head(
            target,
            case["eps"],
            FREE[case["rule"]],
            relative=True,
            search=SearchOptions(max_tokens=case["max_tokens"], starts=1),
        )
    rungs = [row(rung.head, target, certified=found.reached and rung.n == found.n) for rung in found.history]
    least = {"fewest": found.n if found.reached else None, "necessary": found.lower}
    return [rung | least for rung in rungs]


def row(head: rules.Head, target: rules.Target, certified: bool) -> dict[str, Any]:
    """Measure a head; on S^1 and S^2 a proof of its error may take some seconds."""
    scale, upper = rules.size(target), None
    if certified and target.dim <= 2 and (target.lipschitz is not None or target.degree is not None):
        proof = sup_error(head, target, points=rules.probes(target), certified=Proof(max_evaluations=3e5))
        upper = proof.upper / scale if proof.upper <= 2.0 * proof.lower else None  # else it took too long
    return {"n": len(head), "concentration": head.concentration, "error": rules.error(head, target) / scale,
            "upper": upper}  # fmt: skip


def theory(case: dict[str, Any], target: rules.Target) -> list[dict[str, Any]]:
    """Return the bounds for every target of this modulus: errors that suffice, errors that no scheme undercuts."""
    scale, rows = rules.size(target), []
    for n in case["n"]:
        upper = bounds.best_concentration(theorem="sharp-split", target=target, points=Prefix(n=n)).value
        lower = bounds.error_bound(theorem="lower", target=target, points=Prefix(n=n)).value
        rows.append({"n": n, "proven": upper / scale, "floor": lower / scale})
    return rows


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw the errors: all targets on S^2, then three of them on the other spheres."""
    pairs = list(dict.fromkeys((r["target"], r["dim"]) for r in rows if r["rule"] != "limit"))
    shown = [pair for pair in pairs if pair[1] == 2]
    shown += [pair for pair in pairs if pair[1] != 2 and pair[0] in ("distance", "harmonic 4")]
    lines = math.ceil(len(shown) / 2)
    figure = Figure(figsize=(5.6, 1.9 * lines + 1.6), layout="constrained")
    panels = figure.subplots(lines, 2, squeeze=False).ravel()
    for axes, (name, dim) in zip(panels, shown, strict=False):
        panel(axes, [r for r in rows if (r["target"], r["dim"]) == (name, dim)])
        axes.set_title(f"{name}, $S^{dim}$", fontsize=10)
    for axes in panels[len(shown) :]:
        axes.remove()
    for axes in figure.axes[-2:]:
        axes.set_xlabel("tokens $N$")
    figure.supylabel("sup error / largest value", fontsize=10)
    named = {text: line for axes in figure.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named, loc="outside upper center", ncols=2, frameon=False, fontsize=10)
    return figure


def panel(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw the curves of one target on one sphere."""
    for rule, (colour, line, mark) in STYLES.items():
        some = sorted((r["n"], r["error"]) for r in rows if r["rule"] == rule)
        if some:
            least = np.minimum.accumulate([e for _, e in some])
            kept = [i for i in range(len(some)) if not i or least[i] < least[i - 1]] if rule in FREE else slice(None)
            n, e = np.array(some).T
            label = rule.replace("free", "free points")
            axes.plot(n[kept], e[kept], color=colour, ls=line, marker=mark, ms=4, lw=1.3, label=label)
    for name, text in (("proven", "suffices for every such target"), ("floor", "necessary for some such target")):
        some = [(r["n"], r[name]) for r in rows if r["rule"] == "bounds"]
        if some:
            axes.plot(*zip(*some, strict=True), color="0.4", ls="-." if name == "proven" else ":", label=text)
    least = LOWEST.get(next(r["kind"] for r in rows if "kind" in r), 1e-8)
    axes.set(xscale="log", yscale="log", ylim=(least, 4.0), xlim=(0.8, 5e3))
    axes.set_xticks([1, 10, 100, 1000])
    axes.minorticks_off()
    grid(axes)


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the errors of the rules at a common number of tokens, and the fewest tokens found."""
    fixed = [r for r in rows if r["rule"] in rules.RULES]
    n = min(max(r["n"] for r in fixed), 316)
    lines = [line([r for r in rows if (r["target"], r["dim"]) == pair], n)
             for pair in dict.fromkeys((r["target"], r["dim"]) for r in fixed)]  # fmt: skip
    headers = ["target", "kind", "m", "split Riemann", "best rule", "its error", "fewest tokens for 1 %", "necessary"]
    text = tabulate(lines, headers=headers, tablefmt="pipe", disable_numparse=True,
                    colalign=["left", "left", "right", "right", "left", "right", "right", "right"])  # fmt: skip
    proofs = [r["upper"] / r["error"] for r in rows if r.get("upper")]
    last = max((r for r in rows if r["rule"] == "limit"), key=lambda r: r["n"])
    return (
        f"{text}\n\nErrors are shares of the largest value, of heads with about {n} tokens at fixed points; the fewest "
        f"tokens are those of heads whose points move, and the necessary ones of core heads. {len(proofs)} errors on "
        f"S^1 and S^2 are certified, the proven ones {statistics.median(proofs):.3f} times those found (median). At "
        f"lambda = 4 a split head of x_3 with {last['n']:,} tokens errs by {last['error']:.9f}; the limit "
        f"1 - coth 4 + 1/4 is {LIMIT:.12f}."
    )


def line(rows: list[dict[str, Any]], n: int) -> list[str]:
    """Return the line of a target on a sphere."""
    at = {rule: max((r for r in rows if r["rule"] == rule and r["n"] <= 1.02 * n), key=lambda r: r["n"], default=None)
          for rule in rules.RULES}  # fmt: skip
    found = {rule: r["error"] for rule, r in at.items() if r is not None}
    least = min(found, key=lambda rule: found[rule])
    fewest = [r["fewest"] for r in rows if r["rule"] in FREE and r["fewest"] is not None]
    floor = [r["necessary"] for r in rows if r["rule"] == "core free" and r["necessary"] is not None]
    searched = [r["n"] for r in rows if r["rule"] in FREE]
    some = str(min(fewest)) if fewest else f"over {max(searched)}" if searched else ""
    first = rows[0]
    return [first["target"], first["kind"], str(first["dim"]), f"{found['split Riemann']:.2g}", least,
            f"{found[least]:.2g}", some, str(max(floor)) if floor else ""]  # fmt: skip


EXPERIMENT = Experiment(
    name="prefix_length", question="How does the error fall with the number of prefix tokens?",
    cases=cases, measure=measure, draw=draw, summary=summary,
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
