"""The degrees of 4.7 and 4.G: n of the polynomials and g >= n of exactness."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ..records.problem import LEAST_SLACK, Problem
from ._approximation import Approximation, least_whole
from ._degrees import falling_root, log_eigenvalue, log_growth, log_harmonics, log_tail
from ._search import log_sum


def least_polynomial(problem: Problem, approximation: Approximation) -> float:
    """Return the least degree n with ``|f - p_n| <= (1 - slack) eps`` for the class, inf beyond all degrees."""
    log_goal = math.log(problem.eps) + math.log1p(-max(problem.slack, LEAST_SLACK))
    return least_whole(lambda n: approximation.log_error(n) - log_goal, approximation.least)


def log_room(problem: Problem, approximation: Approximation, degree: float) -> float:
    """Return log(eps - |f - p_n|), the log of the error left to the tail; -inf for none (4.7)."""
    share = math.exp(min(approximation.log_error(degree) - math.log(problem.eps), 0.0))
    return math.log(problem.eps) + math.log1p(-share) if share < 1.0 else -math.inf


def log_flat_concentration(degree: float, dim: int, log_allowed: float) -> float:
    """Return the log of the largest lambda found with rho_n/a_n <= allowed (4.7), in closed form for small lambda.

    With q = lambda/(2n+m+1) >= a_(n+1)/a_n, rho_n/a_n <= dim(H_(n+1)) q / (1 - q dim(H_(n+2))/dim(H_(n+1))).
    """
    log_q = log_allowed - log_harmonics(degree + 1.0, dim)
    log_q -= log_sum(0.0, log_q + log_growth(degree + 1.0, dim))
    start = log_q + math.log(2.0 * degree + dim + 1.0)
    if start < -5.0:
        return start

    def spare(log_lambda: float) -> float:
        lam = math.exp(log_lambda)
        return log_allowed - log_tail(degree, lam, dim) + log_eigenvalue(degree, lam, dim)

    return falling_root(spare, start, start + 0.1) if spare(start) > 0.0 else start


def log_amplification(degree: float, log_lambda: float, dim: int) -> float:
    """Return -log a_n >= 0 at a concentration given by its log, which may be below the smallest float (4.7)."""
    if degree == 0.0:
        return 0.0
    if log_lambda > -300.0:
        return -log_eigenvalue(degree, math.exp(log_lambda), dim)
    order = 0.5 * (dim - 1)
    return math.lgamma(order + degree + 1.0) - math.lgamma(order + 1.0) - degree * (log_lambda - math.log(2.0))


def least_degrees(
    problem: Problem, approximation: Approximation, lam: float, log_factor: Callable[[float], float], joint: bool
) -> tuple[float, float]:
    """Return the degrees (n, g) that promise eps at a concentration with the least n + g or, unless `joint`, g; or inf.

    `log_factor` is the log of the factor, at each g, by which the error exceeds rho_g times the size of p/a.
    """
    log_eps = math.log(problem.eps)
    first = least_whole(lambda n: approximation.log_error(n) - log_eps, approximation.least)
    if first == math.inf:
        return first, first

    guess = 2.0 * first + 10.0

    @cache
    def tail_degree(n: float) -> float:
        nonlocal guess
        g = _tail_degree(problem, approximation, lam, degree=n, log_factor=log_factor, guess=guess)
        guess = g if n < g < math.inf else guess
        return g

    def size(n: float) -> float:
        return tail_degree(n) + (n if joint else 0.0)

    degree = first if problem.degree is not None else _least_argument(size, first, approximation.step)
    least = tail_degree(degree)
    return degree, float(math.ceil(least)) if least < math.inf else least


def _tail_degree(
    problem: Problem, approximation: Approximation, lam: float, degree: float, log_factor: Callable[[float], float],
    guess: float,
) -> float:  # fmt: skip
    """Return the degree g >= n, not rounded up, from which eps is promised with polynomials of degree n."""
    room = log_room(problem, approximation, degree)
    if room == -math.inf or (lam == 0.0 and degree > 0.0):
        return math.inf
    # 4.7: the bound of |Y_k|/a_k is largest at degree 0, 1 or n
    ends = (0.0, min(1.0, degree), degree)
    norm = max(approximation.log_harmonic(k) - log_eigenvalue(k, lam, problem.dim) for k in ends)
    norm = min(norm, approximation.log_norm - log_eigenvalue(degree, lam, problem.dim))

    def missing(log_g: float) -> float:
        g = math.exp(log_g) - 1.0
        return log_factor(g) + log_tail(g, lam, problem.dim) + norm - room

    low = math.log1p(degree)
    return degree if missing(low) <= 0.0 else math.exp(falling_root(missing, low, math.log1p(guess))) - 1.0


def _least_argument(function: Callable[[float], float], first: float, step: float) -> float:
    """Minimise a function that falls, then rises, over first, first + step, ...; it may be inf at first."""
    unit = step * max(1.0, math.ceil(first / step * 2.0**-40))  # beyond 2^40 steps coarser ones change no result
    # Step 1: a bracket
    low, middle, high, reach = first, first, first + unit, unit
    while function(high) <= function(middle) and reach < 2.0**60 * unit:
        reach *= 4.0
        low, middle, high = middle, high, high + reach
    # Step 2: golden sections on the multiples of the unit
    lower, upper = _inner(low, high, unit)
    while high - low > max(3.0 * unit, 1e-6 * (high - first)):
        if function(lower) <= function(upper):
            high, upper = upper, lower
            lower = min(_inner(low, high, unit)[0], upper)
        else:
            low, lower = lower, upper
            upper = max(_inner(low, high, unit)[1], lower)
        if lower == upper:
            lower, upper = _inner(low, high, unit)
    return min((low + k * unit for k in range(4)), key=function)


def _inner(low: float, high: float, unit: float) -> tuple[float, float]:
    """Return two points inside an interval, whole multiples of a unit from its ends, near the golden section."""
    part = max(math.floor(0.381966 * (high - low) / unit), 1.0) * unit
    return low + part, high - part
