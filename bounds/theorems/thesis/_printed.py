"""Theorems 4.12, 4.14 and 4.15 of Petrov (2025) as prefix lengths: as printed, and 4.15 with its proof repaired."""

from __future__ import annotations

import math

from .._bound import Bound, Hypothesis
from .._problem import Problem
from ..ragozin import ragozin_constant
from . import lemmas

_CHAPTER = "Petrov (2025)"


def ragozin_of(problem: Problem) -> float:
    """Return the C_R to use: the user's, or the proven one of docs/theorems.md, 4.6."""
    return ragozin_constant(problem.dim) if problem.ragozin is None else problem.ragozin


def assumptions(problem: Problem) -> tuple[Hypothesis, ...]:
    """Return what every theorem here needs: dim >= 8, a Lipschitz target, and constants that the user vouches for."""
    conditions = [
        Hypothesis("dim >= 8", problem.dim >= 8),
        Hypothesis("exponent = 1", problem.exponent == 1.0),
        Hypothesis(f"the harmonics of f bounded by the assumed C_H = {problem.harmonic:g}", True),
    ]
    if problem.ragozin is not None:
        conditions.append(
            Hypothesis(f"polynomials of degree q within the assumed C_R L/q, C_R = {problem.ragozin:g}", True)
        )
    return tuple(conditions)


def _bound(
    problem: Problem,
    needed_at: float,
    count_at: float,
    reference: str,
    theorem: str,
    *extra: Hypothesis,
    largest_cap: float = math.pi / 2.0,
) -> Bound:
    """Assemble N(lambda, count_at) for lambda >= Lambda(needed_at)."""
    dim, lip, constant = problem.dim, problem.lipschitz, ragozin_of(problem)
    needed = lemmas.log_concentration_needed(needed_at, dim, lipschitz=lip, ragozin=constant, harmonic=problem.harmonic)
    chosen = needed if problem.concentration is None else _log(problem.concentration)
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
    return Bound(
        "prefix length", lemmas.log_count_of(delta, dim), "upper", theorem, reference, tuple(conditions), value, None,
        tuple(constants),
    )  # fmt: skip


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _exp(log: float) -> float:
    """Return exp(log), inf beyond the largest float."""
    return math.exp(log) if log < 709.0 else math.inf


def _power(log: float) -> str:
    return f"{math.exp(log):.6g}" if log < 709.0 else f"10^{log / math.log(10.0):.6g}"


def core(problem: Problem) -> Bound:
    """Theorem 4.12 (B.2.9): the core head."""
    return _bound(problem, problem.eps / 2.0, problem.eps, f"{_CHAPTER}, Theorem 4.12", "thesis-core")


def vector(problem: Problem) -> Bound:
    """Theorem 4.14 (B.2.10): the core head for f with m+1 components, each as in 4.12."""
    root = math.sqrt(problem.dim + 1.0)
    reference = f"{_CHAPTER}, Theorem 4.14"
    return _bound(problem, problem.eps / (2.0 * root), problem.eps / root, reference, "thesis-vector")


def split(problem: Problem) -> Bound:
    """Theorem 4.15 (B.3.3) as printed: the split head. Its proof has a gap; see `split_corrected`."""
    return _bound(
        problem,
        lemmas.inner_accuracy(
            problem.eps, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm, printed=True
        ),
        problem.eps / math.sqrt(problem.dim + 1.0),
        f"{_CHAPTER}, Theorem 4.15 as printed",
        "thesis-split",
        Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm),
    )


def split_corrected(problem: Problem) -> Bound:
    """Theorem 4.15 with its proof repaired (docs/theorems.md, 3.3)."""
    root = math.sqrt(problem.dim + 1.0)
    inner = lemmas.inner_accuracy(problem.eps, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm)
    return _bound(
        problem,
        inner / (2.0 * root),
        inner / root,
        f"{_CHAPTER}, Theorem 4.15, corrected (docs/theorems.md, 3.3)",
        "thesis-split-corrected",
        Hypothesis("eps < 2 sup_norm", problem.eps < 2.0 * problem.sup_norm),
        largest_cap=1.0 / 3.0,  # so that cells of equal measure exist inside the caps (docs/theorems.md, 3.4)
    )


def core_error(concentration: float, radius: float, problem: Problem) -> float:
    """Return the log of 4.12's error at a concentration and a cap radius: convolution, then 3 L_g radius (B.2.7)."""
    smooth = math.log(
        lemmas.convolution_error(
            concentration,
            problem.dim,
            lipschitz=problem.lipschitz,
            ragozin=ragozin_of(problem),
            harmonic=problem.harmonic,
        )
    )
    slope = lemmas.log_modulus(concentration, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm)
    riemann = lemmas.log_riemann_error(slope, radius)
    high, low = max(smooth, riemann), min(smooth, riemann)
    return high + math.log1p(math.exp(low - high))
