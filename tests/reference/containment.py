"""Random targets, heads and concentrations: every upper bound must hold what is measured, and W every lower bound.

Shared by tests/bounds/test_containment.py (a few cases) and benchmarks/containment.py (thousands).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bounds import Bound, error_bound
from bounds.records import Prefix
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sphere
from spherapprox.error import worst_case_error
from spherapprox.points import nodes

Array = NDArray[np.float64]

DIMS = (1, 2, 3, 8)
ROUNDING = 1e-11
"""Relative to the target's sup norm and the bound: what float64 evaluation may add."""
SEARCH = 1e-6
"""Relative: how far the search for the largest W may stop below it."""


def scaled_distances(dim: int, rng: np.random.Generator) -> Target:
    """Minimum of several height_i + slope_i theta(x, p_i): the steepest slope is its Lipschitz constant."""
    count = int(rng.integers(1, 7))
    poles, slopes = sphere.uniform(dim, count, rng=rng), rng.uniform(0.1, 2.0, count)
    heights = rng.uniform(-1.0, 1.0, count)

    def function(x: Array) -> Array:
        return np.min([h + s * sphere.distance(x, p[None]) for h, s, p in zip(heights, slopes, poles, strict=True)], 0)

    sup = max(float(abs(heights.min())), abs(float((heights + math.pi * slopes).min())))
    return Target(function, dim, lipschitz=float(slopes.max()), sup_norm=sup, name="distances")


def bumps(dim: int, rng: np.random.Generator) -> Target:
    """Sum of cones a_i (1 - theta(x, p_i)/r_i)_+: the slopes add up at most."""
    count = int(rng.integers(1, 7))
    poles, radii, sizes = sphere.uniform(dim, count, rng=rng), rng.uniform(0.2, 2.0, count), rng.normal(size=count)

    def function(x: Array) -> Array:
        cones = (
            a * np.maximum(1.0 - sphere.distance(x, p[None]) / r, 0.0)
            for a, r, p in zip(sizes, radii, poles, strict=True)
        )
        return np.sum(list(cones), axis=0)

    lipschitz, sup = float(np.sum(np.abs(sizes) / radii)), float(np.abs(sizes).sum())
    return Target(function, dim, lipschitz=lipschitz, sup_norm=sup, name="bumps")


TARGETS: tuple[Callable[[int, np.random.Generator], Target], ...] = (scaled_distances, bumps)


@dataclass(frozen=True)
class Finding:
    """One bound beside what was measured."""

    dim: int
    n: int
    concentration: float
    theorem: str
    bound: Bound
    measured: float
    scale: float

    @property
    def contained(self) -> bool:
        """Whether the measurement is on the bound's side, but for rounding."""
        if self.bound.side == "lower":
            return self.measured >= self.bound.value * (1.0 - SEARCH)
        return self.measured <= self.bound.value * (1.0 + ROUNDING) + ROUNDING * self.scale

    @property
    def ratio(self) -> float:
        """Measured over bound: how much of an upper bound was used."""
        return self.measured / self.bound.value if self.bound.value > 0.0 else math.inf


def control_points(dim: int, rng: np.random.Generator) -> EqualMeasurePartition | PointSet:
    """A partition with some kind of centres, or on S^1 and S^2 random points (whose covering radius is known there)."""
    count = int(10.0 ** rng.uniform(0.0, 3.3))
    if dim <= 2 and rng.random() < 0.4:
        return points.uniform(dim, max(count, 4), rng=rng)
    kind = ("midpoint", "smallest-cap", "centroid")[int(rng.integers(3))]
    return EqualMeasurePartition(dim, count, centers=kind)


def probes(dim: int, rows: Array, rng: np.random.Generator) -> Array:
    """Where errors are measured: uniform points, some control points, and points near them."""
    controls = rows[rng.choice(len(rows), min(len(rows), 60), replace=False)]
    near = controls + 0.3 * rng.normal(size=controls.shape) * rng.random((len(controls), 1))
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    return np.concatenate([sphere.uniform(dim, 300, rng=rng), controls, near])


def findings(dim: int, rng: np.random.Generator) -> Iterator[Finding]:
    """One random target with one random set of control points at one random concentration: every bound that applies."""
    target = TARGETS[int(rng.integers(len(TARGETS)))](dim, rng)
    nodes_of = control_points(dim, rng)
    lam = float(10.0 ** rng.uniform(-1.0, 4.0))
    rows = np.asarray(nodes(nodes_of)[0], dtype=np.float64)
    radius = nodes_of.cell_radius() if isinstance(nodes_of, EqualMeasurePartition) else nodes_of.covering_bound()
    x = probes(dim, rows, rng)
    constants = {"dim": dim, "lipschitz": target.lipschitz, "sup_norm": target.sup_norm, "concentration": lam}

    def finding(theorem: str, measured: float, separation: float | None = None) -> Finding:
        bound = error_bound(theorem=theorem, points=Prefix(len(rows), radius, separation), **constants)
        return Finding(dim, len(rows), lam, theorem, bound, measured, target.sup_norm or 0.0)

    split = float(np.abs(SplitHead.from_target(target, rows, lam)(x) - target(x)).max())
    apart = min(PointSet(rows).smallest_distance(), math.pi)
    yield finding("sharp-split-nearest", split)
    if apart > 1e-6:
        yield finding("sharp-split-pack", split, apart)
        yield finding("sharp-split", split, apart)
    if isinstance(nodes_of, EqualMeasurePartition):
        core = float(np.abs(CoreHead.from_target(target, nodes_of, lam)(x) - target(x)).max())
        yield finding("sharp-core", core)
        if nodes_of.center_kind == "centroid":
            yield finding("sharp-core-centroid", core)
        yield finding("thesis-core", core)
        yield finding("sharp-split-mean", split)
        yield finding("sharp-split-equal", split)
    yield from _worst(dim, rows, lam, rng)
    yield from _quadrature(target, lam, x, rng)


def _worst(dim: int, rows: Array, lam: float, rng: np.random.Generator) -> Iterator[Finding]:
    """The worst-case error W of the points, found from below, against the floor for their number."""
    worst = worst_case_error(rows, lam, n=400, refine=8, rng=rng).lower
    bound = error_bound(dim=dim, theorem="lower", lipschitz=1.0, points=Prefix(n=len(rows)))
    yield Finding(dim, len(rows), lam, "lower", bound, worst, 1.0)


def _quadrature(target: Target, lam: float, x: Array, rng: np.random.Generator) -> Iterator[Finding]:
    """A core head on a product Gauss rule, against 4.C."""
    top = {1: 400, 2: 40, 3: 16, 8: 4}[target.dim]
    degree = int(rng.integers(4, top + 1))
    rule = points.gauss_product(target.dim, degree)
    measured = float(np.abs(CoreHead.from_target(target, rule, lam)(x) - target(x)).max())
    bound = error_bound(
        theorem="sharp-core-quadrature", dim=target.dim, lipschitz=target.lipschitz, sup_norm=target.sup_norm,
        concentration=lam, points=Prefix(exactness=degree),
    )  # fmt: skip
    yield Finding(target.dim, len(rule), lam, "sharp-core-quadrature", bound, measured, target.sup_norm or 0.0)
