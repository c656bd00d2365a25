"""The prefix lengths of Petrov (2025), Theorems 4.12, 4.14 and 4.15: N(lambda, eps) for lambda >= Lambda(eps)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...jackson import jackson_constant
from ...records.bound import Bound, Hypothesis
from ...records.problem import Problem
from ...records.theorem import Prefix, Promise, Theorem
from .._search import log_sum
from ..requirements import CELLS
from . import convolution, lemmas

OPTIONS = ("concentration", "jackson_constant", "harmonic_constant")
"""The options of every theorem of the thesis."""

COMPONENTS = Hypothesis("lipschitz, sup_norm and C_H bound each of dim + 1 components, eps the Euclidean error", True)
"""How 4.14 and 4.15 read the constants."""


def _corrected(eps: Any, _lip: Any, sup: Any, root: Any) -> tuple[Any, Any]:
    """Return the accuracies with `lemmas.inner_accuracy` of the repaired proof (docs/theorems/3-errata.md, 3.3)."""
    inner = eps / (1.5 + eps / (2.0 * root * sup))
    return inner / (2.0 * root), inner / root


ACCURACIES: dict[str, Callable[[Any, Any, Any, Any], tuple[Any, Any]]] = {
    "thesis-core": lambda eps, _lip, _sup, _root: (eps / 2.0, eps),  # B.2.9
    "thesis-vector": lambda eps, _lip, _sup, root: (eps / (2.0 * root), eps / root),  # B.2.10
    "thesis-split": lambda eps, lip, sup, root: (2.0 * eps * lip / (2.0 * lip + sup), eps / root),  # B.3.3
    "thesis-split-corrected": _corrected,
}
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


def printed_count(problem: Problem, theorem: Theorem, *extra: Hypothesis, largest_cap: float = math.pi / 2.0) -> Bound:
    """Assemble N(lambda, eps_2) for lambda >= Lambda(eps_1), of two accuracies."""
    dim, lip, constants = problem.dim, problem.lipschitz, constants_of(problem)
    needed_at, count_at = ACCURACIES[theorem.name](problem.eps, lip, problem.sup_norm, math.sqrt(dim + 1.0))
    # (4.6), B.2.5: Lambda
    threshold = convolution.log_concentration_needed(needed_at, dim, **constants)
    log_concentration = threshold if problem.concentration is None else _log(problem.concentration)
    # B.2.9: delta, and N = Phi(m)/delta^(m+1) below
    delta = lemmas.log_delta_at(log_concentration, count_at, dim, lipschitz=lip, sup_norm=problem.sup_norm)
    power = f"{math.exp(threshold):.6g}" if threshold < 709.0 else f"10^{threshold / math.log(10.0):.6g}"
    conditions = [
        *assumptions(problem)[:2],
        Hypothesis(f"concentration >= {power}", log_concentration >= threshold),
        *extra,
        # 1 - cos, the square of a sine so that it keeps its digits
        Hypothesis(f"caps of radius less than {largest_cap:.3g}", delta < _log(2.0 * math.sin(0.5 * largest_cap) ** 2)),
        *assumptions(problem)[2:],
    ]
    numbers = [*[*constants.items()][1:], ("log_delta", delta)]
    if log_concentration > math.log(1e300):
        numbers.append(("log_concentration", log_concentration))
    value = problem.concentration
    if value is None:
        value = math.exp(log_concentration) if log_concentration < 709.0 else math.inf
    log = lemmas.log_count_of(delta, dim)
    return theorem.prefix_length(log, *conditions, concentration=value, constants=tuple(numbers))


def core(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.12 (B.2.9), for targets whose C_H is at most the one assumed.

    It suffices, and so does every larger number: cells beyond those of the cover are empty.
    """
    return printed_count(problem, CORE)


def threshold(problem: Problem) -> float:
    """Return Lambda(eps) of (4.6), the concentration of convolution error eps, for exponent 1."""
    if problem.exponent != 1.0:
        raise ValueError(f"'exponent' must be 1 for theorem='{CORE.name}', got {problem.exponent:g}")
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


def vector(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.14 (B.2.10): m+1 components, each as in 4.12, and eps in their norm."""
    return printed_count(problem, VECTOR, COMPONENTS)


def split(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 (B.3.3) as printed, for m+1 components; its proof has a gap."""
    return printed_count(problem, SPLIT, _small(problem), COMPONENTS)


def split_corrected(problem: Problem) -> Bound:
    """Return the prefix length of Theorem 4.15 with its proof repaired (docs/theorems/3-errata.md, 3.3)."""
    # cells of equal measure exist inside caps below 1/3 (docs/theorems/3-errata.md, 3.4)
    return printed_count(problem, CORRECTED, _small(problem), COMPONENTS, largest_cap=1.0 / 3.0)


def _small(problem: Problem) -> Hypothesis:
    return Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm)


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


CORE = Theorem(
    "thesis-core", "Petrov (2025), Theorem 4.12 (docs/theorems/2-thesis.md)", "core head, dim >= 8",
    head="core", printed=True, count=core, options=(*OPTIONS, "covering"), threshold=threshold, error=_error,
    needs=("lipschitz", "concentration", "radius", "sup_norm"), requires=CELLS, measured="error",
)  # fmt: skip
VECTOR = Theorem(
    "thesis-vector", "Petrov (2025), Theorem 4.14 (docs/theorems/2-thesis.md)",
    "core head, dim + 1 components, dim >= 8", head="core", printed=True, count=vector, options=OPTIONS,
)  # fmt: skip
SPLIT = Theorem(
    "thesis-split", "Petrov (2025), Theorem 4.15 as printed (docs/theorems/2-thesis.md)",
    "split head, dim >= 8 (its proof has a gap)", head="split", printed=True, count=split, options=OPTIONS,
)  # fmt: skip
CORRECTED = Theorem(
    "thesis-split-corrected", "Petrov (2025), Theorem 4.15, corrected (docs/theorems/3-errata.md, 3.3)",
    "split head, dim >= 8, with the proof repaired", head="split", printed=True, count=split_corrected, options=OPTIONS,
)  # fmt: skip
