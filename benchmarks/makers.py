"""Makers of control points, by name, for the experiments that compare them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bounds.covering import covering_radius
from spherapprox import EqualMeasurePartition, PointSet, points

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
        cover = points.lattice_cover(dim, radius, rng=seed)
        if len(cover) <= n:
            return cover
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
