"""The lower bound for methods that sample at N points: docs/theorems/4.5-lower-bound.md."""

from __future__ import annotations

import math

from ..covering import covering_radius
from ..records.bound import Bound
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._floor import angle_of, floor, log_cover


def lower(problem: Problem) -> Bound:
    """Bound the number of samples below by the covering number at (eps/L)^(1/alpha) (4.5)."""
    radius = angle_of(problem, 1.0)
    log = log_cover(problem.dim, radius, problem.covering)
    exact = problem.dim == 1 and problem.covering == "best"
    return floor(problem, THEOREM, log, angle=radius, whole=exact)


def _error(problem: Problem, prefix: Prefix) -> Promise:
    # 4.5: min(L rho^alpha, F)
    method = "best-lower" if problem.covering == "best" else "lower"
    radius = covering_radius(prefix.n, dim=problem.dim, method=method).value
    least = min(problem.lipschitz * math.pow(radius, problem.exponent), problem.sup_norm)
    return (math.log(least) if least > 0.0 else -math.inf), ()


THEOREM = Theorem(
    "lower", "docs/theorems/4.5-lower-bound.md", "no scheme that samples at N points does better for every target",
    head="any", side="lower", count=lower, options=("covering",), error=_error, needs=("lipschitz", "n"),
    uses=("sup_norm",), measured="worst-case error",
)  # fmt: skip
