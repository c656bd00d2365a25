"""Heads as torch's own attention: how far from the heads themselves, and how fast, in one run.

The split head as scaled_dot_product_attention and the classical head as MultiheadAttention are held against
``head(x)``, which takes chords: first the largest difference over the largest of the |values|, beside what is allowed
(in float64 1e-12 for concentrations to 1e3 and 1e-15 times the concentration beyond, in float32 5e-7 times
1 + concentration), at points half way between neighbouring control points and at opposite ones, each alone or all in
one sequence; then medians of interleaved rounds of wall time. It takes some two minutes, and needs
``pip install "spherapprox[torch]"``::

    python benchmarks/attention.py
    python benchmarks/attention.py --threads 2 --n 4000 --rows 8000

Where torch sees a GPU, its differences and times are shown beside the CPU's.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tabulate import tabulate
from timing import machine

from spherapprox import ClassicalHead, SplitHead, sphere

Array = NDArray[Any]

CONCENTRATIONS = (10.0, 1e2, 1e3, 1e4, 1e5, 1e6)
WARM_UP = 4.0
"""Seconds of ``head(x)`` before it is timed: NumPy does the first ones, compiled code what follows."""

DTYPES = {"float64": torch.float64, "float32": torch.float32}


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dims", type=int, nargs="+", default=[2, 8, 63], help="m of the spheres S^m")
    add("--n", type=int, default=1000, help="control points")
    add("--rows", type=int, default=2000, help="points of the timed calls")
    add("--sequence", type=int, default=50, help="inputs of each sequence in the timed calls")
    add("--concentration", type=float, default=20.0, help="concentration of the timed heads")
    add("--rounds", type=int, default=7, help="how often each call is timed")
    add("--threads", type=int, default=1, help="threads of torch, and workers of head(x)")
    return parser.parse_args()


def devices() -> list[str]:
    """Return the devices that torch sees."""
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def recipe(dim: int, n: int, concentration: float) -> SplitHead:
    """Return a split head with random values of dim+1 columns."""
    rng = np.random.default_rng(dim)
    return SplitHead(sphere.uniform(dim, n, rng=rng), rng.normal(size=(n, dim + 1)), concentration)


def hard_points(head: SplitHead, count: int) -> Array:
    """Return points half way between control points and their neighbours, and opposites of some."""
    b = head.control_points.astype(np.float64)
    neighbour = (b[:count] @ b.T - 3.0 * np.eye(count, len(b))).argmax(axis=1)
    middle = b[:count] + b[neighbour]
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    return np.concatenate([middle, -middle[: count // 4]])


def allowed(concentration: float, dtype: str) -> float:
    """Return the limit of the difference, over the largest of the |values|."""
    return max(1e-12, 1e-15 * concentration) if dtype == "float64" else 5e-7 * (1.0 + concentration)


def differences(head: SplitHead, dtype: str, device: str) -> dict[str, float]:
    """Return the largest difference from ``head(x)`` of each module, over the largest of the |values|."""
    x = hard_points(head, 100).astype(dtype)
    wanted = head(x.astype(np.float64))
    inputs = torch.tensor(x, device=device)
    split, classical = (h.to_torch(dtype=DTYPES[dtype], device=device) for h in (head, ClassicalHead.from_head(head)))
    results = {
        "SDPA": split(inputs),
        "MHA, T = 1": classical(inputs[:, None])[:, 0],
        "MHA, one sequence": classical(inputs),
    }
    scale = np.abs(head.values).max()
    return {name: float(np.abs(y.cpu().numpy() - wanted).max() / scale) for name, y in results.items()}


def accuracy(dims: list[int], n: int) -> list[list[str]]:
    """Return the rows of the table of differences."""
    rows = []
    for device in devices():
        for dtype in DTYPES:
            for dim in dims:
                for concentration in CONCENTRATIONS:
                    seen = differences(recipe(dim, n, concentration), dtype, device)
                    limit = allowed(concentration, dtype)
                    kept = "yes" if max(seen.values()) <= limit else "NO"
                    numbers = [f"{value:.1e}" for value in seen.values()]
                    rows.append([device, dtype, str(dim), f"{concentration:g}", *numbers, f"{limit:.1e}", kept])
    return rows


def calls(head: SplitHead, dtype: str, chosen: argparse.Namespace) -> dict[str, Callable[[], Any]]:
    """Return the calls to time: of the head, and of both modules on every device."""
    x = sphere.uniform(head.dim, chosen.rows, rng=1).astype(dtype)
    own = SplitHead(head.control_points.astype(dtype), head.values.astype(dtype), head.concentration)
    result: dict[str, Callable[[], Any]] = {
        "head(x)": lambda: own(x, workers=chosen.threads),
    }
    for device in devices():
        inputs = torch.tensor(x, device=device)
        result[f"SDPA {device}"] = finished(own.to_torch(device=device), inputs, device)
        sequences = inputs.reshape(-1, chosen.sequence, head.dim + 1)
        result[f"MHA {device}"] = finished(ClassicalHead.from_head(own).to_torch(device=device), sequences, device)
    return result


def finished(module: Any, x: Any, device: str) -> Callable[[], Any]:
    """Return a call of a module that waits for the device."""

    def call() -> None:
        with torch.no_grad():
            module(x)
        if device == "cuda":
            torch.cuda.synchronize()

    return call


def medians(timed: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median wall time of each call, in interleaved rounds after a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for call in timed.values():
        call()
    start = time.perf_counter()
    while time.perf_counter() < start + WARM_UP:
        timed["head(x)"]()
    for _ in range(rounds):
        for name, call in timed.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def speed(chosen: argparse.Namespace) -> list[list[str]]:
    """Return the rows of the table of times."""
    rows = []
    for dtype in DTYPES:
        for dim in chosen.dims:
            seconds = medians(calls(recipe(dim, chosen.n, chosen.concentration), dtype, chosen), chosen.rounds)
            for name, time_of_call in seconds.items():
                ratio = time_of_call / seconds["head(x)"]
                rows.append([dtype, str(dim), name, f"{1e3 * time_of_call:.3g}", f"{ratio:.2f}"])
    return rows


def main() -> None:
    """Print both tables."""
    chosen = options()
    torch.set_num_threads(chosen.threads)
    print(
        f"{machine('torch', 'numpy', 'numba')}; {', '.join(devices())}\n"
        f"n = {chosen.n} control points, values of dim+1 columns\n"
    )
    header = ["device", "dtype", "dim", "concentration", "SDPA", "MHA, T = 1", "MHA, one sequence", "allowed", "kept"]
    print(tabulate(accuracy(chosen.dims, chosen.n), header, disable_numparse=True))
    what = f"concentration {chosen.concentration:g}, {chosen.threads} thread(s), sequences of {chosen.sequence}"
    print(f"\n{chosen.rows} points, {what}\n")
    print(tabulate(speed(chosen), ["dtype", "dim", "what", "ms", "over head(x)"], disable_numparse=True))


if __name__ == "__main__":
    main()
