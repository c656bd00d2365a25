"""The core head with free points and weights, 4.G (rank), in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ._balls import enclose, sign
from ._degrees import constant, log_binomial, log_polynomials
from ._few import mean_value
from ._polynomials import distance


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| < eps and enclose the count of 4.G (rank)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    degree, dim = int(constant(bound, "degree")), problem.dim
    if sign(lambda: problem.eps - distance(degree, problem), digits) <= 0:
        raise CertificationError(f"degree {degree} cannot be proved enough")
    return enclose(lambda: log_polynomials(degree, dim).min(log_rank_points(max(degree, 5), dim)), digits + 2)


def log_rank_points(degree: int, dim: int) -> arb:
    """Return log(4 ceil(C(m+n, m)/(m+1))), or a little more for binomials too large to be rounded."""
    log = log_binomial(degree, dim)
    ratio = log.exp() / (dim + 1)
    if log < 27:
        whole = ratio.unique_fmpz() if ratio.contains_integer() else ratio.ceil().unique_fmpz()
        if whole is None:
            raise CertificationError("a count cannot be told from its neighbour")
        return (4 * arb(whole)).log()
    return (4 * (ratio + 1)).log()
