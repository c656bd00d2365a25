"""What no prefix can undercut, 4.5 and 4.E, in ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from .._bound import Bound
from .._problem import Problem
from ..sharp import _squares, lower
from . import covering
from .enclosure import CertificationError, Enclosure, enclose, less
from .roots import newton_bracket
from .special import half, log_cap_measure

_SMALLEST_ANGLE = arb(lower._SMALLEST_ANGLE)


def _angle(problem: Problem, factor: int) -> arb:
    """Return (factor eps/L)^(1/alpha)."""
    ratio = factor * arb(problem.eps) / arb(problem.lipschitz)
    angle = ratio if problem.exponent == 1.0 else ratio ** (1 / arb(problem.exponent))
    return angle.max(_SMALLEST_ANGLE)


def _cover(problem: Problem, angle: float) -> Callable[[arb], arb]:
    """Return the lower bound on the covering number that float64 takes at an angle."""
    dim = problem.dim
    if problem.covering != "best":
        return lambda radius: -log_cap_measure(dim, radius)
    choice = covering.chosen(dim, min(angle, math.pi), "circle" if dim == 1 else "best-lower")
    return lambda radius: covering.log_covering(dim, radius, choice)


def sampling(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.5: a covering number at (eps/L)^(1/alpha)."""
    assert bound.radius is not None
    count = _cover(problem, bound.radius)
    return enclose(lambda: count(_angle(problem, 1)).max(0), digits + 2)


