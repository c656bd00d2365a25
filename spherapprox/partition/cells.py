"""Single cells: their intervals of the angles, whose product they are, and uniform random points in them."""

from __future__ import annotations

import numpy as np

from .. import special, sphere
from .._types import Float64
from .compiled import cap
from .levels import zones


def intervals(dim: int, n: int, i: int) -> Float64:
    """Return the intervals of the angles in cell i, shape (dim, 2)."""
    if dim == 1:
        return np.array([[2.0 * np.pi * (i / n), 2.0 * np.pi * ((i + 1) / n)]])
    above, count, local = zones(dim, n, i, rows=1)
    box = np.tile([0.0, np.pi], (dim, 1))  # (dim, 2)
    box[-1, 1] = 2.0 * np.pi
    for level, (lower, upper) in enumerate(above):
        box[level] = lower[0], upper[0]
    cap.intervals(count, local, box[None, -2:])
    return box


def sample(box: Float64, size: int, rng: np.random.Generator) -> Float64:
    """Draw independent uniform points of the cell whose angles lie in the intervals `box`, shape (dim, 2)."""
    dim = len(box)
    # Step 1: the angles behind the last bound one are free and make a whole sphere
    free = np.append(np.full(dim - 1, np.pi), 2.0 * np.pi)
    bound = np.flatnonzero((box[:, 0] > 0.0) | (box[:, 1] < free))
    depth = int(bound[-1]) + 1 if bound.size else 0
    # Step 2: uniform points of that sphere, or of the arc
    x = np.empty((size, dim + 1))
    if depth < dim:
        x[:, : dim - depth + 1] = sphere.uniform(dim - depth, size, rng)
    else:
        azimuth = box[-1, 0] + (box[-1, 1] - box[-1, 0]) * rng.random(size)
        x[:, 0], x[:, 1] = np.cos(azimuth), np.sin(azimuth)
    # Step 3: colatitudes of the zones above it, from the lowest up
    for level in reversed(range(min(depth, dim - 1))):
        m = dim - level
        angle = _colatitudes(m, box[level, 0], box[level, 1], share=1.0 - rng.random(size))
        x[:, :m] *= np.sin(angle)[:, None]
        x[:, m] = np.cos(angle)
    return x


def _colatitudes(dim: int, lower: float, upper: float, share: Float64) -> Float64:
    """Solve for the colatitudes of S^dim, lower <= t < upper, with shares in (0, 1] of the zone north of them."""
    south = lower + upper > np.pi
    near, far = (np.pi - upper, np.pi - lower) if south else (lower, upper)  # from the nearer pole
    total = special.log_cap_measure(dim, far)
    inner = np.exp(special.log_cap_measure(dim, near) - total)
    angle = special.cap_angle(dim, np.minimum(0.0, total + np.log(inner + (1.0 - inner) * share)))
    return np.asarray(np.clip(np.pi - angle if south else angle, lower, np.nextafter(upper, 0.0)))
