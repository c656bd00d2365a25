"""Separation angles and point counts of the lower bounds 4.5 and 4.E."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from .._bound import EXACT
from .._enclosure import CertificationError
from .._problem import Problem
from ..theorems import _shells, _squares
from ..theorems._floor import SMALLEST_ANGLE
from . import _covering as covering
from ._balls import less
from ._special import log_ball, log_cap_measure

_SMALLEST_ANGLE = arb(SMALLEST_ANGLE)


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
    choice = covering.chosen(dim, min(angle, math.pi), "circle" if dim == 1 else "best-lower")
    return lambda radius: covering.log_covering(dim, radius, choice)


def separated(problem: Problem, angle: float) -> Callable[[], arb]:
    """Return the function that computes log M (4.E): the largest of a covering number, integer sphere and shell."""
    dim = problem.dim
    if angle >= math.pi:
        return lambda: arb(0)
    if dim == 1:
        return lambda: log_arcs(angle_of(problem, 2))
    cover = cover_of(problem, angle)
    logs, _ = _squares.integer_spheres(dim, angle)
    best = int(np.argmax(logs)) + 1 if len(logs) else 0
    count = _squares.representations(dim + 1, best)[best] if best else 1
    tilt = _shells.tilt(dim, angle)

    def points() -> arb:
        t = angle_of(problem, 2)
        log = cover(t).max(in_shell(dim, t, tilt))
        return log.max(on_sphere(best, count, t)) if best else log

    return points


def on_sphere(norm: int, count: int, angle: arb) -> arb:
    """Return the log of the number of integer points of a norm, proved separated, n_0 (1 - cos t) < 1 (4.E, i)."""
    if not less(2 * (angle / 2).sin() ** 2 * norm, arb(1)):
        raise CertificationError("integer points cannot be proved far enough apart")
    return arb(count).log()


def in_shell(dim: int, angle: arb, tilt: float) -> arb:
    """Return log ceil(Delta (R^d - r^d)), the number of points from a shell of a lattice; any tilt serves (4.E, iv)."""
    d, phi = dim + 1, arb(tilt).max(angle / 2)
    # 4.E, iv: R = 2 cos(phi)/sin t, r/R = cos(phi + t)_+/cos(phi)
    inner = ((phi + angle).cos() / phi.cos()).max(0)
    log_share = (-(d * inner.log()).expm1()).log() if inner > 0 else (1 - inner**d).log()
    log = log_density(d) + d * (2 * phi.cos() / angle.sin()).log() + log_share
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


def log_arcs(angle: arb) -> arb:
    """Return log max(ceil(2 pi/t) - 1, 1), the most points of the circle more than t apart."""
    count = (2 * arb.pi() / angle).ceil() - 1
    if not count.is_integer():
        raise CertificationError("a count of arcs cannot be told from its neighbour")
    return count.max(1).log()