def without_sampling(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.E (bits) and (continuous): M over the bits, or over the reals, of a token."""
    assert bound.radius is not None
    per_token = problem.dim + 2.0
    if bound.theorem == "lower-bits":
        per_token = 64.0 * (problem.dim + 2) if problem.bits is None else problem.bits
    points = _separated(problem, bound.radius)
    return enclose(lambda: (points() - arb(per_token).log()).max(0), digits + 2)


def _separated(problem: Problem, angle: float) -> Callable[[], arb]:
    """Return how to compute log M: the larger of a covering number and the best integer sphere."""
    dim = problem.dim
    if angle >= math.pi:
        return lambda: arb(0)
    if dim == 1:
        return lambda: _log_arcs(_angle(problem, 2))
    cover = _cover(problem, angle)
    logs, _ = _squares.integer_spheres(dim, angle)
    best = int(np.argmax(logs)) + 1 if len(logs) else 0
    count = _squares.representations(dim + 1, best)[best] if best else 1

    def points() -> arb:
        t = _angle(problem, 2)
        log = cover(t)
        return log.max(_on_sphere(best, count, t)) if best else log

    return points


def _on_sphere(norm: int, count: int, angle: arb) -> arb:
    """Return log r(n_0), the integer points of a norm, after proving that they are far enough apart."""
    if not less(2 * (angle / 2).sin() ** 2 * norm, arb(1)):
        raise CertificationError("integer points cannot be proved far enough apart")
    return arb(count).log()


def _log_arcs(angle: arb) -> arb:
    """Return log of max(ceil(2 pi/t) - 1, 1): so many points of the circle can be more than t apart."""
    count = (2 * arb.pi() / angle).ceil() - 1
    if not count.is_integer():
        raise CertificationError("a count of arcs cannot be told from its neighbour")
    return count.max(1).log()


def any_reals(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.E (any): M/((m+2) z(D)) for the set of points that float64 found best."""
    assert bound.radius is not None
    dim = problem.dim
    found = [(0.0, "", 0, 0.0)]
    for name, family in _squares.FAMILIES.items():
        log_points, log_scale = family(dim, bound.radius)
        if len(log_points):
            log_degree = np.logaddexp(0.0, math.log(dim + 1 + math.sqrt(dim + 1)) + log_scale)
            ratios = log_points - np.log(lower.warren_ratio(log_degree))
            i = int(np.argmax(ratios))
            found.append((float(ratios[i]), name, i, float(log_scale[i])))
    _, name, i, log_q = max(found)
    if not name:
        return enclose(lambda: arb(0), digits)
    points = {"integer points": _integer, "averaged integer points": _averaged, "trees of rotations": _rotations}[name]
    prepared = points(dim, bound.radius, i, log_q)

    def log_tokens() -> arb:
        log_points, log_scale = prepared(_angle(problem, 2))
        size = dim + 1 + arb(dim + 1).sqrt()
        log_degree = (size * log_scale.exp()).log1p()
        return (log_points - _warren(log_degree).log() - arb(dim + 2).log()).max(0)

    return enclose(log_tokens, digits + 2)


def _warren(log_degree: arb) -> arb:
    """Return z > 1 with z = log2(4 e D z)."""
    guess = float(lower.warren_ratio(np.array(float(log_degree))))
    target = arb(4).log() + 1 + log_degree
    return newton_bracket(lambda z: z * arb(2).log() - z.log() - target, lambda z: arb(2).log() - 1 / z, arb(guess))


Prepared = Callable[[arb], tuple[arb, arb]]
"""angle -> (log M, log Q)."""


def _integer(dim: int, _angle: float, i: int, _log_q: float) -> Prepared:
    norm = i + 1
    count = _squares.representations(dim + 1, norm)[norm]
    return lambda t: (_on_sphere(norm, count, t), arb(norm).log() / 2)


def _rotations(dim: int, angle: float, i: int, _log_q: float) -> Prepared:
    s = max(0, math.floor(-math.log2(angle)) - 2) + i
    depth = math.ceil(math.log2(dim + 1))

    def family(t: arb) -> tuple[arb, arb]:
        gamma = (arb(2) ** -s).atan()
        log_scale = depth * sum((arb(4**j + 1).log() for j in range(1, s + 1)), arb(0)) / 2
        if dim == 1:
            return _log_arcs(t + 2 * gamma), log_scale
        return -log_cap_measure(dim, (t + arb(depth).sqrt() * gamma).min(arb.pi())), log_scale

    return family


def _averaged(dim: int, _angle: float, _i: int, log_q: float) -> Prepared:
    """Prepare 4.E (ii) at the outer radius that float64 chose, with the best of its inner radii: all are valid."""
    outer = math.exp(log_q)
    gaps = [2.0 ** (0.5 * j) / (dim + 1) for j in range(-14, 6)]

    def family(t: arb) -> tuple[arb, arb]:
        logs = [log for gap in gaps if (log := _averaged_points(dim, t, arb(outer), gap)) is not None]
        return max(logs, key=float), arb(outer).log()

    return family


def _log_ball(n: int) -> arb:
    return half(n) * arb.pi().log() - half(n + 2).lgamma()


def _averaged_points(dim: int, t: arb, outer: arb, gap: float) -> arb | None:
    """Return log of the number of points of 4.E (ii), None where its hypothesis fails."""
    m, d = dim, dim + 1
    inner, rim = outer * (-arb(gap)).exp(), arb(d).sqrt() / 2
    if not inner + rim < outer - rim:
        return None
    shell = _log_ball(d).exp() * ((outer - rim) ** d - (inner + rim) ** d)
    reach = 2 * outer * (t / 2).sin()
    pairs = arb(0) if reach < arb(2).sqrt() else _close_pairs(m, outer, inner, reach)
    norms = outer**2 * -(-2 * arb(gap)).expm1() + 1
    return 2 * shell.log() - norms.log() - (shell + pairs).log()


def _close_pairs(m: int, outer: arb, inner: arb, reach: arb) -> arb:
    """Return S H of 4.E (ii)."""
    d = m + 1
    spread, cell = (m * m - 1 + reach**2).sqrt() / 2, arb(d + 3).sqrt() / 2
    hollow = ((inner**2 - reach**2 / 4).max(0).sqrt() - spread).max(0)
    slices = _log_ball(m).exp() * ((outer + spread) ** m - hollow**m)
    main = arb(m).zeta() * (1 + arb(2) ** -m) / 2 * (1 + arb(1) / m) * reach**m
    x = ((main / reach * cell).log() / (d + 1)).exp().mid()
    return slices * _log_ball(d).exp() * (main * (1 + cell / x) ** d + reach * (x + cell) ** d)
