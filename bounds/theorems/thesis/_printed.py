"""The count N(lambda, eps) for lambda >= Lambda(eps) of Petrov (2025), Theorems 4.12, 4.14 and 4.15."""

from __future__ import annotations

import math

from ...jackson import ragozin_constant
from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Theorem
from . import lemmas
from ._arguments import checked

COMPONENTS = Hypothesis("lipschitz, sup_norm and C_H bound each of dim + 1 components, eps the Euclidean error", True)
"""How 4.14 and 4.15 read the constants."""


@checked
def ragozin_of(problem: Problem) -> float:
    """Return C_R, the user's or the proven one of docs/theorems/4.6-jackson-constants.md."""
    return ragozin_constant(problem.dim) if problem.ragozin is None else problem.ragozin


@checked
def assumptions(problem: Problem) -> tuple[Hypothesis, ...]:
    """Return the common hypotheses: dim >= 8, a Lipschitz target, and the assumed constants C_H and C_R.

    C_H depends on the target and on its best approximations, which need not be unique; for some Lipschitz targets it is
    infinite (docs/theorems/3-errata.md, 3.9).
    """
    conditions = [
        Hypothesis("dim >= 8", problem.dim >= 8),
        Hypothesis("exponent = 1", problem.exponent == 1.0),
        Hypothesis(f"harmonics of best approximations of f bounded by the assumed C_H = {problem.harmonic:g}", True),
    ]
    if problem.ragozin is not None:
        conditions.append(
            Hypothesis(f"polynomials of degree q within the assumed C_R L/q, C_R = {problem.ragozin:g}", True)
        )
    return tuple(conditions)


def printed_count(
    problem: Problem, theorem: Theorem, needed_at: float, count_at: float, *extra: Hypothesis,
    largest_cap: float = math.pi / 2.0,
) -> Bound:  # fmt: skip
    """Assemble N(lambda, count_at) for lambda >= Lambda(needed_at)."""
    dim, lip, constant = problem.dim, problem.lipschitz, ragozin_of(problem)
    # (4.6), B.2.5: Lambda
    needed = lemmas.log_concentration_needed(needed_at, dim, lipschitz=lip, ragozin=constant, harmonic=problem.harmonic)
    chosen = needed if problem.concentration is None else _log(problem.concentration)
    # B.2.9: delta, and N = Phi(m)/delta^(m+1) below
    delta = lemmas.log_delta_at(chosen, count_at, dim, lipschitz=lip, sup_norm=problem.sup_norm)
    conditions = [
        *assumptions(problem)[:2],
        Hypothesis(f"concentration >= {_power(needed)}", chosen >= needed),
        *extra,
        # 1 - cos, the square of a sine so that it keeps its digits
        Hypothesis(f"caps of radius less than {largest_cap:.3g}", delta < _log(2.0 * math.sin(0.5 * largest_cap) ** 2)),
        *assumptions(problem)[2:],
    ]
    constants = [("ragozin", constant), ("harmonic", problem.harmonic), ("log_delta", delta)]
    if chosen > math.log(1e300):
        constants.append(("log_concentration", chosen))
    value = problem.concentration if problem.concentration is not None else _exp(chosen)
    log = lemmas.log_count_of(delta, dim)
    return theorem.prefix_length(log, *conditions, concentration=value, constants=tuple(constants))


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _exp(log: float) -> float:
    """Return exp(log), inf beyond the largest float."""
    return math.exp(log) if log < 709.0 else math.inf


def _power(log: float) -> str:
    return f"{math.exp(log):.6g}" if log < 709.0 else f"10^{log / math.log(10.0):.6g}"
