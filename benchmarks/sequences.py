"""Heads of sequences with product prefixes: pairs of digits, the magnetic field along a track, errors against bounds.

1. Pairs of handwritten digits. The prefix has all ordered pairs of n labelled images, two tokens each; another task is
   another set of values. Accuracy on 2000 pairs of images that are not among them: the sum, both digits sorted (both
   positions right), and which is larger.
2. Pairs of directions. The largest error on 2000 random pairs, the largest of any function of the same Lipschitz
   constants at any pair that was found (`worst_case_error`), what suffices (at large concentrations, with the best
   coverings) and what is needed for all of them by theorem 7.3: for reversing a pair, for the differences of the
   magnetic field at both (microtesla), and for both values sorted.
3. Seconds of the product form, beside `evaluate` on all control sequences, with the same values.

Some 80 seconds; ``--quick`` takes 10 and leaves out the largest::

    python benchmarks/sequences.py --out docs/sequences.png
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from timing import Timed, machine
from tqdm import tqdm

from bounds import covering_radius, sequences
from spherapprox import EqualMeasurePartition, SequenceHead, sphere, targets
from spherapprox.sequences import worst_case_error

Array = NDArray[np.float64]

SIZES, QUICK = (100, 300, 1000), (100, 300)
CONTROLS, LARGEST = (100, 400, 1600), 6400
PAIRS = 2000


def digits(sizes: tuple[int, ...]) -> list[list[Any]]:
    """Return rows of accuracies: a prefix of all pairs of n images, for three tasks."""
    x, one_hot = targets.digits()
    labels = one_hot.argmax(axis=1)
    order = np.random.default_rng(0).permutation(len(x))
    known, unseen = order[:1000], order[1000:]
    pairs = unseen[np.random.default_rng(1).integers(0, len(unseen), (PAIRS, 2))]
    a, b = labels[pairs].T
    rows = []
    for n in tqdm(sizes, desc="digits"):
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
        for task, (values, wanted) in tasks.items():
            start = time.perf_counter()
            head = SequenceHead([images, images], values, 60.0)
            answers = head(x[pairs]).argmax(axis=2)
            spent = time.perf_counter() - start
            right = (
                np.mean((answers == wanted).all(axis=1)) if task != "larger" else np.mean(answers[:, 0] == wanted[:, 0])
            )
            rows.append([task, n, head.n_tokens, f"{right:.3f}", f"{spent:.2f}"])
    return rows


@dataclass(frozen=True)
class Task:
    """A function of pairs of directions, and the metric and constant of its class."""

    name: str
    function: Callable[[Array], Array]
    metric: str
    lipschitz: float


def tasks() -> list[Task]:
    """Return the functions: reversing, and two of the magnetic field."""
    field = targets.geomagnetic_field(2025.0)
    assert field.lipschitz is not None

    def values(x: Array) -> Array:
        return np.asarray(field(x.reshape(-1, 3))).reshape(len(x), 2, 1)

    return [
        Task("reverse", lambda x: x[:, ::-1], "max", 1.0),
        Task("field: differences", lambda x: values(x) - values(x)[:, ::-1], "sum", field.lipschitz),
        Task("field: sorted", lambda x: np.sort(values(x), axis=1), "max", field.lipschitz),
    ]


@dataclass(frozen=True)
class Point:
    """The errors of one head, and the bounds for its number N of control sequences."""

    task: Task
    n: int
    concentration: float
    error: float
    worst: float
    suffices: float
    needed: float


def measured(task: Task, n: int, share: float) -> Point:
    """Return the errors of a head with n centres of an equal-measure partition for each token."""
    x = sphere.uniform(2, 2 * PAIRS, rng=0).reshape(PAIRS, 2, 3)
    cells, concentration = EqualMeasurePartition(2, n), n * share
    head = SequenceHead.from_target(task.function, cells, concentration, length=2)
    error = np.linalg.norm(head(x) - task.function(x), axis=2).max()
    known: Any = {"metric": task.metric, "lipschitz": task.lipschitz}
    worst = worst_case_error(cells, concentration, length=2, **known).lower
    covering = (2.0 if task.metric == "sum" else 1.0) * task.lipschitz * covering_radius(n, dim=2).value
    needed = sequences.error_bound(dim=2, length=2, n=n, theorem="lower", **known).value
    if not error <= worst:
        raise SystemExit(f"{task.name}, n = {n}: an error of {error} is above the worst case {worst}")
    return Point(task, n, concentration, float(error), worst, covering, needed)


def ratios() -> list[list[Any]]:
    """Return the seconds of the product form, of `evaluate` on all control sequences, and their disagreement."""
    rows = []
    rng = np.random.default_rng(0)
    for what, dim, n, count in (("directions", 2, 1600, 1000), ("images", 63, 1000, 50)):
        points = [sphere.uniform(dim, n, rng=rng) for _ in range(2)]
        head = SequenceHead(points, rng.standard_normal((n, n, 2, 1)), n / 3.0 if dim == 2 else 60.0)
        split, x = head.as_split_head(), sphere.uniform(dim, 2 * count, rng=rng).reshape(count, 2, dim + 1)
        flat = (x / np.sqrt(2.0)).reshape(count, -1)
        ours, theirs = Timed(partial(head, x)), Timed(partial(split, flat))
        best = np.min([(ours(), theirs()) for _ in range(3)], axis=0)
        gap = np.abs(theirs.result.reshape(ours.result.shape) - ours.result).max()
        rows.append(
            [what, head.n_tokens, count, f"{best[0]:.3f}", f"{best[1]:.3f}", f"{best[1] / best[0]:.0f}", f"{gap:.0e}"]
        )
    return rows


def panel_of(panel: Any, points: list[Point], unit: str) -> None:
    """Draw the errors of one function against the number of control sequences."""
    N = [point.n**2 for point in points]
    panel.loglog(N, [p.suffices for p in points], color="#0072B2", lw=1.8, label="class: proven to suffice")
    panel.loglog(N, [p.worst for p in points], color="#0072B2", ls=":", lw=1.8, label="class: worst function")
    panel.loglog(N, [p.error for p in points], "o-", color="#222222", ms=5, label="this function, 2000 pairs")
    panel.loglog(N, [p.needed for p in points], color="#D55E00", lw=1.8, label="class: proven to be needed")
    panel.set_ylabel(f"largest error{unit}", fontsize=12)
    panel.grid(color="0.92")
    panel.tick_params(labelsize=11)
    panel.spines[["top", "right"]].set_visible(False)


def drawn(points: list[Point]) -> Figure:
    """Draw reversing, with what one continuous number allows, above the differences of the field."""
    figure = Figure(figsize=(5.6, 7.2), layout="constrained")
    panels: Any = figure.subplots(2, 1, sharex=True)
    names = ("reverse", "field: differences")
    for panel, name, unit in zip(panels, names, ("", " (µT)"), strict=True):
        panel_of(panel, [point for point in points if point.task.name == name], unit)
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


def main() -> None:
    """Print the tables and write the figure, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("sequences.png"))
    parser.add_argument("--quick", action="store_true", help="leave out the largest prefixes")
    options = parser.parse_args()
    print(machine("numpy", "scipy"))
    accuracies = digits(QUICK if options.quick else SIZES)
    print(tabulate(accuracies, ["task", "images", "tokens of the prefix", "right", "seconds"], disable_numparse=True))
    jobs = [(task, n, 1.0 / 3.0) for task in tasks() for n in CONTROLS[: 2 if options.quick else 3]]
    if not options.quick:
        jobs.append((tasks()[1], LARGEST, 1.0 / 6.0))
    points = [measured(*job) for job in tqdm(jobs, desc="directions")]
    rows = [
        [p.task.name, p.n**2, f"{p.concentration:.0f}", *(f"{v:.3g}" for v in (p.error, p.worst, p.suffices, p.needed))]
        for p in points
    ]
    header = ["function", "control sequences", "concentration", "error", "worst of class", "suffices", "needed"]
    print(tabulate(rows, header, disable_numparse=True))
    header = ["what", "tokens", "inputs", "product (s)", "evaluate (s)", "ratio", "disagreement"]
    print(tabulate(ratios(), header, disable_numparse=True))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    drawn(points).savefig(unfinished := options.out.with_suffix(".part"), dpi=150, format="png")
    os.replace(unfinished, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
