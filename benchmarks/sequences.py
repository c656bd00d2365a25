"""Heads of sequences with product prefixes: pairs of digits, the magnetic field along a track, errors against bounds.

1. Pairs of handwritten digits. The prefix has all ordered pairs of n labelled images, two tokens each; another task is
   another set of values. Accuracy on 2000 pairs of images that are not among them: the sum, both digits sorted (both
   positions right), and which is larger.
2. Pairs of directions. The largest error on 2000 random pairs, the largest of any function of the same Lipschitz
   constants at any pair that was found (`worst_case_error`), what suffices (at large concentrations, with the best
   coverings) and what is needed for all of them by theorem 7.3: for reversing a pair, for the differences of the
   magnetic field at both (microtesla), and for both values sorted.
3. Seconds of the product form, beside `evaluate` on all control sequences, with the same values.
4. Reversing a pair, and sorting two heights: control sequences beside what theorem 7.3 says suffices and is needed for
   the error reached, and a transformer of one layer (torch), trained by Adam, of as many numbers as the head holds.

The figure has the errors of part 2::

    python benchmarks/sequences.py --out results
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from harness import Experiment, main
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from timing import Timed

from bounds.covering import covering_radius
from bounds.prompts import sequences
from spherapprox import EqualMeasurePartition, sphere, targets
from spherapprox.prompts.sequences import SequenceHead, worst_case_error

Array = NDArray[np.float64]

SIZES, CONTROLS, LARGEST, TRAINED = (100, 300, 1000), (100, 400, 1600), 6400, (20, 40, 80)
PAIRS, STEPS, BATCH = 2000, 3000, 256


def digits(n: int) -> list[dict[str, Any]]:
    """Return accuracies of a prefix of all pairs of n images, for three tasks."""
    x, one_hot = targets.digits()
    labels = one_hot.argmax(axis=1)
    order = np.random.default_rng(0).permutation(len(x))
    known, unseen = order[:1000], order[1000:]
    pairs = unseen[np.random.default_rng(1).integers(0, len(unseen), (PAIRS, 2))]
    a, b = labels[pairs].T
    images, i, j = x[known[:n]], labels[known[:n], None], labels[None, known[:n]]
    # values (n, n, 2, p): one-hot at both positions, or whether the own digit is the larger one
    tasks = {
        "sum": (np.repeat(np.eye(19)[i + j][:, :, None], 2, axis=2), np.stack([a + b] * 2, axis=1)),
        "sorted": (
            np.stack([np.eye(10)[np.minimum(i, j)], np.eye(10)[np.maximum(i, j)]], axis=2),
            np.sort(labels[pairs], axis=1),
        ),
        "larger": (np.eye(2)[np.stack([i > j, i < j], axis=2).astype(int)], np.stack([a > b, a < b], axis=1)),
    }
    rows = []
    for task, (values, wanted) in tasks.items():
        start = time.perf_counter()
        head = SequenceHead([images, images], values, 60.0)
        answers = head(x[pairs]).argmax(axis=2)
        spent = time.perf_counter() - start
        right = np.all(answers == wanted, axis=1) if task != "larger" else answers[:, 0] == wanted[:, 0]
        rows.append({"task": task, "images": n, "tokens": head.n_tokens, "right": right.mean(), "seconds": spent})
    return rows


@dataclass(frozen=True)
class Task:
    """A function of pairs of directions, and the metric and constant of its class."""

    name: str
    function: Callable[[Array], Array]
    metric: str
    lipschitz: float


def tasks() -> dict[str, Task]:
    """Return the functions: reversing, sorting, and two of the magnetic field."""
    field = targets.geomagnetic_field(2025.0)
    assert field.lipschitz is not None

    def values(x: Array) -> Array:
        return np.asarray(field(x.reshape(-1, 3))).reshape(len(x), 2, 1)

    found = [
        Task("reverse", lambda x: x[:, ::-1], "max", 1.0),
        Task("field: differences", lambda x: values(x) - values(x)[:, ::-1], "sum", field.lipschitz),
        Task("field: sorted", lambda x: np.sort(values(x), axis=1), "max", field.lipschitz),
        Task("sort heights", lambda x: np.sort(x[..., 2:], axis=1), "max", 1.0),
    ]
    return {task.name: task for task in found}


def pairs_of_directions() -> Array:
    """Return the pairs at which errors are measured."""
    return sphere.uniform(2, 2 * PAIRS, rng=0).reshape(PAIRS, 2, 3)


def largest(found: Array, wanted: Array) -> float:
    """Return the largest error at any position of any pair."""
    return float(np.linalg.norm(found - wanted, axis=2).max())


def measured(task: Task, n: int, share: float) -> dict[str, Any]:
    """Return the errors of a head with n centres of an equal-measure partition for each token, and the bounds."""
    x = pairs_of_directions()
    cells, concentration = EqualMeasurePartition(2, n), n * share
    head = SequenceHead.from_target(task.function, cells, concentration, length=2)
    error = largest(head(x), task.function(x))
    known: Any = {"metric": task.metric, "lipschitz": task.lipschitz}
    worst = worst_case_error(cells, concentration, length=2, **known).lower
    covering = (2.0 if task.metric == "sum" else 1.0) * task.lipschitz * covering_radius(n, dim=2).value
    needed = sequences.error_bound(dim=2, length=2, n=n, theorem="lower", **known).value
    if not error <= worst:
        raise SystemExit(f"{task.name}, n = {n}: an error of {error} is above the worst case {worst}")
    return {
        "function": task.name, "control sequences": n * n, "concentration": concentration, "error": error,
        "worst of class": worst, "suffices": covering, "needed": needed,
    }  # fmt: skip


def transformer(numbers: int, outputs: int) -> Any:
    """Return the widest transformer of one layer with at most so many numbers, for pairs of directions."""
    import torch

    def made(width: int) -> Any:
        layer = torch.nn.TransformerEncoderLayer(width, 1, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        return torch.nn.Sequential(torch.nn.Linear(4, width), layer, torch.nn.Linear(width, outputs)).double()

    width = 2
    while sum(p.numel() for p in made(width + 1).parameters()) <= numbers:
        width += 1
    torch.manual_seed(0)
    return made(width)


def trained(task: Task, n: int, steps: int) -> dict[str, Any]:
    """Return a head and a transformer of as many numbers, with the bounds for the head's error."""
    import torch

    x = pairs_of_directions()
    wanted, cells = task.function(x), EqualMeasurePartition(2, n)
    head = SequenceHead.from_target(task.function, cells, n / 3.0, length=2)
    outputs = wanted.shape[2]
    numbers = 2 * 3 * n + 2 * outputs * n * n  # keys of both tokens and values of all pairs
    model = transformer(numbers, outputs)

    def run(rows: Array) -> Any:
        place = np.broadcast_to([[-1.0], [1.0]], (len(rows), 2, 1))
        return model(torch.tensor(np.concatenate([rows, place], axis=2)))

    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        rows = sphere.uniform(2, 2 * BATCH, rng).reshape(BATCH, 2, 3)
        loss = (run(rows) - torch.tensor(task.function(rows).copy())).pow(8).mean() ** 0.125
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    error = largest(head(x), wanted)
    log10 = [sequences.prefix_length(error, dim=2, length=2, theorem=t).log10 for t in ("sharp", "lower")]
    with torch.no_grad():
        other = largest(run(x).numpy(), wanted)
    return {
        "function": task.name, "control sequences": n * n, "error": error, "suffices": 10.0 ** log10[0],
        "needed": 10.0 ** log10[1], "numbers": numbers,
        "transformer's numbers": sum(p.numel() for p in model.parameters()), "transformer's error": other,
    }  # fmt: skip


