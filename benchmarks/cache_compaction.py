"""Caches made shorter, beside published choices of tokens: a model trained here, and heads of trained layers.

The model is that of small_decoder.py: it reads 3072 tokens, of which its cache is compacted, and then texts that go on
with the same facts. Queries are those of four texts of 1024 tokens; what is lost is measured on a fifth one, which no
method saw: the share of tokens whose likeliest follower stays, the divergence of the next token's distribution, the
loss, and how many of the answers that only the context tells are recalled. "descent, no text" has the queries of the
context alone, "descent, random" those of random tokens, "by error" as many tokens in all, spent where errors change
the next token most.

Heads of trained layers (layers.py, where the extra `pretrained` is installed) are compacted for queries of some inputs
and measured at those of others. All run in float32, by `compress_cache` or the room behind it; peers are written from
their papers. With the model trained it takes some 10 minutes of one core::

    python benchmarks/cache_compaction.py --out results
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from harness import Experiment, main
from layers import Head, anarcii, recogniser
from matplotlib.figure import Figure
from small_decoder import BYTES, KEYS, LENGTH, library, sequence, trained
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, PINK, RED, grid
from spherapprox._extras import installed
from spherapprox.prompts.prefix import compress_cache
from spherapprox.prompts.prefix.torch_modules.compaction import CacheOptions
from spherapprox.prompts.prefix.torch_modules.heads.problem import Heads, attend, errors
from spherapprox.prompts.prefix.torch_modules.heads.shortening import Plan

SHARES = (10, 50)
FITTED = ("descent", "attention matching", "top attention")
MODEL = {
    "descent": {}, "descent, by error": {"options": CacheOptions(budget="error")},
    "descent, no bias": {"bias": False}, "descent, no text": {"text": None},
    "descent, random": {"context": None, "text": None},
    "attention matching, by error": {"method": "attention matching", "options": CacheOptions(budget="error")},
    **{name: {"method": name} for name in (*FITTED[1:], "snapkv", "h2o", "recent", "uniform")},
}  # fmt: skip
"""What is asked of `compress_cache`, beside the texts."""
LAYERS = {"anarcii": anarcii, "recogniser": recogniser}
COLOURS = {"descent": BLUE, "attention matching": RED, "top attention": ORANGE, "snapkv": GREEN, "h2o": PINK}
TEXTS = 4
"""Texts whose queries are taken."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the heads of layers, and the model's caches, each at each share by each method."""
    size = "quick" if quick else "whole"
    packages = {"anarcii": "anarcii", "recogniser": "rapidocr_onnxruntime"}
    layers = [] if quick else [name for name in LAYERS if installed(packages[name])]
    found = [{"what": name, "share": share, "method": m} for name in layers for share in SHARES for m in FITTED]
    shares = SHARES[:1] if quick else SHARES
    return found + [{"what": "model", "size": size, "share": share, "method": m} for share in shares for m in MODEL]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a case."""
    return (measure_model if case["what"] == "model" else measure_layer)(case)


def stacked(heads: list[Head], name: str) -> torch.Tensor:
    """Return arrays of heads, as many rows of each as all have."""
    arrays = [getattr(head, name) for head in heads]
    return torch.tensor(np.stack([array[: min(map(len, arrays))] for array in arrays])).float()


def measure_layer(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Compact the heads of trained layers, each layer's together."""
    rows = []
    for name, group in LAYERS[case["what"]]().items():
        key, value = stacked(group, "key"), stacked(group, "value")
        scale = key.shape[-1] ** -0.5
        heads, held = (Heads(key, value, scale * stacked(group, part)) for part in ("train", "test"))
        begin = time.process_time()
        with torch.no_grad():
            tokens = Plan(case["method"], True, CacheOptions()).shorten(
                heads, attend(heads), key.shape[1] // case["share"], None
            )
            seconds = (time.process_time() - begin) / len(key)
            found = zip(*errors(tokens, held, attend(held)), strict=True)
        rows += [
            case | {"layer": name, "head": g, "tokens": key.shape[1], "error": e.item(), "mass_error": m.item(),
                    "seconds": seconds}
            for g, (e, m) in enumerate(found)
        ]  # fmt: skip
    return rows


