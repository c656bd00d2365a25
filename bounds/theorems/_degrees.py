"""Logs by polynomial degree on S^m: dimensions, quadrature sizes, eigenvalues and their tails.

Degrees are floats: whole numbers where something is counted, any number >= 0 where a search varies them. Every
function takes the manifold's dimension m as `dim` (docs/theorems/4.C-quadrature.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar

from spherapprox._scalars import bessel, bessel_ratio, gamma

from ..records.bound import EXACT, Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._search import log_sum


def log_binomial(a: float, b: float) -> float:
    """Return log[(a+b)! / (a! b!)] for a, b = 0 or >= 1, by Stirling's series without differences of large terms."""
    if a == 0.0 or b == 0.0:
        return 0.0
    main = a * math.log1p(b / a) + b * math.log1p(a / b)
    small = _stirling(a + b) - _stirling(a) - _stirling(b)
    return main - 0.5 * math.log(a * (b / (a + b)) * (2.0 * math.pi)) + small


def _stirling(n: float) -> float:
    """Return log n! - (n + 1/2) log n + n - log(2 pi)/2 for n >= 1."""
    if n >= gamma.STIRLING_FROM:
        return gamma.stirling(n)
    return gamma.log_gamma(n) - ((n + 0.5) * math.log(n) - n + gamma.HALF_LOG_2PI)


def log_harmonics(degree: float, dim: int) -> float:
    """Return log dim H_l, the number of independent spherical harmonics of degree l >= 1, or 0 for l = 0."""
    if degree == 0.0:
        return 0.0
    return log_binomial(degree, dim - 1.0) + math.log1p(degree / (degree + dim - 1.0))


def log_polynomials(degree: float, dim: int) -> float:
    """Return log dim P_g: C(m+g, m) + C(m+g-1, m) independent polynomials of degree at most g on S^m."""
    return log_binomial(degree, float(dim)) + math.log1p(degree / (degree + dim))


def log_gauss_points(degree: float, dim: int) -> float:
    """Return log[(g+1) (floor(g/2)+1)^(m-1)], the points of the product Gauss rule of degree g (4.C, Points)."""
    return math.log1p(degree) + (dim - 1.0) * math.log1p(math.floor(0.5 * degree))


def log_quadrature_points(degree: float, dim: int) -> float:
    """Return the log of the size of a positive quadrature exact to degree g that exists (4.C, Points)."""
    if degree % 2.0 == 1.0:  # antipodal pairs: odd polynomials integrate to 0 by themselves
        tchakaloff = math.log(2.0) + log_binomial(degree - 1.0, float(dim))
    else:
        tchakaloff = log_polynomials(degree, dim)
    return min(tchakaloff, log_gauss_points(degree, dim))


def at_degree(problem: Problem, theorem: Theorem, lam: float | None, degree: float, *hypotheses: Hypothesis) -> Bound:
    """Return the bound of a positive quadrature exact to the next whole degree, inf where the last hypothesis fails."""
    log, constants = math.inf, tuple[tuple[str, float], ...]()
    if hypotheses[-1].holds:
        degree = float(math.ceil(degree))
        log = log_quadrature_points(degree, problem.dim)
        constants = (("degree", degree), ("log product Gauss", log_gauss_points(degree, problem.dim)))
    return theorem.prefix_length(log, *hypotheses, concentration=lam, constants=constants, whole=log < EXACT)


def log_eigenvalue(degree: float, concentration: float, dim: int) -> float:
    """Return log a_l = log[I_(nu+l)(lambda) / I_nu(lambda)], also for degrees that are not whole."""
    order = 0.5 * (dim - 1)
    if degree == 0.0:
        return 0.0
    if concentration == 0.0:
        return -math.inf
    if bessel.radius(order, concentration) >= bessel_ratio.FAR:
        return bessel_ratio.log_ratio_far(order, concentration, degree)
    return bessel.log_iv(order + degree, concentration) - bessel.log_iv(order, concentration)


def log_term(degree: float, concentration: float, dim: int) -> float:
    """Return log(dim(H_l) a_l), one term of the kernel's expansion at its peak."""
    return log_harmonics(degree, dim) + log_eigenvalue(degree, concentration, dim)


def log_growth(degree: float, dim: int) -> float:
    """Return log[dim H_(l+1) / dim H_l] for l >= 1, which falls with l (4.C, Tails)."""
    return 0.0 if dim == 1 else math.log1p(2.0 / (2.0 * degree + dim - 1.0)) + math.log1p((dim - 2.0) / (degree + 1.0))


