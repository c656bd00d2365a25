"""Which new tasks a prefix teaches a trained decoder: table 3.3, 3.6, A.2, A.4 and A.5 of the thesis, reduced.

Decoders of two and four layers with four heads learn some tasks and are not told which is asked. Then prefixes of all
layers, of tokens at the inputs of the attention, or changes of low rank of the feed-forward layers (LoRA) are trained
for one task each (one start for each, one rate for all; a name of a task may have parts, done one after another).

- "four": sorting upwards and downwards, adding 1 and 2; then these, and four that it never saw (table 3.3, figure A.6).
- "seven": seven tasks; then these, and eleven that it never saw (figure A.7).
- "words": a translation of 200 random words; then another one, with as many numbers by either method (table A.1).
- "counting": as "four", then the double histogram alone, in five times the steps (3.6).

The thesis has 4 to 40 layers, real words, and 100 000 steps for each prefix; here are 600, for words and counting 3000,
and rows say what was reached after each fifth. Attention over a prefix's tokens, normalised, is measured at the input's
last symbol: the range from its 1st to its 99th percentile over 2000 inputs (A.2, figure A.4). It takes some 20 minutes
of one core for a seed::

    python benchmarks/skills.py --seeds 0 1 --workers 2 --out skills.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import torch
from small_tasks import LENGTH, SYMBOLS, Decoder, Draw, accuracy, low_rank, numbers, prefixed, train, unseen
from tabulate import tabulate

from spherapprox.prompts.prefix import prefix_effect

Row = dict[str, Any]
WORDS, POWERS = 200, SYMBOLS ** torch.arange(LENGTH)
DICTIONARY = torch.Generator().manual_seed(0)
VOCABULARY = torch.randint(0, SYMBOLS, (WORDS, LENGTH), generator=DICTIONARY)
"""Words that are translated; answers of a language are those at their codes, drawn for all."""


def counts(x: Any) -> Any:
    """Return how often each symbol occurs in its row."""
    return (x[:, :, None] == x[:, None]).sum(2)


def divides(x: Any) -> Any:
    """Return which symbols the first one divides; 0 counts as 1."""
    return x % x[:, :1].clamp_min(1) == 0


def language(words: Any) -> Callable[[Any], Any]:
    """Return the translation by a table of the answers to all inputs."""
    return lambda x: words[x @ POWERS]


TASKS: dict[str, Callable[[Any], Any]] = {
    "ascending": lambda x: x.sort(1)[0],
    "descending": lambda x: x.sort(1, descending=True)[0],
    **{f"add {k}": lambda x, k=k: (x + k) % SYMBOLS for k in (1, 2, 3)},
    "double histogram": counts,
    "modulo the first": lambda x: x % x[:, :1].clamp_min(1),
    "less than the first": lambda x: x * (x < x[:, :1]),
    "not less than the first": lambda x: x * (x >= x[:, :1]),
    "divisible": lambda x: x * divides(x),
    "not divisible": lambda x: x * ~divides(x),
    "as often as the first": lambda x: x * (counts(x) >= x[:, :1]),
    "negation": lambda x: 1 - x,
    **{f"language {k}": language(torch.randint(0, SYMBOLS, (SYMBOLS**LENGTH, LENGTH), generator=DICTIONARY))
       for k in (1, 2)},
}  # fmt: skip
FOUR = ("ascending", "descending", "add 1", "add 2")
SEVEN = ("ascending", "descending", "add 1", "modulo the first", "less than the first", "divisible", "negation")
NEW = ("ascending, add 1", "modulo the first", "double histogram", "as often as the first")
NEWER = (
    "add 2", "add 3", "not less than the first", "not divisible", "double histogram", "as often as the first",
    "ascending, add 1", "add 1, less than the first", "less than the first, add 1", "less than the first, ascending",
    "divisible, add 1",
)  # fmt: skip


class Study(NamedTuple):
    """What a decoder learns first, what is tuned then, as (method, size, tasks), and tasks that all are asked."""

    layers: int
    pretraining: tuple[str, ...]
    tuning: tuple[tuple[str, int, tuple[str, ...]], ...]
    asked: tuple[str, ...] = ()
    times: int = 1
    """How many times the steps of tuning."""


SIX = (*FOUR, "ascending, add 1", "double histogram")
STUDIES = {
    "four, 4 layers": Study(4, FOUR, (("prefix", 10, SIX), ("LoRA", 1, ("double histogram",))), SIX),
    "words, 2 layers": Study(
        2, ("language 1",), (("prefix", 40, ("language 2",)), ("LoRA", 4, ("language 2",))), times=5
    ),
    "counting, 2 layers": Study(
        2, FOUR, (("prefix", 10, ("double histogram",)), *(("LoRA", r, ("double histogram",)) for r in (1, 4))), times=5
    ),
    "four, 2 layers": Study(2, FOUR, tuple(("prefix", length, FOUR + NEW) for length in (2, 10, 40))),
    "seven, 2 layers": Study(2, SEVEN, (("prefix", 10, SEVEN + NEWER),)),
}
STEPS = {"whole": (4000, 600), "quick": (10, 5)}
RATES = {"pretraining": 2e-3, "prefix": 2e-2, "LoRA": 1e-2}


def sampler(tasks: Sequence[str]) -> Draw:
    """Return a function that draws equally many inputs of each task, and their answers."""

    def draw(size: int) -> tuple[Any, Any]:
        pairs = []
        for task in tasks:
            x = y = inputs(task, size // len(tasks))
            for part in task.split(", "):
                y = TASKS[part](y)
            pairs.append((x, y))
        return tuple(torch.cat(parts) for parts in zip(*pairs, strict=True))  # type: ignore[return-value]

    return draw


def inputs(task: str, size: int) -> Any:
    """Return random inputs of a task."""
    if task.startswith("language"):
        return VOCABULARY[torch.randint(0, WORDS, (size,))]
    return torch.randint(0, 2 if task == "negation" else SYMBOLS, (size, LENGTH))


def measure(case: tuple[str, int, str]) -> list[Row]:
    """Train a decoder and all that is tuned in it, and return what each can do."""
    name, seed, size = case
    study, (first, then) = STUDIES[name], STEPS[size]
    torch.manual_seed(seed)
    model = Decoder(4, study.layers)
    train(model, sampler(study.pretraining), first, RATES["pretraining"])
    every = dict.fromkeys(task for *_, tasks in study.tuning for task in (*study.pretraining, *tasks))
    rows = [{"method": "as pretrained", "numbers": numbers(model), "accuracies": abilities(model, every)}]
    for method, count, tasks in study.tuning:
        for task in tasks:
            rows.append(tuned(model, (method, count), task, study.times * then))
            rows[-1]["accuracies"] = abilities(rows[-1].pop("model"), dict.fromkeys((task, *study.asked)))
            print(name, seed, rows[-1]["method"], task, rows[-1]["curve"], flush=True)
    return [{"study": name, "seed": seed, **row} for row in rows]


def tuned(model: Decoder, way: tuple[str, int], task: str, steps: int) -> Row:
    """Return what a prefix or a change of low rank of a size learns of a task."""
    method, size = way
    copied = prefixed(model, size) if method == "prefix" else low_rank(model, size, attention=False)
    curve: list[float] = []
    train(copied, sampler([task]), steps, RATES[method], lambda: curve.append(accuracy(copied, sampler([task]), 500)))
    return {
        "method": f"prefix of {size} tokens" if method == "prefix" else f"LoRA of rank {size}",
        "numbers": numbers(copied), "task": task, "curve": curve, "model": copied,
        "ranges": attention_ranges(copied, task) if method == "prefix" else [],
    }  # fmt: skip


def abilities(model: Decoder, asked: Iterable[str]) -> dict[str, float]:
    """Return the accuracies on tasks."""
    return {task: accuracy(model, sampler([task]), 1000) for task in asked}


@torch.no_grad()
def attention_ranges(model: Any, task: str) -> list[float]:
    """Return for each layer the largest range, over the prefix's tokens, of their attention: that of all heads."""
    rows, ranges = model.embedded(inputs(task, 2000)), []
    for layer in model.layers:
        attention = layer.self_attn
        prefix = attention.prefix_tokens.double().numpy()
        effect = prefix_effect(layer.norm1(rows).double(), prefix, attention.attention.double(), causal=True)
        weights = effect.prefixed_attention[..., LENGTH - 1, : attention.length].mean(axis=1)
        low, high = np.quantile(weights / weights.sum(axis=-1, keepdims=True), [0.01, 0.99], axis=0)
        ranges.append(float((high - low).max()))
        attention.attention.float()
        rows = layer(rows, src_mask=unseen(LENGTH))
    return ranges


