"""Spherical k-means beside scikit-learn's KMeans on the same unit rows, and a density of a million points.

Both run Lloyd's steps from the same start, as many, and end with the labels; each side's steps differ a little, as
KMeans keeps means shorter than 1. Threads of BLAS and of OpenMP are as they come, or one with ``--threads 1``::

    python benchmarks/clusters.py [--threads 1] [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import machine

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import SphericalKernelDensity, SphericalKMeans

K, STEPS = 30, 20


def blobs(n: int, columns: int, concentration: float) -> Any:
    """Return rows about `K` random directions."""
    means = sphere.uniform(columns - 1, K, rng=0)
    return VonMisesFisher(means, np.full(K, concentration)).rvs(n // K + 1, rng=0).reshape(-1, columns)[:n]


CASES: dict[str, Callable[[], Any]] = {
    "100 000 x 768, float32, uniform": lambda: sphere.uniform(767, 100_000, rng=0).astype(np.float32),
    "100 000 x 768, float32, 30 clusters": lambda: blobs(100_000, 768, 500.0).astype(np.float32),
    "200 000 x 3, float64, uniform": lambda: sphere.uniform(2, 200_000, rng=0),
    "200 000 x 3, float64, 30 clusters": lambda: blobs(200_000, 3, 20.0),
}


def seconds(call: Callable[[Any], Any], x: Any) -> float:
    """Return the wall time of a call."""
    begin = time.perf_counter()
    call(x)
    return time.perf_counter() - begin


def main() -> None:
    """Print the tables."""
    from sklearn.cluster import KMeans

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=0, help="of both; 0 leaves them as they are")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.threads:
        os.environ["SPHERAPPROX_WORKERS"] = str(chosen.threads)
    warnings.simplefilter("ignore")  # that they have not settled
    print(machine("numpy", "scikit-learn"))
    table = []
    with threadpool_limits(chosen.threads) if chosen.threads else nullcontext():
        for name, make in CASES.items():
            x = make()
            start = x[np.random.default_rng(1).choice(len(x), K, replace=False)]
            options = {"init": start, "n_init": 1, "max_iter": STEPS, "tol": 0.0}
            ours, peer = SphericalKMeans(K, **options), KMeans(K, algorithm="lloyd", **options)
            SphericalKMeans(K, init=start, max_iter=1).fit(x[:1000])
            times = [(seconds(ours.fit, x), seconds(peer.fit, x)) for _ in range(chosen.rounds)]
            least = np.min(times, axis=0)
            table.append([name, f"{ours.n_iter_}/{peer.n_iter_}", *least, f"{least[0] / least[1]:.2f}"])
        print(tabulate(table, ["rows", "steps", "ours (s)", "KMeans (s)", "ratio"], floatfmt=".3f"))
        x = VonMisesFisher([0.0, 0.0, 1.0], 10.0).rvs(10**6, rng=0)
        SphericalKernelDensity().fit(x[:5000])
        density = SphericalKernelDensity()
        both = seconds(density.fit, x), seconds(density.score_samples, x)
        print(f"density of 1e6 points on S^2: {both[0]:.2f} s for the search, {both[1]:.2f} s for their densities")


if __name__ == "__main__":
    main()
