"""Makers of control points side by side: covering radius, separation and mesh ratio against the number of points."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from spherapprox import PointSet, _checks, points
from spherapprox.partition import EqualMeasurePartition

from ._files import together, write_csv
from .covering import covering_radius

COUNTS = (10, 30, 100, 300, 1000, 3000)
"""Numbers of points of the standard comparison."""

MOST_RELAXED = 1000
"""Points that are relaxed; each step costs the square of their number."""

DRAWN = 300
"""The figure of cells shows the partition into the number of cells nearest to this."""


def _partition(kind: str) -> Callable[[int, int, int], PointSet | None]:
    def make(dim: int, n: int, seed: int) -> PointSet:
        partition = EqualMeasurePartition(dim, n, centers=kind)
        return PointSet(partition.centers(), covering_radius=None if dim <= 2 else partition.cell_radius())

    return make


def _fibonacci(dim: int, n: int, seed: int) -> PointSet | None:
    return points.fibonacci(n) if dim == 2 else None


def _gauss(dim: int, n: int, seed: int) -> PointSet | None:
    """Return the largest product Gauss rule of at most n points."""
    degree = 0
    while (degree + 2) * ((degree + 1) // 2 + 1) ** (dim - 1) <= n:
        degree += 1
    return points.gauss_product(dim, degree) if degree else None


def _relaxed(dim: int, n: int, seed: int) -> PointSet | None:
    return points.relax(EqualMeasurePartition(dim, n)) if n <= MOST_RELAXED else None


def _greedy(dim: int, n: int, seed: int) -> PointSet:
    return points.greedy(np.eye(dim + 1)[-1:], n, rng=seed)


MAKERS: dict[str, Callable[[int, int, int], PointSet | None]] = {
    "partition": _partition("midpoint"),
    "partition, smallest-cap": _partition("smallest-cap"),
    "partition, centroid": _partition("centroid"),
    "partition, relaxed": _relaxed,
    "greedy": _greedy,
    "fibonacci": _fibonacci,
    "gauss_product": _gauss,
    "sobol": points.sobol,
    "uniform": points.uniform,
}
"""Maker -> its points for (dim, n, seed), None where it makes none; n may be fewer."""


@dataclass(frozen=True)
class Made:
    """One set of points; the covering radius lies between its two ends."""

    maker: str
    n: int
    lower: float
    upper: float
    separation: float
    floor: float

    @property
    def mesh_ratio(self) -> float:
        """Covering radius over half the separation, at least 1; inf for a repeated point, 1 for a single one."""
        if self.n == 1:
            return 1.0
        return 2.0 * self.upper / self.separation if self.separation > 0.0 else math.inf


@dataclass(frozen=True)
class Comparison:
    """What `compare` found."""

    dim: int
    rows: tuple[Made, ...]

    def series(self, maker: str) -> tuple[Made, ...]:
        """Return the sets of one maker, by increasing n."""
        return tuple(sorted((row for row in self.rows if row.maker == maker), key=lambda row: row.n))

    def table(self) -> str:
        """Return the rows as a text table."""
        headers = ("maker", "N", "covering radius", "/ floor", "separation", "mesh ratio")
        return str(tabulate([_cells(row) for row in self.rows], headers, disable_numparse=True))


def _cells(row: Made) -> tuple[str, ...]:
    exact = row.upper - row.lower <= 1e-9 * row.upper
    radius = f"{row.upper:.4f}" if exact else f"{row.lower:.4f} to {row.upper:.4f}"
    ratio = f"{row.upper / row.floor:.3f}" if exact else f"{row.lower / row.floor:.2f} to {row.upper / row.floor:.2f}"
    return row.maker, str(row.n), radius, ratio, f"{row.separation:.4f}", f"{row.mesh_ratio:.2f}"


def compare(
    dim: int = 2,
    n: Sequence[int] = COUNTS,
    *,
    makers: Sequence[str] | None = None,
    rng: int = 0,
    progress: bool | None = False,
) -> Comparison:
    """Make control points in every way and measure how evenly they cover S^m.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    n : sequence of int
        Numbers of points; a product Gauss rule has at most that many, and a maker that has none for a dimension or a
        number (`fibonacci` above S^2, relaxed sets of more than 1000 points) is left out.
    makers : sequence of str, optional
        Names in `MAKERS`; all by default.
    rng : int
        Seed of the random makers.
    progress : bool or None
        Show a progress bar; None: on a terminal only.

    Returns
    -------
    Comparison
        Covering radii are exact on S^1 and S^2, elsewhere certified from both sides.

    Raises
    ------
    ValueError, TypeError
        For an unknown maker, for numbers that are none, and where no maker makes points of any number.

    Examples
    --------
    >>> found = compare(2, [100], makers=["partition", "fibonacci"])
    >>> [(row.maker, round(row.upper / row.floor, 2)) for row in found.rows]
    [('partition', 1.28), ('fibonacci', 1.36)]
    """
    dim = _checks.dimension(dim)
    counts = [_checks.integer(count, "n", minimum=1) for count in n]
    names = list(MAKERS) if makers is None else [_checks.choice(name, "makers", MAKERS) for name in makers]
    seed = _checks.integer(rng, "rng", minimum=0)
    work = [(name, count) for name in names for count in counts]
    rows = []
    for name, count in tqdm(work, unit="set", disable=_checks.no_bar(progress), leave=False):
        made = MAKERS[name](dim, count, seed)
        if made is not None:
            rows.append(_measure(name, made))
    if not rows:
        raise ValueError(f"'makers' = {names} make no points of S^{dim} with 'n' = {counts}: name others")
    return Comparison(dim, tuple(dict.fromkeys(rows)))


def _measure(maker: str, made: PointSet) -> Made:
    interval = made.covering_interval()
    floor = covering_radius(len(made), dim=made.dim, method="lower").value
    return Made(maker, len(made), interval.lower, interval.upper, made.smallest_distance(), floor)


def save(comparison: Comparison, out: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write points.csv, covering.png and, on S^2, partition.png; all of them or none.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OSError
        When the folder cannot be written.
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    with together(Path(out)) as folder:
        _write(comparison, folder / "points.csv")
        plot.covering_figure(comparison).savefig(folder / "covering.png", dpi=150)
        if comparison.dim == 2:
            n = min((row.n for row in comparison.rows), key=lambda count: abs(math.log(count / DRAWN)))
            plot.partition_figure(EqualMeasurePartition(2, n)).savefig(folder / "partition.png", dpi=150)
        names = sorted(path.name for path in folder.iterdir())
    return tuple(Path(out) / name for name in names)


def _write(comparison: Comparison, path: Path) -> None:
    names = ("maker", "dim", "n", "covering_lower", "covering_upper", "separation", "mesh_ratio", "floor")
    dim, rows = comparison.dim, comparison.rows
    write_csv(path, names, ((r.maker, dim, r.n, r.lower, r.upper, r.separation, r.mesh_ratio, r.floor) for r in rows))
