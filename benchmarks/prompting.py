"""What a prefix can be trained to do, and as many numbers elsewhere: tables 3.1 and 3.2 of the thesis, reduced.

A decoder of one layer (`small_tasks.py`, 29 430 numbers) reads five symbols out of six and writes five. Accuracy is the
share of 2000 random inputs that it answers without a mistake.

- A task that it never saw (3.1; one head): it learns to sort, then a prefix, of tokens at the input of the attention or
  of keys and values, or a change of rank 1 of its four matrices (LoRA), or all of it is trained to sort downwards.
- Tasks that it knows (3.2; four heads): it learns four tasks and is not told which is asked, then a prefix of one token
  is trained for each.

Of two random starts of each prefix and of LoRA the one of the lower loss counts; rates of learning are the best of
those from 0.005 to 0.1 on the first seed.

On the first trained model it is checked that what a prefix does is what equations 3.5 to 3.7 say (figures A.2 and A.3):
attention over the content changes by one factor for each query, and outputs become a mixture with a bias. Figures 3.1
to 3.3 are numbers: at which symbols the row looks that asks for the first answer, and which part of the variance of the
attention's outputs there is between tasks, before (by the task of what is written) and after prefixes select them.

`skills.py` has table 3.3 and what follows it. Weights of LLaMA and GPT-2 cannot be had here: the trained layers stand
for theirs. It takes some 6 minutes for each seed on one core::

    python benchmarks/prompting.py --out docs/prompting.png
"""

from __future__ import annotations

import argparse
import copy
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from small_tasks import (
    LENGTH,
    SYMBOLS,
    Decoder,
    Draw,
    accuracy,
    answered,
    low_rank,
    numbers,
    prefixed,
    train,
    unseen,
)
from tabulate import tabulate

from spherapprox.prompts.prefix import as_layer

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7F7F7F"
TASKS = {
    "ascending": lambda x: x.sort(1)[0],
    "descending": lambda x: x.sort(1, descending=True)[0],
    "add 1": lambda x: (x + 1) % SYMBOLS,
    "add 2": lambda x: (x + 2) % SYMBOLS,
}
TOKENS, PAIRS = "prefix of 16 tokens", "prefix of 16 keys and values"
LIMITS = {"prefix of 1 token": (0.0, 0.05), TOKENS: (0.0, 0.5), "LoRA of rank 1": (0.9, 1.0)}
"""Between which the means over the seeds of accuracies on the unseen task must lie."""


@dataclass
class Result:
    """What one seed found: (numbers trained, accuracy) by method, accuracies by trained and asked task, and checks."""

    unseen: dict[str, tuple[int, float]] = field(default_factory=dict)
    known: dict[str, dict[str, float]] = field(default_factory=dict)
    checks: dict[str, float] = field(default_factory=dict)
    attention: dict[str, dict[str, float]] = field(default_factory=dict)


def sampler(*tasks: str) -> Draw:
    """Return a function that draws inputs, a task for each, and its answers."""

    def draw(size: int) -> tuple[Any, Any]:
        x = torch.randint(0, SYMBOLS, (size, LENGTH))
        answers = torch.stack([TASKS[task](x) for task in tasks])
        return x, answers[torch.randint(0, len(tasks), (size,)), torch.arange(size)]

    return draw


def tuned(start: Callable[[], Decoder], task: str, rate: float, starts: int = 2) -> Decoder:
    """Return the model of the lowest loss on a task, of several that are trained from random starts."""
    models = [start() for _ in range(starts)]
    losses = [train(model, sampler(task), 1500, rate) for model in models]
    return models[int(np.argmin(losses))]


def checks(model: Decoder, changed: Decoder) -> dict[str, float]:
    """Return by how much a trained prefix breaks equations 3.5 to 3.7, which is rounding: in float64."""
    x, y = sampler("descending")(64)
    with torch.no_grad():
        rows = model.layers[0].norm1(model.embedded(torch.cat([x, y[:, :-1]], 1))).double()
    prefixed_attention, attention = (
        copy.deepcopy(changed.layers[0].self_attn).double(),
        copy.deepcopy(model.layers[0].self_attn).double(),
    )
    wide, own = (
        module(rows, rows, rows, attn_mask=unseen(rows.shape[1]), average_attn_weights=False)[1].detach().numpy()
        for module in (prefixed_attention, attention)
    )
    length = prefixed_attention.length
    share = wide[..., :length].sum(-1, keepdims=True)
    relative = wide[..., length:] / wide[..., length:].sum(-1, keepdims=True)
    layer, prefix = as_layer(attention), prefixed_attention.keys_and_values()
    outputs = layer.head_outputs(rows, causal=True)
    bias = wide[..., :length] @ prefix[1].detach().numpy()
    found = layer.head_outputs(rows, prefix=layer.prefix(prefixed_attention.prefix_tokens), causal=True)
    return {
        "change of relative attention": float(np.abs(relative - own).max()),
        "outputs less bias and (1 - share) old outputs": float(np.abs(found - bias - (1.0 - share) * outputs).max()),
        "largest share of the prefix": float(share.max()),
    }


