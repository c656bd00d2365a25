"""What no prefix can undercut: docs/theorems.md, 4.5 (schemes that sample f) and 4.E (any others)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spherapprox._types import Float64
from spherapprox.special import log_cap_measure

from .._bound import Bound, Hypothesis
from .._problem import Problem
from ..covering import covering_bound
from ._squares import FAMILIES, integer_spheres, log_arcs

_SMALLEST_ANGLE = 1e-100
"""Smaller angles, which Hoelder classes of small exponent ask for, are raised to this one: the bound stays right."""
_DOUBLE = 64.0
"""Bits of a number in double precision; a token holds m+2 numbers: lambda b_k and xi_k."""


def lower(problem: Problem) -> Bound:
    """4.5: whatever uses only the values at N points needs a covering number of them, at radius (eps/L)^(1/alpha)."""
    radius = _angle(problem, 1.0)
    log = _log_cover(problem.dim, radius, problem.covering)
    exact = problem.dim == 1 and problem.covering == "best"
    return replace(_floor(problem, "lower", "4.5", log, radius), whole=exact)


def lower_bits(problem: Problem) -> Bound:
    """4.E (bits): tokens of b bits each, b = `bits` or 64 (m+2), tell 2^(bN) targets apart: N >= M/b."""
    log_points, angle = _separated(problem)
    bits = _DOUBLE * (problem.dim + 2) if problem.bits is None else problem.bits
    log = log_points - math.log(bits)
    return _floor(problem, "lower-bits", "4.E (bits)", log, angle, ("bits", bits), ("log points", log_points))


def lower_continuous(problem: Problem) -> Bound:
    """4.E (continuous): xi_k, b_k and lambda that depend continuously on the target: N >= M/(m+2)."""
    log_points, angle = _separated(problem)
    log = log_points - math.log(problem.dim + 2)
    return _floor(problem, "lower-continuous", "4.E (continuous)", log, angle, ("log points", log_points))


def lower_any(problem: Problem) -> Bound:
    """4.E (any): arbitrary real xi_k, b_k and lambda, chosen with the target in hand: N >= M/((m+2) z(D))."""
    angle = _angle(problem, 2.0)
    found = [(0.0, 0.0, 0.0, "one point")]
    for name, family in FAMILIES.items():
        log_points, log_scale = family(problem.dim, angle)
        if len(log_points):
            found.append((*_best(problem.dim, log_points, log_scale), name))
    log_ratio, log_points_used, log_degree, name = max(found, key=lambda entry: entry[0])
    constants = (("log points", log_points_used), ("log degree", log_degree))
    log = log_ratio - math.log(problem.dim + 2)
    return _floor(problem, "lower-any", f"4.E (any), {name}", log, angle, *constants)


def _best(dim: int, log_points: Float64, log_scale: Float64) -> tuple[float, float, float]:
    """Return (log of the largest M/z(D), its log M, its log D) of a family of point sets."""
    d = dim + 1
    log_degree = np.logaddexp(0.0, math.log(d + math.sqrt(d)) + log_scale)
    log_parameters = log_points - np.log(warren_ratio(log_degree))
    i = int(np.argmax(log_parameters))
    return float(log_parameters[i]), float(log_points[i]), float(log_degree[i])


def warren_ratio(log_degree: Float64) -> Float64:
    """4.E: z > 1 with z = log2(4 e D z): the largest M/P with M <= P log2(4 e D M/P)."""
    target = math.log(4.0) + 1.0 + np.asarray(log_degree, dtype=np.float64)
    half = math.log(2.0)
    z = 2.0 * (target + np.log(target)) / half  # above the root of a convex function, from where Newton falls to it
    for _ in range(8):
        z = z - (z * half - np.log(z) - target) / (half - 1.0 / z)
    return z


def _angle(problem: Problem, factor: float) -> float:
    """Return (factor eps/L)^(1/alpha): targets of the class may differ by factor eps this far apart; at most pi."""
    ratio = factor * (problem.eps / problem.lipschitz)
    log = math.log(ratio) / problem.exponent
    if log >= math.log(math.pi):
        return math.pi
    return math.pow(ratio, 1.0 / problem.exponent) if log > math.log(_SMALLEST_ANGLE) else _SMALLEST_ANGLE


def _log_cover(dim: int, radius: float, covering: str) -> float:
    """Return the log of a lower bound on the covering number: the best (for dim 1 exact), or 1/sigma(C(radius))."""
    if covering == "best":
        return covering_bound(radius, dim, "circle" if dim == 1 else "best-lower").log
    return -float(log_cap_measure(dim, radius))


def _separated(problem: Problem) -> tuple[float, float]:
    """Return (log M, angle): M points of S^m are pairwise more than the angle (2 eps/L)^(1/alpha) apart."""
    angle = _angle(problem, 2.0)
    if angle >= math.pi:
        return 0.0, angle
    if problem.dim == 1:
        return float(log_arcs(np.array(angle))), angle
    log_representations, _ = integer_spheres(problem.dim, angle)
    log = _log_cover(problem.dim, angle, problem.covering)
    return max(log, float(np.max(log_representations, initial=0.0))), angle


def _floor(
    problem: Problem, theorem: str, section: str, log: float, angle: float, *constants: tuple[str, float]
) -> Bound:
    """Make the bound; one token is always necessary."""
    below = Hypothesis("eps < sup_norm", problem.eps < problem.sup_norm)
    reference = f"docs/theorems.md, {section}"
    return Bound("prefix length", max(log, 0.0), "lower", theorem, reference, (below,), None, angle, constants)
