"""Torch modules beside plain scaled_dot_product_attention of the same queries, keys and values.

The split head's module and the peer take the same tensors; the core head's sum, which is no attention, is shown beside
the same call. Classical heads are held against `torch.nn.MultiheadAttention` of the same weights over the same tokens.
A row has medians of interleaved rounds, each of as many calls as take some milliseconds, in microseconds of wall time,
forward and with gradients in the points. It takes a minute, and needs ``pip install "spherapprox[torch]"``::

    python benchmarks/torch_modules.py
    python benchmarks/torch_modules.py --threads 2 --rows 32 1024 --n 10 1000 --dtypes float32
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from tabulate import tabulate
from timing import machine

from spherapprox import ClassicalHead, CoreHead, SplitHead, sphere

HEADER = ["module", "dtype", "rows", "tokens", "d", "forward: us", "peer", "ours/peer", "backward: us", "peer",
          "ours/peer"]  # fmt: skip
DTYPES = {"float64": torch.float64, "float32": torch.float32}
CONCENTRATION = 20.0
ROUND = 3e-3
"""Seconds of a round, at least."""
SEQUENCES = 8
"""Sequences that the rows of classical heads are cut into."""


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rows", type=int, nargs="+", default=[32, 512, 4096], help="queries")
    add("--n", type=int, nargs="+", default=[10, 256, 4096], help="tokens")
    add("--d", type=int, nargs="+", default=[3, 65], help="columns of queries, keys and values")
    add("--dtypes", nargs="+", default=list(DTYPES), choices=list(DTYPES))
    add("--modules", nargs="+", default=["split", "core", "classical"], choices=["split", "core", "classical"])
    add("--threads", type=int, default=1, help="of torch")
    add("--rounds", type=int, default=9, help="how often each call is timed")
    return parser.parse_args()


def split(x: Any, n: int, dtype: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the split head's module, and attention to its tensors."""
    module = made(SplitHead, x, n).to_torch(dtype=dtype)
    return module, partial(plain, keys=module.control_points, values=module.values)


def core(x: Any, n: int, dtype: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the core head's module, and attention to its tensors."""
    module = made(CoreHead, x, n).to_torch(dtype=dtype)
    return module, partial(plain, keys=module.control_points, values=module.values)


def classical(x: Any, n: int, dtype: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the classical head's module, and its attention over tokens that are joined beforehand."""
    head = made(SplitHead, x, n)
    module = ClassicalHead(head.control_points, head.values, CONCENTRATION).to_torch(dtype=dtype)

    def attend(x: Any) -> Any:
        inputs = module.embed(x)
        tokens = torch.cat([module.prefix.expand(len(x), -1, -1), inputs], dim=1)
        return module.attention(inputs, tokens, tokens, need_weights=False)[0][..., : x.shape[-1]]

    return module, attend


def made(kind: type[Any], x: Any, n: int) -> Any:
    """Return a head with random control points and values of as many columns as x."""
    d = x.shape[-1]
    return kind(sphere.uniform(d - 1, n, rng=1), np.random.default_rng(2).standard_normal((n, d)), CONCENTRATION)


def plain(x: Any, *, keys: Any, values: Any) -> Any:
    """Return torch's attention of points to keys."""
    query, key, value = x[None, None], keys[None, None], values[None, None]
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=CONCENTRATION)[0, 0]


def seconds(call: Callable[[], Any], count: int) -> float:
    """Return the seconds of one of so many calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def compared(ours: Callable[[], Any], peer: Callable[[], Any], rounds: int) -> Iterator[str]:
    """Return the medians in microseconds, and their ratio."""
    count = max(1, int(ROUND / max(seconds(peer, 2), seconds(ours, 2))))
    pairs = [(seconds(ours, count), seconds(peer, count)) for _ in range(rounds)]
    mine, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    yield from (f"{1e6 * mine:.1f}", f"{1e6 * theirs:.1f}", f"{mine / theirs:.2f}")


def row(name: str, dtype: str, rows: int, n: int, d: int, rounds: int) -> list[str]:
    """Time one module."""
    x = torch.tensor(sphere.uniform(d - 1, rows, rng=0), dtype=DTYPES[dtype])
    if name == "classical":
        x = x.reshape(SEQUENCES, -1, d)
    module, peer = {"split": split, "core": core, "classical": classical}[name](x, n, DTYPES[dtype])
    if name != "core":
        assert torch.equal(module(x), peer(x))

    def with_gradients(function: Callable[[Any], Any]) -> None:
        moving = x.detach().requires_grad_()
        function(moving).sum().backward()

    with torch.no_grad():
        forward = list(compared(partial(module, x), partial(peer, x), rounds))
    backward = compared(partial(with_gradients, module), partial(with_gradients, peer), rounds)
    return [name, dtype, f"{rows}", f"{n}", f"{d}", *forward, *backward]


def main() -> None:
    """Print the table."""
    chosen = options()
    torch.set_num_threads(chosen.threads)
    print(f"{machine('torch', 'numpy')}; {chosen.threads} thread(s)")
    grid = [(m, t, r, n, d) for m in chosen.modules for d in chosen.d for t in chosen.dtypes
            for r in chosen.rows for n in chosen.n if m != "classical" or n * r <= 2**20]  # fmt: skip
    print(tabulate([row(*case, chosen.rounds) for case in grid], HEADER, disable_numparse=True))


if __name__ == "__main__":
    main()
