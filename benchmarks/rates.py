"""Rates of the sup error on random targets, beside the proven ones.

docs/theorems/4.7-spectral-correction.md and 4.3-core-head.md.

Three tables, each row the median over several random targets of one sphere. Band-limited targets with spectral
coefficients at a fixed concentration: the error falls with the kernel's tail, exponentially in N^(1/m), so the digits
gained per unit of N^(1/m) are compared with those of the proven bound over the same numbers of points. Targets of
smoothness s with spectral coefficients: the exponent of N is compared with -s/m. The same two kinds of targets with
Riemann coefficients on equal-measure partitions of radius rho, at lambda = L/(F rho), where the bound of 4.3 is about
least: the exponent is compared with that of the bound over the same numbers of points and with its limit -1/(2m). A
bound's rate is that of the worst case: targets with kinks come near it, smooth ones do better. In dimensions 3 and 4
concentrations are still small at these N, and the exponents, the bound's too, have not reached their limits. It takes
about two minutes on two cores::

    python benchmarks/rates.py
    python benchmarks/rates.py --tables riemann --targets 9 --out rates.csv
"""

# ruff: noqa: E402 - the limits on threads come before the import of NumPy, which reads them

from __future__ import annotations

import argparse
import csv
import math
import os
import statistics
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from bounds import error_bound
from bounds.records import Prefix
from bounds.theorems import state
from spherapprox import CoreHead, EqualMeasurePartition, Target, points, sphere, sup_error, targets

BANDLIMITED = {1: (8, range(17, 28, 2)), 2: (6, range(13, 30, 2)), 3: (4, range(9, 20, 2)), 4: (3, range(7, 15, 2))}
"""Dimension: degree of the target, degrees of exactness."""

CONCENTRATION = 4.0
"""Of the kernel for band-limited targets: its tail falls fast, and rounding is far below."""

SMOOTH = {1: (15, 25, 41, 67, 111), 2: (11, 17, 25, 37, 55), 3: (7, 11, 15, 19, 25), 4: (5, 7, 9, 11, 13)}
"""Dimension: degrees of exactness."""

SIZES = {1: (100, 300, 1000, 3000, 10_000), 2: (100, 400, 1600, 6400, 25_600), 3: (100, 400, 1600, 6400, 25_600),
         4: (400, 1600, 6400, 25_600)}  # fmt: skip
"""Dimension: numbers of cells of equal measure."""


