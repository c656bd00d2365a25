"""Petrov (2025), chapter 4 and appendix B, as numbers: as printed, and corrected where the text is wrong.

Each function takes plain, checked numbers and follows the numbering of the thesis; docs/theorems.md lists the errata.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.optimize import brentq
from scipy.special import jv

from spherapprox.vmf import VonMisesFisher

from ._bound import Bound, Hypothesis
from ._problem import Problem
from .covering import log_rogers_constant

_CHAPTER = "Petrov (2025)"


@lru_cache(maxsize=256)
def ragozin_limit(dim: int) -> float:
    """Return pi j, with j the first zero of the Bessel function J_(m/2-1): an explicit constant C_R for S^m.

    Every function on S^m with ``|f(x) - f(y)| <= L theta(x, y)`` has, for each q >= 1, a polynomial of degree at most
    q within ``C_R L / q`` of it.

    References
    ----------
    docs/theorems.md, 4.6.

    Examples
    --------
    >>> [round(ragozin_limit(m), 2) for m in (2, 8, 16)]
    [7.55, 20.04, 34.83]
    """
    order = dim / 2.0 - 1.0
    # order < j_(order,1) < sqrt(order + 1) (sqrt(order + 2) + 1), and J > 0 before its first zero
    upper = math.sqrt(order + 1.0) * (math.sqrt(order + 2.0) + 1.0)
    lower = max(order, 0.5)
    step = (upper - lower) / 64.0
    while jv(order, lower + step) > 0.0:
        lower += step
    return math.pi * float(brentq(lambda x: jv(order, x), lower, lower + step, xtol=1e-14, rtol=1e-15))


def eigenvalue_lower(degree: int, concentration: float, dim: int) -> float:
    """Lemma B.2.3: a_k >= (lambda / (nu + k + sqrt(lambda^2 + (nu+k)^2)))^k, as its natural logarithm."""
    order = (dim - 1) / 2.0 + degree
    if degree == 0:
        return 0.0
    if concentration == 0.0:
        return -math.inf
    return -degree * math.asinh(order / concentration)


def projection_error(degree: int, concentration: float, dim: int, *, harmonic: float) -> float:
    """Lemma B.2.4: a polynomial W_q of degree q moves by at most C_H q (1 - B^q) under convolution."""
    log_b = eigenvalue_lower(degree, concentration, dim) / max(degree, 1)
    return -harmonic * degree * math.expm1(degree * log_b)


def concentration_needed(eps: float, dim: int, *, lipschitz: float, ragozin: float, harmonic: float) -> float:
    """Theorem B.2.5 and (4.6): Lambda(eps), the concentration from which ``|f - K * f| <= eps``.

    With ``u = 1 - eps^2 / (8 L C_H C_R + 2 eps C_H)`` and ``s = eps / (4 L C_R + eps)``,
    ``Lambda = (8 L C_R + (m+1) eps) u^s / (eps (1 - u^(2s)))``; 0 where u <= 0, since then every concentration will do.
    """
    base = 4.0 * lipschitz * ragozin + eps
    drop = (eps / base) * (eps / (2.0 * harmonic))
    if drop >= 1.0:
        return 0.0
    exponent = (eps / base) * math.log1p(-drop)
    if exponent == 0.0:
        return math.inf
    return ((8.0 * lipschitz * ragozin / eps) + dim + 1.0) * math.exp(exponent) / -math.expm1(2.0 * exponent)


def concentration_series(eps: float, dim: int, *, lipschitz: float, ragozin: float, harmonic: float) -> float:
    """Return the first two terms of Lambda as eps -> 0; the thesis prints m - 1 where m + 5 is right."""
    reach = lipschitz * ragozin / eps
    return (128.0 * reach**3 * harmonic + 16.0 * (dim + 5.0) * reach**2 * harmonic) / eps


def log_modulus(concentration: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return log((L + lambda F) c e^lambda), a Lipschitz constant of y -> f(y) K(<x, y>) (Lemmas B.2.7, B.2.8)."""
    log_peak = VonMisesFisher(dim, concentration).log_density(1.0)
    return math.log(lipschitz + concentration * sup_norm) + float(log_peak)