def measure_model(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Compact the cache of the model, and let it read on."""
    model, quick = trained(case["size"]), case["size"] == "quick"
    length, more = (192, 64) if quick else (3 * LENGTH // 4, LENGTH // 4)
    rng = np.random.default_rng(1)
    parts = [torch.tensor(ids)[None] for ids in sequence(rng, library(held=True), length, *[more] * (TEXTS + 1))]
    context, texts, test = parts[0], parts[1:-1], parts[-1]
    with torch.no_grad():
        cache = model(context).cache
    begin = time.process_time()
    options = {"text": texts, "context": context, "ratio": 1.0 / case["share"]} | MODEL[case["method"]]
    short = compress_cache(model, cache, **options)
    seconds = (time.process_time() - begin) / len(short.records)
    agreement = short.compare(model, cache, test)._asdict()
    with torch.no_grad(), short.attending(model):
        recalls = [
            recall(model(test, cache=held).logits, context, test) for held in (short.cache, model(context).cache)
        ]
    found = [record.error for record in short.records]
    return [
        case | agreement | {
            "error": float(np.exp(np.mean(np.log(found)))), "seconds": seconds, "recall": recalls[0],
            "recall_whole": recalls[1], "worst": max(found), "mass_error": max(r.mass_error for r in short.records),
            "bytes": short.nbytes, "bytes_whole": sum(2 * layer.keys.nbytes for layer in cache.layers),
        }
    ]  # fmt: skip


def recall(logits: torch.Tensor, context: torch.Tensor, test: torch.Tensor) -> float:
    """Return how often the answer to a question is told that the context has and the text has not had yet."""
    first = {}
    for place, token in enumerate(test[0, :-1].tolist()):
        if BYTES <= token < BYTES + KEYS:
            first.setdefault(token, place)
    known = set(context[0].tolist())
    places = torch.tensor([place for token, place in first.items() if token in known])
    return (logits[0, places].argmax(dim=-1) == test[0, places + 1]).double().mean().item()


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw the divergence of the model's next token over errors, a mark for each method and share."""
    figure = Figure(figsize=(5.6, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for row in (row for row in rows if row["what"] == "model"):
        colour = COLOURS.get(row["method"], "0.6")
        label = row["method"] if row["method"] in COLOURS and row["share"] == SHARES[0] else None
        axes.scatter(
            row["error"], row["kl"], 50, color=colour, marker="o" if row["share"] == SHARES[0] else "^", label=label
        )
    axes.set(
        xscale="log", yscale="log", xlabel="error of the outputs at held-out queries, relative",
        ylabel="divergence of the next token (nats)",
        title=f"A tenth (dots) and a fiftieth (triangles) of {3 * LENGTH // 4} tokens",
    )  # fmt: skip
    grid(axes)
    axes.legend(frameon=False)
    return figure


def mean(rows: list[dict[str, Any]], name: str) -> float:
    """Return the geometric mean of a column."""
    return float(np.exp(np.mean(np.log([max(row[name], 1e-30) for row in rows]))))


def summary(rows: list[dict[str, Any]]) -> str:
    """Return tables of the model's caches, and of heads."""
    head = ["share", "method", "error", "agreement", "KL", "loss", "recall", "s a head", "bytes"]
    model = [row for row in rows if row["what"] == "model"]
    table = [
        [f"1/{r['share']}", r["method"], f"{r['error']:.3g}", f"{r['agreement']:.3f}", f"{r['kl']:.3g}",
         f"{r['loss_compacted']:.3f}", f"{r['recall']:.2f}", f"{r['seconds']:.2f}",
         f"{r['bytes'] / r['bytes_whole']:.3f}"]
        for r in model
    ]  # fmt: skip
    others: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        if row["what"] != "model":
            others.setdefault((row["what"], row["method"], row["share"]), []).append(row)
    second = [
        [what, f"1/{share}", method, f"{mean(some, 'error'):.2g}", f"{mean(some, 'mass_error'):.2g}",
         f"{mean(some, 'seconds'):.2f}"]
        for (what, method, share), some in others.items()
    ]  # fmt: skip
    below = ["heads", "share", "method", "error", "mass error", "s a head"]
    first, last = (
        tabulate(part, names, tablefmt="pipe", disable_numparse=True)
        for part, names in ((table, head), (second, below))
    )
    whole = model[0]
    return (
        f"{first}\n\n{last}\n\nWith the whole cache the loss is {whole['loss']:.3f} and {whole['recall_whole']:.2f} of "
        "the answers are recalled. Errors are at queries that no method saw, geometric means over heads; "
        "seconds are those of one thread, with the reading of the texts."
    )


EXPERIMENT = Experiment(
    name="cache_compaction", question="What is lost when the cache of a whole model is made 10 or 50 times smaller?",
    cases=cases, measure=measure, draw=draw, summary=summary, requires=("torch", "transformers"),
    packages=("torch", "transformers"),
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