@dataclass(frozen=True)
class Measured:
    """One head: the table and target it belongs to, its points, its error, and a proven bound of it (nan: none)."""

    table: str
    dim: int
    kind: str
    seed: int
    n: int
    concentration: float
    error: float
    bound: float


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 2, 3, 4], choices=[1, 2, 3, 4])
    parser.add_argument("--targets", type=int, default=5, help="random targets in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=-1)
    parser.add_argument("--out", help="write every measured error to this CSV file")
    return parser.parse_args()


def error(head: CoreHead, target: Target, workers: int) -> float:
    """Measure a sup error: at a sample and at the points where a smooth target is least smooth, then uphill."""
    special = getattr(target.function, "args", ())
    kinks = [part for part in special if isinstance(part, np.ndarray) and part.ndim == 2]
    start = np.concatenate([sphere.uniform(head.dim, 3000, 1), *kinks])
    return sup_error(head, target, points=start, refine=6, workers=workers).lower


def bandlimited(dim: int, seed: int, workers: int) -> Iterator[Measured]:
    """Yield spectral heads on one random polynomial."""
    degree, exactness = BANDLIMITED[dim]
    target = targets.random_bandlimited(dim, degree, seed)
    for g in exactness:
        rule = points.gauss_product(dim, g)
        head = CoreHead.from_target(target, rule, CONCENTRATION, "spectral", degree=degree)
        bound = error_bound(
            dim=dim, theorem=state("sharp-core-spectral", degree=degree), concentration=CONCENTRATION,
            points=Prefix(exactness=g), sup_norm=1.0,  # in L2 of the normalised measure
        )  # fmt: skip
        found = error(head, target, workers)
        yield Measured("bandlimited", dim, f"degree {degree}", seed, len(rule), CONCENTRATION, found, bound.value)


def smooth(dim: int, seed: int, workers: int) -> Iterator[Measured]:
    """Yield spectral heads on random targets of finite smoothness; the concentration grows with the degree."""
    for s in (1.0, 3.0):
        target = targets.random_smooth(dim, s, seed)
        for g in SMOOTH[dim]:
            rule, concentration = points.gauss_product(dim, g), 0.5 * g
            head = CoreHead.from_target(target, rule, concentration, "spectral")
            found = error(head, target, workers)
            yield Measured("smooth", dim, f"s = {s:g}", seed, len(rule), concentration, found, math.nan)


def riemann(dim: int, seed: int, workers: int) -> Iterator[Measured]:
    """Yield Riemann heads on both kinds of targets, at the concentrations that 4.3 suggests."""
    degree = BANDLIMITED[dim][0]
    chosen = (
        ("s = 1", targets.random_smooth(dim, 1.0, seed)),
        (f"degree {degree}", targets.random_bandlimited(dim, degree, seed)),
    )
    for kind, target in chosen:
        for n in SIZES[dim]:
            partition = EqualMeasurePartition(dim, n)
            assert target.lipschitz is not None
            assert target.sup_norm is not None
            concentration = target.lipschitz / (target.sup_norm * partition.cell_radius())
            bound = error_bound(
                dim=dim, theorem="sharp-core", lipschitz=target.lipschitz, sup_norm=target.sup_norm,
                concentration=concentration, points=Prefix(radius=partition.cell_radius()),
            )  # fmt: skip
            head = CoreHead.from_target(target, partition, concentration)
            yield Measured("riemann", dim, kind, seed, n, concentration, error(head, target, workers), bound.value)


TABLES: dict[str, Callable[[int, int, int], Iterator[Measured]]] = {
    "bandlimited": bandlimited,
    "smooth": smooth,
    "riemann": riemann,
}


def slope(x: list[float], y: list[float]) -> float:
    """Return the slope of the straight line through points, by least squares."""
    return float(np.polyfit(x, y, 1)[0])


def digits_per_step(runs: list[Measured], which: str) -> float:
    """Return how many decimal digits are lost per unit of N^(1/m), while rounding does not count."""
    some = [run for run in runs if run.error > 1e-11]
    return slope([run.n ** (1.0 / run.dim) for run in some], [math.log10(getattr(run, which)) for run in some])


def exponent(runs: list[Measured], which: str) -> float:
    """Return the exponent of N."""
    return slope([math.log(run.n) for run in runs], [math.log(getattr(run, which)) for run in runs])


def by_target(runs: list[Measured]) -> list[list[Measured]]:
    """Return the runs of each target."""
    return [[run for run in runs if run.seed == seed] for seed in sorted({run.seed for run in runs})]


def median(runs: list[Measured], rate: Callable[[list[Measured], str], float], which: str) -> float:
    """Return the median of a rate over the targets."""
    return statistics.median(rate(some, which) for some in by_target(runs))


def line(runs: list[Measured]) -> list[str]:
    """Return a row of a table: dimension, kind, range of points, errors at its ends, measured and predicted rates."""
    table, dim, kind = runs[0].table, runs[0].dim, runs[0].kind
    ends = [statistics.median(r.error for r in runs if r.n == n) for n in (runs[0].n, runs[-1].n)]
    if table == "bandlimited":
        rates = [median(runs, digits_per_step, which) for which in ("error", "bound")]
    elif table == "smooth":
        rates = [median(runs, exponent, "error"), -float(kind.removeprefix("s = ")) / dim]
    else:
        rates = [*(median(runs, exponent, which) for which in ("error", "bound")), -0.5 / dim]
    span = f"{runs[0].n} - {runs[-1].n}"
    return [str(dim), kind, span, *(f"{end:.1e}" for end in ends), *(f"{rate:.3f}" for rate in rates)]


HEADERS = {
    "bandlimited": ("log10 of the error per N^(1/m)", "of the bound of 4.7"),
    "smooth": ("exponent of N", "predicted, -s/m"),
    "riemann": ("exponent of N", "of the bound of 4.3", "its limit, -1/(2m)"),
}


def main() -> None:
    """Measure, print the tables, and write the file."""
    chosen = options()
    everything: list[Measured] = []
    for name in chosen.tables:
        lines = []
        for dim in tqdm(chosen.dims, desc=name, disable=None, leave=False):
            seeds = range(chosen.seed, chosen.seed + chosen.targets)
            runs = [run for seed in seeds for run in TABLES[name](dim, seed, chosen.workers)]
            everything += runs
            lines += [
                line([run for run in runs if run.kind == kind]) for kind in dict.fromkeys(run.kind for run in runs)
            ]
        headers = ("dim", "target", "N", "error at first N", "at last N", *HEADERS[name])
        print(f"\n{name}, median of {chosen.targets} random targets")
        print(tabulate(lines, headers=headers, disable_numparse=True))
    if chosen.out:
        with open(chosen.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Measured))
            writer.writerows(astuple(run) for run in everything)


if __name__ == "__main__":
    main()
