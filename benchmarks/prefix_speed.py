"""Seconds that floors, fits and programs of prefixes take: medians of several calls on one thread.

Nothing is compiled, and the first call counts not::

    python benchmarks/prefix_speed.py
"""

# ruff: noqa: E402 - the limits on threads come before the import of NumPy, which reads them

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from tabulate import tabulate
from timing import Timed

from spherapprox import EqualMeasurePartition, SplitHead, targets
from spherapprox.prompts.prefix import AttentionLayer, fit_prefix, program, reachable

CALLS = 9


def calls(rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Return the calls to time, by their names."""
    query, contexts = np.tile(rng.standard_normal(64), (64, 1)), rng.standard_normal((2, 64, 12, 64))
    wanted = rng.standard_normal((64, 64))
    several, goals = rng.standard_normal((2, 1000, 64))
    many = rng.standard_normal((2, 1000, 12, 64))
    head = SplitHead.from_target(targets.geomagnetic_field(2025.0), EqualMeasurePartition(2, 2000), 300.0)
    layer = AttentionLayer(*rng.standard_normal((4, 128, 128)) / 12.0, query_bias=rng.standard_normal(128), heads=4)
    interface = {"embedding": rng.standard_normal((128, 3)), "readout": rng.standard_normal(128)}
    return {
        "reachable, 64 contexts of one query, p = 64": lambda: reachable(query, *contexts, wanted),
        "the same, Euclidean": lambda: reachable(query, *contexts, wanted, norm="euclidean"),
        "fit_prefix, 1000 examples": lambda: fit_prefix(several, *many, goals),
        "program, 2000 tokens, d = 128": lambda: program(head, layer, **interface),
    }


def main() -> None:
    """Print the medians."""
    rows = []
    for name, call in calls(np.random.default_rng(0)).items():
        timed = Timed(call)
        timed()
        rows.append([name, f"{statistics.median(timed() for _ in range(CALLS)):.3f}"])
    print(tabulate(rows, ["what", "seconds"]))


if __name__ == "__main__":
    main()