def tables(rows: list[Row]) -> Iterator[str]:
    """Yield a table of each study: means over the seeds, of final accuracies on the task that was trained."""
    for name, study in STUDIES.items():
        own = [row for row in rows if row["study"] == name]
        methods = list(dict.fromkeys((row["method"], row["numbers"]) for row in own))
        asked = [task for task in TASKS_IN_ORDER if any(row.get("task") == task for row in own)]
        known = [f"{task}{'' if task in study.pretraining else ' (new)'}" for task in asked]
        cells = [
            [method, count, *(mean(row["accuracies"][task] for row in own if row["method"] == method
                                   and row.get("task", task) == task) for task in asked)]
            for method, count in methods
        ]  # fmt: skip
        yield f"{name}\n{tabulate(transposed(cells, ['trained', 'numbers', *known]), disable_numparse=True)}"
        if spans := [row["ranges"] for row in own if row.get("ranges")]:
            means = ", ".join(f"{part:.3f}" for part in np.mean(spans, axis=0))
            yield f"largest range of the attention to a token of a prefix, by layer, means: {means}"
    yield f"table 3.3\n{tabulate(confusion(rows), headers='keys', disable_numparse=True)}"


def confusion(rows: list[Row]) -> list[Row]:
    """Return table 3.3: what each prefix of 10 tokens does to each task."""
    own = [row for row in rows if row["study"] == "four, 4 layers"]
    chosen = {"as pretrained": [row for row in own if "task" not in row]} | {
        task: [row for row in own if row.get("task") == task and row["method"] == "prefix of 10 tokens"] for task in SIX
    }
    return [
        {"trained for": name, **{task: mean(row["accuracies"][task] for row in found) for task in SIX}}
        for name, found in chosen.items()
    ]


