"""Polynomial approximation of a class of targets, and its error under the kernel (4.6, 4.7)."""

from __future__ import annotations

from flint import arb

from ..records.problem import Problem
from ..theorems._approximation import TERMS
from . import _jackson as jackson
from . import _special as special
from ._degrees import LARGE, log_eigenvalue, log_eigenvalue_bound, log_harmonics, tail


def distance(degree: int, problem: Problem) -> arb:
    """Bound the distance of the class from the polynomials of a degree (4.6, 4.7)."""
    if problem.degree is not None:
        return arb(0)
    if problem.sobolev_order is not None:
        return problem.lipschitz * _sobolev_tail(degree, problem.sobolev_order, problem.dim).sqrt()
    return problem.lipschitz * (2 * jackson.distance(degree, problem.dim)) ** arb(problem.exponent) / 2


def _sobolev_tail(degree: int, smoothness: float, dim: int) -> arb:
    """Bound the sum of dim(H_l) (1 + l(l+m-1))^-s over l > n: terms one by one, then an integral (4.7)."""
    s, first = arb(smoothness), degree + 1
    term = (log_harmonics(first, dim) - s * arb(1 + first * (first + dim - 1)).log()).exp()
    total = arb(0)
    for step in range(first, first + TERMS):
        total += term
        growth = arb(1)
        if dim > 1:
            growth = (1 + arb(2) / (2 * step + dim - 1)) * (1 + arb(dim - 2) / (step + 1))
        term *= growth * (-s * (arb(2 * step + dim) / (1 + step * (step + dim - 1))).log1p()).exp()
    x, power = first + TERMS + arb(dim - 1) / 2, 2 * s - dim
    if dim < 3:
        remainder = 2 * (-power * (x - arb(1) / 2).log()).exp()
    else:
        remainder = term * x * (-power * (-1 / (2 * x)).log1p()).exp()
    return total + remainder / power


def _norm(degree: int, problem: Problem, concentration: arb) -> arb:
    """Bound the L2 norm of sum_l Y_l/a_l (4.7)."""
    if degree > LARGE and concentration > 1:
        least = log_eigenvalue_bound(degree, problem.dim, concentration, above=False).exp()
    else:
        least = log_eigenvalue(degree, problem.dim, concentration).exp()
    lip, sup = arb(problem.lipschitz), arb(problem.sup_norm)
    if problem.degree is not None:
        return sup / least
    if problem.sobolev_order is None:
        return (sup + problem.eps) / least
    s, parts = arb(problem.sobolev_order), arb(0)
    eigenvalues = {0: arb(1), 1: special.eigenvalue(1, problem.dim, concentration), degree: least}
    for k in {0, min(1, degree), degree}:
        size = lip * (-s / 2 * arb(1 + k * (k + problem.dim - 1)).log()).exp()
        parts = parts.max(size / eigenvalues[k])
    return (sup.min(lip) / least).min(parts)


def bent(degree: int, tail_degree: int, problem: Problem) -> arb:
    """Bound rho_g |sum_l Y_l/a_l| (4.7), 0 in the limit lambda -> 0 with rho_n/a_n."""
    if not problem.concentration:
        return arb(0)
    lam = arb(problem.concentration)
    return tail(tail_degree, problem.dim, lam) * _norm(degree, problem, lam)
