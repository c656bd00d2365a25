"""The floor of methods that sample, for bounded second derivatives: docs/theorems/4.J-smooth-lower-bound.md."""

from __future__ import annotations

import math

from ..covering import covering_radius
from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._floor import SMALLEST_ANGLE, floor, log_cover
from .smooth_quadrature import smooth_class


def bump_radius(eps: float, lipschitz: float, smoothness: float) -> float:
    """Return the least radius of a bump of height eps: 2 sqrt(eps/H), or eps/L + L/H where L is met (4.J)."""
    if eps * (smoothness / lipschitz) <= lipschitz:
        return 2.0 * math.sqrt(eps / smoothness)
    return eps / lipschitz + lipschitz / smoothness


def bump_height(radius: float, lipschitz: float, smoothness: float) -> float:
    """Return the largest height of a bump, H r^2/4 or L r - L^2/H: the inverse of `bump_radius` (4.J)."""
    if radius * smoothness <= 2.0 * lipschitz:
        return 0.25 * smoothness * radius * radius
    return lipschitz * (radius - lipschitz / smoothness)


def lower_smooth(problem: Problem) -> Bound:
    """Bound the number of samples below by the covering number at the radius of a bump of height eps (4.J)."""
    smooth, log, radius = smooth_class(problem), 0.0, math.pi
    if smooth.holds:
        assert problem.smoothness is not None
        radius = bump_radius(problem.eps, problem.lipschitz, problem.smoothness)
        radius = min(max(radius, SMALLEST_ANGLE), math.pi)
        log = log_cover(problem.dim, radius, problem.covering)
    exact = problem.dim == 1 and problem.covering == "best"
    return floor(problem, THEOREM, log, angle=radius, hypotheses=(smooth,), whole=exact)


def _error(problem: Problem, prefix: Prefix) -> Promise:
    p, smooth = problem, smooth_class(problem)
    if not smooth.holds:
        return -math.inf, (smooth,)
    assert p.smoothness is not None
    # 4.J: the height of a bump, at most F
    method = "best-lower" if p.covering == "best" else "lower"
    radius = covering_radius(prefix.n, dim=p.dim, method=method).value
    least = min(bump_height(radius, p.lipschitz, p.smoothness), p.sup_norm)
    return (math.log(least) if least > 0.0 else -math.inf), (smooth,)


THEOREM = Theorem(
    "lower-smooth", "docs/theorems/4.J-smooth-lower-bound.md",
    "no scheme that samples at N points does better if second derivatives are bounded",
    head="any", side="lower", count=lower_smooth, constants=("lipschitz", "sup_norm", "smoothness"),
    options=("covering", "smoothness"), error=_error, needs=("lipschitz", "smoothness", "n"), uses=("sup_norm",),
)  # fmt: skip
