"""The split head on separated points, at moderate concentrations and without a partition.

docs/theorems/4.A-separated-points.md.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox._integrals.piece import Piece, log_integral
from spherapprox._integrals.zonal import HALF_PI
from spherapprox._types import Float64
from spherapprox.special import log_cap_measure

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._integrals import Excess, log_total, root_of_falling
from ._split_head import extreme, log_error, moderate_concentration
from .requirements import COVER


def log_excess(excess: Excess, radius: float, separation: float) -> float:
    """Return the log of the ratio of the two sides of 4.A; W <= w if it is at most 0."""
    # Step 1: the four integrals
    w, r = excess.threshold, 0.5 * separation
    positive, cap = excess.positive(r), excess.cap(r)
    negative = [*excess.negative(radius), excess.cap(radius)]
    logs = excess.log_integrals([cap, *positive, *negative])
    # Step 2: the right side, (w - rho) k(rho) or the mean over Voronoi cells
    nearest = excess.log_value(radius - w)
    cells = logs[-2] - logs[-1]
    return log_total(logs[1 : 1 + len(positive)]) - float(logs[0]) - max(nearest, float(cells))


def log_pack_error(concentration: float, radius: float, separation: float, dim: int) -> float:
    """Return the log of the least w <= pi/2 with W <= w (4.A) for a covering radius and a separation; else log pi."""
    if radius >= HALF_PI:
        return math.log(math.pi)
    apart = min(separation, 2.0 * radius)  # what is farther apart is apart enough

    def excess(gap: float) -> float:
        return log_excess(Excess(concentration, dim, radius + gap), radius, apart)

    widest = HALF_PI - radius
    if excess(widest) > 0.0:
        return math.log(math.pi)
    steepness = concentration * math.sin(radius) + (dim + 3.0) / radius
    gap = root_of_falling(excess, min((dim + 3.0) / steepness, widest), steepness, low=1e-17 * radius, high=widest)
    return math.log(radius + gap)


def pack(problem: Problem) -> Bound:
    """Bound the prefix length of 4.A: the size of a maximal rho-separated set (4.A, count)."""
    if bound := extreme(problem, THEOREM):
        return bound
    w, dim, concentration = problem.goal, problem.dim, moderate_concentration(problem)
    radius = w - _least_gap(Excess(concentration, dim, w)) if concentration > 0.0 else 0.0
    log = log_most_separated(radius, dim, sharp=problem.covering == "best") if radius > 0.0 else math.inf
    enough = Hypothesis("a large enough concentration", radius > 0.0)
    return THEOREM.prefix_length(log, enough, concentration=concentration, radius=radius)


def _least_gap(excess: Excess) -> float:
    """Return the least w - rho with W <= w (4.A) for separation rho, w for none."""
    w, lam = excess.threshold, excess.concentration

    def miss(gap: float) -> float:
        return log_excess(excess, w - gap, w - gap)

    # it falls from infinity at rho -> w, and may rise again
    finest, steepness = 4e-16 * w, max(lam * math.sin(w), 1e-300)
    gap, before = max(min((excess.dim + 3.0) / steepness, 0.5 * w), finest), finest
    while miss(gap) > 0.0:
        before = gap
        if gap > (1.0 - 1e-3) * w:
            return w
        gap = min(1.5 * gap, 0.5 * (gap + w))
    return root_of_falling(miss, gap, steepness, low=before, high=gap)


def log_most_separated(separation: float, dim: int, *, sharp: bool = True) -> float:
    """Bound the log of the number of points at least `separation` <= pi/2 apart (4.A, count): volume or Rankin.

    Points so far apart are also less far apart, so that Rankin's bound, which rises in the end, counts at its least.
    """
    volume = -float(log_cap_measure(dim, 0.5 * separation))
    if not sharp:
        return volume
    least = _log_rankin(separation, dim)
    if separation > 1.0:
        minimum = minimize_scalar(
            lambda closer: _log_rankin(closer, dim), bounds=(0.9, separation), method="bounded", options={"xatol": 1e-6}
        )
        least = min(least, float(minimum.fun))
    return min(volume, least)


def _log_rankin(separation: float, dim: int) -> float:
    """Return log[sin^2 b / (2 cos b int_0^b (cos u - cos b) dsigma(u))], sin b = sqrt(2) sin(separation/2) (4.A)."""
    sin_b = math.sqrt(2.0) * math.sin(0.5 * separation)
    if sin_b >= 1.0:
        return math.inf
    b = math.asin(sin_b)
    m1, cot = dim - 1.0, 1.0 / math.tan(b)
    sines = Piece(b, m1, cot, slope=m1 * cot, bend=m1)

    def drop(u: Float64) -> Float64:  # cos u - cos b
        result: Float64 = 2.0 * np.sin(0.5 * (b + u)) * np.sin(0.5 * (b - u))
        return result

    height = log_integral(sines, 0.0, b, factor=drop) - log_integral(sines, 0.0, b)
    return 2.0 * math.log(sin_b) - math.log(2.0 * math.cos(b)) - height - float(log_cap_measure(dim, b))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    assert prefix.separation is not None
    log_w = log_pack_error(problem.fixed_concentration, prefix.radius, prefix.separation, dim=problem.dim)
    return log_error(problem, log_w), ()


THEOREM = Theorem(
    "sharp-split-pack", "docs/theorems/4.A-separated-points.md",
    "split head on separated points at moderate concentrations",
    head="split", count=pack, constants=("lipschitz",), options=("concentration", "covering"), joins="sharp-split",
    error=_error, needs=("lipschitz", "concentration", "radius", "separation"), uses=("sup_norm",), requires=COVER,
)  # fmt: skip
