"""Local maxima of the distance to the nearest point of a set: vertices of the polar polytope, by pivots.

With the origin inside the hull of the b_k, the largest empty cap is 1/|x| at the longest x with <x, b_k> <= 1 for all
k. From a vertex the walk goes along edges on which |x| grows; where there is none, x lies in the cone over its facet
and is a local maximum of the distance.
"""

from __future__ import annotations

import numpy as np

from ..._types import Float64, Int64
from ...quality.nearest import unit

_JITTER = 1e-10
"""Relative shift of the constraints that makes every vertex simple; the final centre is found without it."""
_SMALL = 1e-12
"""Relative size below which a weight or a speed counts as 0."""


def climb(x: Float64, direction: Float64, most: int, rng: np.random.Generator) -> Float64:
    """Return a local maximum of the distance to the nearest of the unit rows of `x`, walking from `direction`.

    After `most` pivots, or where the points leave a half-space free, it returns where it is.
    """
    # Step 1: a vertex of the polar polytope
    bound = 1.0 + _JITTER * rng.random(len(x))
    at, active, ray = _reach_vertex(x, bound, direction, rng)
    if ray is not None:
        return ray
    # Step 2: pivots along edges on which |x| grows
    inverse = _inverse(x[active])  # (d, d)
    for pivot in range(most):
        if (pivot + 1) % max(50, len(active)) == 0:
            inverse = _inverse(x[active])
            at = inverse @ bound[active]
        share = at @ inverse  # at = share @ x[active]
        leaving = int(np.argmin(share))
        if share[leaving] >= -_SMALL * np.abs(share).max():
            break
        edge: Float64 = -inverse[:, leaving]
        new, length = _first_met(x, bound, at, edge, active)
        if new < 0:
            return np.asarray(unit(edge[None])[0])
        at = at + length * edge
        row = x[new] @ inverse
        inverse[:, leaving] /= row[leaving]
        row[leaving] = 0.0
        inverse -= np.outer(inverse[:, leaving], row)
        active[leaving] = new
    # Step 3: the vertex without jitter
    exact = _inverse(x[active]).sum(axis=1)
    return np.asarray(unit((exact if float(exact @ exact) > 0.0 else at)[None])[0])


def _inverse(rows: Float64) -> Float64:
    """Return the inverse of the active rows, in the sense of least squares where they depend on each other."""
    try:
        inverse = np.linalg.inv(rows)
        if float(np.abs(inverse).max()) < 1e8:  # far from singular; the singular values take 30 times as long
            return np.asarray(inverse)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.pinv(rows), dtype=np.float64)


def _reach_vertex(
    x: Float64, bound: Float64, direction: Float64, rng: np.random.Generator
) -> tuple[Float64, Int64, Float64 | None]:
    """Walk from the origin to a vertex, in the direction and on along every face that is met; or return a free ray."""
    d = x.shape[1]
    at, active, basis = np.zeros(d), np.empty(0, dtype=np.int64), np.empty((0, d))
    for _ in range(d):
        step = _along(basis, direction)
        if step is None:  # nothing more to gain in the direction itself
            step = _along(basis, np.asarray(rng.standard_normal(d)))
        assert step is not None
        new, length = _first_met(x, bound, at, step, active)
        if new < 0:
            return at, active, step
        at = at + length * step
        active = np.append(active, new)
        # Gram and Schmidt, twice
        across = x[new] - basis.T @ (basis @ x[new])
        across -= basis.T @ (basis @ across)
        basis = np.vstack([basis, across / np.sqrt(across @ across)])  # (k, d)
        direction = at
    return at, active, None


def _along(basis: Float64, direction: Float64) -> Float64 | None:
    """Return the unit part of a direction orthogonal to the basis, by two projections; None where there is none."""
    for _ in range(2):
        direction = direction - basis.T @ (basis @ direction)
        length = float(np.sqrt(direction @ direction))
        if length < 1e-6:
            return None
        direction = direction / length
    return direction


def _first_met(x: Float64, bound: Float64, at: Float64, step: Float64, active: Int64) -> tuple[int, float]:
    """Return the first constraint met on the way, and the step to it; -1 if the way is free."""
    speed, reached = np.ascontiguousarray((x @ np.column_stack([step, at])).T)
    speed[active] = 0.0
    meets = speed > _SMALL * np.sqrt(step @ step)
    if not meets.any():
        return -1, 0.0
    room = np.full(len(x), np.inf)
    room[meets] = np.maximum(bound[meets] - reached[meets], 0.0) / speed[meets]
    new = int(np.argmin(room))
    return new, float(room[new])
