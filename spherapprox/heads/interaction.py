"""The interaction of inputs of one sequence in a classical head: logarithms of a proven bound."""

from __future__ import annotations

import math

import numpy as np

from .. import special
from ..partition import EqualMeasurePartition
from ..points import PointSet, nodes
from .split import SplitHead

ANGLES = 200
"""Number of caps whose mass is tried: any of them gives a bound."""
ROUNDING = 1.0 + 1e-9
"""Factor for covering radii, which are known to 1e-10."""


def log_bound(head: SplitHead, interaction: str, mask: float, *, length: int) -> float:
    """Return ``log(F A / (A + S))`` of docs/theorems/4.14-classical-head.md; -inf if all values are 0."""
    values = head.values.reshape(len(head), -1).astype(np.float64)
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return -math.inf
    log_norm = math.log(largest) + math.log(np.linalg.norm(values / largest, axis=1).max())
    # 4.14: A, the largest sum_j exp(logit of x_i and x_j); "none" has mask 0
    log_inputs = math.log(length) + mask
    if interaction == "printed":
        log_inputs = float(np.logaddexp(mask, math.log(length - 1) - mask if length > 1 else -math.inf))
    # 4.14: |y_i - h(x_i)| <= F A / (S + A)
    return log_norm - float(np.logaddexp(0.0, log_prefix_mass(head) - log_inputs))


def log_prefix_mass(head: SplitHead) -> float:
    """Return the logarithm of a lower bound of ``S(x) = sum_k exp(concentration_k <x, b_k>)`` over the sphere."""
    rows, n, lam = head._directions(), len(head), head._largest_concentration
    widest = lam == np.min(head.concentration)
    shares = 1.0 if widest else (np.asarray(head.concentration) / lam)[:, None]
    # 4.14 (mean)
    candidates = [math.log(n) - lam * float(np.linalg.norm((shares * rows).mean(axis=0)))]
    radius = _covering_radius(head)
    if widest and radius is not None:
        # 4.14 (cover)
        log_others = math.log(n - 1) - lam if n > 1 else -math.inf
        candidates.append(float(np.logaddexp(lam * math.cos(radius), log_others)))
        if isinstance(head.points, EqualMeasurePartition):
            # 4.14 (cells): n sigma(C(phi)) exp(lambda cos(phi + radius)), over some angles phi
            dim = head.dim
            angles = np.linspace(0.0, math.pi, ANGLES + 1)[1:] * min(1.0, math.sqrt((dim + 2.0) / (lam + 1.0)))
            cosines = np.cos(np.minimum(angles + radius, math.pi))
            candidates.append(float(np.max(math.log(n) + special.log_cap_measure(dim, angles) + lam * cosines)))
    return max(candidates)


def _covering_radius(head: SplitHead) -> float | None:
    """Return the covering radius of the control points, rounded up, where it is known."""
    points = head.points
    if not isinstance(points, EqualMeasurePartition | PointSet):
        return None
    if isinstance(points, PointSet) and not points.covering_is_known:
        return None
    if not np.array_equal(nodes(points)[0], head.control_points):
        return None
    radius = points.cell_radius() if isinstance(points, EqualMeasurePartition) else points.covering_bound()
    return min(radius * ROUNDING, math.pi)
