"""The covering radius of points of S^m: the largest distance from a point of the sphere to the nearest of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks, sphere
from ..._types import Float64, Seed
from ...quality.nearest import Nearest, angles, distinct, unit
from .least_norm import MULTIPLICATIONS, least_norm
from .refine import Hole, refine

BUDGET = 200_000  # facets that a convex hull may have by default: seconds in few dimensions, about a minute in ten
_MOST_BUDGET = 10**9
HULL_DIM = 16  # columns beyond which no hull is made
_DIRECTIONS = 4096  # random directions whose distances raise the lower side where hulls do not settle the radius
_MOST_WORK = 5e9  # multiplications up to which it is seen whether all points lie on a great subsphere
_HULL_ACCURACY = 1e-9  # relative gap that rounding may leave between the sides where the hull is that of all points
_EPS = float(np.finfo(np.float64).eps)


class Interval(NamedTuple):
    """An enclosure of a covering radius between two bounds, the lower one attained at a point of the sphere."""

    lower: float
    upper: float  # proven
    at: Float64  # (dim+1,)


def covering_interval(
    points: ArrayLike,
    rtol: float = 0.05,
    *,
    budget: int = BUDGET,
    workers: int | None = None,
    progress: bool = False,
    rng: Seed = 0,
) -> Interval:
    """Return an enclosure of the covering radius of points (n, dim+1); see `PointSet.covering_interval`."""
    rows = _checks.rows(points, "points").astype(np.float64)
    rtol = _checks.real(rtol, "rtol", minimum=0.0)
    budget = _checks.integer(budget, "budget", minimum=0, maximum=_MOST_BUDGET, limit="no machine makes larger hulls")
    workers, progress = _checks.workers(workers), _checks.flag(progress, "progress")
    generator = _checks.generator(rng)
    _checks.memory(48.0 * rows.size, f"the covering radius of {len(rows)} points", "take fewer points")
    if rows.shape[1] == 2:
        return _largest_gap(rows)
    if rows.shape[1] == 3:
        rtol, budget = 0.0, 2 * max(len(rows), 2)
    hull_bytes = float(budget) * (200.0 + 60.0 * rows.shape[1]) if rows.shape[1] <= HULL_DIM else 0.0
    _checks.memory(hull_bytes, f"hulls of {budget} facets", "lower 'budget'")
    x = distinct(unit(rows))
    # Step 1: both sides by the hull's point of least norm
    hole = _half_space(x)
    # Step 2: both sides by hulls of subsets, and the lower one by random directions
    if not hole.is_known(rtol):
        _search(x, hole, rtol, budget=budget, workers=workers, progress=progress, rng=generator)
    # Step 3: the upper one beyond rounding
    upper = max(hole.lower, hole.upper) * (1.0 + (x.shape[1] + 16) * _EPS) + 8.0 * _EPS
    return Interval(hole.lower, min(upper, math.pi), hole.at)


def _largest_gap(x: Float64) -> Interval:
    """Return half the largest arc of S^1 that holds no point."""
    azimuth = np.sort(sphere.to_polar(x)[:, 0])
    gaps = np.diff(azimuth, append=azimuth[0] + 2.0 * np.pi)
    widest = int(np.argmax(gaps))
    half = float(gaps[widest]) / 2.0
    middle = azimuth[widest] + half
    at = np.array([math.cos(middle), math.sin(middle)])
    upper = min(math.pi, half + 8.0 * _EPS)
    return Interval(min(upper, float(angles(unit(x), at).min())), upper, at)


def _half_space(x: Float64, *, multiplications: float = MULTIPLICATIONS) -> Hole:
    """Return both sides by the hull's point of least norm: exact where a half-space holds no point inside.

    The radius is at most pi/2 + arcsin |p| for every p of the hull (docs/theorems/5.11-covering-radius.md); beyond pi/2
    it is that for the p of least norm.
    """
    # 5.11 (a)
    p, index, weights = least_norm(x, multiplications=multiplications)
    length = float(np.linalg.norm(p))
    # arcsin |p| by the variance of the weights, 1 - |p|^2, which keeps its digits where the points are close together
    spread = math.sqrt(float(weights @ np.square(x[index] - p).sum(axis=1)))
    hole = Hole(-x[0], float(angles(x, -x[0]).min()), 0.5 * math.pi + math.atan2(length, spread))
    if length > 0.0:
        _try(x, hole, -p / length)
    n, d = x.shape
    if not hole.is_known(0.0) and float(n) * d * d <= _MOST_WORK:
        normal = np.linalg.svd(np.linalg.qr(x, mode="r"))[2][-1]  # all points may lie on a great subsphere
        _try(x, hole, normal)
        _try(x, hole, -normal)
    return hole


def _try(x: Float64, hole: Hole, center: Float64) -> None:
    """Move the hole to this centre if it is better."""
    center = unit(center[None])
    hole.try_centers(center, angles(x, center[0]).min(keepdims=True))


def _search(
    x: Float64, hole: Hole, rtol: float, *, budget: int, workers: int | None, progress: bool, rng: np.random.Generator
) -> None:
    """Narrow both sides by hulls in few dimensions, and raise the lower one by random directions."""
    from tqdm.auto import tqdm

    d, nearest = x.shape[1], Nearest(x, workers)
    with tqdm(unit="facet", desc="covering radius", leave=False, disable=not progress) as bar:
        if d <= HULL_DIM and len(x) > d:
            refine(x, nearest, hole, rtol=rtol, budget=budget, bar=bar)
        if not hole.is_known(max(rtol, _HULL_ACCURACY)):
            centers = sphere.uniform(d - 1, _DIRECTIONS, rng)
            hole.try_centers(centers, nearest(centers)[1])