def log_delta(concentration: float, eps: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return log delta = log((eps / (3 pi (L + lambda F) c e^lambda))^2); caps of 4.12 are <x, b> >= 1 - delta."""
    modulus = log_modulus(concentration, dim, lipschitz=lipschitz, sup_norm=sup_norm)
    return 2.0 * (math.log(eps) - math.log(3.0 * math.pi) - modulus)


def log_count(concentration: float, eps: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return log N(lambda, eps) = log(Phi(m) / delta^(m+1)) of Theorem 4.12."""
    delta = log_delta(concentration, eps, dim, lipschitz=lipschitz, sup_norm=sup_norm)
    return log_rogers_constant(max(dim, 2)) - (dim + 1) * delta


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
    dim, lip, sup = problem.dim, problem.lipschitz, problem.sup_norm
    ragozin = ragozin_limit(dim) if problem.ragozin is None else problem.ragozin
    needed = concentration_needed(needed_at, dim, lipschitz=lip, ragozin=ragozin, harmonic=problem.harmonic)
    chosen = needed if problem.concentration is None else problem.concentration
    hypotheses = [
        Hypothesis("dim >= 8", dim >= 8),
        Hypothesis(f"concentration >= {needed:.6g}", chosen >= needed),
        Hypothesis("a finite concentration", math.isfinite(chosen)),
        *extra,
        Hypothesis(f"the harmonics of f bounded by the assumed C_H = {problem.harmonic:g}", True),
    ]
    log = math.inf
    if math.isfinite(chosen):
        delta = log_delta(chosen, count_at, dim, lipschitz=lip, sup_norm=sup)
        small = delta < math.log(1.0 - math.cos(largest_cap))
        hypotheses.append(Hypothesis(f"caps of radius less than {largest_cap:.3g}", small))
        log = log_count(chosen, count_at, dim, lipschitz=lip, sup_norm=sup)
    constants = (("ragozin", ragozin), ("harmonic", problem.harmonic))
    return Bound("prefix length", log, "upper", theorem, reference, tuple(hypotheses), chosen, None, constants)


def core(problem: Problem) -> Bound:
    """Theorem 4.12 (B.2.9): the core head."""
    return _bound(problem, problem.eps / 2.0, problem.eps, f"{_CHAPTER}, Theorem 4.12", "thesis-core")


def vector(problem: Problem) -> Bound:
    """Theorem 4.14: the core head for f with m+1 components, each as in 4.12."""
    root = math.sqrt(problem.dim + 1.0)
    reference = f"{_CHAPTER}, Theorem 4.14"
    return _bound(problem, problem.eps / (2.0 * root), problem.eps / root, reference, "thesis-vector")


def split(problem: Problem) -> Bound:
    """Theorem 4.15 (B.3.3) as printed: the split head. Its proof has a gap; see `split_corrected`."""
    eps, lip, sup = problem.eps, problem.lipschitz, problem.sup_norm
    return _bound(
        problem,
        2.0 * eps * lip / (2.0 * lip + sup),
        eps / math.sqrt(problem.dim + 1.0),
        f"{_CHAPTER}, Theorem 4.15 as printed",
        "thesis-split",
        Hypothesis("eps < 2 sup_norm", eps < 2.0 * sup),
    )


def split_corrected(problem: Problem) -> Bound:
    """Theorem 4.15 with its proof repaired (docs/theorems.md, erratum 3)."""
    eps, sup, root = problem.eps, problem.sup_norm, math.sqrt(problem.dim + 1.0)
    inner = eps / (1.5 + eps / (2.0 * root * sup))
    return _bound(
        problem,
        inner / (2.0 * root),
        inner / root,
        f"{_CHAPTER}, Theorem 4.15, corrected (docs/theorems.md, 3.3)",
        "thesis-split-corrected",
        Hypothesis("eps < 2 sup_norm", eps < 2.0 * sup),
        largest_cap=1.0 / 3.0,  # so that cells of equal measure exist inside the caps (docs/theorems.md, 3.4)
    )


def convolution_error(concentration: float, dim: int, *, lipschitz: float, ragozin: float, harmonic: float) -> float:
    """Invert (4.6): the eps with Lambda(eps) = lambda, which bounds ``|f - K * f|``."""

    def excess(log_eps: float) -> float:
        eps = math.exp(log_eps)
        needed = concentration_needed(eps, dim, lipschitz=lipschitz, ragozin=ragozin, harmonic=harmonic)
        return math.log(needed / concentration) if 0.0 < needed < math.inf else math.copysign(700.0, needed - 1.0)

    # u = 0 at this eps, where Lambda reaches 0; a little above it lest rounding leave u > 0
    top = (harmonic + math.sqrt(harmonic * harmonic + 8.0 * harmonic * lipschitz * ragozin)) * (1.0 + 1e-12)
    low = math.log(top) - 1.0
    while excess(low) < 0.0:
        low -= 2.0
    return math.exp(float(brentq(excess, low, math.log(top), xtol=1e-13)))


def core_error(concentration: float, radius: float, problem: Problem) -> float:
    """Return the log of 4.12's error at a concentration and a cap radius: convolution, then 3 L_g radius (B.2.7)."""
    ragozin = ragozin_limit(problem.dim) if problem.ragozin is None else problem.ragozin
    smooth = convolution_error(
        concentration, problem.dim, lipschitz=problem.lipschitz, ragozin=ragozin, harmonic=problem.harmonic
    )
    modulus = log_modulus(concentration, problem.dim, lipschitz=problem.lipschitz, sup_norm=problem.sup_norm)
    riemann = math.log(3.0 * radius) + modulus
    high, low = max(math.log(smooth), riemann), min(math.log(smooth), riemann)
    return high + math.log1p(math.exp(low - high))
