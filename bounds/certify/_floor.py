"""Separation angles and point counts of the lower bounds 4.5 and 4.E."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ..theorems import _squares
from ..theorems._floor import SMALLEST_ANGLE
from . import _covering as covering
from . import _packings as packings
from ._balls import enclose, less
from ._radii import Proof
from ._special import log_cap_measure

_SMALLEST_ANGLE = arb(SMALLEST_ANGLE)


def from_below(log_count: Callable[[Bound, Problem], Callable[[], arb]]) -> Proof:
    """Make the proof of a count of at least 1 from the function of its log, prepared for a bound and a problem."""

    def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
        log = log_count(bound, problem)
        return enclose(lambda: log().max(0), digits + 2)

    return prove


def angle_of(problem: Problem, factor: int) -> arb:
    """Return (factor eps/L)^(1/alpha)."""
    ratio = factor * arb(problem.eps) / arb(problem.lipschitz)
    angle = ratio if problem.exponent == 1.0 else ratio ** (1 / arb(problem.exponent))
    return angle.max(_SMALLEST_ANGLE)


def cover_of(problem: Problem, angle: float | None) -> Callable[[arb], arb]:
    """Return the lower bound on the covering number that float64 takes at an angle."""
    assert angle is not None
    dim = problem.dim
    if problem.covering != "best":
        return lambda radius: -log_cap_measure(dim, radius)
    choice = covering.chosen(dim, min(angle, math.pi), "circle" if dim == 1 else "best-lower")
    return lambda radius: covering.log_covering(dim, radius, choice)


def separated(problem: Problem, angle: float | None) -> Callable[[], arb]:
    """Return the function that computes log M (4.E): the largest number of points that float64 knows."""
    assert angle is not None
    dim = problem.dim
    if angle >= math.pi:
        return lambda: arb(0)
    if dim == 1:
        return lambda: log_arcs(angle_of(problem, 2))
    cover = cover_of(problem, angle)
    logs, _ = _squares.integer_spheres(dim, angle)
    best = int(np.argmax(logs)) + 1 if len(logs) else 0
    count = _squares.representations(dim + 1, best)[best] if best else 1
    lattices = packings.from_lattices(dim, angle) if problem.covering == "best" else cover

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
