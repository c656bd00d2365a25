"""Makers of control points, and `Comparison`: their covering radii, separations and mesh ratios."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tabulate import tabulate

from spherapprox import PointSet, _checks, points
from spherapprox.partition import EqualMeasurePartition

from ..covering import covering_radius

MOST_RELAXED = 1000
"""Points that are relaxed; each step costs the square of their number."""


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


def _lattice_cover(dim: int, n: int, seed: int) -> PointSet | str:
    """Return nearly the finest lattice cover of at most n points."""
    if dim == 1:
        return "from S^2 on"
    radius = covering_radius(n, dim=dim, method="slab").value
    while radius <= points.lattice.LARGEST_RADIUS:
        made = points.lattice_cover(dim, radius, rng=seed)
        if len(made) <= n:
            return made
        radius *= 1.005
    return "the coarsest has more points"


MAKERS: dict[str, Callable[[int, int, int], PointSet | str]] = {
    "partition": _partition("midpoint"),
    "partition, smallest-cap": _partition("smallest-cap"),
    "partition, centroid": _partition("centroid"),
    "partition, relaxed": _relaxed,
    "greedy": _greedy,
    "fibonacci": _fibonacci,
    "gauss_product": _gauss,
    "lattice_cover": _lattice_cover,
    "sobol": points.sobol,
    "uniform": points.uniform,
}
"""Maker -> its points for (dim, n, seed), which may be fewer than n, or why it makes none."""

COLUMNS = ("maker", "dim", "n", "covering_lower", "covering_upper", "separation", "mesh_ratio", "floor")


@dataclass(frozen=True)
class Made:
    """One set of points, measured.

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
    >>> (made,) = bounds.report.makers.compare(2, [100], makers=["fibonacci"]).rows
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
    >>> found = bounds.report.makers.compare(3, [20, 50], makers=["partition", "fibonacci"])
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
        """The missing rows with their reasons, in words."""
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
        >>> found = bounds.report.makers.compare(2, [100, 30], makers=["partition", "gauss_product"])
        >>> [row.n for row in found.series("gauss_product")]  # at most so many
        [28, 98]
        """
        _checks.choice(maker, "maker", MAKERS)
        return tuple(sorted((row for row in self.rows if row.maker == maker), key=lambda row: row.n))

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of points.csv.

        Returns
        -------
        list of dict
            The columns "maker", "dim", "n", "covering_lower", "covering_upper", "separation", "mesh_ratio" and "floor";
            angles are in radians.

        Examples
        --------
        >>> import bounds
        >>> (record,) = bounds.report.makers.compare(1, [4], makers=["partition"]).records()
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
        >>> print(bounds.report.makers.compare(2, [100], makers=["partition", "fibonacci"]))
        maker      N    covering radius    / floor    separation    mesh ratio
        ---------  ---  -----------------  ---------  ------------  ------------
        partition  100  0.2567             1.281      0.3388        1.52
        fibonacci  100  0.2730             1.363      0.3103        1.76
        """
        headers = ("maker", "N", "covering radius", "/ floor", "separation", "mesh ratio")
        return str(tabulate([_cells(row) for row in self.rows], headers, disable_numparse=True))

    def __str__(self) -> str:
        return "\n".join([self.table(), *self.notes])


def _cells(row: Made) -> tuple[str, ...]:
    exact = row.upper - row.lower <= 1e-9 * row.upper
    radius = f"{row.upper:.4f}" if exact else f"{row.lower:.4f} to {row.upper:.4f}"
    ratio = f"{row.upper / row.floor:.3f}" if exact else f"{row.lower / row.floor:.2f} to {row.upper / row.floor:.2f}"
    return row.maker, str(row.n), radius, ratio, f"{row.separation:.4f}", f"{row.mesh_ratio:.2f}"