def run(seed: int) -> Result:
    """Train everything from one seed."""
    torch.manual_seed(seed)
    found = Result()
    alone = Decoder(1)
    train(alone, sampler("ascending"), 3000, 3e-3)
    found.checks["accuracy on the task that it learned"] = accuracy(alone, sampler("ascending"))
    models = {
        "prefix of 1 token": tuned(lambda: prefixed(alone, 1), "descending", 3e-2),
        TOKENS: tuned(lambda: prefixed(alone, 16), "descending", 3e-2),
        PAIRS: tuned(lambda: prefixed(alone, 16, "key_values"), "descending", 3e-2),
        "LoRA of rank 1": tuned(lambda: low_rank(alone), "descending", 2e-2),
        "all weights": tuned(lambda: copy.deepcopy(alone), "descending", 2e-3, 1),
    }
    found.unseen["as pretrained"] = 0, accuracy(alone, sampler("descending"))
    for method, model in models.items():
        found.unseen[method] = numbers(model), accuracy(model, sampler("descending"))
    found.checks |= checks(alone, models[TOKENS])
    several = Decoder(4)
    train(several, sampler(*TASKS), 8000, 3e-3)
    selected = {f"prefix for {task}": tuned(lambda: prefixed(several, 1), task, 3e-2) for task in TASKS}
    for name, model in {"as pretrained": several, **selected}.items():
        found.known[name] = {task: accuracy(model, sampler(task)) for task in TASKS}
    x = sampler("ascending")(2000)[0]
    shown = {"sorts upwards": alone, **{f"{name}, downwards": models[name] for name in (TOKENS, "all weights")}}
    found.attention = {name: looks(model, x)[0] for name, model in shown.items()} | {
        f"four tasks, head {i}": row for i, row in enumerate(looks(several, x))
    }
    found.checks |= clusters(several, selected, x)
    return found


@torch.no_grad()
def attended(model: Any, x: Any) -> tuple[Any, Any]:
    """Return attention over content (n, heads, LENGTH), as parts of 1, where the first answer is asked, and outputs."""
    layer = model.layers[0]
    rows = layer.norm1(model.embedded(x))
    outputs, weights = layer.self_attn(rows, rows, rows, attn_mask=unseen(LENGTH), average_attn_weights=False)
    content = weights[:, :, -1, -LENGTH:]
    return content / content.sum(-1, keepdim=True), outputs[:, -1]


def looks(model: Any, x: Any) -> list[dict[str, float]]:
    """Return for each head how much of the attention is on the smallest, largest and first symbols (3.1, 3.2)."""
    weights = attended(model, x)[0]
    first = torch.arange(LENGTH) == 0
    masks = {"smallest": x == x.min(1, keepdim=True)[0], "largest": x == x.max(1, keepdim=True)[0], "first": first}
    parts = {name: (weights * mask[..., None, :]).sum(-1).mean(0) for name, mask in masks.items()}
    return [{name: float(part[i]) for name, part in parts.items()} for i in range(weights.shape[1])]


def clusters(model: Decoder, selected: dict[str, Decoder], x: Any) -> dict[str, float]:
    """Return which part of the variance of the attention's outputs, there, is between tasks (3.3)."""
    outputs, said = attended(model, x)[1], answered(model, x)
    before = [outputs[(TASKS[task](x) == said).all(1)] for task in TASKS]
    after = [attended(prefixed_model, x)[1] for prefixed_model in selected.values()]
    return {
        f"variance between tasks, {name}": between(groups) for name, groups in (("before", before), ("after", after))
    }


def between(groups: Sequence[Any]) -> float:
    """Return the part of the variance of rows in groups that is between these."""
    rows = torch.cat([*groups])
    parts = [len(group) * (group.mean(0) - rows.mean(0)).square().sum() for group in groups if len(group)]
    return float(sum(parts) / (rows - rows.mean(0)).square().sum())


