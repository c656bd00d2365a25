"""The lower bound for arbitrary real tokens: docs/theorems/4.E-lower-without-sampling.md (any)."""

from __future__ import annotations

import math

import numpy as np

from spherapprox._types import Float64

from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._floor import angle_of, floor
from ._squares import FAMILIES


def lower_any(problem: Problem) -> Bound:
    """Bound the prefix length below by M/((m+2) z(D)) (4.E, any): real xi_k, b_k, lambda chosen with f in hand."""
    # Step 1: the best M/z(D) of each family of points more than t apart
    angle = angle_of(problem, 2.0)
    candidates = [(0.0, 0.0, 0.0, "one point")]
    for name, family in FAMILIES.items():
        log_points, log_scale = family(problem.dim, angle)
        if len(log_points):
            i, log_ratio, log_degree = best(problem.dim, log_points, log_scale)
            candidates.append((log_ratio, float(log_points[i]), log_degree, name))
    # Step 2: N >= M/((m+2) z(D)) at the best of them
    log_ratio, log_used, log_degree, name = max(candidates, key=lambda entry: entry[0])
    constants = (("log points", log_used), ("log degree", log_degree))
    log = log_ratio - math.log(problem.dim + 2)
    return floor(problem, THEOREM, log, angle, *constants, note=f", {name}")


def best(dim: int, log_points: Float64, log_scale: Float64) -> tuple[int, float, float]:
    """Maximise M/z(D) over a family of point sets: the index of the best one, its log M/z(D) and log D."""
    d = dim + 1
    # 4.E (any): D = 1 + (m+1+sqrt(m+1)) Q
    log_degree = np.logaddexp(0.0, math.log(d + math.sqrt(d)) + log_scale)
    log_parameters = log_points - np.log(warren_ratio(log_degree))
    i = int(np.argmax(log_parameters))
    return i, float(log_parameters[i]), float(log_degree[i])


def warren_ratio(log_degree: Float64) -> Float64:
    """Solve z = log2(4 e D z) for z > 1, the largest M/P with M <= P log2(4 e D M/P) (4.E, any)."""
    # Step 1: z log 2 - log z = log(4 e D)
    target = math.log(4.0) + 1.0 + np.asarray(log_degree, dtype=np.float64)
    half = math.log(2.0)
    # Step 2: a start above the root of this convex function, from which Newton falls to it
    z = 2.0 * (target + np.log(target)) / half
    # Step 3: Newton
    for _ in range(8):
        z = z - (z * half - np.log(z) - target) / (half - 1.0 / z)
    return z


THEOREM = Theorem(
    "lower-any", "docs/theorems/4.E-lower-without-sampling.md (any)",
    "no real tokens do better, however they are chosen",
    head="any", side="lower", count=lower_any,
)  # fmt: skip