def timed(what: str, dim: int, n: int, count: int) -> dict[str, Any]:
    """Return the seconds of the product form, of `evaluate` on all control sequences, and their disagreement."""
    rng = np.random.default_rng(0)
    points = [sphere.uniform(dim, n, rng=rng) for _ in range(2)]
    head = SequenceHead(points, rng.standard_normal((n, n, 2, 1)), n / 3.0 if dim == 2 else 60.0)
    split, x = head.as_split_head(), sphere.uniform(dim, 2 * count, rng=rng).reshape(count, 2, dim + 1)
    flat = (x / np.sqrt(2.0)).reshape(count, -1)
    ours, theirs = Timed(partial(head, x)), Timed(partial(split, flat))
    best = np.min([(ours(), theirs()) for _ in range(3)], axis=0)
    gap = np.abs(theirs.result.reshape(ours.result.shape) - ours.result).max()
    return {
        "what": what, "tokens": head.n_tokens, "inputs": count, "product (s)": best[0], "evaluate (s)": best[1],
        "ratio": best[1] / best[0], "disagreement": gap,
    }  # fmt: skip


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the digits' prefixes, the tasks on pairs of directions, timings, and the trained transformers."""
    names = ("reverse", "field: differences", "field: sorted")
    few = slice(0, 2 if quick else 3)
    found: list[dict[str, Any]] = [{"part": "digits", "n": n} for n in SIZES[few]]
    found += [{"part": "directions", "task": task, "n": n, "share": 1 / 3} for task in names for n in CONTROLS[few]]
    found += [
        {"part": "trained", "task": task, "n": n, "steps": STEPS // 10 if quick else STEPS}
        for task in ("reverse", "sort heights") for n in TRAINED[: 1 if quick else 3]
    ]  # fmt: skip
    if quick:
        return found
    largest_head = {"part": "directions", "task": names[1], "n": LARGEST, "share": 1 / 6}
    speed = [("directions", 2, 1600, 1000), ("images", 63, 1000, 50)]
    return [*found, largest_head, *({"part": "seconds", "arguments": list(arguments)} for arguments in speed)]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure one case."""
    part = case["part"]
    if part == "digits":
        rows = digits(case["n"])
    elif part == "directions":
        rows = [measured(tasks()[case["task"]], case["n"], case["share"])]
    elif part == "trained":
        rows = [trained(tasks()[case["task"]], case["n"], case["steps"])]
    else:
        rows = [timed(*case["arguments"])]
    return [{"part": part} | row for row in rows]


def panel_of(panel: Any, rows: list[dict[str, Any]], unit: str) -> None:
    """Draw the errors of one function against the number of control sequences."""
    N = [row["control sequences"] for row in rows]
    lines = {
        "suffices": {"color": "#0072B2", "lw": 1.8, "label": "class: proven to suffice"},
        "worst of class": {"color": "#0072B2", "ls": ":", "lw": 1.8, "label": "class: worst function"},
        "error": {"color": "#222222", "marker": "o", "ms": 5, "label": "this function, 2000 pairs"},
        "needed": {"color": "#D55E00", "lw": 1.8, "label": "class: proven to be needed"},
    }
    for name, style in lines.items():
        panel.loglog(N, [row[name] for row in rows], **style)
    panel.set_ylabel(f"largest error{unit}", fontsize=12)
    panel.grid(color="0.92")
    panel.tick_params(labelsize=11)
    panel.spines[["top", "right"]].set_visible(False)


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw reversing, with what one continuous number allows, above the differences of the field."""
    figure = Figure(figsize=(5.6, 7.2), layout="constrained")
    panels: Any = figure.subplots(2, 1, sharex=True)
    names = ("reverse", "field: differences")
    for panel, name, unit in zip(panels, names, ("", " (µT)"), strict=True):
        panel_of(panel, [row for row in rows if (row["part"], row.get("function")) == ("directions", name)], unit)
    panels[0].set_title("Reversing a pair of directions", fontsize=13, loc="left")
    panels[1].set_title("Differences of the magnetic field", fontsize=13, loc="left")
    one = sequences.bottleneck(1, dim=2, length=2).value
    panels[0].axhline(one, color="#7F7F7F", lw=1.4)
    panels[0].annotate("through one continuous number: at least 1", (0.98, one), xycoords=("axes fraction", "data"),
                       ha="right", va="bottom", fontsize=11, color="0.35")  # fmt: skip
    panels[0].set_ylim(top=2.0)
    panels[1].set_xlabel("control sequences in the prefix", fontsize=12)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2, frameon=False, fontsize=11)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return a table of each part, and what came out."""
    parts = {part: [row for row in rows if row["part"] == part] for part in dict.fromkeys(row["part"] for row in rows)}
    tables = []
    for found in parts.values():
        columns = [name for name in found[0] if name != "part"]
        cells = [[v if isinstance(v, str) else f"{v:.3g}" if v % 1 else f"{v:.0f}" for v in map(row.get, columns)]
                 for row in found]  # fmt: skip
        tables.append(tabulate(cells, columns, tablefmt="github", disable_numparse=True))
    ratios = [row["error"] / row["transformer's error"] for row in parts["trained"]]
    right = max(row["right"] for row in parts["digits"] if row["task"] == "sorted")
    return "\n\n".join(tables) + (
        f"\n\nHeads of product prefixes stay below the worst case of their class everywhere, and sort pairs of digits "
        f"with both right in {100 * right:.1f} % of cases. A transformer of as many numbers, trained for its one "
        f"function, has {min(ratios):.2g} to {max(ratios):.2g} times smaller errors than the head in closed form."
    )


EXPERIMENT = Experiment(
    name="sequences",
    question="How many tokens do copying, sorting and differences take, and what do the theorems say?",
    cases=cases, measure=measure, draw=draw, summary=summary, requires=("torch", "sklearn"),
    packages=("torch", "scikit-learn"),
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
