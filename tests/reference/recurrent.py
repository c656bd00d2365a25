"""Dictionaries as torch modules, with long prompts: tokens of answers that are wrong, which are expected to be 0.

For each length n of keys, a dictionary of unique keys over a vocabulary of 64, some 100 000 tokens in all, is read by
one stock RNN, LSTM and GRU, and by a Hawk, in float64 and float32, for 4 queries each: the first, the last and a middle
key, and one that is not there. All take three hours of one core, half of them for the Hawk, or half of that with
``--plain``; ``--lengths`` and ``--kinds`` choose::

    python tests/reference/recurrent.py --lengths 3 10 20 --out wrong.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabulate import tabulate
from tqdm import tqdm

from spherapprox.prompts.recurrent.programs import Dictionary

KINDS, DTYPES = ("rnn", "lstm", "gru", "hawk"), ("float64", "float32")
VOCABULARY = 64


def case(length: int, tokens: int, robust: bool, queries: int = 4) -> tuple[Any, Any, Any, Any]:
    """Return a model, queries, a prompt of about so many tokens, and the answers."""
    rng = np.random.default_rng(length)
    n_keys = tokens // (2 * length)
    keys = np.unique(rng.integers(1, VOCABULARY + 1, (n_keys + n_keys // 4, length)), axis=0)
    keys = rng.permutation(keys)[: n_keys + 1]
    absent, keys = keys[:1], keys[1:]
    values = rng.integers(1, VOCABULARY + 1, keys.shape)
    rows = [0, len(keys) // 2, len(keys) - 1]
    answers = np.vstack([values[rows], np.zeros((1, length))])
    model = Dictionary(length, VOCABULARY, robust)
    chosen = np.arange(length, length + queries) % 4  # fewer: others at each length
    return model, np.vstack([keys[rows], absent])[chosen], model.prompt(keys, values), answers[chosen]


def wrong(outputs: Any, answers: Any) -> int:
    """Return how many tokens of outputs, rounded, are wrong."""
    return int(np.count_nonzero(~(np.rint(outputs) == answers)))


def measure(length: int, kinds: list[str], *sizes: Any) -> list[dict[str, Any]]:
    """Return a record for the network, and for each kind of module and dtype, of a `case` of some sizes."""
    model, queries, prompt, answers = case(length, *sizes)
    start = time.perf_counter()
    n_wrong = wrong(model.run(queries, prompt), answers)
    base = {"length": length, "layers": len(model.network.layers), "tokens": len(prompt), "answered": answers.size}
    records = [
        {**base, "kind": "network", "dtype": "float64", "wrong": n_wrong, "seconds": time.perf_counter() - start}
    ]
    x = model.sequences(queries, prompt)
    for kind in kinds:
        for dtype in DTYPES:
            module = model.network.to_torch(kind, dtype=getattr(torch, dtype))
            start = time.perf_counter()
            with torch.inference_mode():
                outputs = model.answers(module(torch.tensor(x, dtype=getattr(torch, dtype))).numpy())
            spent = time.perf_counter() - start
            records.append({**base, "kind": kind, "dtype": dtype, "wrong": wrong(outputs, answers), "seconds": spent})
    return records


def main() -> None:
    """Print a table, write the records, and fail if a token is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(range(3, 21)))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=4, help="of the four, fewer for less time")
    parser.add_argument("--plain", action="store_true", help="the program that does not round its truth values")
    parser.add_argument("--out", type=Path, help="records as JSON, after each length")
    options = parser.parse_args()
    torch.set_num_threads(1)  # more only wait for each other
    records: list[dict[str, Any]] = []
    for length in tqdm(options.lengths):
        records += measure(length, options.kinds, options.tokens, not options.plain, options.queries)
        if options.out is not None:
            options.out.write_text(json.dumps(records, indent=1), encoding="utf-8")
    print(tabulate(records, headers="keys", floatfmt=".1f"))
    if any(record["wrong"] for record in records):
        raise SystemExit("tokens are wrong")


if __name__ == "__main__":
    main()
