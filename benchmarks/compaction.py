"""Compression of prefixes beside published methods: heads of trained layers, long ones that are made, and our own one.

The published method is Attention Matching (arXiv:2602.16284): keys chosen by matching pursuit, biases by nonnegative
least squares of the mass, values by least squares; and its faster variant, with the keys that get most attention. Both
are `spherapprox.prompts.prefix.select`, written from the paper and, for masses over the largest one of each query,
after its authors' code (github.com/adamzweiger/compaction, torch, not run); weights inside the pursuit are nonnegative
where theirs are clamped. SnapKV (arXiv:2404.14469) and H2O (arXiv:2306.14048), those of `compress_cache`, drop tokens
and leave the others as they are. layers.py says what the heads are, and how their weights are installed. A prefix is
compressed for some queries; the table and the figure have the errors at others, which no method saw, over the largest
length of an output; in the figure `compress` has ``norm="rms"``. It takes some 4 minutes. ``--long`` does the same for
made heads of 4096 and 32 768 tokens, with the memory that each call takes beside the arrays given, in some 6 minutes;
``--tensors`` compresses many of these heads in one call of `compress_heads`, on one thread and two, in some 10;
``--field`` takes two to three::

    python benchmarks/compaction.py --out docs/compaction.png
    python benchmarks/compaction.py --long
    python benchmarks/compaction.py --tensors
    python benchmarks/compaction.py --field
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import torch
from layers import Head, anarcii, recogniser
from matplotlib.figure import Figure
from tabulate import tabulate
from tqdm import tqdm

from spherapprox import EqualMeasurePartition, SplitHead, points, targets
from spherapprox.prompts.prefix import CompressedPrefix, Descent, Prefix, compress, compress_heads, select

SHARES = (50, 10)


def kept(prefix: Prefix, queries: Any, n: int, method: str) -> CompressedPrefix:
    """Return some tokens as they are, those that a published peer keeps."""
    rows = (torch.from_numpy(part) for part in (prefix.key, prefix.value, queries))
    short = compress_heads(*rows, n, method=method)
    return CompressedPrefix(short.key.numpy(), short.value.numpy(), None, short.scale, *[np.inf] * 4)


METHODS: dict[str, Callable[..., CompressedPrefix]] = {
    "compress": lambda prefix, queries, n: compress(prefix, queries, length=n),
    "compress, rms": lambda prefix, queries, n: compress(prefix, queries, length=n, solver=Descent(norm="rms")),
    "matching pursuit": select,
    "top attention": lambda prefix, queries, n: select(prefix, queries, n, method="attention"),
    "SnapKV": lambda prefix, queries, n: kept(prefix, queries, n, "snapkv"),
    "H2O": lambda prefix, queries, n: kept(prefix, queries, n, "h2o"),
}
HEADER = ["head", "tokens", "method", "error", "rms", "error (held out)", "rms (held out)", "log mass", "CPU s", "MB"]
LONG = (4096, 2048), (32_768, 8192)
"""Tokens and queries of made heads."""
TENSORS = [
    (method, heads, threads)
    for method in ("attention matching", "top attention")
    for heads, threads in ((4, 1), (4, 2), (32, 2))
]
"""How many of the longest heads are compressed to a tenth in one call, and by how many threads."""
COLOURS = {"compress, rms": "#0072B2", "matching pursuit": "#D55E00", "top attention": "#7F7F7F"}


@dataclass(frozen=True)
class Result:
    """Errors of one prefix: at the queries that it was made for, and at others; of log masses at these; seconds, MB."""

    head: str
    share: int
    n: int
    method: str
    error: float
    rms: float
    held_error: float
    held_rms: float
    held_mass: float
    seconds: float
    memory: float


def attention(key: Any, value: Any, queries: Any) -> tuple[Any, Any]:
    """Return outputs and log masses by their definition."""
    logits = queries @ key.T / np.sqrt(key.shape[1])
    largest = logits.max(axis=1, keepdims=True)
    masses = np.exp(logits - largest)
    sums = masses.sum(axis=1, keepdims=True)
    return masses @ value / sums, (largest + np.log(sums))[:, 0]


def measured(head: Head, share: int, method: str) -> Result:
    """Compress one head to a share of its tokens by one method."""
    before = peak()
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of few queries
        found = METHODS[method](Prefix(head.key, head.value), head.train, len(head.key) // share)
    seconds, memory = time.process_time() - begin, peak() - before
    size, numbers = np.linalg.norm(attention(head.key, head.value, head.train)[0], axis=1).max(), []
    for queries in (head.train, head.test):
        outputs, masses = attention(head.key, head.value, queries)
        change = np.linalg.norm(found(queries) - outputs, axis=1) / size
        numbers += [change.max(), np.sqrt(np.mean(change**2))]
    missed = np.sqrt(np.mean((found.log_mass(head.test) - masses) ** 2))
    return Result(head.name, share, found.n, method, *map(float, [*numbers, missed]), seconds, memory)


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def made(n: int, queries: int, d: int = 128, rank: int = 16, seed: int = 0) -> Head:
    """Return a head whose keys wander as those of a text do, and are asked for where they are: 16 of 128 directions."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, rank)))[0]
    topics = np.cumsum(1.5 * rng.standard_normal((n, rank)) * (rng.random((n, 1)) < 0.03), axis=0)
    topics = (topics - topics.mean(axis=0)) / topics.std(axis=0)
    key = (2.0 * topics + 1.2 * rng.standard_normal((n, rank))) @ basis.T + 0.4 * rng.standard_normal((n, d))
    value = np.tanh(topics @ rng.standard_normal((rank, d)) / 4.0) + 0.5 * rng.standard_normal((n, d))
    asked = 1.5 * topics[rng.integers(0, n, queries + 1000)] + rng.standard_normal((queries + 1000, rank))
    query = asked @ basis.T + 0.4 * rng.standard_normal((queries + 1000, d))
    return Head(f"made, {n} tokens", key, value, query[:queries], query[queries:])


