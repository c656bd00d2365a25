"""The covering radius of points of S^m: the largest distance from a point of the sphere to the nearest of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks, sphere
from ..._types import Float64
from ...quality.nearest import Nearest, angles, distinct, unit
from .climb import climb
from .least_norm import least_norm
from .moments import least_support
from .refine import Hole, refine

BUDGET = 200_000
"""Facets that a convex hull may have by default: seconds in few dimensions, about a minute in ten."""
_MOST_BUDGET = 10**9
HULL_DIM = 16
"""Columns beyond which no hull is made."""
_WALKS = 64
"""At most so many walks to local maxima, where hulls do not settle the radius."""
_WORK_PER_FACET = 25_000.0
"""Multiplications for each facet of the budget that the walks may take together, about: seconds for the default."""
_LEAST_FACETS = 20_000
"""The walks and moments take no less than they would for a budget of so many facets."""
_HULL_ACCURACY = 1e-9
"""Relative gap that rounding may leave between the sides where the hull is that of all points."""
_EPS = float(np.finfo(np.float64).eps)


class Interval(NamedTuple):
    """An enclosure of a number between two, with the point where the lower one is attained.

    Parameters
    ----------
    lower : float
        A value that is attained.
    upper : float
        A proven upper bound, `lower` where the value is exact, inf where none is known.
    at : ndarray, shape (dim+1,)
        The point of the sphere where `lower` is attained.
    """

    lower: float
    upper: float
    at: Float64


def covering_interval(
    points: ArrayLike,
    rtol: float = 0.05,
    *,
    budget: int = BUDGET,
    workers: int | None = None,
    progress: bool = False,
    rng: np.random.Generator | int | None = 0,
) -> Interval:
    """Return an enclosure of the covering radius; see `spherapprox.PointSet.covering_interval`.

    Parameters
    ----------
    points : array_like, shape (n, dim+1)
        Points of unit length.
    rtol, budget, workers, progress, rng
        As there.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.points.covering.radius import covering_interval
    >>> cross = np.vstack([np.eye(5), -np.eye(5)])
    >>> interval = covering_interval(cross)
    >>> round(interval.lower, 6), round(interval.upper, 6)  # arccos(1 / sqrt(5))
    (1.107149, 1.107149)
    """
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
    _checks.memory(_hull_bytes(budget, rows.shape[1]), f"hulls of {budget} facets", "lower 'budget'")
    x = distinct(unit(rows))
    # Step 1: both sides by the hull's point of least norm
    hole = _half_space(x)
    # Step 2: both sides by hulls of subsets, moments and walks
    if not hole.is_known(rtol):
        _search(x, hole, (rtol, budget), workers, progress, generator)
    # Step 3: the upper one beyond rounding
    upper = max(hole.lower, hole.upper) * (1.0 + (x.shape[1] + 16) * _EPS) + 8.0 * _EPS
    return Interval(hole.lower, min(upper, math.pi), hole.at)


def _hull_bytes(facets: int, columns: int) -> float:
    """Estimate the memory of hulls, which are made in few dimensions only."""
    return 0.0 if columns > HULL_DIM else float(facets) * (200.0 + 60.0 * columns)


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


def _half_space(x: Float64) -> Hole:
    """Return both sides by the hull's point of least norm: exact where a half-space holds no point inside.

    The radius is at most pi/2 + arcsin |p| for every p of the hull (docs/theorems/5.11-covering-radius.md); beyond pi/2
    it is that for the p of least norm.
    """
    # 5.11 (a)
    p, index, weights = least_norm(x)
    length = float(np.linalg.norm(p))
    # arcsin |p| by the variance of the weights, 1 - |p|^2, which keeps its digits where the points are close together
    spread = math.sqrt(float(weights @ np.square(x[index] - p).sum(axis=1)))
    hole = Hole(-x[0], _distance(x, -x[0]), 0.5 * math.pi + math.atan2(length, spread))
    if length > 0.0:
        _try(x, hole, -p / length)
    n, d = x.shape
    if not hole.is_known(0.0) and float(n) * d * d <= _WORK_PER_FACET * BUDGET:
        normal = np.linalg.svd(np.linalg.qr(x, mode="r"))[2][-1]  # all points may lie on a great subsphere
        _try(x, hole, normal)
        _try(x, hole, -normal)
    return hole


def _distance(x: Float64, at: Float64) -> float:
    """Return the distance from one point to the nearest."""
    return float(angles(x, at).min())


def _try(x: Float64, hole: Hole, center: Float64) -> None:
    """Move the hole to this centre if it is better."""
    center = unit(center[None])
    hole.try_centers(center, np.array([_distance(x, center[0])]))


def _search(
    x: Float64, hole: Hole, limits: tuple[float, float], workers: int | None, progress: bool, rng: np.random.Generator
) -> None:
    """Narrow both sides by hulls, and where these are too large by moments from above and walks from below."""
    from tqdm.auto import tqdm

    d = x.shape[1]
    with tqdm(unit="facet", desc="covering radius", leave=False, disable=not progress) as bar:
        # Step 1: hulls, for both sides
        if d <= HULL_DIM and len(x) > d:
            refine(x, Nearest(x, workers), hole, limits, bar)
        if hole.is_known(max(limits[0], _HULL_ACCURACY)):
            return
        work = _WORK_PER_FACET * max(limits[1], _LEAST_FACETS)
        # Step 2: moments, for the upper side
        support = least_support(x, 4.0 * work)  # matrix products are faster than the walks
        if support > 0.0:  # 0 says nothing, not even that the radius is at most pi/2
            hole.upper = min(hole.upper, math.acos(min(1.0, support)))
        # Step 3: walks, for the lower side
        _walk(x, hole, (limits[0], work), rng, bar)


def _walk(x: Float64, hole: Hole, limits: tuple[float, float], rng: np.random.Generator, bar: Any) -> None:
    """Raise the lower side by walks to local maxima, from the best centre so far and from random directions.

    `limits` is (rtol, work): where the work does not suffice for a walk it ends on its way.
    """
    n, d = x.shape
    rtol, work = limits
    arrival, pivot = 3.0 * d * d * (n + d), 3.0 * d * (n + 3.0 * d)
    pivots = int(max(0.0, min(20.0 * d + 100.0, (work - arrival) / pivot)))
    # as measured, 2 d pivots lead to a local maximum
    for i in range(int(min(_WALKS, max(1.0, work / (arrival + 2.0 * d * pivot))))):
        start = hole.at[None] if i == 0 else rng.standard_normal((1, d))
        _try(x, hole, climb(x, unit(start)[0], pivots, rng))
        bar.set_postfix(lower=hole.lower, upper=hole.upper)
        if hole.is_known(rtol):
            return
