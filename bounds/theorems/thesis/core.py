"""Petrov (2025), Theorem 4.12: the core head."""

from __future__ import annotations

import math

from ...records.bound import Bound
from ...records.problem import Problem
from ...records.theorem import Prefix, Promise, Theorem
from .._search import log_sum
from ..requirements import CELLS
from . import lemmas
from ._arguments import checked
from ._printed import assumptions, printed_count, ragozin_of


@checked
def core(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.12 (B.2.9), for targets whose C_H is at most the one assumed.

    It suffices, and so does every larger number: cells beyond those of the cover are empty.
    """
    return printed_count(problem, THEOREM, problem.eps / 2.0, problem.eps)


def threshold(problem: Problem) -> float:
    """Return Lambda(eps) of (4.6), the concentration of convolution error eps, for exponent 1."""
    if problem.exponent != 1.0:
        raise ValueError(f"'exponent' must be 1 for theorem='{THEOREM.name}', got {problem.exponent:g}")
    return lemmas.concentration_needed(
        problem.eps, problem.dim, lipschitz=problem.lipschitz, ragozin=ragozin_of(problem), harmonic=problem.harmonic
    )


@checked
def core_error(concentration: float, radius: float, problem: Problem) -> float:
    """Return the log of 4.12's error at a concentration and a cap radius: convolution, then 3 L_g radius (B.2.7)."""
    lip, constant = problem.lipschitz, ragozin_of(problem)
    smooth = math.log(
        lemmas.convolution_error(concentration, problem.dim, lipschitz=lip, ragozin=constant, harmonic=problem.harmonic)
    )
    slope = lemmas.log_modulus(concentration, problem.dim, lipschitz=lip, sup_norm=problem.sup_norm)
    return log_sum(smooth, lemmas.log_riemann_error(slope, radius))


def _error(prefix: Prefix) -> Promise:
    lam = prefix.concentration
    log = core_error(lam, prefix.radius, prefix.problem) if lam > 0.0 else math.inf
    return log, assumptions(prefix.problem)


THEOREM = Theorem(
    "thesis-core", "Petrov (2025), Theorem 4.12 (docs/theorems/2-thesis.md)", "core head, dim >= 8", "core",
    printed=True,
    count=core, threshold=threshold,
    error=_error, needs=("lipschitz", "concentration", "radius", "sup_norm"), requires=CELLS, validated=True,
    proof="bounds.certify.thesis.core",
)  # fmt: skip
