"""Which form of the thesis's conditional stands noise of the weights, in its programs and in ours.

After Figure 5.4: Gaussian noise on all weights and biases of the compiled networks that are not 0, for its Listings 1
(25 functions, 5 x 5 cells of [0, 1]^2, 10 queries: the mean Euclidean distance of the answer to the value of the
query's cell, two numbers from [0, 1]) and 2 (25 dictionaries of 20 pairs of 10 tokens, 5 queries: the share of wrong
tokens). The conditional is (5.7), (5.9) or (5.10), whole or with what is needed of it; steps are as printed, or exact;
lambda is 10^10, or the least power of two that the values need. `Grid` and `Dictionary` are the library's own::

    python benchmarks/conditionals.py --out results
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
from harness import Experiment, main
from listings import Listings, noisy, sequence
from matplotlib.figure import Figure
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, RED, SKY, grid
from spherapprox.prompts.recurrent import Network
from spherapprox.prompts.recurrent.programs import Dictionary, Grid

SIGMAS = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
FORMS = {"relu": "(5.7)", "step": "(5.9)", "product": "(5.10)"}
LENGTH, PAIRS, CELLS, LEAST = 10, 20, 5, {"Listing 1": 2.0, "Listing 2": 512.0}
STYLES = {
    "(5.7)": (RED, "-"), "(5.7), needed": (RED, "--"), "(5.9)": (ORANGE, "-"), "(5.9), needed": (ORANGE, "--"),
    "(5.10)": (GREEN, "-"), "(5.10), needed": (GREEN, "--"), "Grid": (BLUE, "-"), "Dictionary": (BLUE, "-"),
    "Dictionary, plain": (SKY, "-"),
}  # fmt: skip


@cache
def network_of(program: str, form: str, steps: str, bound: float) -> Network:
    """Return the network of a case."""
    if program == "Listing 1" and form == "Grid":
        return Grid(2, 2).network
    if form.startswith("Dictionary"):
        return Dictionary(LENGTH, 20, robust=form == "Dictionary").network
    name, _, needed = form.partition(", ")
    kind = next(kind for kind, label in FORMS.items() if label == name)
    programs = Listings(kind, bool(needed), steps == "exact", bound)
    return (programs.continuous(2, 2) if program == "Listing 1" else programs.tokens(LENGTH)).compile()


def asked(program: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return sequences of queries and a prompt, and the answers that are right."""
    if program == "Listing 1":
        corners = np.array([*product(range(CELLS), repeat=2)]) / CELLS
        values, cells = rng.random((len(corners), 2)), rng.integers(0, len(corners), 10)
        queries = (corners[cells] + rng.uniform(0.05, 0.95, (10, 2)) / CELLS)[:, None]
        prompt = np.hstack([np.full((len(corners), 1), 1.0 / CELLS), corners, values])
    else:
        keys = rng.permutation(np.unique(rng.integers(1, 21, (PAIRS + 20, LENGTH)), axis=0))[:PAIRS]
        values, cells = rng.integers(1, 21, keys.shape), rng.integers(0, PAIRS, 5)
        queries, prompt = keys[cells][:, :, None], np.hstack([keys, values]).reshape(-1, 1)
    return np.stack([sequence(query, prompt) for query in queries]), values[cells]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure a form at a noise: the mean over functions or dictionaries."""
    program = case["program"]
    network, errors = network_of(program, case["form"], case["steps"], case["lambda"]), []
    for seed in range(case["seeds"]):
        rng = np.random.default_rng(seed)
        x, right = asked(program, rng)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = noisy(network, case["sigma"], rng)(x)
        if program == "Listing 1":
            errors.append(np.linalg.norm(outputs[:, -1] - right, axis=1).mean())
        else:
            errors.append(100.0 * np.mean(np.rint(outputs[:, -LENGTH:, 0]) != right))
    return [case | {"layers": len(network.layers), "width": network.width, "error": float(np.mean(errors))}]


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return programs, forms and noises."""
    found = []
    for program, least in LEAST.items():
        own = [("Grid", "exact", least)] if program == "Listing 1" else [
            ("Dictionary", "exact", 32.0), ("Dictionary, plain", "exact", 32.0)
        ]  # fmt: skip
        rows = [
            (label + part, steps, 0.0 if label == "(5.10)" else bound)
            for steps, bound in (("printed", 1e10), ("printed", least), ("exact", least))
            for label, part in product(FORMS.values(), ("", ", needed"))
            if not (label == "(5.10)" and bound == 1e10)
        ]
        sigmas = (0.0, 1e-7) if quick else SIGMAS
        found += [
            {
                "program": program,
                "form": form,
                "steps": steps,
                "lambda": bound,
                "sigma": sigma,
                "seeds": 2 if quick else 25,
            }
            for (form, steps, bound), sigma in product(rows + own, sigmas)
        ]
    return found