def report(results: Sequence[Result]) -> bool:
    """Print the tables and the checks, and return whether the criteria hold."""
    rows = [
        [method, trained, *(f"{r.unseen[method][1]:.3f}" for r in results), f"{mean(results, method):.3f}"]
        for method, (trained, _) in results[0].unseen.items()
    ]
    print("Table 3.1: sorting downwards, by a model that has learned to sort; accuracies of each seed")
    print(tabulate(rows, ["trained", "numbers", *("" for _ in results), "mean"], disable_numparse=True), end="\n\n")
    means = {name: [np.mean([r.known[name][task] for r in results]) for task in TASKS] for name in results[0].known}
    rows = [[name, *(f"{part:.3f}" for part in parts)] for name, parts in means.items()]
    print("Table 3.2: a model that has learned four tasks; accuracies on each, means over the seeds")
    print(tabulate(rows, ["trained", *TASKS], disable_numparse=True), end="\n\n")
    looks_of = {name: [[r.attention[name][part] for part in r.attention[name]] for r in results]
                for name in results[0].attention}  # fmt: skip
    rows = [[name, *(f"{part:.3f}" for part in np.mean(parts, axis=0))] for name, parts in looks_of.items()]
    print("Figures 3.1 and 3.2: attention over the content where the first answer is asked, means over the seeds")
    print(tabulate(rows, ["model", "smallest", "largest", "first"], disable_numparse=True), end="\n\n")
    for name in results[0].checks:
        print(f"{name}: {', '.join(f'{r.checks[name]:.4g}' for r in results)}")
    held = {method: low <= mean(results, method) <= high for method, (low, high) in LIMITS.items()}
    held["attention over content"] = all(r.checks["change of relative attention"] <= 1e-12 for r in results)
    print("as expected:", held)
    return all(held.values())


def mean(results: Sequence[Result], method: str) -> float:
    """Return the mean over the seeds of accuracies on the unseen task."""
    return float(np.mean([r.unseen[method][1] for r in results]))


def drawn(results: Sequence[Result]) -> Figure:
    """Draw accuracies on the unseen task above, on the known ones below; a dot for each seed."""
    figure = Figure(figsize=(5.2, 6.2), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=[len(results[0].unseen), len(TASKS)], sharex=True)
    for place, (method, (trained, _)) in enumerate(results[0].unseen.items()):
        colour = BLUE if "prefix" in method else GREY if not trained else ORANGE
        row(above, place, [r.unseen[method][1] for r in results], colour)
        above.plot([0.0, mean(results, method)], [place, place], color=colour, lw=9, alpha=0.15, solid_capstyle="butt")
    labels = [f"{method}\n{n:,} numbers" if n else method for method, (n, _) in results[0].unseen.items()]
    above.set_yticks(range(len(labels)), [label.replace(",", " ") for label in labels])
    above.set_title("A task it never saw: no prefix taught it", loc="right", fontsize=11.5, fontweight="bold")
    for place, task in enumerate(TASKS):
        before, after = ([r.known[name][task] for r in results] for name in ("as pretrained", f"prefix for {task}"))
        below.plot(
            [np.mean(before), np.mean(after)], [place, place], color=BLUE, lw=9, alpha=0.15, solid_capstyle="butt"
        )
        row(below, place, before, GREY, "as pretrained" * (not place))
        row(below, place, after, BLUE, "prefix of 1 token, 48 numbers" * (not place))
    below.set_yticks(range(len(TASKS)), TASKS)
    below.set_title("Four tasks it knows: one token selects one", loc="right", fontsize=11.5, fontweight="bold")
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower right", ncols=2, frameon=False)
    below.set_xlabel("inputs answered without a mistake")
    for panel in (above, below):
        panel.invert_yaxis()
        panel.set(xlim=(-0.04, 1.04), xticks=[0, 0.25, 0.5, 0.75, 1])
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="x", color="0.9")
        panel.spines[["top", "right", "left"]].set_visible(False)
    return figure


def row(panel: Any, place: int, found: Sequence[float], colour: str, label: str = "") -> None:
    """Draw the accuracies of the seeds in one row, and a bar at their mean."""
    panel.plot([np.mean(found)] * 2, [place - 0.27, place + 0.27], color=colour, lw=3, solid_capstyle="round")
    panel.scatter(found, [place] * len(found), 46, colour, alpha=0.6, lw=0, label=label or None, zorder=3)


def main() -> None:
    """Run all seeds, print the tables, and write the figure, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--workers", type=int, default=1, help="seeds that are run at the same time")
    parser.add_argument("--out", type=Path, default=Path("prompting.png"))
    chosen = parser.parse_args()
    with ProcessPoolExecutor(chosen.workers, get_context("spawn")) as pool:
        results = list(pool.map(run, chosen.seeds))
    held = report(results)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    drawn(results).savefig(unfinished := chosen.out.with_suffix(".part"), dpi=160, format="png")
    os.replace(unfinished, chosen.out)
    print(f"wrote {chosen.out}")
    raise SystemExit(not held)


if __name__ == "__main__":
    main()
