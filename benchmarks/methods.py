"""The methods of `evaluate` beside each other: whether "auto" finds the best, what its choice rests on, and growth.

Four tables, all of one run: "auto" beside the best single method over dimensions, sizes and concentrations; the rank
that a method of low rank needs on points all over the sphere; truncated sums beside dense ones, and "auto", for uniform
points, clusters and smooth images of a cube of three dimensions; the time of dense sums over five decades of points and
control points, with memory. Where all pairs would take minutes, the dense time is that of some of the rows, times their
share. What the fast methods gain is in speed.py. It takes up to half an hour::

    python benchmarks/methods.py
    python benchmarks/methods.py --tables columns growth
    python benchmarks/methods.py --tables auto --dims 3 5 --largest 100000
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from tabulate import tabulate
from timing import resident
from tqdm import tqdm

from spherapprox import evaluate, special, sphere
from spherapprox.summation import explain_sum, plan, plan_sum
from spherapprox.summation.problem import Problem

Array = NDArray[np.float64]

TABLES = ("auto", "rank", "columns", "growth")
RTOL = 1e-12
PATIENCE = 4.0
"""Seconds beyond which a call is not made whole, or not at all, in the table of "auto"."""


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    add("--rounds", type=int, default=3, help="how often each call is timed")
    add("--dims", type=int, nargs="+", default=[2, 3, 5, 9, 65], help='columns of the points in the table of "auto"')
    add("--smallest", type=int, default=10**2, help='points and control points in the table of "auto", at least')
    add("--largest", type=int, default=10**6, help="and at most")
    add("--concentrations", type=float, nargs="+", default=[1.0, 10.0, 100.0, 1e3, 1e4, 1e6], help="in that table")
    return parser.parse_args()


def problem(n: int, d: int) -> tuple[Array, Array, Array]:
    """Return as many points as control points, uniform, and their values."""
    return sphere.uniform(d - 1, n, 0), sphere.uniform(d - 1, n, 1), np.random.default_rng(2).standard_normal(n)


def gathered(kind: str, n: int, d: int) -> tuple[Array, Array, Array]:
    """Return uniform points, clusters, or a smooth image of a cube of three dimensions, and values."""
    if kind == "uniform":
        return problem(n, d)
    common, pair = np.random.default_rng(3), []
    centers, waves = sphere.uniform(d - 1, 50, common), 6.0 * common.standard_normal((3, d // 2))
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        if kind == "clusters":
            rows = centers[rng.integers(50, size=n)] + 0.2 * rng.standard_normal((n, d)) / np.sqrt(d)
        else:
            phases = rng.random((n, 3)) @ waves
            rows = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        pair.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return pair[0], pair[1], np.random.default_rng(2).standard_normal(n)


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the median wall time after a call that is not timed, unless that one is long."""
    times = []
    for i in range(rounds + 1):
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        if i > 0 or took > PATIENCE:
            times.append(took)
        if took > PATIENCE:
            break
    return statistics.median(times)


def dense_seconds(x: Array, b: Array, w: Array, concentration: float, rounds: int) -> float:
    """Return the time of dense sums on one thread: of some of the rows where all would take long, times their share."""
    rows = max(min(len(x), 960), min(len(x), int(2e9 / len(b) / x.shape[1])))
    return seconds(lambda: evaluate(x[:rows], b, w, concentration, method="dense"), rounds) * len(x) / rows


def by_tree(x: Array, b: Array, w: Array, concentration: float) -> Array:
    """Sum over the control points within reach by a tree of SciPy's, vectorised over their flat list."""
    tree = cKDTree(b)
    out = np.empty(len(x))
    reach = np.sqrt(2.0 * 37.0 / concentration)
    for i in range(0, len(x), 2000):
        rows = x[i : i + 2000]
        found = tree.query_ball_point(rows, reach, return_sorted=False)
        counts = np.array([len(some) for some in found])
        if not counts.sum():
            out[i : i + 2000] = 0.0
            continue
        flat = np.concatenate([some for some in found if some]).astype(np.intp)
        owner = np.repeat(np.arange(len(rows)), counts)
        t = ((rows[owner] - b[flat]) ** 2).sum(axis=1)
        out[i : i + 2000] = np.bincount(owner, w[flat] * np.exp(-concentration / 2.0 * t), len(rows))
    return out


def auto_rows(
    dims: list[int], smallest: int, largest: int, concentrations: list[float], rounds: int
) -> Iterator[list[str]]:
    """Time every method that solves a problem in time, and the one that "auto" takes, with its choice.

    Where a sum may be long, "auto" takes the time of the choice and that of the method.
    """
    sizes = [n for n in (10**2, 10**3, 10**4, 10**5, 10**6) if smallest <= n <= largest]
    cases = [(d, n, concentration) for d in dims for n in sizes for concentration in concentrations]
    for d, n, concentration in tqdm(cases, desc="auto", unit="problem"):
        x, b, w = problem(n, d)
        sums = Problem(x, b, concentration / 2.0, np.dtype(np.float64), w[:, None], normalize=False)
        tolerance = plan.allowed(sums, RTOL)
        expected = plan.compare(sums, tolerance, False)[0]
        times = {"dense": dense_seconds(x, b, w, concentration, rounds)}
        chosen = min(expected, key=expected.__getitem__)
        mine = seconds(partial(plan.compare, sums, tolerance, False, False), rounds)
        if small := n <= 10**4:
            auto = partial(evaluate, x, b, w, concentration, rtol=RTOL)
            chosen, mine = explain_sum(*auto.args, rtol=RTOL)[1].method, seconds(auto, rounds)
        for method, cost in expected.items():
            if method != "dense" and (method == chosen or cost < min(PATIENCE, 3.0 * min(times.values()))):
                call = partial(evaluate, x, b, w, concentration, method=method, rtol=RTOL)
                times[method] = seconds(call, rounds)
        best = min(times, key=times.__getitem__)
        mine += 0.0 if small else times[chosen]
        numbers = (f"{times[best]:.3g}", f"{mine:.3g}", f"{mine / times[best]:.2f}")
        kept = "yes" if mine <= 1.3 * times[best] else "NO"
        others = ", ".join(f"{name} {took:.2g} (expected {expected[name]:.2g})" for name, took in times.items())
        yield [str(d), f"{n:.0e}", f"{concentration:g}", chosen, best, *numbers, kept, others]