def curves(rows: list[dict[str, Any]], program: str) -> dict[tuple[str, str, float], dict[float, float]]:
    """Return errors by noise, by form, steps and lambda."""
    found: dict[tuple[str, str, float], dict[float, float]] = {}
    for row in rows:
        if row["program"] == program:
            found.setdefault((row["form"], row["steps"], row["lambda"]), {})[row["sigma"]] = float(row["error"])
    return found


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw errors against noise: both programs, with the steps as printed and exact ones."""
    figure = Figure(figsize=(5.6, 13.6), layout="constrained")
    panels: Any = figure.subplots(4, 1)
    for axes, (program, steps) in zip(panels, product(LEAST, ("printed", "exact")), strict=True):
        for (form, kind, bound), errors in curves(rows, program).items():
            if kind == steps and bound != 1e10:
                sigmas = np.array([sigma for sigma in errors if sigma > 0.0])
                colour, dash = STYLES[form]
                axes.plot(sigmas, [errors[s] for s in sigmas], dash, marker="o", ms=4, color=colour, label=form)
        axes.set(xscale="log", xlabel="standard deviation of the noise")
        axes.set_ylabel("distance to the value" if program == "Listing 1" else "wrong tokens (%)")
        if program == "Listing 1":
            axes.set(yscale="log", ylim=(1e-13, 1e3))
        axes.set_title(f"{program}, steps {'as printed' if steps == 'printed' else 'that are exact'}", loc="left")
        axes.legend(frameon=False, fontsize=10, loc="upper left" if steps == "exact" else "lower right")
        grid(axes)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the table: a line for each form, a column for each noise."""
    sigmas = sorted({float(row["sigma"]) for row in rows})
    lines = []
    for program in LEAST:
        for (form, steps, bound), errors in curves(rows, program).items():
            lam = "" if form.startswith("(5.10)") or form[0] != "(" else f"{bound:g}"
            lines.append([program, form, steps, lam, *(f"{errors[sigma]:.3g}" for sigma in sigmas)])
    headers = ["program", "conditional", "steps", "lambda", *(f"{sigma:g}" for sigma in sigmas)]
    lookups = curves(rows, "Listing 2")
    stood = {
        name: max(
            (s for key, errors in lookups.items() if chosen(*key) for s, e in errors.items() if e <= 1.0), default=-1
        )
        for name, chosen in (
            ("printed", lambda form, steps, lam: steps == "printed"),
            ("exact", lambda form, steps, lam: steps == "exact" and form[0] == "("),
            ("own", lambda form, steps, lam: form == "Dictionary"),
        )
    }
    return (
        f"{tabulate(lines, headers, tablefmt='github', disable_numparse=True)}\n\n"
        "Errors of Listing 1 are distances of answers to the values of cells, those of Listing 2 wrong tokens in "
        f"percent. At most 1 % of the tokens are wrong up to a noise of {stood['printed']:g} with printed steps, "
        f"whatever the conditional, {stood['exact']:g} with exact ones, and {stood['own']:g} for `Dictionary`: "
        "what steps do matters, more than the form of the conditional."
    )


EXPERIMENT = Experiment(
    name="conditionals",
    question="Which form of a conditional in a recurrent program stands noise of the weights?",
    cases=cases,
    measure=measure,
    draw=draw,
    summary=summary,
)

if __name__ == "__main__":
    main(EXPERIMENT)
