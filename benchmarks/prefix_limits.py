"""What a prefix can and cannot do: changes of a head's outputs that no prefix makes, beside prefixes that were trained.

One query sees several contexts of 12 tokens. Its outputs are to change in one of three ways: by the same vector, by a
factor of 1.1, or to one output for all contexts. The table and the figure have the least error of any prefix, with
tokens of any number and size (`spherapprox.prompts.prefix.reachable`, in the largest coordinate), over the largest
change that is wanted, and the least that Adam reached with 2 and with 16 tokens: never less, or the script fails.
Contexts are random, or windows of what heads of trained layers see; layers.py says what these are, and how their
weights are installed. Medians of 8 heads and queries; some 5 minutes::

    python benchmarks/prefix_limits.py --out docs/prefix-limits.png
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import torch
from layers import Head, anarcii, recogniser
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from tqdm import tqdm

from spherapprox.prompts.prefix import reachable

Array = NDArray[np.float64]

DRAWS, TOKENS, CONTEXTS, LENGTHS, STEPS = 8, 12, (2, 4, 16, 64), (2, 16), 2500
CHANGES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "add one vector to every output": lambda outputs, rng: outputs + 0.1 * sign(outputs, rng),
    "multiply every output by 1.1": lambda outputs, rng: 1.1 * outputs,
    "give every context one output": lambda outputs, rng: np.tile(outputs.mean(axis=0), (len(outputs), 1)),
}
COLOURS = {"random": "#222222", "anarcii": "#0072B2", "recogniser": "#D55E00"}
LABELS = {
    "random": "random numbers",
    "anarcii": "heads of an antibody model",
    "recogniser": "heads of a text recogniser",
}
SIZES = dict(zip(LENGTHS, (30, 85), strict=True))


def sign(outputs: Array, rng: np.random.Generator) -> Array:
    """Return a random vector of the outputs' root mean square, with entries of one size."""
    return np.asarray(np.sqrt(np.mean(outputs**2)) * rng.choice([-1.0, 1.0], outputs.shape[1]))


@dataclass(frozen=True)
class Draw:
    """A query (s,), with keys (N, 12, s) and values (N, 12, p) of its contexts."""

    query: Array
    key: Array
    value: Array

    def outputs(self) -> Array:
        """Return the outputs without a prefix."""
        logits = self.key @ self.query / np.sqrt(len(self.query))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("nt,ntp->np", weights, self.value))


@dataclass(frozen=True)
class Result:
    """The floor and the errors of trained prefixes, over the wanted change, of each draw."""

    source: str
    change: str
    contexts: int
    floors: Array
    trained: dict[int, Array]


def random_draw(rng: np.random.Generator) -> Draw:
    """Return the most contexts of normal numbers."""
    return Draw(rng.standard_normal(16), *rng.standard_normal((2, CONTEXTS[-1], TOKENS, 16)))


