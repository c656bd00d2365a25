"""The core head by positive quadrature, for bounded second derivatives: docs/theorems/4.I-smooth-quadrature.md."""

from __future__ import annotations

import math
from dataclasses import replace

from ..records.bound import Bound, Hypothesis
from ..records.problem import LARGEST_CONCENTRATION, Problem
from ..records.theorem import Curve, Prefix, Promise, Theorem
from ._approximation import by_constant
from ._degrees import at_degree, falling_root, log_rising_ratio, log_rising_tail, over_concentrations
from ._search import best_concentration
from .requirements import RULE

ORDER = 4
"""Moments of u = 1 - cos(theta) that the bound uses; it needs a degree of at least as much."""

SQUARE: tuple[float, ...] = (2.0, 1.0 / 3.0, 4.0 / 45.0, math.pi**2 / 16.0 - 17.0 / 45.0)
"""theta^2 <= the polynomial with these coefficients of u, ..., u^4."""
SLOPE = (1.0, 1.0 / 3.0, 2.0 / 15.0)
"""The first coefficients of theta / sin(theta) as a series in u."""
REST: float = math.pi / 2.0**3.5
"""0 <= theta - sin(theta) (SLOPE of u) <= REST u^(7/2) <= REST (u^3/4 + u^4)."""

_LONG = 80
"""Terms of the continued fraction of moments; fewer serve but where 2 lambda is near their number."""


def smooth_quadrature_error(
    concentration: float, degree: float, dim: int, lipschitz: float, sup_norm: float, smoothness: float
) -> float:
    """Bound the error of a core head with xi_k = c w_k f(b_k) at a positive quadrature (4.I); inf below degree 4."""
    tail = log_rising_tail(degree, concentration, dim, power=ORDER) if degree >= ORDER else math.inf
    if tail == math.inf:
        return math.inf
    if concentration > 0.0:
        tail += log_weight(concentration, degree, dim, lipschitz=lipschitz, sup_norm=sup_norm, smoothness=smoothness)
    return (
        smooth_part(concentration, dim, lipschitz, smoothness=smoothness) + math.exp(tail) if tail < 700.0 else math.inf
    )


def moments(concentration: float, dim: int) -> tuple[float, float, float, float]:
    """Return E u, ..., E u^4 for u = 1 - cos(theta), each to rounding (4.I, moments)."""
    ratio, powers = 1.0, [1.0]
    ratios = []
    for j in range(_LONG, -1, -1):  # r_j = E u^(j+1) / E u^j = (2j + m) / (j + m + lambda (2 - r_(j+1)))
        ratio = (2.0 * j + dim) / (j + dim + concentration * (2.0 - ratio))
        ratios.append(ratio)
    for _ in range(ORDER):
        powers.append(powers[-1] * ratios.pop())
    return powers[1], powers[2], powers[3], powers[4]


def smooth_part(concentration: float, dim: int, lipschitz: float, smoothness: float) -> float:
    """Return 4.I's error for an exact quadrature: (H/2) E[theta^2] and what theta - sin(theta) costs, bounded."""
    mean = moments(concentration, dim)
    square = math.fsum(c * power for c, power in zip(SQUARE, mean, strict=True))
    return 0.5 * smoothness * square + lipschitz * REST * (0.25 * mean[2] + mean[3])


def log_weight(
    concentration: float, degree: float, dim: int, lipschitz: float, sup_norm: float, smoothness: float
) -> float:
    """Return the log of the factor of the rising tail W_g in 4.I; concentration > 0.

    It is F + (H/2) (2 B_1 + ...) + L y (1 + B_1/3 + 2 B_2/15) + L REST (B_3/4 + B_4) with y = (g+1)/lambda and B_j =
    U_j ((1+y)^j + |1-y|^j) / 2, here over max(1, y)^4, which any lambda > 0 leaves in range.
    """
    log_y = math.log(degree + 1.0) - math.log(concentration)
    y, unit = (1.0, math.exp(-log_y)) if log_y > 0.0 else (math.exp(log_y), 1.0)  # y and 1, over max(1, y)
    b, rise = [unit**ORDER], 1.0
    for j in range(1, ORDER + 1):
        rise *= 1.0 + (j - 1.0) / (dim + 2.0 * degree + 1.0 + j)  # U_j
        b.append(0.5 * rise * ((unit + y) ** j + abs(unit - y) ** j) * unit ** (ORDER - j))
    square = math.fsum(c * part for c, part in zip(SQUARE, b[1:], strict=True))
    slope = y / unit * math.fsum(c * part for c, part in zip(SLOPE, b, strict=False)) if unit > 0.0 else 0.0
    total = sup_norm * b[0] + 0.5 * smoothness * square + lipschitz * (slope + REST * (0.25 * b[3] + b[4]))
    return math.log(total) + ORDER * max(log_y, 0.0)


