"""The core head by positive quadrature: docs/theorems/4.C-quadrature.md."""

from __future__ import annotations

import math
from functools import partial

from spherapprox._scalars import bessel_ratio

from ..records.bound import Bound, Hypothesis
from ..records.problem import LARGEST_CONCENTRATION, Problem
from ..records.theorem import Prefix, Promise, Theorem
from ..spectral import KAPPA
from ._approximation import by_constant
from ._degrees import at_degree, falling_root, log_tails, over_concentrations
from ._search import log_sum
from .requirements import RULE

LEAST_DEGREE = 4.0
"""The part of the kernel beyond degree g - 2 is orthogonal to u^2 from here on."""

_LOG_KAPPA = math.log(KAPPA)


def quadrature_error(
    concentration: float, degree: float, dim: int, lipschitz: float, sup_norm: float, exponent: float = 1.0
) -> float:
    """Bound the error of a core head with xi_k = c w_k f(b_k) at a positive quadrature (4.C); inf below degree 4."""
    if degree < LEAST_DEGREE:
        return math.inf
    moment = second_moment(concentration, dim)
    log_smooth = math.log(lipschitz) + 0.5 * exponent * math.log(moment)
    excess = log_excess(
        concentration, degree, dim, moment=moment, log_smooth=log_smooth, sup_norm=sup_norm, exponent=exponent
    )
    return math.exp(log_smooth) + math.exp(excess) if excess < 700.0 else math.inf


def second_moment(concentration: float, dim: int) -> float:
    """Return E[2u + kappa u^2] >= E[theta^2], u = 1 - cos(theta) (1.3)."""
    if concentration == 0.0:
        return 2.0 + KAPPA * (1.0 + 1.0 / (dim + 1.0))
    u1 = bessel_ratio.first_complement(0.5 * (dim - 1), concentration)
    # 1.3: E u^2 = 2 u1 - m a_1/lambda; what cancels is small beside u1
    return 2.0 * u1 + KAPPA * max(2.0 * u1 - dim * (1.0 - u1) / concentration, u1 * u1)


def log_excess(
    concentration: float, degree: float, dim: int, moment: float, log_smooth: float, sup_norm: float, exponent: float
) -> float:
    """Return the log of the part of 4.C's error that vanishes as the degree grows.

    It is F tau_g + L M^(a/2) [(1 + tau_g)^(1-a/2) (1 + 4 (tau_(g-1) + kappa tau_(g-2)) / M)^(a/2) - 1], M the moment
    and L M^(a/2) the smooth part, whose log is given.
    """
    tau, tau_1, tau_2 = log_tails(degree, concentration, dim)
    moved = log_sum(tau_1, _LOG_KAPPA + tau_2) + math.log(4.0 / moment)
    rise = (1.0 - 0.5 * exponent) * log_sum(0.0, tau) + 0.5 * exponent * log_sum(0.0, moved)
    return log_sum(math.log(sup_norm) + tau, log_smooth + _log_expm1(rise))


def _log_expm1(x: float) -> float:
    """Return log(e^x - 1) for x >= 0."""
    if x == 0.0:
        return -math.inf
    return math.log(math.expm1(x)) if x < 1.0 else x + math.log1p(-math.exp(-x))


def quadrature(problem: Problem) -> Bound:
    """Bound the prefix length of 4.C: the points of a positive quadrature at the best or given lambda."""
    rough = Hypothesis("a Lipschitz or Hoelder target", problem.sobolev_order is None)
    if rough.holds and (constant := by_constant(problem, THEOREM)) is not None:
        return constant
    lam, degree = problem.concentration, math.inf
    if lam is not None:
        degree = least_degree(problem, lam)
    elif rough.holds:
        lam, degree = _best(problem)
    room = Hypothesis("a concentration with lipschitz E[2u + kappa u^2]^(exponent/2) < eps", degree < math.inf)
    return at_degree(problem, THEOREM, lam, degree, rough, room)


def least_degree(problem: Problem, concentration: float, guess: float = 100.0) -> float:
    """Return the least degree >= 4, not rounded up, with error eps at a concentration (4.C); inf for none."""
    dim, lip, sup, alpha = problem.dim, problem.lipschitz, problem.sup_norm, problem.exponent
    moment = second_moment(concentration, dim)
    log_smooth = math.log(lip) + 0.5 * alpha * math.log(moment)
    room = problem.eps - math.exp(log_smooth)
    if room <= 0.0:
        return math.inf
    log_room = math.log(room)
    excess = partial(log_excess, moment=moment, log_smooth=log_smooth, sup_norm=sup, exponent=alpha)

    def missing(log_degree: float) -> float:
        return excess(concentration, math.exp(log_degree), dim) - log_room

    low = math.log(LEAST_DEGREE)
    return LEAST_DEGREE if missing(low) <= 0.0 else math.exp(falling_root(missing, low, math.log(guess)))


def _best(problem: Problem) -> tuple[float | None, float]:
    """Minimise the degree, not rounded up, over all concentrations: (lambda, degree) (4.C)."""
    dim = problem.dim
    log_goal = math.log(problem.eps / problem.lipschitz) / problem.exponent
    # below lambda_0, with E[2u + kappa u^2] = goal^2, no degree will do; the best is a little above
    low = math.log(dim) - 2.0 * log_goal
    if low > math.log(LARGEST_CONCENTRATION):
        return None, math.inf

    def moment(log_lambda: float) -> float:
        return math.log(second_moment(math.exp(log_lambda), dim)) - 2.0 * log_goal

    least = math.exp(falling_root(moment, low - 20.0, low))
    return over_concentrations(least, dim, lambda lam, guess: least_degree(problem, lam, guess))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    p, lam, degree = problem, problem.fixed_concentration, prefix.exactness or 0
    error = quadrature_error(lam, degree, p.dim, lipschitz=p.lipschitz, sup_norm=p.sup_norm, exponent=p.exponent)
    exact = Hypothesis("degree >= 4", degree >= 4)
    return math.log(error), (Hypothesis("positive weights, exact to this degree", True), exact)


THEOREM = Theorem(
    "sharp-core-quadrature", "docs/theorems/4.C-quadrature.md", "core head on a positive quadrature rule",
    head="core", count=quadrature, options=("concentration",), error=_error,
    needs=("lipschitz", "concentration", "exactness", "sup_norm"), requires=RULE, measured="error",
)  # fmt: skip
