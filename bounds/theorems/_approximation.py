"""Polynomial approximation of a class of targets (for 4.7 and 4.G), by degree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..jackson import approximation_error
from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._degrees import log_harmonics
from ._search import log_sum

LARGEST_DEGREE = 1e100
"""Degrees beyond this are given up: rough s-smooth targets, s near m/2, may need more."""

TERMS = 1024
"""Terms of a Sobolev tail that are summed one by one before the rest is bounded by an integral."""


def by_constant(problem: Problem, theorem: Theorem) -> Bound | None:
    """Return the prefix length 1 if zero weights, or the mean of a Hoelder target at lambda = 0, suffice."""
    lipschitz = problem.sobolev_order is None and problem.degree is None
    uniform = lipschitz and problem.concentration in (None, 0.0) and problem.goal >= math.pi / 2.0
    if not uniform and problem.eps < problem.sup_norm:
        return None
    why = (
        "eps >= lipschitz (pi/2)^exponent: the mean of f, which is no sample,"
        if uniform
        else "eps >= sup_norm: zero weights"
    )
    return theorem.prefix_length(
        0.0, Hypothesis(f"{why} will do", True), concentration=problem.concentration or 0.0,
        constants=(("degree", 0.0),), whole=True,
    )  # fmt: skip


@dataclass(frozen=True)
class Approximation:
    """Polynomial approximation errors and norms of a class of targets.

    `log_error(n)` is the log of a bound of ``sup |f - p_n|`` for some polynomial p_n of degree n, which falls with n
    and is the same at `step` degrees in a row, from each multiple on; `log_norm` that of the L2 norm of every p_n that
    is used, `log_harmonic(k)` that of its degree-k part; `least` is the smallest degree to be used, `assumes` the class
    in words.
    """

    log_error: Callable[[float], float]
    log_norm: float
    log_harmonic: Callable[[float], float]
    least: float
    assumes: Hypothesis
    step: float = 1.0


def approximation(problem: Problem) -> Approximation:
    """Return the polynomial approximation of a class: band-limited, s-smooth, or Lipschitz and Hoelder (4.7)."""
    log_sup, log_lip, dim = math.log(problem.sup_norm), math.log(problem.lipschitz), problem.dim
    if problem.degree is not None:  # 4.7, band-limited
        premise = Hypothesis(f"a target of degree at most {problem.degree}", True)
        return Approximation(
            lambda n: -math.inf, log_sup, lambda k: log_sup, least=float(problem.degree), assumes=premise
        )
    if (s := problem.sobolev_order) is not None:  # 4.7, s-smooth
        premise = Hypothesis("sobolev_order > dim/2", s > 0.5 * dim)
        norm = min(log_sup, log_lip)  # a part of f's expansion is no larger than f
        return Approximation(
            lambda n: log_lip + 0.5 * log_sobolev_tail(n, s, dim), norm,
            lambda k: log_lip - 0.5 * s * math.log1p(k * (k + dim - 1.0)), least=0.0, assumes=premise,
        )  # fmt: skip
    norm, alpha = math.log(problem.sup_norm + problem.eps), problem.exponent  # |p_n| <= |f| + eps
    # 4.6, other moduli: the error is L (2 e_n)^alpha / 2
    log_unit = log_lip - (1.0 - alpha) * math.log(2.0)
    premise = Hypothesis("a Lipschitz target" if alpha == 1.0 else "a Hoelder target with scalar values", True)
    step = 2.0 if dim > 1 else 1.0
    return Approximation(
        lambda n: log_unit + alpha * math.log(approximation_error(int(n), dim)), norm, lambda k: norm, least=0.0,
        assumes=premise, step=step,
    )  # fmt: skip


def log_sobolev_tail(degree: float, smoothness: float, dim: int) -> float:
    """Bound the log of the sum of dim(H_l) (1 + l(l+m-1))^-s over l > n, for s > m/2 (4.7).

    `TERMS` terms are summed. With x = l + (m-1)/2 the others fall at least like x^(m-1-2s) if m >= 3, and are at most
    2 x^(m-1-2s) if m < 3; a sum of such powers over x, x + 1, ... is at most their integral from x - 1/2.
    """
    first = degree + 1.0
    steps = first + np.arange(float(TERMS))  # (TERMS,)
    growth = 0.0 if dim == 1 else np.log1p(2.0 / (2.0 * steps + dim - 1.0)) + np.log1p((dim - 2.0) / (steps + 1.0))
    # [1 + (l+1)(l+m)] / [1 + l(l+m-1)] = 1 + (2l+m) / [1 + l(l+m-1)]
    fall = smoothness * np.log1p((2.0 * steps + dim) / (1.0 + steps * (steps + dim - 1.0)))
    logs = np.concatenate([[0.0], np.cumsum(growth - fall)])  # (TERMS + 1,)
    start = log_harmonics(first, dim) - smoothness * math.log1p(first * (first + dim - 1.0))
    x, power = first + TERMS + 0.5 * (dim - 1), 2.0 * smoothness - dim
    if dim < 3:
        remainder = math.log(2.0) - power * math.log(x - 0.5) - start
    else:
        remainder = float(logs[-1]) + math.log(x) - power * math.log1p(-0.5 / x)
    total = log_sum(float(np.log(np.exp(logs[:-1]).sum())), remainder - math.log(power))
    return start + total


def least_whole(function: Callable[[float], float], low: float) -> float:
    """Return the least whole number >= low at which a falling function is <= 0, inf beyond `LARGEST_DEGREE`."""
    # Step 1: a bracket, by steps of the secant over log n
    a, fa = low, function(low)
    if fa <= 0.0:
        return low
    b = 2.0 * a + 1.0
    while (fb := function(b)) > 0.0:  # the function is near a straight line over log n
        slope = (fa - fb) / math.log((b + 1.0) / (a + 1.0))
        a, fa = b, fb
        b = math.ceil(b * math.exp(min(max(1.01 * fb / max(slope, 1e-300), math.log(2.0)), 100.0)))
        if b > LARGEST_DEGREE:
            return math.inf
    # Step 2: Illinois' rule in log n, until the bracket is one degree wide
    side = 0
    for _ in range(200):
        if b - a <= max(1.0, 1e-15 * b):
            break
        guess = (a + 1.0) * math.exp(math.log((b + 1.0) / (a + 1.0)) * (fa / (fa - fb))) - 1.0
        n = min(max(float(math.ceil(guess)), a + 1.0), b - 1.0)
        if (f := function(n)) > 0.0:
            a, fa, fb, side = n, f, fb * (0.5 if side > 0 else 1.0), 1
        else:
            b, fb, fa, side = n, f, fa * (0.5 if side < 0 else 1.0), -1
    return b
