"""Equal-measure partitions: speed beside pyeqsp, limits of huge ones, and how sharp the exact radius is.

Speeds are ratios measured in one run, ours on one thread and on all cores, pyeqsp (Leopardi's own partitions in Python)
as it comes. The second table holds absolute limits, the third the cell radius times n^(1/dim) beside the least that any
n caps need and pyeqsp's bound of the diameter. It takes a few minutes, most of them pyeqsp's::

    pip install --pre pyeqsp
    python benchmarks/partition.py

Without pyeqsp its columns are left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tabulate import tabulate
from timing import HEADER, Row, Timed, measure, resident
from tqdm import tqdm

from spherapprox import EqualMeasurePartition, special, sphere

try:
    import eqsp
except ImportError:
    eqsp = None

CELLS = 10**6
KINDS = ("midpoint", "smallest-cap", "centroid")


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rounds", type=int, default=5, help="how often each call is timed")
    add("--dims", type=int, nargs="+", default=[2, 3, 4, 5, 6, 8, 10, 12, 16], help="of the table of radii")
    add("--n", type=int, nargs="+", default=[1000, 10_000], help="of the table of radii")
    return parser.parse_args()


def speed_rows() -> Iterator[Row]:
    """Compare the centres of a million cells with pyeqsp's: by heights, as it turns the collars against each other."""
    for dim, target in ((2, 20.0), (8, 5.0)):
        partition = EqualMeasurePartition(dim, CELLS)
        peer = Timed(lambda dim=dim: eqsp.eq_point_set(dim, CELLS))  # type: ignore[misc]
        for what, call in _ways(partition):
            ours = Timed(call)

            def agreement(ours: Timed = ours, peer: Timed = peer) -> str:
                return f"{np.abs(np.sort(ours.result[:, -1]) - np.sort(peer.result[-1])).max():.1e}"

            floor = target if what == "1 thread" else None
            yield Row(f"{CELLS} centres, dim {dim}, {what} / pyeqsp", ours, peer, agreement, floor)


def _ways(partition: EqualMeasurePartition) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the ways to ask for all centres: on one thread, on all cores, into an array that is there."""
    out = np.zeros((partition.n, partition.dim + 1))
    yield "1 thread", partition.centers
    yield "all cores", lambda: partition.centers(workers=-1)
    yield "all cores, out=", lambda: partition.centers(workers=-1, out=out)


def limits(rounds: int) -> Iterator[list[str]]:
    """Time calls that have a limit in seconds, and measure the memory they add."""
    for dim in (2, 8):
        huge = EqualMeasurePartition(dim, 10**12)
        starts = iter(range(10**11, 10**12, 10**9))

        def stretch(huge: EqualMeasurePartition = huge, starts: Iterator[int] = starts) -> None:
            start = next(starts)
            huge.centers(start, start + 10**5)

        yield timed(f"1e5 of the 1e12 centres, dim {dim}, 1 thread", stretch, 1.0, rounds)
    for dim in (2, 8):
        partition, x = EqualMeasurePartition(dim, CELLS), sphere.uniform(dim, 10**6, 0)
        for workers in (1, -1):
            what = f"locate 1e6 points in 1e6 cells, dim {dim}, {'1 thread' if workers == 1 else 'all cores'}"
            yield timed(what, lambda p=partition, x=x, w=workers: p.locate(x, workers=w), 2.0, rounds)  # type: ignore[misc]
    for dim, n in ((2, 2**53), (3, 10**12), (8, 10**12), (16, 10**12), (400, 10**6)):
        once = f"radius, dim {dim}, n = {n:.3g}"
        exact: list[bool] = []

        def radius(dim: int = dim, n: int = n, exact: list[bool] = exact) -> None:
            partition = EqualMeasurePartition(dim, n)
            exact.append(partition.cell_radius_is_exact())

        line = timed(once, radius, None, rounds)
        line[0] += ", exact" if exact[-1] else ", a bound"
        yield line


def timed(what: str, call: Callable[[], Any], limit: float | None, rounds: int) -> list[str]:
    """Return a line with the median seconds after a first call, and by how much the largest resident memory grew."""
    call()
    before, seconds = resident(), []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    kept = "" if limit is None else "yes" if median <= limit else "NO"
    return [what, f"{median:.3g}", "" if limit is None else f"<= {limit:g}", kept, f"{resident() - before:.0f}"]


def radius_lines(dims: list[int], counts: list[int]) -> Iterator[list[str]]:
    """Return radius n^(1/dim) for each kind of centre, beside the floor and the diameters."""
    for dim in tqdm(dims, unit="dim", disable=None):
        for n in counts:
            scale = n ** (1.0 / dim)
            floor = special.cap_angle(dim, -math.log(n))
            radii = [EqualMeasurePartition(dim, n, centers=kind).cell_radius() for kind in KINDS]
            chord = 2.0 * math.sin(0.5 * EqualMeasurePartition(dim, n).cell_diameter_bound())
            line = [f"{dim}", f"{n}", *(f"{scale * r:.3f}" for r in (floor, *radii)), f"{chord:.4f}"]
            if eqsp is not None:
                line.append(f"{float(eqsp.eq_diam_bound(dim, n)):.4f}")
            yield line


def main() -> None:
    """Print the three tables."""
    chosen = options()
    if eqsp is None:
        print("pyeqsp is not installed (pip install --pre pyeqsp): no comparison with it")
    else:
        print(tabulate([measure(row, chosen.rounds) for row in speed_rows()], HEADER, disable_numparse=True))
    headers = ["what", "seconds", "limit", "kept", "MiB more"]
    print("", tabulate(limits(chosen.rounds), headers, disable_numparse=True), sep="\n")
    headers = ["dim", "n", "floor", *KINDS, "diameter (chord)", "pyeqsp's bound"]
    lines = list(radius_lines(chosen.dims, chosen.n))
    print("", "radius n^(1/dim): the least that n caps can have, and ours about each kind of centre", sep="\n")
    print(tabulate(lines, headers[: len(lines[0])], disable_numparse=True))


if __name__ == "__main__":
    main()
