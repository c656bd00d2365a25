"""Dot-product attention by every method, beside torch's scaled_dot_product_attention in the same rounds.

Queries, keys and values look like those of trained heads: coordinates of sizes that fall off like 1/k (few directions
matter), keys with a vector in common, and two keys that draw all queries to them, with logits some 10 above the others.
"small logits" has queries and keys of 3 columns, 0.15 times as large: where polynomials of low degree do. Each line has
the largest error at some queries (against sums in long double), the bound that the plan proves for it, and how much
longer torch takes; then comes what each plan says. With ``--sdpa`` there is another table instead: Gaussian rows, all
pairs and causal ones, by one and two threads, and how much longer torch takes. Either takes some five minutes,
``--quick`` one, and needs ``pip install "spherapprox[torch]"``::

    python benchmarks/dot_product.py
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import timing
import torch
from numpy.typing import NDArray
from tabulate import tabulate
from timing import Row, Timed, machine, measure

from spherapprox import attention
from spherapprox.summation import AttentionSolver, explain_attention

Array = NDArray[Any]

ASKED = (("auto", 1e-14), ("auto", 1e-3), ("dense", 1e-14), ("truncated", 1e-3), ("lowrank", 1e-3), ("cholesky", 1e-3))
WARM_UP = 8
"""Calls before any is timed: NumPy does the first ones, compiled code what follows."""
SAMPLE = 100
"""Queries at which errors are measured."""


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter sequences, and fewer rounds")
    parser.add_argument("--sdpa", action="store_true", help="lengths, types, causal masks and threads beside torch")
    return parser.parse_args()


def trained(n: int, s: int, *, size: float = 1.0) -> list[Array]:
    """Return queries, keys and values (n, s) that look like those of a trained head."""
    rng = np.random.default_rng(s)
    sizes = 4.0 / (1.0 + np.arange(s))  # of the coordinates: few matter
    bases = np.linalg.qr(rng.normal(size=(s, s)))[0]
    query, key = (rng.normal(size=(n, s)) * sizes @ bases for _ in range(2))
    common = bases[0] + 0.5 * bases[-1]
    query += 2.0 * common
    key += 3.0 * common
    key[:2] += 10.0 * np.sqrt(s) * common / 2.5  # all queries attend to these
    value = rng.normal(size=(n, s)) / np.sqrt(1.0 + np.arange(s))
    return [size * query, size * key, value]


def errors(output: Array, rows: list[Array]) -> Array:
    """Return the largest error of each of some queries, by sums in long double."""
    query, key, value = (a.astype(np.longdouble) for a in rows)
    some = np.linspace(0, len(query) - 1, SAMPLE).astype(int)
    logits = query[some] @ key.T * np.longdouble(query.shape[1] ** -0.5)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    exact = weights @ value / weights.sum(axis=1, keepdims=True)
    found: Array = np.abs(output[some] - exact).max(axis=1).astype(float)
    return found


def torch_attention(rows: list[Array]) -> Timed:
    """Return torch's attention on one thread."""
    tensors = [torch.tensor(a)[None, None] for a in rows]

    def call() -> Array:
        found: Array = torch.nn.functional.scaled_dot_product_attention(*tensors)[0, 0].numpy()
        return found

    return Timed(call)


def compared(name: str, rows: list[Array], rounds: int) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the table for one head, and what its plans say."""
    table, said = [], []
    peer = torch_attention(rows)
    peer()
    for _ in range(WARM_UP):
        attention(*rows, solver=AttentionSolver(workers=1))
    theirs = f"{errors(peer.result, rows).max():.1e}"
    for method, rtol in ASKED:
        head = f"{name}, {rows[0].dtype}, {method} {rtol:g}"
        try:
            solver = AttentionSolver(method, rtol, workers=1)
            output, plan = explain_attention(*rows, solver=solver)
        except ValueError as error:
            said.append(f"{head}: {error}")
            continue
        seen = errors(output, rows).max()
        bound = float(plan.error.max())
        ours = Timed(lambda solver=solver: attention(*rows, solver=solver))  # type: ignore[misc]
        line = measure(Row(head, ours, peer, lambda: ""), rounds)
        kept = "yes" if seen <= bound else "NO"
        table.append([head, plan.method, *line[1:4], f"{seen:.1e}", f"{bound:.1e}", kept, theirs])
        said.append(f"{head}: concentration {plan.concentration:.3g}; {plan.reason}")
        said.extend(f"    not {other}: {why}" for other, why in plan.heads[()].excluded.items())
    return table, said


def beside_torch(quick: bool) -> list[list[str]]:
    """Return the lines of the table of all pairs: the least seconds of rounds, with and without a causal mask.

    They are of the processor for one thread, else of a clock on the wall.
    """
    table, lengths = [], (512, 2048) if quick else (512, 2048, 8192)
    for threads, dtype, s, n in product((1, 2), ("float64", "float32"), (64, 128), lengths):
        torch.set_num_threads(threads)
        timing.clock = time.process_time if threads == 1 else time.perf_counter  # other processes disturb the latter
        rows = [np.random.default_rng(seed).normal(size=(n, s)).astype(dtype) for seed in range(3)]
        tensors, solver = [torch.tensor(a)[None, None] for a in rows], AttentionSolver("dense", workers=threads)
        calls = [
            call
            for causal in (False, True)
            for call in (
                Timed(lambda c=causal, r=rows, o=solver: attention(*r, is_causal=c, solver=o)),  # type: ignore[misc]
                Timed(lambda c=causal, t=tensors: torch.nn.functional.scaled_dot_product_attention(*t, is_causal=c)),  # type: ignore[misc]
            )
        ]
        rounds = max(3, (10 if quick else 40) * 512 // n)
        ours, theirs, ours_causal, theirs_causal = np.min([[call() for call in calls] for _ in range(rounds)], axis=0)
        found = (ours, theirs / ours, ours_causal, theirs_causal / ours_causal, ours_causal / ours)
        table.append([str(threads), dtype, str(s), str(n), *(f"{number:.3g}" for number in found)])
    return table


def main() -> None:
    """Print the table and the plans."""
    quick, sdpa = options().quick, options().sdpa
    print(machine("torch", "numpy", "numba") + "\n")
    if sdpa:
        header = ["threads", "type", "s", "n", "ours (s)", "torch/ours", "causal (s)", "torch/ours", "causal/all"]
        print(tabulate(beside_torch(quick), header, disable_numparse=True))
        return
    torch.set_num_threads(1)
    n, rounds = (2048, 3) if quick else (8192, 3)
    heads = [(f"s = {s}, {n} tokens", trained(n, s)) for s in (8, 64)]
    heads.append((f"s = 3, {4 * n} tokens, small logits", trained(4 * n, 3, size=0.15)))
    table, said = [], []
    for name, rows in heads:
        for dtype in ("float64", "float32"):
            lines, plans = compared(name, [a.astype(dtype) for a in rows], rounds)
            table += lines
            said += plans
    header = ["what, rtol", "taken", "ours (s)", "torch (s)", "torch/ours", "error", "bound", "kept", "torch's error"]
    print(tabulate(table, header, disable_numparse=True))
    print("\n" + "\n".join(said))


if __name__ == "__main__":
    main()
