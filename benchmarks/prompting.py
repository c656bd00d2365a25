"""What a prefix can be trained to do, and as many numbers elsewhere: tables 3.1 and 3.2 of the thesis, reduced.

A decoder of one layer, made of torch's own modules, reads five symbols out of six and writes five (width 48, 29 430
numbers; Adam, cosine schedule, batches of 128). Accuracy is the share of 2000 random inputs that it answers without a
mistake.

- A task that it never saw (3.1; one head): it learns to sort, then a prefix, of tokens at the input of the attention or
  of keys and values, or a change of rank 1 of its four matrices (LoRA), or all of it is trained to sort downwards.
- Tasks that it knows (3.2; four heads): it learns four tasks and is not told which is asked, then a prefix of one token
  is trained for each.

Of two random starts of each prefix and of LoRA the one of the lower loss counts; rates of learning are the best of
those from 0.005 to 0.1 on the first seed.

On the first trained model it is checked that what a prefix does is what equations 3.5 to 3.7 say (figures A.2 and A.3):
attention over the content changes by one factor for each query, and outputs become a mixture with a bias.

Not reproduced are table 3.3 (new tasks beside known ones) and figures A.1, A.6 and A.7, which take hours of training,
and those of LLaMA and GPT-2, which need their weights. It takes some 6 minutes for each seed on one core::

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
from tabulate import tabulate
from torch.nn.utils.parametrize import register_parametrization

from spherapprox.prompts.prefix import as_layer
from spherapprox.prompts.prefix.torch_modules import PrefixAttention

SYMBOLS, LENGTH, WIDTH = 6, 5, 48
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


class Decoder(torch.nn.Module):
    """A causal transformer of one layer."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.symbols, self.places = torch.nn.Embedding(SYMBOLS, WIDTH), torch.nn.Embedding(2 * LENGTH, WIDTH)
        self.layer = torch.nn.TransformerEncoderLayer(
            WIDTH, heads, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.norm, self.out = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, SYMBOLS)

    def embedded(self, x: Any) -> Any:
        """Return the inputs of the layer."""
        return self.symbols(x) + self.places.weight[: x.shape[1]]

    def forward(self, x: Any) -> Any:
        """Return the logits of the next symbols."""
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.out(self.norm(self.layer(self.embedded(x), src_mask=mask)))


class LowRank(torch.nn.Module):
    """A weight plus a matrix of rank 1."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.down = torch.nn.Parameter(0.1 * torch.randn(1, weight.shape[1]))
        self.up = torch.nn.Parameter(torch.zeros(weight.shape[0], 1))

    def forward(self, weight: Any) -> Any:
        """Return the weight as it is used."""
        return weight + self.up @ self.down


def batch(tasks: Sequence[str], size: int) -> tuple[Any, Any]:
    """Return random inputs and the answers to a task drawn for each."""
    x = torch.randint(0, SYMBOLS, (size, LENGTH))
    answers = torch.stack([TASKS[task](x) for task in tasks])
    return x, answers[torch.randint(0, len(tasks), (size,)), torch.arange(size)]


def train(model: Any, tasks: Sequence[str], steps: int, rate: float) -> float:
    """Train what asks for gradients, and return the mean loss of the last tenth of the steps."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        x, y = batch(tasks, 128)
        logits = model(torch.cat([x, y[:, :-1]], 1))[:, LENGTH - 1 :]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, SYMBOLS), y.reshape(-1))
        loss.backward()
        losses.append(float(loss.detach()))
        optimizer.step()
        schedule.step()
    return float(np.mean(losses[-steps // 10 :]))


@torch.no_grad()
def accuracy(model: Any, task: str) -> float:
    """Return the share of inputs that are answered without a mistake."""
    x, y = batch([task], 2000)
    for _ in range(LENGTH):
        x = torch.cat([x, model(x)[:, -1:].argmax(-1)], 1)
    return float((x[:, LENGTH:] == y).all(1).float().mean())


def prefixed(model: Decoder, length: int, space: str = "tokens") -> Decoder:
    """Return a frozen copy of a model with a prefix of random tokens before its attention, to be trained."""
    copied = copy.deepcopy(model).requires_grad_(False)
    mha = copied.layer.self_attn
    prefix = as_layer(mha).prefix(torch.randn(length, WIDTH))
    copied.layer.self_attn = PrefixAttention(mha, prefix, space=space)
    return copied


def low_rank(model: Decoder) -> Decoder:
    """Return a frozen copy of a model with a change of rank 1 of each of its layer's matrices, to be trained."""
    copied = copy.deepcopy(model).requires_grad_(False)
    mha, *others = copied.layer.self_attn, copied.layer.linear1, copied.layer.linear2
    for module, name in ((mha, "in_proj_weight"), *((module, "weight") for module in (mha.out_proj, *others))):
        register_parametrization(module, name, LowRank(getattr(module, name)))
    return copied


def tuned(start: Callable[[], Decoder], task: str, rate: float, starts: int = 2) -> Decoder:
    """Return the model of the lowest loss on a task, of several that are trained from random starts."""
    models = [start() for _ in range(starts)]
    losses = [train(model, [task], 1500, rate) for model in models]
    return models[int(np.argmin(losses))]


def checks(model: Decoder, changed: Decoder) -> dict[str, float]:
    """Return by how much a trained prefix breaks equations 3.5 to 3.7, which is rounding: in float64."""
    x, y = batch(["descending"], 64)
    with torch.no_grad():
        rows = model.layer.norm1(model.embedded(torch.cat([x, y[:, :-1]], 1))).double()
    prefixed_attention, attention = copy.deepcopy(changed.layer.self_attn).double(), copy.deepcopy(model).double()
    unseen = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool).triu(1)
    wide, own = (
        module(rows, rows, rows, attn_mask=unseen, average_attn_weights=False)[1].detach().numpy()
        for module in (prefixed_attention, attention.layer.self_attn)
    )
    length = prefixed_attention.length
    share = wide[..., :length].sum(-1, keepdims=True)
    relative = wide[..., length:] / wide[..., length:].sum(-1, keepdims=True)
    layer, prefix = as_layer(attention.layer.self_attn), prefixed_attention.keys_and_values()
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
    train(alone, ["ascending"], 3000, 3e-3)
    found.checks["accuracy on the task that it learned"] = accuracy(alone, "ascending")
    models = {
        "prefix of 1 token": tuned(lambda: prefixed(alone, 1), "descending", 3e-2),
        TOKENS: tuned(lambda: prefixed(alone, 16), "descending", 3e-2),
        PAIRS: tuned(lambda: prefixed(alone, 16, "key_values"), "descending", 3e-2),
        "LoRA of rank 1": tuned(lambda: low_rank(alone), "descending", 2e-2),
        "all weights": tuned(lambda: copy.deepcopy(alone), "descending", 2e-3, 1),
    }
    found.unseen["as pretrained"] = 0, accuracy(alone, "descending")
    for method, model in models.items():
        numbers = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
        found.unseen[method] = numbers, accuracy(model, "descending")
    found.checks |= checks(alone, models[TOKENS])
    several = Decoder(4)
    train(several, list(TASKS), 8000, 3e-3)
    models = {f"prefix for {task}": tuned(lambda: prefixed(several, 1), task, 3e-2) for task in TASKS}
    for name, model in {"as pretrained": several, **models}.items():
        found.known[name] = {task: accuracy(model, task) for task in TASKS}
    return found


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
