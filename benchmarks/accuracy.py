"""How many digits come out: worst errors beside what is promised, from special functions to proofs.

Special functions are held against 60 digits (tests/reference/accuracy.py has the tables and prints each of them by
region), sums, heads and gradients against long double, torch's modules against heads; a certificate's error is the
width of what it proves. What is not installed is left out::

    python benchmarks/accuracy.py --quick
    python benchmarks/accuracy.py --out results
"""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import missing
from harness import Experiment, main
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate

from bounds.report.plot.style import BLUE, RED
from spherapprox import CoreHead, SplitHead, sphere
from spherapprox.summation import explain_attention, explain_sum


def tables() -> Any:
    """Return the module tests/reference/accuracy.py, which has the name of this one."""
    folder = Path(__file__).parents[1] / "tests" / "reference"
    sys.path.append(str(folder))  # behind this folder: it imports its neighbour
    spec = importlib.util.spec_from_file_location("reference_accuracy", folder / "accuracy.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["reference_accuracy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = tables()
Array = NDArray[Any]
Row = dict[str, Any]

EPS = 2.0**-52
UNITS = {"log_iv": EPS, "iv_ratio_inverse": 1e-15, "gegenbauer": 8 * EPS, "gegenbauer_derivative": 8 * EPS,
         "gegenbauer_derivative_bound": 2 * EPS}  # fmt: skip
"""What an error of 1 is, in the tables whose unit is not 1."""
SLOW = ("mean_angle", "shift_variation", "shifted_mean_angle")
METHODS = {"dense": (1.0, 1e2, 1e6), "truncated": (1e3, 1e6), "harmonic": (1.0, 1e2, 1e4), "lowrank": (0.1, 2.0)}
"""Concentrations for which each method of `evaluate` is made."""
LIMITS = {"float64": 2e-15, "float32": 5e-7}
"""What the docstring of `evaluate` promises for values of one sign, near control points, by default."""
HEADS = {"core": CoreHead, "split": SplitHead}
PARTS = {"special": "special functions", "evaluate": "evaluate", "attention": "attention", "head": "heads",
         "gradient": "gradients", "torch": "torch modules", "certificate": "certificates"}  # fmt: skip


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the functions, sums, heads and certificates; torch's modules where torch is installed."""
    tables = [table.name for table in reference.tables()]
    some = [name for name in tables if not (quick and name.removeprefix("log ") in SLOW)]
    found: list[dict[str, Any]] = [{"part": "special", "what": name, "points": 1 if quick else 30} for name in some]
    for method, rates in METHODS.items():
        for dim in (2,) if quick else (2, 1) if method == "harmonic" else (2, 8, 63):
            found += [{"part": "evaluate", "what": method, "dim": dim, "rate": rate} for rate in rates]
    found += [{"part": "attention", "what": "attention", "dim": s} for s in (8, 64)]
    for part in ("head", "gradient"):
        for kind in HEADS:
            for dim in (2,) if quick else (1, 2, 8, 63):
                found += [{"part": part, "what": kind, "dim": dim, "rate": rate} for rate in (1.0, 1e2, 1e4, 1e8)]
    if not missing(("torch",)):
        found += [{"part": "torch", "dim": dim, "rate": rate} for dim in (2, 63) for rate in (10.0, 1e3, 1e6)]
    return found + [{"part": "certificate", "index": i} for i in ((0, 7) if quick else range(11))]


def measure(case: dict[str, Any]) -> list[Row]:
    """Return the worst error of a case beside its limit."""
    rows = MEASURES[case["part"]](case)
    return [{"part": case["part"], "dim": case.get("dim"), "concentration": case.get("rate"), **row} for row in rows]


def of_table(case: dict[str, Any]) -> list[Row]:
    """Return the worst error of a special function, over all regions and seams."""
    table = next(table for table in reference.tables() if table.name == case["what"])
    worst = max(reference.measure(table, case["points"]), key=lambda result: result.error)
    unit = UNITS.get(table.name, 1.0)
    said = {"scale": table.unit, "at": f"({table.arguments}) = {worst.at}"}
    return [{"what": table.name, "error": worst.error * unit, "limit": table.limit * unit, **said}]


def near(rows: Array, rate: float, rng: np.random.Generator) -> Array:
    """Return points at distances about rate^(-1/2) from others."""
    x = rows + min(1.0, rate**-0.5) * rng.standard_normal(rows.shape) / math.sqrt(rows.shape[1])
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def problem(dim: int, rate: float, dtype: str = "float64", n: int = 400) -> tuple[Array, Array, Array]:
    """Return points near control points, these, and positive values."""
    rng = np.random.default_rng(dim)
    b = sphere.uniform(dim, n, rng=rng)
    return near(b[:100], rate, rng).astype(dtype), b.astype(dtype), rng.uniform(0.5, 1.5, n).astype(dtype)


def weights(x: Array, b: Array, rate: float, shift: bool) -> Array:
    """Return the kernels (m, n) in long double, each row over its largest if `shift`."""
    x, b = (a.astype(np.longdouble) for a in (x, b))
    exponent = -np.longdouble(rate) / 2 * np.square(x[:, None] - b).sum(axis=2)
    found: Array = np.exp(exponent - exponent.max(axis=1, keepdims=True) * shift)
    return found / found.sum(axis=1, keepdims=True) if shift else found


def of_method(case: dict[str, Any]) -> list[Row]:
    """Return the error of a sum by one method, and the bound that its plan proves."""
    rows = []
    for dtype in ("float64", "float32"):
        x, b, values = problem(case["dim"], case["rate"], dtype)
        values = (values - 1.0).astype(dtype)  # of both signs
        rtol = 1e-12 if dtype == "float64" else 1e-5
        try:
            found, plan = explain_sum(x, b, values, case["rate"], method=case["what"], rtol=rtol)
        except ValueError:  # this method is not made for it
            continue
        kernels = weights(x, b, case["rate"], shift=False)
        error, size = abs(found - kernels @ values.astype(np.longdouble)), kernels @ abs(values.astype(np.longdouble))
        worst = float(
            (np.maximum(error - plan.atol, 0.0) / (size.max() if plan.scale == "largest row" else size)).max()
        )
        rows.append({"what": f"{case['what']}, {dtype}", "error": worst, "limit": plan.rtol, "scale": plan.scale})
    return rows


def of_attention(case: dict[str, Any]) -> list[Row]:
    """Return the error of attention with keys of any length, and the largest bound that its plan proves."""
    from dot_product import errors, trained

    rows = [a.astype(np.float64) for a in trained(1024, case["dim"])]
    output, plan = explain_attention(*rows)
    limit = float(np.max(plan.error))
    return [
        {
            "what": f"{case['dim']} columns",
            "error": float(errors(output, rows).max()),
            "limit": limit,
            "scale": "absolute",
        }
    ]


def of_head(case: dict[str, Any]) -> list[Row]:
    """Return the relative error of a head at points near control points, by default."""
    rows = []
    for dtype, limit in LIMITS.items():
        x, b, values = problem(case["dim"], case["rate"], dtype)
        head = HEADS[case["what"]](b, values, case["rate"])
        wanted = weights(x, b, case["rate"], case["what"] == "split") @ values.astype(np.longdouble)
        worst = float((abs(head(x) - wanted) / abs(wanted)).max())
        rows.append({"what": f"{case['what']}, {dtype}", "error": worst, "limit": limit, "scale": "relative"})
    return rows


def of_gradient(case: dict[str, Any]) -> list[Row]:
    """Return the error of a head's gradient in a cluster, beside lambda^(1/2) and the size of the values."""
    rng = np.random.default_rng(0)
    centre = sphere.uniform(case["dim"], 1, rng=rng)
    b, x = (near(np.repeat(centre, n, axis=0), case["rate"], rng) for n in (12, 100))
    values = rng.uniform(0.5, 1.5, len(b))
    head = HEADS[case["what"]](b, values, case["rate"])
    split = case["what"] == "split"
    kernels, y = weights(x, b, case["rate"], split), x.astype(np.longdouble)
    shares = kernels * (values - (kernels @ values)[:, None] * split)
    exact = case["rate"] * np.einsum("mn,mnd->md", shares, b.astype(np.longdouble) - y[:, None])
    exact -= (exact * y).sum(axis=1, keepdims=True) / np.square(y).sum(axis=1, keepdims=True) * y
    size = case["rate"] ** 0.5 * (np.ptp(values) if split else kernels @ values)
    worst = float((np.linalg.norm((head.gradient(x, method="differences") - exact).astype(float), axis=1) / size).max())
    return [{"what": case["what"], "error": worst, "limit": 1e-15, "scale": "lambda^0.5 sum |v_k| e_k, or the range"}]


def of_torch(case: dict[str, Any]) -> list[Row]:
    """Return the largest difference of torch's modules from the head, over the largest value."""
    from attention import DTYPES, allowed, differences, recipe

    return [
        {"what": f"{name}, {dtype}", "error": error, "limit": allowed(case["rate"], dtype), "scale": "max |v_k|"}
        for dtype in DTYPES
        for name, error in differences(recipe(case["dim"], 500, case["rate"]), dtype, "cpu").items()
    ]


def of_certificate(case: dict[str, Any]) -> list[Row]:
    """Return how far the proven upper end of a sup error lies above the error found, as a part of it."""
    from certified import cases, proof

    name, head, target, slack, most = list(cases(large=False))[case["index"]]
    found = proof(head, target, slack, most)
    said = {"scale": "the error found", "at": f"{found.lower:.4g} to {found.upper:.4g}"}
    return [{"what": f"{name}, N = {len(head)}", "error": found.upper / found.lower - 1.0, "limit": slack, **said}]


MEASURES = {"special": of_table, "evaluate": of_method, "attention": of_attention, "head": of_head,
            "gradient": of_gradient, "torch": of_torch, "certificate": of_certificate}  # fmt: skip


def worst_of(rows: list[Row]) -> list[Row]:
    """Return the row of the largest part of its limit, for each thing measured."""
    worst: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row["part"], row["what"]
        if key not in worst or row["error"] / row["limit"] > worst[key]["error"] / worst[key]["limit"]:
            worst[key] = row
    return sorted(worst.values(), key=lambda row: list(PARTS).index(row["part"]))


def digits(error: float) -> float:
    """Return the decimal digits that an error leaves, at most 17."""
    return min(17.0, -math.log10(max(error, 1e-17)))


def draw(rows: list[Row]) -> Figure:
    """Draw the digits that come out and those that are promised, a line for each thing measured."""
    lines = worst_of(rows)
    heights: list[float] = []
    for before, row in zip([None, *lines], lines, strict=False):
        heights.append((heights[-1] + 1.0 if heights else 0.0) + (before is None or before["part"] != row["part"]))
    figure = Figure(figsize=(5.6, 1.2 + 0.2 * (heights[-1] + 1.0)), layout="constrained")
    axes = figure.add_subplot()
    for y, row in zip(heights, lines, strict=True):
        kept = row["error"] <= row["limit"]
        found, promised = digits(row["error"]), digits(row["limit"])
        axes.plot([promised, found], [y, y], color="0.8", lw=1.5, zorder=1)
        axes.plot(promised, y, "|", color="black", ms=9, mew=2)
        axes.plot(found, y, "o" if kept else "X", color=BLUE if kept else RED, ms=6)
        if row["part"] not in [other["part"] for other in lines[: lines.index(row)]]:
            axes.text(0.0, y - 1.0, PARTS[row["part"]], fontsize=11, fontweight="bold", va="center")
    axes.set_yticks(heights, [row["what"] for row in lines], fontsize=10)
    axes.set(ylim=(heights[-1] + 0.8, -0.8), xlim=(0.0, 17.3), xlabel="decimal digits")
    axes.set_title("Digits at the worst place: found (dots),\npromised (bars)", fontsize=12)
    axes.set_xticks(range(0, 17, 2))
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.tick_params(top=True, labeltop=True)
    return figure


def summary(rows: list[Row]) -> str:
    """Return a line for each thing measured, and how many keep their promise."""
    lines = worst_of(rows)
    kept = [row["error"] <= row["limit"] for row in lines]
    table = [
        [PARTS[row["part"]], row["what"], f"{row['error']:.1e}", f"{row['limit']:.1e}", "yes" if fine else "NO",
         row["scale"].replace("|", "\\|"), f"dim {row['dim']}, λ {rate:g}" if (rate := row["concentration"]) else ""]
        for row, fine in zip(lines, kept, strict=True)
    ]  # fmt: skip
    header = ["of", "what", "worst error", "promised", "kept", "relative to", "at"]
    broken = [row["what"] for row, fine in zip(lines, kept, strict=True) if not fine]
    said = f"{sum(kept)} of {len(lines)} keep what is promised{'; not ' if broken else ''}{', '.join(broken)}."
    if lack := missing(("torch",)):
        said += f" Torch's modules are left out: {lack}."
    return f"{tabulate(table, header, tablefmt='github', disable_numparse=True)}\n\n{said}"


EXPERIMENT = Experiment(
    name="accuracy",
    question="How many digits come out, and how many are promised?",
    cases=cases,
    measure=measure,
    draw=draw,
    summary=summary,
    packages=("mpmath", "torch"),
)

if __name__ == "__main__":
    main(EXPERIMENT)
