"""The largest empty cap by hulls of growing subsets of the points, each with a bound from both sides.

A facet's cap holds no point of the subset, so no point of the sphere is farther from the points than the largest cap's
radius; how far a cap's centre really is from all points is attained. Each round adds the points deepest in the caps
that are still too large. docs/theorems/5.11-covering-radius.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Bools, Float64, Int64
from ...quality.nearest import Nearest
from .hull import Facets, cap_radii, circumcenters, covers, facets_of, have_pieces, lift_of

ROUNDING = 1e-14  # relative difference of radii below which they count as one
_POLISHED = 2**16  # at most so many caps of a last round get their centre from a linear system
_MANY = 4  # columns beyond which it costs Qhull much time to cut facets of more than d vertices
_START = 64  # points of the first hull, where the budget allows them


@dataclass
class Hole:
    """The largest hole known: its centre, the distance from there to the points, and an upper bound of all holes."""

    at: Float64
    lower: float
    upper: float

    def try_centers(self, centers: Float64, lower: Float64) -> None:
        """Move to the best of these centres if it is better."""
        best = int(np.argmax(lower))
        if lower[best] > self.lower:
            self.at, self.lower = centers[best].copy(), float(lower[best])

    def is_known(self, rtol: float) -> bool:
        """Tell whether the two sides are close."""
        return self.upper <= self.lower * (1.0 + max(rtol, ROUNDING))


def largest_facet_count(n: int, d: int) -> float:
    """Return the largest number of facets that a polytope with n vertices in R^d has (McMullen 1970)."""
    half = d // 2
    return float(math.comb(n - (d - half), half) + math.comb(n - half - 1, max(d - half - 1, 0)))


def refine(x: Float64, nearest: Nearest, hole: Hole, *, rtol: float, budget: float, bar: Any) -> None:
    """Narrow the two sides of `hole` until they agree to rtol or a hull would have more facets than the budget."""
    (n, d), before, lift = x.shape, (0, 0), None
    size = min(n, d + 2)  # of a first hull that cannot exceed the budget
    while size < min(n, _START) and largest_facet_count(size + 1, d) <= budget / 4:
        size += 1
    index = np.random.default_rng(0).permutation(n)[:size]
    while True:
        # Step 1: the hull of a subset
        facets = facets_of(x, index, lift)
        if facets is None:  # flat
            grown = _grow(n, index, np.setdiff1d(np.arange(n), index)[: len(index)], limit=n)
        else:
            # Step 2: the distances of its caps' centres from all points, and the points deepest in large caps
            fresh = _measure(x, nearest, index, facets=facets, hole=hole, rtol=rtol)
            bar.update(len(facets.radii))
            bar.set_postfix(lower=hole.lower, upper=min(hole.upper, float(facets.radii.max())))
            # Step 3: a larger subset with these, as far as the budget goes by the growth of facets with points so far
            points, count, power = len(index), len(facets.radii), float(max(1, d // 2))  # that of cyclic polytopes
            if d > 3 and before[0]:
                power = max(1.1, 1.1 * (math.log(count / before[1]) / math.log(points / before[0])))
            grown = _grow(n, index, fresh, limit=float(points * (budget / count) ** (1.0 / power)))
            before = points, count
            if lift is None and d > _MANY and have_pieces(facets):
                lift = lift_of(x)
        if grown is None:
            break
        index = grown
    # Step 4: the upper side by the caps of the last hull
    if facets is not None:
        _certify(x, nearest, index, facets=facets, hole=hole)


def _measure(x: Float64, nearest: Nearest, index: Int64, *, facets: Facets, hole: Hole, rtol: float) -> Int64:
    """Raise the lower side by the caps' centres, and return the deepest points of those still too large.

    The largest caps come first, until there are points for a much larger hull. Where all caps that are too large hold
    no point but their vertices, they get better centres, written into `facets`.
    """
    wide = np.flatnonzero(_too_large(facets.radii, hole, rtol))
    wide = wide[np.argsort(-facets.radii[wide], kind="stable")]
    members, fresh = np.zeros(len(x), dtype=bool), np.empty(0, dtype=np.int64)
    members[index] = True
    start = 0
    while start < len(wide) and len(fresh) < 2 * len(index):
        part = wide[start : start + max(1024, 2 * len(index))]
        start += len(part)
        nearby, angle = nearest(facets.centers[part])
        hole.try_centers(facets.centers[part], angle)
        # 5.11 (c): for these the nearest point is not in the subset
        nearby = nearby[_too_large(facets.radii[part], hole, rtol) & ~members[nearby]]
        nearby = nearby[np.sort(np.unique(nearby, return_index=True)[1])]  # in order of the caps' radii
        members[nearby] = True
        fresh = np.concatenate([fresh, nearby])
        wide = wide[: int(_too_large(facets.radii[wide], hole, rtol).sum())]
    if not len(fresh) and len(wide):
        _polish(x, nearest, facets, rows=wide[:_POLISHED], hole=hole)
    return fresh


def _too_large(radii: Float64, hole: Hole, rtol: float) -> Bools:
    """Tell which radii are above the lower side by more than the tolerance."""
    return np.asarray(radii > hole.lower * (1.0 + max(rtol, ROUNDING)))


def _polish(x: Float64, nearest: Nearest, facets: Facets, *, rows: Int64, hole: Hole) -> None:
    """Replace these facets' caps by the circumscribed caps of their vertices, where those are smaller."""
    centers = circumcenters(x, facets.vertices[rows])
    finite = np.isfinite(centers).all(axis=1)
    rows, centers = rows[finite], centers[finite]
    if not len(rows):
        return
    opposite = np.einsum("ij,ij->i", centers, facets.centers[rows]) < 0.0
    centers[opposite] *= -1.0
    radii = cap_radii(x, facets.vertices[rows], centers)
    better = radii < facets.radii[rows]
    facets.radii[rows[better]], facets.centers[rows[better]] = radii[better], centers[better]
    hole.try_centers(centers, nearest(centers)[1])


def _grow(n: int, index: Int64, fresh: Int64, *, limit: float) -> Int64 | None:
    """Add fresh points, the deepest first, or all where half of the n points are needed; None for none."""
    room = min(limit, n) - len(index)
    if not len(fresh) or room < min(len(fresh), len(index) // 4):
        return None  # a hull hardly larger than the last is not worth its time
    if len(index) + len(fresh) > n // 2 and limit >= n:
        return np.arange(n)
    return np.concatenate([index, fresh[: int(room)]])


def _certify(x: Float64, nearest: Nearest, index: Int64, *, facets: Facets, hole: Hole) -> None:
    """Lower the upper side to the largest cap's radius if the facets' cones are known to cover the space.

    Where facets have more than d vertices their pieces may not fit together; those of lifted points do, and the caps
    about them are measured at the points themselves.
    """
    if not covers(x, facets):
        pieces = facets_of(x, index, lift_of(x))
        if pieces is None or not covers(x, pieces):
            return
        facets = pieces
        wide = np.flatnonzero(facets.radii > hole.lower)[:_POLISHED]
        _polish(x, nearest, facets, rows=wide, hole=hole)
    hole.upper = min(hole.upper, max(hole.lower, float(facets.radii.max())))
