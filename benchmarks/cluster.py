"""Distributed sums: two workers beside one and beside threads, what Dask costs, and a partition of 1e9 cells streamed.

Workers are processes of one thread each on this machine. The first table holds ratios measured in one run, the second
what a cluster and a task cost, the third sums over the centres of ever larger partitions, with the memory of the client
and of the largest worker: it stays flat. It takes a few minutes::

    pip install spherapprox[distributed]
    python benchmarks/cluster.py
    python benchmarks/cluster.py --cells 1e9
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
from dask.distributed import Client, LocalCluster
from tabulate import tabulate
from timing import HEADER, Row, Timed, measure

from spherapprox import EqualMeasurePartition, VonMisesFisher, evaluate, sphere
from spherapprox.summation import distributed

CONCENTRATION = 100.0


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="how often each call is timed")
    add("--points", type=int, default=10**5, help="evaluation and control points of the comparisons")
    add("--cells", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="of the partitions that are streamed")
    add("--rows", type=int, default=16, help="evaluation points of the sums over them")
    return parser.parse_args()


def started(n_workers: int) -> LocalCluster:
    """Start a cluster of processes."""
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, **quiet)


def comparisons(one: Client, two: Client, n: int) -> Iterator[Row]:
    """Compare two workers with one, and with the same sum in this process."""
    b = EqualMeasurePartition(2, n)
    x, rows = sphere.uniform(2, n, 0), b.centers()
    values = np.ones(n)
    ours = Timed(lambda: distributed.evaluate(x, b, 1.0, CONCENTRATION, client=two))
    peers = {
        "1 worker": Timed(lambda: distributed.evaluate(x, b, 1.0, CONCENTRATION, client=one)),
        "evaluate(workers=1)": Timed(lambda: evaluate(x, rows, values, CONCENTRATION, method="dense")),
        "evaluate(workers=2)": Timed(lambda: evaluate(x, rows, values, CONCENTRATION, method="dense", workers=2)),
    }
    for name, peer in peers.items():

        def agreement(peer: Timed = peer) -> str:
            return f"{np.abs(ours.result / peer.result - 1.0).max():.1e}"

        yield Row(f"{n} x {n} points, dim 2, 2 workers / {name}", ours, peer, agreement)


def costs(client: Client, rounds: int) -> Iterator[list[str]]:
    """Time the overheads: a cluster's start, a call of one task, and each further task."""
    start = time.perf_counter()
    with started(2) as cluster, Client(cluster, set_as_default=False) as own:
        own.submit(abs, -1).result()
        yield ["start of 2 workers", f"{time.perf_counter() - start:.3g}"]
    x, seconds = sphere.uniform(2, 16, 0), {}
    for tasks in (1, 401):
        cells = EqualMeasurePartition(2, 10 * tasks)
        call = Timed(lambda cells=cells: distributed.evaluate(x, cells, 1.0, 1.0, client=client, chunks=(16, 10)))  # type: ignore[misc]
        call()
        seconds[tasks] = statistics.median(call() for _ in range(rounds))
    yield ["call of one small task", f"{seconds[1]:.3g}"]
    yield ["each further task, 2 workers", f"{(seconds[401] - seconds[1]) / 400:.3g}"]


def streams(client: Client, cells: list[float], m: int) -> Iterator[list[str]]:
    """Sum over partitions of many cells: the constant function's core head, whose error is the Riemann sum's."""
    x = sphere.uniform(2, m, 0)
    for n in cells:
        partition = EqualMeasurePartition(2, int(n))
        peak = VonMisesFisher(2, CONCENTRATION)(1.0) * partition.measure
        start = time.perf_counter()
        sums = distributed.evaluate(x, partition, 1.0, CONCENTRATION, client=client)
        seconds = time.perf_counter() - start
        workers = max(client.run(_resident).values())
        error = np.abs(peak * sums - 1.0).max()
        yield [
            f"{n:.0e}",
            f"{seconds:.3g}",
            f"{m * n / seconds:.3g}",
            f"{workers:.0f}",
            f"{_resident():.0f}",
            f"{error:.1e}",
        ]


def _resident() -> float:
    """Return the largest resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main() -> None:
    """Print the three tables."""
    chosen = options()
    with ExitStack() as stack:
        one, two = (stack.enter_context(Client(stack.enter_context(started(n)), set_as_default=False)) for n in (1, 2))
        for client, n in ((one, 1), (two, 2)):
            client.wait_for_workers(n)
        rows = [measure(row, chosen.rounds) for row in comparisons(one, two, chosen.points)]
        print(tabulate(rows, HEADER, disable_numparse=True))
        print("", tabulate(costs(two, chosen.rounds), ["what", "seconds"], disable_numparse=True), sep="\n")
        headers = ["cells", "seconds", "pairs/s", "largest worker (MiB)", "client (MiB)", "error of the mean of 1"]
        print("", f"{chosen.rows} evaluation points, 2 workers", sep="\n")
        print(tabulate(streams(two, chosen.cells, chosen.rows), headers, disable_numparse=True))


if __name__ == "__main__":
    main()
