"""Mixtures of directions: the time and memory of a step beside its two matrix products, and clusters that are found.

The second table fits 30 parts in 768 columns (or what is asked for) by default arguments, and tells the adjusted Rand
index of each seed, from the library's start and from scikit-learn's k-means++ in all columns::

    python benchmarks/mixtures.py
    python benchmarks/mixtures.py --rows 50000 --seeds 3
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import adjusted_rand_score
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import machine

from spherapprox import VonMisesFisher
from spherapprox.directional import VonMisesFisherMixture, mixtures
from spherapprox.directional.rows import read_rows

CASES: dict[str, dict[str, Any]] = {
    "concentration 500": {"sizes": [500.0]},
    "concentration 200": {"sizes": [200.0]},
    "150 to 5000": {"sizes": [150.0, 300.0, 1000.0, 5000.0]},
    "shares of a Dirichlet law": {"sizes": [300.0], "uneven": True},
    "every row twice": {"sizes": [300.0], "repeat": 2},
    "3 parts of equal rows": {"sizes": [300.0, 800.0], "points": 3},
    "and 5 rows 20 times": {"sizes": [300.0, 800.0], "points": 3, "copies": 5},
    "means near each other": {"sizes": [500.0, 1500.0], "common": 1.0},
    "a fifth uniform, noise=True": {"sizes": [300.0, 800.0], "outliers": 0.2},
}


def draw(rng: Any, k: int, p: int, n: int, case: dict[str, Any]) -> tuple[Any, Any]:
    """Return float32 rows and the numbers of their parts, -1 of uniform ones."""
    means = rng.standard_normal((k, p)) + case.get("common", 0.0) * rng.standard_normal(p)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)) if case.get("uneven") else None)
    x = np.empty((n, p), dtype=np.float32)
    for j in range(k):
        own = np.flatnonzero(labels == j)
        size = case["sizes"][j % len(case["sizes"])] if j >= case.get("points", 0) else 1e12
        x[own] = VonMisesFisher(means[j], size).rvs(size=len(own), rng=rng) if size < 1e12 else means[j]
    for _ in range(case.get("copies", 0)):
        group = rng.integers(n, size=20)
        x[group], labels[group] = x[group[0]], labels[group[0]]
    outliers = rng.random(n) < case.get("outliers", 0.0)
    x[outliers] = VonMisesFisher(p - 1, 0.0).rvs(np.eye(p)[0], int(outliers.sum()), rng=rng)
    labels[outliers] = -1
    repeat = case.get("repeat", 1)
    return np.tile(x[: n // repeat], (repeat, 1)), np.tile(labels[: n // repeat], repeat)


def find(name: str, k: int, p: int, n: int, seeds: int) -> list[Any]:
    """Return a row of the table of clusters."""
    indices, naive, seconds, case = [], [], [], CASES[name]
    for seed in range(seeds):
        x, labels = draw(np.random.default_rng(seed), k, p, n, case)
        start = time.perf_counter()
        model = VonMisesFisherMixture(k, noise="outliers" in case, random_state=seed).fit(x)
        seconds.append(time.perf_counter() - start)
        indices.append(adjusted_rand_score(labels, model.predict(x)))
        first = kmeans_plusplus(x, k, random_state=seed)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = VonMisesFisherMixture(k, noise="outliers" in case, init=first).fit(x)
        naive.append(adjusted_rand_score(labels, other.predict(x)))
    good = [sum(index >= 0.95 for index in each) for each in (indices, naive)]
    return [name, n, f"{good[0]} of {seeds}", min(indices), f"{good[1]} of {seeds}", min(naive), np.mean(seconds)]


def step(k: int, p: int, n: int, rounds: int) -> list[Any]:
    """Return a row of the table of steps: seconds of a step and of its products, the ratio, and megabytes."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, p), dtype=np.float32)
    x /= np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    means = VonMisesFisher(p - 1, 0.0).rvs(np.eye(p)[0], k, rng=rng)
    parts = mixtures.Parts.of(np.full(k, 1.0 / k), means, np.full(k, 500.0))
    narrow, masses, weights = means.astype(np.float32), rng.random((k, n), dtype=np.float32), np.ones(n)
    rows, ours, products = read_rows(x), [], []  # rows are checked once in a fit
    for _ in range(rounds):
        start = time.perf_counter()
        narrow @ x.T
        masses @ x
        middle = time.perf_counter()
        begin = time.perf_counter()
        sums = mixtures.gather_all(rows, weights, parts, "soft", rng=None)
        mixtures.maximize(sums, parts, "free", dtype=rows.dtype)
        ours.append(time.perf_counter() - begin)
        products.append(middle - start)
    del masses, rows
    tracemalloc.start()
    VonMisesFisherMixture(k, max_iter=2, tol=1e9).fit(x)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return [n, min(ours), min(products), min(ours) / min(products), x.nbytes / 1e6, 4e-6 * n * k, peak]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of a step")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3000, 20000], help="rows in which clusters are sought")
    parser.add_argument("--columns", type=int, default=768)
    parser.add_argument("--parts", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    k, p = chosen.parts, chosen.columns
    print(machine("numpy", "scipy", "scikit-learn"))
    with threadpool_limits(1):
        head = ["rows", "step (s)", "products (s)", "ratio", "rows (MB)", "responsibilities (MB)", "more in a fit (MB)"]
        print(tabulate([step(k, p, chosen.rows, chosen.rounds)], head, floatfmt=".3g"), flush=True)
        head = ["rows of", "n", "found", "lowest index", "from k-means++", "lowest index", "seconds"]
        table = [find(name, k, p, n, chosen.seeds) for name in CASES for n in chosen.sizes if chosen.seeds]
        print(tabulate(table, head, floatfmt=".3f"))


if __name__ == "__main__":
    main()
