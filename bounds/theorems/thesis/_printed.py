"""The count N(lambda, eps) for lambda >= Lambda(eps) of Petrov (2025), Theorems 4.12, 4.14 and 4.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...jackson import jackson_constant
from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from . import convolution, lemmas

OPTIONS = ("concentration", "jackson_constant", "harmonic_constant")
"""The options of every theorem of the thesis."""

COMPONENTS = Hypothesis("lipschitz, sup_norm and C_H bound each of dim + 1 components, eps the Euclidean error", True)
"""How 4.14 and 4.15 read the constants."""


Accuracies = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""(eps, L, F, sqrt(m+1)) -> the accuracies at which Lambda and N of 4.12 are taken; of floats, or balls in a proof."""


def constants_of(problem: Problem) -> dict[str, float]:
    """Return L, C_R (the user's or the proven one of docs/theorems/4.6-jackson-constants.md) and C_H, for lemmas."""
    c_r = jackson_constant(problem.dim) if problem.jackson_constant is None else problem.jackson_constant
    return {"lipschitz": problem.lipschitz, "jackson_constant": c_r, "harmonic_constant": problem.harmonic_constant}


def assumptions(problem: Problem) -> tuple[Hypothesis, ...]:
    """Return the common hypotheses: dim >= 8, a Lipschitz target, and the assumed constants C_H and C_R.

    C_H depends on the target and on its best approximations, which need not be unique; for some Lipschitz targets it is
    infinite (docs/theorems/3-errata.md, 3.9).
    """
    c_h, c_r = problem.harmonic_constant, problem.jackson_constant
    conditions = [
        Hypothesis("dim >= 8", problem.dim >= 8),
        Hypothesis("exponent = 1", problem.exponent == 1.0),
        Hypothesis(f"harmonics of best approximations of f bounded by the assumed C_H = {c_h:g}", True),
    ]
    if c_r is not None:
        conditions.append(Hypothesis(f"polynomials of degree q within the assumed C_R L/q, C_R = {c_r:g}", True))
    return tuple(conditions)


def printed_count(
    problem: Problem, theorem: Theorem, accuracies: Accuracies, *extra: Hypothesis, largest_cap: float = math.pi / 2.0
) -> Bound:
    """Assemble N(lambda, eps_2) for lambda >= Lambda(eps_1), of two accuracies."""
    dim, lip, constants = problem.dim, problem.lipschitz, constants_of(problem)
    needed_at, count_at = accuracies(problem.eps, lip, problem.sup_norm, math.sqrt(dim + 1.0))
    # (4.6), B.2.5: Lambda
    threshold = convolution.log_concentration_needed(needed_at, dim, **constants)
    log_concentration = threshold if problem.concentration is None else _log(problem.concentration)
    # B.2.9: delta, and N = Phi(m)/delta^(m+1) below
    delta = lemmas.log_delta_at(log_concentration, count_at, dim, lipschitz=lip, sup_norm=problem.sup_norm)
    conditions = [
        *assumptions(problem)[:2],
        Hypothesis(f"concentration >= {_power(threshold)}", log_concentration >= threshold),
        *extra,
        # 1 - cos, the square of a sine so that it keeps its digits
        Hypothesis(f"caps of radius less than {largest_cap:.3g}", delta < _log(2.0 * math.sin(0.5 * largest_cap) ** 2)),
        *assumptions(problem)[2:],
    ]
    numbers = [*[*constants.items()][1:], ("log_delta", delta)]
    if log_concentration > math.log(1e300):
        numbers.append(("log_concentration", log_concentration))
    value = problem.concentration if problem.concentration is not None else _exp(log_concentration)
    log = lemmas.log_count_of(delta, dim)
    return theorem.prefix_length(log, *conditions, concentration=value, constants=tuple(numbers))


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _exp(log: float) -> float:
    """Return exp(log), inf beyond the largest float."""
    return math.exp(log) if log < 709.0 else math.inf


def _power(log: float) -> str:
    return f"{math.exp(log):.6g}" if log < 709.0 else f"10^{log / math.log(10.0):.6g}"
