"""Makers of control points side by side: covering radius, separation and mesh ratio against the number of points."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from spherapprox import PointSet, _checks, points
from spherapprox.partition import EqualMeasurePartition

from ._files import write_csv, write_together
from ._progress import each
from .covering import covering_radius

__all__ = ["COUNTS", "MAKERS", "Comparison", "Made", "compare", "save"]

COUNTS = (10, 30, 100, 300, 1000, 3000)
"""Numbers of points of the standard comparison."""

MOST_RELAXED = 1000
"""Points that are relaxed; each step costs the square of their number."""

DRAWN = 300
"""The figure of cells shows the partition into the number of cells nearest to this."""


def _partition(kind: str) -> Callable[[int, int, int], PointSet | str]:
    def make(dim: int, n: int, seed: int) -> PointSet:
        partition = EqualMeasurePartition(dim, n, centers=kind)
        return PointSet(partition.centers(), covering_radius=None if dim <= 2 else partition.cell_radius())

    return make


def _fibonacci(dim: int, n: int, seed: int) -> PointSet | str:
    return points.fibonacci(n) if dim == 2 else "on S^2 only"


def _gauss(dim: int, n: int, seed: int) -> PointSet | str:
    """Return the largest product Gauss rule of at most n points."""
    degree = 0
    while (degree + 2) * ((degree + 1) // 2 + 1) ** (dim - 1) <= n:
        degree += 1
    return points.gauss_product(dim, degree) if degree else "the least rule has 2 points"


def _relaxed(dim: int, n: int, seed: int) -> PointSet | str:
    if n > MOST_RELAXED:
        return f"at most {MOST_RELAXED} points are relaxed"
    return points.relax(EqualMeasurePartition(dim, n))


def _greedy(dim: int, n: int, seed: int) -> PointSet:
    return points.greedy(np.eye(dim + 1)[-1:], n, rng=seed)


MAKERS: dict[str, Callable[[int, int, int], PointSet | str]] = {
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
"""Maker -> its points for (dim, n, seed), which may be fewer than n, or why it makes none."""


COLUMNS = ("maker", "dim", "n", "covering_lower", "covering_upper", "separation", "mesh_ratio", "floor")
FILES = {"points.csv": b"maker,dim,n,covering", "covering.png": b"spherapprox", "partition.png": b"spherapprox"}
"""What `save` writes, and what stands near the beginning of each."""


@dataclass(frozen=True)
class Made:
    """One set of points.

    Parameters
    ----------
    maker : str
        A name in `MAKERS`.
    n : int
        Number of points.
    lower, upper : float
        The ends between which the covering radius lies, in radians.
    separation : float
        The least distance of two points, in radians.
    floor : float
        The angle of a cap of measure 1/n: no n points have a smaller covering radius.

    Examples
    --------
    >>> import bounds
    >>> (made,) = bounds.makers.compare(2, [100], makers=["fibonacci"]).rows
    >>> round(made.floor, 3), round(made.upper, 3), round(made.separation, 3), round(made.mesh_ratio, 2)
    (0.2, 0.273, 0.31, 1.76)
    """

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
    """The result of `compare`.

    Parameters
    ----------
    dim : int
        m of the sphere S^m.
    rows : tuple of Made
        One for each maker and number of points, in the order in which they were asked for.
    left_out : tuple of (str, int, str)
        Maker, number of points, and why there is no such row.

    Examples
    --------
    >>> import bounds
    >>> found = bounds.makers.compare(3, [20, 50], makers=["partition", "fibonacci"])
    >>> [(row.maker, row.n) for row in found.rows]
    [('partition', 20), ('partition', 50)]
    >>> found.notes
    ('no fibonacci at N = 20, 50: on S^2 only',)
    """

    dim: int
    rows: tuple[Made, ...]
    left_out: tuple[tuple[str, int, str], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows are missing, and why, in words."""
        counts: dict[tuple[str, str], list[str]] = {}
        for maker, n, why in self.left_out:
            counts.setdefault((maker, why), []).append(str(n))
        return tuple(f"no {maker} at N = {', '.join(ns)}: {why}" for (maker, why), ns in counts.items())

    def series(self, maker: str) -> tuple[Made, ...]:
        """Return the sets of one maker, by increasing n.

        Parameters
        ----------
        maker : str
            A name in `MAKERS`.

        Returns
        -------
        tuple of Made
            Empty where the maker was not compared, or made none.

        Raises
        ------
        ValueError
            For another name.

        Examples
        --------
        >>> import bounds
        >>> found = bounds.makers.compare(2, [100, 30], makers=["partition", "gauss_product"])
        >>> [row.n for row in found.series("gauss_product")]  # at most so many
        [28, 98]
        """
        _checks.choice(maker, "maker", MAKERS)
        return tuple(sorted((row for row in self.rows if row.maker == maker), key=lambda row: row.n))

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as points.csv has them.

        Returns
        -------
        list of dict
            The columns "maker", "dim", "n", "covering_lower", "covering_upper", "separation", "mesh_ratio" and "floor";
            angles are in radians.

        Examples
        --------
        >>> import bounds
        >>> (record,) = bounds.makers.compare(1, [4], makers=["partition"]).records()
        >>> record["n"], [round(record[name], 4) for name in ("covering_upper", "separation", "mesh_ratio")]
        (4, [0.7854, 1.5708, 1.0])
        """
        return [
            dict(zip(
                COLUMNS, (r.maker, self.dim, r.n, r.lower, r.upper, r.separation, r.mesh_ratio, r.floor), strict=True
            ))
            for r in self.rows
        ]  # fmt: skip

    def table(self) -> str:
        """Return the rows as a text table.

        Returns
        -------
        str
            A line for each row, below two for the headers; angles are in radians, "/ floor" is the covering radius over
            the least that so many points can have.

        Examples
        --------
        >>> import bounds
        >>> print(bounds.makers.compare(2, [100], makers=["partition", "fibonacci"]).table())
        maker      N    covering radius    / floor    separation    mesh ratio
        ---------  ---  -----------------  ---------  ------------  ------------
        partition  100  0.2567             1.281      0.3388        1.52
        fibonacci  100  0.2730             1.363      0.3103        1.76
        """
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
        Numbers of points; a product Gauss rule has at most that many. `Comparison.left_out` says which maker has none
        for a dimension or a number (`fibonacci` above S^2, relaxed sets of more than 1000 points).
    makers : sequence of str, optional
        Names in `MAKERS`; all by default.
    rng : int
        Seed of the random makers.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.

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
    rows: dict[Made, None] = {}
    left_out = []
    for name, count in each(work, progress, "set", lambda pair: f"{pair[0]}, N = {pair[1]}"):
        made = MAKERS[name](dim, count, seed)
        row = None if isinstance(made, str) else _measure(name, made)
        if row is None or row in rows:
            left_out.append((name, count, made if isinstance(made, str) else f"the same {len(made)} points once more"))
        else:
            rows[row] = None
    if not rows:
        raise ValueError(f"'makers' = {names} make no points of S^{dim} with 'n' = {counts}: name others")
    return Comparison(dim, tuple(rows), tuple(left_out))


def _measure(maker: str, made: PointSet) -> Made:
    interval = made.covering_interval()
    floor = covering_radius(len(made), dim=made.dim, method="lower").value
    return Made(maker, len(made), interval.lower, interval.upper, made.smallest_distance(), floor)


def save(comparison: Comparison, out: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write points.csv, covering.png and, on S^2, partition.png; all of them or none.

    Parameters
    ----------
    comparison : Comparison
        What `compare` found.
    out : str or os.PathLike
        The folder, made where there is none; files of these names in it are replaced.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OSError
        When the folder cannot be written.
    TypeError
        When `out` is no path.

    Examples
    --------
    >>> import bounds, tempfile
    >>> found = bounds.makers.compare(3, [20, 50], makers=["partition", "greedy"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bounds.makers.save(found, folder)]
    ['covering.png', 'points.csv']
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    writers: dict[str, Callable[[Path], object]] = {
        "points.csv": lambda path: write_csv(path, COLUMNS, (row.values() for row in comparison.records())),
        "covering.png": lambda path: plot.write(plot.covering_figure(comparison), path),
    }
    if comparison.dim == 2:
        n = min((row.n for row in comparison.rows), key=lambda count: abs(math.log(count / DRAWN)))
        writers["partition.png"] = lambda path: plot.write(plot.partition_figure(EqualMeasurePartition(2, n)), path)
    return write_together(out, FILES, writers)