def long() -> None:
    """Compress made heads by all methods, each in a process of its own."""
    results = []
    jobs = [(n, queries, share, m) for n, queries in LONG for share in SHARES[::-1] for m in METHODS]
    for n, queries, share, method in tqdm(jobs):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            results.append(pool.submit(measured_made, n, queries, share, method).result())
    print(table(results))


def measured_made(n: int, queries: int, share: int, method: str) -> Result:
    """Compress a made head."""
    return measured(made(n, queries), share, method)


def tensors() -> None:
    """Compress many made heads at once, each time in a process of its own."""
    rows = []
    for case in tqdm(TENSORS):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append([*case, *(f"{x:.3g}" for x in pool.submit(measured_tensors, *case).result())])
    head = ["method", "heads", "threads", "rms (held out)", "log mass", "s", "CPU s", "MB"]
    print(tabulate(rows, head, disable_numparse=True))


def measured_tensors(method: str, heads: int, threads: int) -> tuple[float, ...]:
    """Compress heads as tensors: mean errors at queries held out, seconds, those of processors, MB beside the heads."""
    torch.set_num_threads(threads)
    n, queries = LONG[-1]
    columns = key, value, asked = [torch.empty(heads, rows, 128) for rows in (n, n, queries)]
    for number in range(heads):
        head = made(n, queries, seed=number)
        for rows, array in zip(columns, (head.key, head.value, head.train), strict=True):
            rows[number] = torch.from_numpy(array)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    begin, work = time.perf_counter(), time.process_time()
    found = compress_heads(key, value, asked, n // SHARES[1], method=method)
    times = time.perf_counter() - begin, time.process_time() - work
    return float(found.held_out.mean()), float(found.held_out_mass.mean()), *times, peak() - resident


def table(results: Sequence[Result]) -> str:
    """Return the results as text."""
    rows = [
        [r.head, r.n, r.method, *(f"{x:.2g}" for x in (r.error, r.rms, r.held_error, r.held_rms, r.held_mass)),
         f"{r.seconds:.1f}", f"{r.memory:.0f}"]
        for r in results
    ]  # fmt: skip
    return str(tabulate(rows, HEADER, disable_numparse=True))


def compare(heads: Sequence[Head], out: Path) -> None:
    """Print the table and write the figure, whole or not at all."""
    jobs = [(head, share, method) for head in heads for share in SHARES for method in METHODS]
    results = [measured(*job) for job in tqdm(jobs)]
    print(table(results))
    for share in SHARES:
        part = [r for r in results if r.share == share]
        means = {
            method: [
                np.exp(np.mean([np.log(getattr(r, name)) for r in part if r.method == method]))
                for name in ("held_error", "held_rms", "held_mass")
            ]
            for method in METHODS
        }
        words = "; ".join(f"{method} {a:.2g}, {b:.2g}, {c:.2g}" for method, (a, b, c) in means.items())
        print(f"1/{share} of the tokens, geometric means of held-out error, rms, log mass: {words}")
    out.parent.mkdir(parents=True, exist_ok=True)
    drawn(results, [head.name for head in heads]).savefig(unfinished := out.with_suffix(".part"), dpi=130, format="png")
    os.replace(unfinished, out)
    print(f"wrote {out}")


def drawn(results: Sequence[Result], names: Sequence[str]) -> Figure:
    """Draw held-out errors, a row for each head, a panel for each number of tokens."""
    figure = Figure(figsize=(9.6, 1.6 + 0.3 * len(names)), layout="constrained")
    panels: Any = figure.subplots(1, len(SHARES), sharey=True, sharex=True)
    y = np.arange(len(names))[::-1]
    for panel, share in zip(panels, SHARES, strict=True):
        found = {(r.head, r.method): r.held_rms for r in results if r.share == share}
        for place, name in zip(y, names, strict=True):
            ends = [found[name, method] for method in COLOURS]
            panel.plot([min(ends), max(ends)], [place, place], color="0.85", lw=2, zorder=1)
        for method, colour in COLOURS.items():
            label = "compress" if method.startswith("compress") else f"{method} (published)"
            panel.scatter([found[name, method] for name in names], y, 42, colour, label=label, zorder=2)
        panel.set(xscale="log", xlabel="rms error of the outputs at held-out queries, relative")
        panel.set_title(f"1/{share} of the tokens", fontsize=11)
        panel.grid(axis="x", color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(y, names)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def field() -> None:
    """Compress a Riemann head of 10 000 tokens of the Earth's magnetic field to 1e-3, and print the search."""
    target, concentration = targets.geomagnetic_field(2025.0), 1500.0
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 10_000), concentration)
    key, value, queries = concentration * head.control_points, head.values[:, None], points.fibonacci(4000).points
    begin = time.perf_counter()
    found = compress(Prefix(key, value), queries, eps=1e-3, scale=1.0, solver=Descent(mass=0.0))
    print(found.table())
    x = points.fibonacci(100_003).points
    h, got, f = head(x), found(x)[:, 0], target(x)
    print(
        f"{len(head)} tokens to {found.n}, {time.perf_counter() - begin:.0f} s; at 100 003 other points: changes by "
        f"{np.abs(got - h).max() / np.abs(h).max():.2g} of the largest value, errs from the field by "
        f"{np.abs(got - f).max():.3g} microtesla, the long one by {np.abs(h - f).max():.3g}"
    )
    rows = [
        [n, method, f"{chosen.error:.2g}"]
        for n in (found.n, 10 * found.n)
        for method in ("pursuit", "attention")
        for chosen in [select(Prefix(key, value), queries, n, method=method, scale=1.0)]
    ]
    print(tabulate(rows, ["tokens", "selection", "error"], disable_numparse=True))


def main() -> None:
    """Run the comparisons that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--field", action="store_true", help="compress a long head of this library instead")
    add("--long", action="store_true", help="compress long heads that are made up instead")
    add("--tensors", action="store_true", help="compress many long heads at once instead, as tensors")
    add("--heads", type=int, nargs="+", default=[1, 2], help="numbers of the heads of each layer")
    add("--out", type=Path, default=Path("compaction.png"))
    chosen = parser.parse_args()
    if chosen.field:
        field()
        return
    if chosen.long or chosen.tensors:
        (long if chosen.long else tensors)()
        return
    layers = {**anarcii(), **recogniser()}
    compare([heads[n - 1] for heads in layers.values() for n in chosen.heads], chosen.out)


if __name__ == "__main__":
    main()
