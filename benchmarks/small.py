"""Small sums beside NumPy as a user writes it, and what a sum on two threads spends outside its kernels.

Two tables, of one run each. Small sums: `evaluate` and a head's call beside ``np.exp(lam * (x @ b.T - 1)) @ w`` on
arrays of float64, in interleaved rounds, medians, with the number of Python functions that a call enters, and what a
call takes beside its kernel. Shares: the time before the first kernel, after the last one, and what threads wait, as
parts of the wall time of a dense sum. It takes some 20 seconds::

    python benchmarks/small.py
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
from tabulate import tabulate
from timing import machine

from spherapprox import CoreHead, evaluate, sphere
from spherapprox._types import Floats
from spherapprox.config import show_config

SIZES = ((1, 10, 300, 25.0), (10, 100, 300, 25.0), (100, 100, 200, 25.0), (300, 300, 40, 25.0), (1000, 1000, 6, None))
"""Evaluation and control points, calls of a round, and the most microseconds that a call may take beside its kernel."""
ROUNDS = 15
CONCENTRATION = 20.0


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Return the time of one of so many calls, the caches filled by another."""
    call()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def python_calls(call: Callable[[], Any]) -> int:
    """Count the Python functions that a call enters."""
    count = [0]

    def note(frame: Any, event: str, argument: Any) -> None:
        count[0] += event == "call"

    sys.setprofile(note)
    call()
    sys.setprofile(None)
    return count[0]


def kernel_call(x: Floats, b: Floats, w: Floats) -> Callable[[], None]:
    """Return the call of the kernel that `evaluate` makes."""
    from spherapprox._kernels.summation import packing, whole

    rates, powers, out = packing.rates(CONCENTRATION / 2.0, x.dtype), packing.powers(x.dtype), np.empty((len(x), 1))
    return lambda: whole.whole_sums(x, b, w, False, rates, powers, out, out[:0, 0])


def small_rows() -> Iterator[list[str]]:
    """Time small sums beside NumPy, and beside their kernel alone."""
    for m, n, calls, target in SIZES:
        x, b = sphere.uniform(2, m, 0), sphere.uniform(2, n, 1)
        w = np.random.default_rng(2).standard_normal(n)
        head = CoreHead(b, w, CONCENTRATION)
        ours = {
            "NumPy": lambda x=x, b=b, w=w: np.exp(CONCENTRATION * (x @ b.T - 1.0)) @ w,
            "evaluate": lambda x=x, b=b, w=w: evaluate(x, b, w, CONCENTRATION),
            "head": lambda x=x, head=head: head(x),
            "kernel": kernel_call(x, b, w),
        }
        times: dict[str, list[float]] = {name: [] for name in ours}
        for _ in range(ROUNDS):
            for name, call in ours.items():
                times[name].append(seconds(call, calls))
        peer, mine, heads, kernel = (statistics.median(taken) * 1e6 for taken in times.values())
        kept = "" if target is None else "yes" if mine - kernel <= target else "NO"
        yield [
            f"({m}, {n})", f"{peer:.1f}", f"{mine:.1f}", f"{heads:.1f}", f"{kernel:.1f}", f"{mine - kernel:.1f}",
            "" if target is None else f"<= {target:g}", kept, str(python_calls(ours["evaluate"])),
        ]  # fmt: skip


def share_rows() -> Iterator[list[str]]:
    """Measure the parts of a dense sum outside the kernel, by its calls."""
    from spherapprox._kernels.summation import fused

    kernel, log = fused.fused_sums, []

    def noted(*arguments: Any) -> None:
        begin = time.perf_counter()
        kernel(*arguments)
        log.append((begin, time.perf_counter(), threading.get_ident()))

    n = 12_288
    x, b, w = sphere.uniform(2, n, 0), sphere.uniform(2, n, 1), np.random.default_rng(2).standard_normal(n)
    found: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    fused.fused_sums = noted
    for _ in range(ROUNDS):
        for workers, shares in found.items():
            log.clear()
            begin = time.perf_counter()
            evaluate(x, b, w, CONCENTRATION, method="dense", workers=workers)
            wall = time.perf_counter() - begin
            before, after = min(start for start, _, _ in log) - begin, begin + wall - max(end for _, end, _ in log)
            busy = sum(end - start for start, end, _ in log) / workers
            shares.append((wall, before, after, wall - before - after - busy))
    fused.fused_sums = kernel
    for workers, shares in found.items():
        wall, before, after, idle = (statistics.median(column) for column in zip(*shares, strict=True))
        kept = "yes" if before + after <= 0.02 * wall else "NO"
        parts = (f"{100 * part / wall:.2f} %" for part in (before, after, before + after, idle))
        yield [str(workers), f"{wall * 1e3:.2f}", *parts, kept]


def main() -> None:
    """Print both tables."""
    print(machine("numpy", "numba", "llvmlite"), show_config("dicts")["instructions"], "BLAS on one thread")
    x = sphere.uniform(2, 10, 0)
    for _ in range(2):  # the second checks its arguments by kernels
        evaluate(x, x, np.ones(10), CONCENTRATION)
    header = [
        "(M, N)",
        "NumPy (us)",
        "evaluate (us)",
        "head (us)",
        "kernel (us)",
        "beside it",
        "target",
        "kept",
        "calls",
    ]
    print("\nsmall sums, d = 3, float64\n" + tabulate(list(small_rows()), header, disable_numparse=True))
    header = ["threads", "wall (ms)", "before", "after", "both", "waiting", "<= 2 %"]
    print("\ndense sum, d = 3, N = M = 12288\n" + tabulate(list(share_rows()), header, disable_numparse=True))


if __name__ == "__main__":
    main()