def steepest(problem: Problem) -> float:
    """Return the smaller of L and of the slopes pi H / 2 and sqrt(2 F H) that the class cannot exceed (4.I, slopes)."""
    assert problem.smoothness is not None
    bend = problem.smoothness
    implied = min(0.5 * math.pi * bend, math.sqrt(2.0 * problem.sup_norm) * math.sqrt(bend))
    return min(problem.lipschitz, (1.0 + 1e-15) * implied)  # rounded up


def smooth_class(problem: Problem) -> Hypothesis:
    """Return the hypothesis that second derivatives are bounded."""
    bounded = problem.smoothness is not None and problem.exponent == 1.0 and problem.sobolev_order is None
    return Hypothesis("a bound of second derivatives (smoothness=), exponent 1", bounded)


def smooth_quadrature(problem: Problem) -> Bound:
    """Bound the prefix length of 4.I: the points of a positive quadrature at the best or given lambda."""
    smooth = smooth_class(problem)
    if smooth.holds:
        problem = replace(problem, lipschitz=steepest(problem))
    if problem.sobolev_order is None and (constant := by_constant(problem, THEOREM)) is not None:
        return constant
    lam = problem.concentration
    if not smooth.holds:
        return THEOREM.prefix_length(math.inf, smooth, concentration=lam)
    lam, degree = _best(problem) if lam is None else (lam, least_degree(problem, lam))
    room = Hypothesis("a concentration whose smooth part is below eps", degree < math.inf)
    return at_degree(problem, THEOREM, lam, degree, smooth, room)


def least_degree(problem: Problem, concentration: float, guess: float = 100.0) -> float:
    """Return the least degree >= 4, not rounded up, with error eps at a concentration (4.I); inf for none."""
    assert problem.smoothness is not None
    dim, lip, sup, bend = problem.dim, problem.lipschitz, problem.sup_norm, problem.smoothness
    room = problem.eps - smooth_part(concentration, dim, lip, smoothness=bend)
    if room <= 0.0:
        return math.inf
    if concentration == 0.0:
        return float(ORDER)
    log_room = math.log(room)

    def ratio(log_degree: float) -> float:
        return log_rising_ratio(math.exp(log_degree), concentration, dim, power=ORDER) + 1e-9

    def missing(log_degree: float) -> float:
        degree = math.exp(log_degree)
        tail = log_rising_tail(degree, concentration, dim, power=ORDER)
        return tail + log_weight(concentration, degree, dim, lipschitz=lip, sup_norm=sup, smoothness=bend) - log_room

    low = math.log(ORDER)
    if ratio(low) > 0.0:  # the tail's series converges from a larger degree on
        low = falling_root(ratio, low, math.log(guess))
    return math.exp(low if missing(low) <= 0.0 else falling_root(missing, low, max(low, math.log(guess))))


def _best(problem: Problem) -> tuple[float | None, float]:
    """Minimise the degree, not rounded up, over all concentrations: (lambda, degree) (4.I)."""
    assert problem.smoothness is not None
    dim, bend, log_eps = problem.dim, problem.smoothness, math.log(problem.eps)

    def excess(log_lambda: float) -> float:
        return math.log(smooth_part(math.exp(log_lambda), dim, problem.lipschitz, smoothness=bend)) - log_eps

    # (H/2) E[theta^2] is about m H / (2 lambda)
    low = math.log(0.5 * dim) + math.log(bend) - log_eps
    if low > math.log(LARGEST_CONCENTRATION):
        return None, math.inf
    if excess(low - 20.0) <= 0.0:
        return 0.0, least_degree(problem, 0.0)
    least = math.exp(falling_root(excess, low - 20.0, low))
    return over_concentrations(least, dim, lambda lam, guess: least_degree(problem, lam, guess))


def best_at_degree(problem: Problem, prefix: Prefix, log_error: Curve) -> float:
    """Return the concentration of the least error at a degree, searched."""
    return best_concentration(log_error, problem.dim, math.pi / max(prefix.exactness or 0, 1))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    p, degree = problem, prefix.exactness or 0
    smooth, exact = smooth_class(p), Hypothesis("degree >= 4", degree >= ORDER)
    rule = Hypothesis("positive weights, exact to this degree", True)
    if not smooth.holds:
        return math.inf, (smooth, rule, exact)
    assert p.smoothness is not None
    error = smooth_quadrature_error(
        p.fixed_concentration, degree, p.dim, lipschitz=steepest(p), sup_norm=p.sup_norm, smoothness=p.smoothness
    )
    return math.log(error), (smooth, rule, exact)


THEOREM = Theorem(
    "sharp-core-smooth", "docs/theorems/4.I-smooth-quadrature.md",
    "core head on a positive quadrature rule, second derivatives bounded", head="core", count=smooth_quadrature,
    constants=("lipschitz", "sup_norm", "smoothness"), options=("concentration", "smoothness"), error=_error,
    needs=("lipschitz", "smoothness", "concentration", "exactness", "sup_norm"), requires=RULE, measured="error",
    free_concentration=best_at_degree,
)  # fmt: skip