def rank_rows() -> Iterator[list[str]]:
    """Count the eigenvalues of the kernel that exceed a share of the largest: a method of less rank errs by more."""
    for dim in (2, 4, 9, 63):
        for concentration in (1.0, 10.0, 100.0):
            logs = special.log_iv(np.arange(400.0) + (dim - 1) / 2.0, concentration)
            # all polynomials of the degrees whose eigenvalue is as large
            degrees = [np.flatnonzero(logs - logs[0] > math.log(rtol))[-1] for rtol in (1e-14, 1e-6, 1e-3)]
            ranks = (math.comb(dim + int(g), dim) + math.comb(dim + int(g) - 1, dim) for g in degrees)
            yield [f"S^{dim}", f"{concentration:g}", *(f"{rank:.2g}" for rank in ranks)]


def column_rows(rounds: int) -> Iterator[list[str]]:
    """Compare truncated sums with dense ones in many columns, and see which of them "auto" takes, at what price."""
    n, concentration = 30_000, 100.0
    for kind in ("uniform", "clusters", "image"):
        for d in (10, 64):
            x, b, w = gathered(kind, n, d)
            slow = dense_seconds(x, b, w, concentration, rounds)
            for rtol in (1e-14, 1e-6, 1e-3):
                fast = seconds(partial(evaluate, x, b, w, concentration, method="truncated", rtol=rtol), rounds)
                chosen = plan_sum(x, b, w, concentration, rtol=rtol)
                mine = {"dense": slow, "truncated": fast}[chosen.method] / min(slow, fast)
                yield [kind, str(d), f"{rtol:g}", f"{slow:.3g}", f"{fast:.3g}", f"{slow / fast:.2f}", chosen.method,
                       f"{mine:.2f}", "yes" if mine <= 1.3 else "NO"]  # fmt: skip


def load_kernels() -> None:
    """Use every method once, as a process does that has worked for a while."""
    for d, n, method in ((2, 1000, "harmonic"), (3, 1000, "harmonic"), (3, 1000, "truncated"), (3, 20_000, "dense")):
        evaluate(*problem(n, d), 20.0, method=method, rtol=RTOL)
    evaluate(*problem(1000, 3), 0.1, method="lowrank", rtol=RTOL)


def growth_rows(rounds: int) -> Iterator[list[str]]:
    """Time dense sums over five decades of points, and of control points, and measure the memory they add."""
    concentration = 20.0
    for what in ("points", "control points"):
        for n in (10**2, 10**3, 10**4, 10**5, 10**6, 10**7):
            sizes = (n, 1000) if what == "points" else (1000, n)
            x, b = sphere.uniform(2, sizes[0], 0), sphere.uniform(2, sizes[1], 1)
            w = np.ones(len(b))
            before = resident()
            took = seconds(partial(evaluate, x, b, w, concentration, method="dense"), rounds)
            pairs = float(len(x)) * len(b)
            inputs = (x.nbytes + b.nbytes + w.nbytes) / 2**20
            added = resident() - before
            yield [what, f"{n:.0e}", f"{took:.3g}", f"{pairs / took / 1e9:.3g}", f"{inputs:.1f}", f"{added:.1f}"]


def main() -> None:
    """Print the tables that are asked for."""
    chosen = options()
    tables: dict[str, tuple[list[str], Callable[[], Iterator[list[str]]]]] = {
        "auto": (
            ["d", "N = M", "lambda", "auto takes", "best", "best (s)", "auto (s)", "ratio", "<= 1.3", "all (s)"],
            lambda: auto_rows(chosen.dims, chosen.smallest, chosen.largest, chosen.concentrations, chosen.rounds),
        ),
        "rank": (["sphere", "lambda", "1e-14", "1e-6", "1e-3"], rank_rows),
        "columns": (
            ["points", "d", "rtol", "dense (s)", "truncated (s)", "ratio", "auto takes", "over best", "<= 1.3"],
            lambda: column_rows(chosen.rounds),
        ),
        "growth": (
            ["growing", "number", "s", "G pairs/s", "input (MiB)", "memory added (MiB)"],
            lambda: growth_rows(chosen.rounds),
        ),
    }
    load_kernels()
    for name in chosen.tables:
        header, rows = tables[name]
        print(f"\n{name}\n" + tabulate(list(rows()), header, disable_numparse=True), flush=True)


if __name__ == "__main__":
    main()
