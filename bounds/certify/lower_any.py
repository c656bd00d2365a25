"""The lower bound for arbitrary real tokens, 4.E (any), in ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ..theorems import _squares
from ..theorems.lower_any import best, warren_ratio
from ._balls import enclose, newton_bracket
from ._floor import angle_of, log_arcs, on_sphere
from ._special import log_ball, log_cap_measure


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose M/((m+2) z(D)) for the set of points that float64 found best (4.E, any)."""
    assert bound.radius is not None
    dim = problem.dim
    # Step 1: the best set in float64
    best_sets = [(0.0, "", 0, 0.0)]
    for name, family in _squares.FAMILIES.items():
        log_points, log_scale = family(dim, bound.radius)
        if len(log_points):
            i, log_ratio, _ = best(dim, log_points, log_scale)
            best_sets.append((log_ratio, name, i, float(log_scale[i])))
    _, name, i, log_q = max(best_sets)
    if not name:
        return enclose(lambda: arb(0), digits)
    # Step 2: its M and Q at the exact angle, and N >= M/((m+2) z(D))
    points = {"integer points": _integer, "averaged integer points": _averaged, "trees of rotations": _rotations}[name]
    prepared = points(dim, bound.radius, i, log_q)

    def log_tokens() -> arb:
        log_points, log_scale = prepared(angle_of(problem, 2))
        size = dim + 1 + arb(dim + 1).sqrt()  # D = 1 + (m+1+sqrt(m+1)) Q
        log_degree = (size * log_scale.exp()).log1p()
        # z = log2(4 e D z)
        half, target = arb(2).log(), arb(4).log() + 1 + log_degree
        guess = arb(float(warren_ratio(np.array(float(log_degree)))))
        z = newton_bracket(lambda z: z * half - z.log() - target, lambda z: half - 1 / z, guess)
        return (log_points - z.log() - arb(dim + 2).log()).max(0)

    return enclose(log_tokens, digits + 2)


Prepared = Callable[[arb], tuple[arb, arb]]
"""angle -> (log M, log Q)."""


def _integer(dim: int, _angle: float, i: int, _log_q: float) -> Prepared:
    norm = i + 1
    count = _squares.representations(dim + 1, norm)[norm]
    return lambda t: (on_sphere(norm, count, t), arb(norm).log() / 2)


def _rotations(dim: int, angle: float, i: int, _log_q: float) -> Prepared:
    s = max(0, math.floor(-math.log2(angle)) - 2) + i
    depth = math.ceil(math.log2(dim + 1))

    def family(t: arb) -> tuple[arb, arb]:
        gamma = (arb(2) ** -s).atan()
        log_scale = depth * sum((arb(4**j + 1).log() for j in range(1, s + 1)), arb(0)) / 2
        if dim == 1:
            return log_arcs(t + 2 * gamma), log_scale
        return -log_cap_measure(dim, (t + arb(depth).sqrt() * gamma).min(arb.pi())), log_scale

    return family


def _averaged(dim: int, _angle: float, _i: int, log_q: float) -> Prepared:
    """Prepare 4.E (ii) at the outer radius that float64 chose, with the best of its inner radii: all are valid."""
    outer = math.exp(log_q)
    gaps = [2.0 ** (0.5 * j) / (dim + 1) for j in range(-14, 6)]

    def family(t: arb) -> tuple[arb, arb]:
        logs = [log for gap in gaps if (log := _averaged_points(dim, t, arb(outer), gap=gap)) is not None]
        return max(logs, key=float), arb(outer).log()

    return family


def _averaged_points(dim: int, t: arb, outer: arb, gap: float) -> arb | None:
    """Return the log of the number of points of 4.E (ii), None if its hypothesis fails."""
    m, d = dim, dim + 1
    inner, rim = outer * (-arb(gap)).exp(), arb(d).sqrt() / 2
    if not inner + rim < outer - rim:
        return None
    # 4.E (ii): B, S H and B^2 / ((R^2 - r^2 + 1) (B + S H))
    shell = log_ball(d).exp() * ((outer - rim) ** d - (inner + rim) ** d)
    reach = 2 * outer * (t / 2).sin()
    pairs = arb(0) if reach < arb(2).sqrt() else _close_pairs(m, outer, inner, reach=reach)
    norms = outer**2 * -(-2 * arb(gap)).expm1() + 1
    return 2 * shell.log() - norms.log() - (shell + pairs).log()


def _close_pairs(m: int, outer: arb, inner: arb, reach: arb) -> arb:
    """Return S H of 4.E (ii)."""
    d = m + 1
    spread, cell = (m * m - 1 + reach**2).sqrt() / 2, arb(d + 3).sqrt() / 2
    hollow = ((inner**2 - reach**2 / 4).max(0).sqrt() - spread).max(0)
    slices = log_ball(m).exp() * ((outer + spread) ** m - hollow**m)
    main = arb(m).zeta() * (1 + arb(2) ** -m) / 2 * (1 + arb(1) / m) * reach**m
    x = ((main / reach * cell).log() / (d + 1)).exp().mid()
    return slices * log_ball(d).exp() * (main * (1 + cell / x) ** d + reach * (x + cell) ** d)
