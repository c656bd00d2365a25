"""Petrov (2025), Theorem 4.12: the core head."""

from __future__ import annotations

import math
from typing import Any

from ...records.bound import Bound
from ...records.problem import Problem
from ...records.theorem import Prefix, Promise, Theorem
from .._search import log_sum
from ..requirements import CELLS
from . import convolution, lemmas
from ._printed import OPTIONS, assumptions, constants_of, printed_count


def core(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.12 (B.2.9), for targets whose C_H is at most the one assumed.

    It suffices, and so does every larger number: cells beyond those of the cover are empty.
    """
    return printed_count(problem, THEOREM, accuracies)


def accuracies(eps: Any, _lip: Any, _sup: Any, _root: Any) -> tuple[Any, Any]:
    """Return the accuracies of Lambda and of N (B.2.9)."""
    return eps / 2.0, eps


def threshold(problem: Problem) -> float:
    """Return Lambda(eps) of (4.6), the concentration of convolution error eps, for exponent 1."""
    if problem.exponent != 1.0:
        raise ValueError(f"'exponent' must be 1 for theorem='{THEOREM.name}', got {problem.exponent:g}")
    return convolution.concentration_needed(problem.eps, problem.dim, **constants_of(problem))


def core_error(concentration: float, radius: float, problem: Problem) -> float:
    """Return the log of 4.12's error at a concentration and a cap radius: convolution, then 3 L_g radius (B.2.7)."""
    lip, sup = problem.lipschitz, problem.sup_norm
    smooth = math.log(convolution.convolution_error(concentration, problem.dim, **constants_of(problem)))
    slope = lemmas.log_modulus(concentration, problem.dim, lipschitz=lip, sup_norm=sup)
    return log_sum(smooth, lemmas.log_riemann_error(slope, radius))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    lam = problem.fixed_concentration
    log = core_error(lam, prefix.radius, problem) if lam > 0.0 else math.inf
    return log, assumptions(problem)


THEOREM = Theorem(
    "thesis-core", "Petrov (2025), Theorem 4.12 (docs/theorems/2-thesis.md)", "core head, dim >= 8", "core",
    printed=True,
    count=core, options=(*OPTIONS, "covering"), threshold=threshold,
    error=_error, needs=("lipschitz", "concentration", "radius", "sup_norm"), requires=CELLS, measured="error",
)  # fmt: skip
