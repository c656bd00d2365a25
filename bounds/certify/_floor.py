"""Separation angles and point counts of the lower bounds 4.5 and 4.E, from dense lattices too (iv, v)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from flint import acb, arb, ctx

from ..records.bound import EXACT, Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ..theorems import _shells, _squares, _wraps
from ..theorems._floor import SMALLEST_ANGLE
from . import _covering as covering
from ._balls import enclose, less
from ._radii import Proof
from ._special import half, log_ball, log_cap_measure

_SMALLEST_ANGLE = arb(SMALLEST_ANGLE)

Prepared = TypeVar("Prepared")


def from_below(prepare: Callable[[Problem, float], Prepared], log: Callable[[Prepared, Bound, Problem], arb]) -> Proof:
    """Make the proof of a count of at least 1, from its log and what that needs at the angle that float64 chose."""

    def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
        assert bound.radius is not None
        prepared = prepare(problem, bound.radius)
        return enclose(lambda: log(prepared, bound, problem).max(0), digits + 2)

    return prove


def angle_of(problem: Problem, factor: int) -> arb:
    """Return (factor eps/L)^(1/alpha)."""
    ratio = factor * arb(problem.eps) / arb(problem.lipschitz)
    angle = ratio if problem.exponent == 1.0 else ratio ** (1 / arb(problem.exponent))
    return angle.max(_SMALLEST_ANGLE)


def cover_of(problem: Problem, angle: float) -> Callable[[arb], arb]:
    """Return the lower bound on the covering number that float64 takes at an angle."""
    dim = problem.dim
    if problem.covering != "best":
        return lambda radius: -log_cap_measure(dim, radius)
    choice = covering.choose_formula(dim, min(angle, math.pi), "circle" if dim == 1 else "best-lower")
    return lambda radius: covering.log_covering(dim, radius, choice)


def separated(problem: Problem, angle: float) -> Callable[[], arb]:
    """Return the function that computes log M (4.E): the largest number of points that float64 knows."""
    dim = problem.dim
    if angle >= math.pi:
        return lambda: arb(0)
    if dim == 1:
        return lambda: log_arcs(angle_of(problem, 2))
    cover = cover_of(problem, angle)
    logs, _ = _squares.integer_spheres(dim, angle)
    best = int(np.argmax(logs)) + 1 if len(logs) else 0
    count = _squares.representations(dim + 1, best)[best] if best else 1
    lattices = from_lattices(dim, angle) if problem.covering == "best" else cover

    def points() -> arb:
        t = angle_of(problem, 2)
        log = cover(t).max(lattices(t))
        return log.max(on_sphere(best, count, t)) if best else log

    return points


def on_sphere(norm: int, count: int, angle: arb) -> arb:
    """Return the log of the number of integer points of a norm, proved separated, n_0 (1 - cos t) < 1 (4.E, i)."""
    if not less(2 * (angle / 2).sin() ** 2 * norm, arb(1)):
        raise CertificationError("integer points cannot be proved far enough apart")
    return arb(count).log()


def log_arcs(angle: arb) -> arb:
    """Return log max(ceil(2 pi/t) - 1, 1), the most points of the circle more than t apart."""
    count = (2 * arb.pi() / angle).ceil() - 1
    if not count.is_integer():
        raise CertificationError("a count of arcs cannot be told from its neighbour")
    return count.max(1).log()


def from_lattices(dim: int, angle: float) -> Callable[[arb], arb]:
    """Return the function that computes log M at an angle, at the free parameters that float64 takes at this one."""
    tilt = _shells.tilt(dim, angle)
    if angle >= 0.5 * math.pi:
        return lambda t: in_shell(dim, t, tilt)
    separation = _wraps.separation(dim, angle)
    return lambda t: in_shell(dim, t, tilt).max(on_cubes(dim, t)).max(on_voronoi_cells(dim, t, separation))


def in_shell(dim: int, angle: arb, tilt: float) -> arb:
    """Return log ceil(Delta (R^d - r^d)), the number of points from a shell of a lattice; any tilt serves (4.E, iv)."""
    d, phi = dim + 1, arb(tilt).max(angle / 2)
    # 4.E, iv: R = 2 cos(phi)/sin t, r/R = cos(phi + t)_+/cos(phi)
    inner = ((phi + angle).cos() / phi.cos()).max(0)
    log_share = (-(d * inner.log()).expm1()).log() if inner > 0 else (1 - inner**d).log()
    return round_up(log_density(d) + d * (2 * phi.cos() / angle.sin()).log() + log_share)


def on_cubes(dim: int, angle: arb) -> arb:
    """Return the log of the number of points from lattices laid on 2(m+1) cubes (4.E, v), for t < pi/2."""
    steep, cubes = (angle / 2).cot() - 1, arb(2 * dim + 2).log()
    if not less(arb(0), steep):
        raise CertificationError("an angle is pi/2, and below it in float64")
    log = log_density(dim) + dim * steep.log() + ((2 * arb.pi()).sqrt() * largest_normal(dim + 1)).log()
    return cubes + round_up(log - cubes)


def on_voronoi_cells(dim: int, angle: arb, separation: float) -> arb:
    """Return the log of the number of points from lattices laid on Voronoi cells (4.E, v), 0 on too small ones."""
    delta = arb(separation)
    room = 1 / (angle / 2).sin() - 1 / (delta / 2).sin()
    if not (room > 0 and delta.cos() > 0):
        return arb(0)
    log_area = (4 * arb.pi()).log() / 2 + half(dim + 2).lgamma() - half(dim + 1).lgamma()
    return log_density(dim) + log_area + dim * room.log() + delta.cos().log()


def largest_normal(d: int) -> arb:
    """Return the mean of the largest of d standard normal numbers in absolute value, from int 1 - erf(s/sqrt 2)^d."""
    square = 2 * math.log(2.0) * ctx.prec + 2.0 * math.log(d) + 2.0
    far = arb(square).sqrt().mid()
    body = acb.integral(lambda s, _: 1 - (s / arb(2).sqrt()).erf() ** d, 0, far).real
    # beyond: at most d int exp(-s^2/2) <= d exp(-far^2/2), as far >= 1
    return body + (d * (-far * far / 2).exp()).union(arb(0))


def round_up(log: arb) -> arb:
    """Return the log of a count rounded up, where float64 knows its units."""
    if not less(log, arb(EXACT)):
        return log
    count = log.exp().ceil()
    if not count.is_integer():
        raise CertificationError("a count of points cannot be told from its neighbour")
    return count.max(1).log()


def log_density(d: int) -> arb:
    """Return the log of the density of the lattice packing of R^d that float64 takes (4.E, iv)."""
    if d > _shells.LARGEST_RATIONAL:
        return arb(d - 1).log() - (d - 1) * arb(2).log()
    square = _shells.squared_density(d)
    return log_ball(d) + (arb(square.numerator) / arb(square.denominator)).log() / 2