def head_draw(head: Head, rng: np.random.Generator) -> Draw:
    """Return a query of a head, and as many windows of the tokens that it sees."""
    starts = TOKENS * rng.permutation(len(head.key) // TOKENS)[: CONTEXTS[-1]]
    if len(starts) < CONTEXTS[-1]:
        raise SystemExit(f"{head.name} sees {len(head.key)} tokens only")
    windows = starts[:, None] + np.arange(TOKENS)
    return Draw(head.train[rng.integers(len(head.train))], head.key[windows], head.value[windows])


def draws() -> dict[str, list[Draw]]:
    """Return the draws of each source."""
    found = {"random": [random_draw(np.random.default_rng(seed)) for seed in range(DRAWS)]}
    for name, layers in (("anarcii", anarcii()), ("recogniser", recogniser())):
        several = [head for heads in layers.values() for head in heads[: DRAWS // len(layers)]]
        found[name] = [head_draw(head, np.random.default_rng(seed)) for seed, head in enumerate(several)]
    return found


def floor(draw: Draw, contexts: int, targets: Array) -> float:
    """Return the least error of any prefix."""
    query = np.tile(draw.query, (contexts, 1))
    return reachable(query, draw.key[:contexts], draw.value[:contexts], targets).error


def trained(several: Sequence[Draw], contexts: int, targets: Array, length: int) -> Array:
    """Return the least largest error that Adam meets, for targets (draws, changes, contexts, p)."""
    count, changes, _, p = targets.shape
    query = torch.tensor(np.array([draw.query for draw in several]))
    logits = torch.tensor(np.array([draw.key[:contexts] @ draw.query for draw in several])) / query.shape[1] ** 0.5
    value = torch.tensor(np.array([draw.value[:contexts] for draw in several]))[:, None]
    wanted, generator = torch.tensor(targets), torch.Generator().manual_seed(0)
    outputs = np.array([draw.outputs()[:contexts] for draw in several])[:, None]
    unit = torch.tensor(np.abs(targets - outputs).max(axis=(2, 3)))
    key = 0.1 * torch.randn(count, changes, length, query.shape[1], generator=generator, dtype=torch.float64)
    own = wanted.mean(dim=2, keepdim=True) + 0.1 * torch.randn(
        count, changes, length, p, generator=generator, dtype=torch.float64
    )
    key.requires_grad_()
    own.requires_grad_()
    optimizer = torch.optim.Adam([key, own], lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    best = np.full((count, changes), np.inf)
    for step in range(STEPS):
        far = torch.einsum("dcls,ds->dcl", key, query) / query.shape[1] ** 0.5
        both = torch.cat(
            [far[:, :, None].expand(-1, -1, contexts, -1), logits[:, None].expand(-1, changes, -1, -1)], dim=3
        )
        weights = torch.softmax(both, dim=3)
        made = torch.einsum("dcnl,dclp->dcnp", weights[..., :length], own)
        made = made + torch.einsum("dcnt,dcntp->dcnp", weights[..., length:], value.expand(-1, changes, -1, -1, -1))
        missed = (made - wanted).abs().flatten(2) / unit[:, :, None]
        best = np.minimum(best, missed.detach().amax(dim=2).numpy())
        sharp = 10.0 * 300.0 ** (step / STEPS)
        optimizer.zero_grad()
        (torch.logsumexp(sharp * missed, dim=2) / sharp).sum().backward()
        optimizer.step()
        schedule.step()
    return best


def measured(source: str, several: Sequence[Draw], contexts: int) -> list[Result]:
    """Return the results of all changes, and fail where training beats a floor."""
    outputs = [draw.outputs()[:contexts] for draw in several]
    targets = np.array(
        [
            [change(rows, np.random.default_rng(seed)) for change in CHANGES.values()]
            for seed, rows in enumerate(outputs)
        ]
    )
    units = np.abs(targets - np.array(outputs)[:, None]).max(axis=(2, 3))
    floors = np.array(
        [[floor(draw, contexts, rows) for rows in part] for draw, part in zip(several, targets, strict=True)]
    )
    found = {length: trained(several, contexts, targets, length) for length in LENGTHS}
    for length, errors in found.items():
        if not (errors >= floors / units * (1.0 - 1e-9) - 1e-12).all():
            raise SystemExit(f"{length} trained tokens beat the floor: {source}, {contexts} contexts")
    return [
        Result(source, change, contexts, (floors / units)[:, c], {n: errors[:, c] for n, errors in found.items()})
        for c, change in enumerate(CHANGES)
    ]


def panel_of(panel: Any, results: Sequence[Result], change: str) -> None:
    """Draw one change: floors as lines, training as circles on them or above."""
    for shift, (source, colour) in zip((-0.07, 0.0, 0.07), COLOURS.items(), strict=True):
        places = np.arange(len(CONTEXTS)) + shift
        rows = sorted((r for r in results if (r.source, r.change) == (source, change)), key=lambda r: r.contexts)
        panel.plot(places, [np.median(r.floors) for r in rows], color=colour, lw=2.2, label=LABELS[source])
        for length, size in SIZES.items():
            reached = [np.median(r.trained[length]) for r in rows]
            panel.scatter(places, reached, size, facecolors="none", edgecolors=colour, linewidths=1.2, zorder=3)
    panel.set_title(change.capitalize(), fontsize=13, loc="left")
    panel.set_xticks(np.arange(len(CONTEXTS)), [str(n) for n in CONTEXTS])
    panel.tick_params(labelsize=12)
    panel.set_yticks([0, 0.5, 1], ["none", "half", "all"])
    panel.grid(axis="y", color="0.9")
    panel.spines[["top", "right"]].set_visible(False)


def drawn(results: Sequence[Result]) -> Figure:
    """Draw a panel for each change, one below the other."""
    figure = Figure(figsize=(5.6, 7.4), layout="constrained")
    panels: Any = figure.subplots(len(CHANGES), 1, sharex=True, height_ratios=(1.0, 1.0, 0.42))
    for panel, change in zip(panels, CHANGES, strict=True):
        panel_of(panel, results, change)
        panel.set_ylim(-0.06, 1.1)
    panels[-1].set_ylim(-0.12, 0.6)
    panels[-1].set_xlabel("contexts in which the head sees one query", fontsize=13)
    figure.suptitle("What any prefix must miss of a wanted change", fontsize=15, x=0.03, ha="left")
    handles, labels = panels[0].get_legend_handles_labels()
    for length, size in SIZES.items():
        handles.append(panels[0].scatter([], [], size, facecolors="none", edgecolors="0.3", linewidths=1.2))
        labels.append(f"{length} tokens, trained")
    figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False, fontsize=12)
    return figure


def main() -> None:
    """Print the table and write the figure, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("prefix-limits.png"))
    out = parser.parse_args().out
    jobs = [(source, several, n) for source, several in draws().items() for n in CONTEXTS]
    results = [result for job in tqdm(jobs) for result in measured(*job)]
    rows = [
        [r.change, r.source, r.contexts, f"{np.median(r.floors):.3f}", f"{r.floors.min():.3f} to {r.floors.max():.3f}",
         *(f"{np.median(r.trained[n]):.3f}" for n in LENGTHS),
         f"{min(float((r.trained[n] - r.floors).min()) for n in LENGTHS):.1e}"]
        for change in CHANGES for r in results if r.change == change
    ]  # fmt: skip
    trained_names = [f"{n} tokens trained" for n in LENGTHS]
    print(tabulate(rows, ["change", "source", "contexts", "floor", "of all draws", *trained_names, "least gap"],
                   disable_numparse=True))  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    drawn(results).savefig(unfinished := out.with_suffix(".part"), dpi=150, format="png")
    os.replace(unfinished, out)
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