TASKS_IN_ORDER = tuple(dict.fromkeys((*FOUR, *SEVEN, *NEW, *NEWER, *TASKS)))


def mean(parts: Iterable[float]) -> str:
    """Return the mean as text, none of nothing."""
    values = [*parts]
    return f"{np.mean(values):.3f}" if values else ""


def transposed(cells: list[list[Any]], names: list[str]) -> list[list[Any]]:
    """Return a table with its rows as columns."""
    return [list(row) for row in zip(names, *cells, strict=True)]


def main() -> None:
    """Run all studies for all seeds, and print the tables; rows are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--studies", nargs="+", choices=[*STUDIES], default=[*STUDIES])
    parser.add_argument("--workers", type=int, default=1, help="decoders that are trained at the same time")
    parser.add_argument("--quick", action="store_true", help="a few steps of each")
    parser.add_argument("--out", type=Path, default=Path("skills.json"), help="file of all rows, which new ones join")
    chosen = parser.parse_args()
    cases = [(name, seed, "quick" if chosen.quick else "whole") for seed in chosen.seeds for name in chosen.studies]
    rows = json.loads(chosen.out.read_text(encoding="utf-8")) if chosen.out.exists() else []
    measured = {(row["study"], row["seed"]) for row in rows}
    waiting = [case for case in cases if case[:2] not in measured]
    with ProcessPoolExecutor(chosen.workers, get_context("spawn")) as pool:
        for found in pool.map(measure, waiting):
            rows += found
            chosen.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("\n\n".join(tables(rows)))


if __name__ == "__main__":
    main()