def log_tail(degree: float, concentration: float, dim: int) -> float:
    """Bound log rho_g, rho_g = sum of dim(H_l) a_l over l > g, by a geometric series, or by the kernel's peak (4.C)."""
    if concentration == 0.0:
        return -math.inf
    return _log_geometric(log_term(degree + 1.0, concentration, dim), degree + 1.0, concentration, dim=dim)


def log_tails(degree: float, concentration: float, dim: int) -> tuple[float, float, float]:
    """Bound log rho_g, log rho_(g-1) and log rho_(g-2), from one eigenvalue; g >= 2 (4.C, Tails)."""
    if concentration == 0.0:
        return -math.inf, -math.inf, -math.inf
    term = log_term(degree + 1.0, concentration, dim)
    tail = _log_geometric(term, degree + 1.0, concentration, dim=dim)
    term -= _log_least_ratio(degree, concentration, dim)
    longer = log_sum(tail, term)
    return tail, longer, log_sum(longer, term - _log_least_ratio(degree - 1.0, concentration, dim))


def log_rising_tail(degree: float, concentration: float, dim: int, power: int) -> float:
    """Bound the log of the sum of (l/(g+1))^power dim(H_l) a_l over l > g by a geometric series (4.I); inf for none."""
    if concentration == 0.0:
        return -math.inf
    log_ratio = log_rising_ratio(degree, concentration, dim, power=power)
    if log_ratio >= 0.0:
        return math.inf
    return log_term(degree + 1.0, concentration, dim) - math.log(-math.expm1(log_ratio))


def log_rising_ratio(degree: float, concentration: float, dim: int, power: int) -> float:
    """Bound the log of the ratio of two terms of `log_rising_tail`, all of them (4.I, Tails)."""
    first = degree + 1.0
    fall = math.asinh((first + 0.5 * dim) / concentration)
    return log_growth(first, dim) + power * math.log1p(1.0 / first) - fall


def _log_geometric(log_first: float, first: float, concentration: float, dim: int) -> float:
    """Bound the log of the sum of all terms from the first on by a geometric series (4.C, Tails)."""
    bound = math.inf
    # a_(l+1)/a_l <= exp(-arsinh((nu+l+1/2)/lambda)), 1.4; times the growth of dim H_l it falls with l
    log_ratio = log_growth(first, dim) - math.asinh((first + 0.5 * dim) / concentration)
    if log_ratio < 0.0:
        bound = log_first - math.log(-math.expm1(log_ratio))
    return bound if bound <= 0.0 else min(bound, -bessel.log_0f1_scaled(0.5 * (dim - 1), concentration))


def _log_least_ratio(degree: float, concentration: float, dim: int) -> float:
    """Bound log[dim(H_(l+1)) a_(l+1) / (dim(H_l) a_l)] from below: x/(a + sqrt(x^2 + (a+1)^2)) of 1.4."""
    a = degree + 0.5 * dim
    root = math.hypot(concentration, a + 1.0)
    over = a + (a + 1.0) * ((a + 1.0) / (root + concentration))
    share = over / concentration
    return log_growth(degree, dim) - (
        math.log1p(share) if share < math.inf else math.log(over) - math.log(concentration)
    )


def over_concentrations(least: float, dim: int, degree_at: Callable[[float, float], float]) -> tuple[float, float]:
    """Minimise a degree over all concentrations above `least`, given it at each and a guess: (lambda, degree)."""
    degrees: dict[float, float] = {}

    def degree(log_share: float) -> float:
        guess = next(reversed(degrees.values()), math.sqrt(least * dim))
        degrees[log_share] = degree_at(least * (1.0 + math.exp(log_share)), guess)
        return math.log(degrees[log_share])

    share = float(minimize_scalar(degree, bounds=(-25.0, 6.0), method="bounded", options={"xatol": 1e-7}).x)
    return least * (1.0 + math.exp(share)), degrees[share]


def falling_root(function: Callable[[float], float], low: float, guess: float) -> float:
    """Return the zero above low of a falling function that is positive at low, bracketed from a guess."""
    a = max(guess, low)
    step = 0.05 if function(a) > 0.0 else -0.05
    b = max(a + step, low)
    while b > low and (function(b) > 0.0) == (step > 0.0):
        step *= 2.0
        a, b = b, max(b + step, low)
    return float(brentq(function, min(a, b), max(a, b), xtol=1e-14, rtol=1e-14))
