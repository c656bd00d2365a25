"""Calls that compile the kernels that most tests need, a share for each worker of a whole run.

Without them every worker would compile all of them.
"""

import numpy as np

from spherapprox import EqualMeasurePartition, evaluate, points, sphere


def partitions():
    for dim, n in ((2, 600), (3, 600), (8, 600), (1, 50), (2, 50), (3, 50), (8, 50)):
        for center in ("midpoint", "smallest-cap", "centroid"):
            partition = EqualMeasurePartition(dim, n, centers=center)
            partition.centers()
            assert partition.cell_radius() > 0.0


def point_sets():
    points.relax(points.fibonacci(60))
    points.greedy(points.fibonacci(60), 90)


def locations():
    for dim in (2, 3):
        EqualMeasurePartition(dim, 1000).locate(sphere.uniform(dim, 100, rng=0))


def loops():
    from spherapprox._kernels.scalars import loops

    out = np.empty(9)
    loops.all_ratios(0.5, 300.0, out)
    loops.all_log_ratios(0.5, 300.0, out)
    loops.gegenbauer_loop(np.full(9, 5.0), np.full(9, 2.0), np.linspace(-1.0, 1.0, 9), out)


def sums(dtype, *methods):
    x, values = sphere.uniform(2, 3000, rng=0).astype(dtype), np.linspace(1.0, 2.0, 6000, dtype=dtype).reshape(3000, 2)
    for method in ("dense", *methods):
        evaluate(x, x, values[:, 0], 20.0, method=method, rtol=1e-6)
        evaluate(x[:300], x[:300], values[:300], 20.0, method=method, rtol=1e-6, normalize=True)


def double_sums():
    sums(np.float64, "truncated", "lowrank", "harmonic")


def single_sums():
    sums(np.float32)


SHARES = ((partitions, point_sets, single_sums), (loops, double_sums, locations))
"""Of about equal length."""
