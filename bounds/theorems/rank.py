"""The core head with any real weights and any points, in the limit of small concentrations.

docs/theorems/4.G-core-interpolation.md.
"""

from __future__ import annotations

import math

from ..records.bound import EXACT, Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._approximation import approximation, by_constant
from ._degrees import log_binomial, log_polynomials
from ._pairs import least_polynomial


def rank(problem: Problem) -> Bound:
    """Bound the prefix length of 4.G (rank): 4 ceil(C(m+n, m)/(m+1)) free points for polynomials of degree n >= 5.

    A limit lambda -> 0 without an explicit lambda; below degree 5 the count of degree 5, and never above dim P_n.
    """
    if (constant := by_constant(problem, THEOREM)) is not None:
        return constant
    polynomials = approximation(problem)
    degree = least_polynomial(problem, polynomials) if polynomials.assumes.holds else math.inf
    enough = Hypothesis("a degree that promises eps", degree < math.inf)
    free = Hypothesis("scalar values, and a concentration small enough, not given", problem.concentration is None)
    log = math.inf
    if enough.holds:
        log = min(log_polynomials(degree, problem.dim), log_rank_points(max(degree, 5.0), problem.dim))
    exact = log < EXACT and log_binomial(degree, float(problem.dim)) < EXACT
    return THEOREM.prefix_length(log, polynomials.assumes, enough, free, constants=(("degree", degree),), whole=exact)


def log_rank_points(degree: float, dim: int) -> float:
    """Return log(4 ceil(C(m+n, m)/(m+1))), rounded upward for large binomials (4.G, rank)."""
    log = log_binomial(degree, float(dim))
    if log < EXACT:
        return math.log(4.0 * -(-math.comb(int(degree) + dim, dim) // (dim + 1)))
    return math.log(4.0 / (dim + 1.0)) + log + math.log1p((dim + 1.0) * math.exp(-log))


THEOREM = Theorem(
    "sharp-core-rank", "docs/theorems/4.G-core-interpolation.md (rank)",
    "core head with any real weights and any points",
    head="core", count=rank, options=("concentration", "slack", "degree", "sobolev_order"), attained=False,
)  # fmt: skip
