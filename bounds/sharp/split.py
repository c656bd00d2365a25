"""The split head on equal-measure cells and on any points: docs/theorems.md, 4.4 (mean) and (nearest)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar

from spherapprox.special import log_cap_measure
from spherapprox.vmf import VonMisesFisher

from .._bound import Bound, Hypothesis
from .._problem import Problem
from ..covering import covering_bound
from .convolution import concentration_needed
from .search import accuracy, best_radius, from_cover


def log_mean_error(concentration: float, radius: float, dim: int) -> float:
    """4.4 (mean): log of the bound on W for a split head on equal-measure cells within rho of their centres."""
    return float(VonMisesFisher(dim, concentration).shifted_mean_angle(radius, log=True))


def log_nearest_error(concentration: float, radius: float, log_n: float) -> float:
    """4.4 (nearest): log of W <= rho + eta + pi (N-1) exp(-lambda (cos rho - cos(rho+eta))), with the best eta > 0."""
    if log_n <= 0.0:
        return math.log(radius)
    log_others = math.log(math.pi) + log_less_one(log_n)

    def excess(eta: float) -> float:
        exponent = log_others - concentration * _cos_drop(radius, eta)
        return eta + math.exp(min(exponent, 700.0))

    top = math.pi - radius
    if top <= 0.0:
        return math.log(math.pi)
    found = minimize_scalar(
        lambda log_eta: excess(math.exp(log_eta)),
        bounds=(math.log(top) - 45.0, math.log(top)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return math.log(min(radius + float(found.fun), math.pi))


def _cos_drop(radius: float, eta: float) -> float:
    """Return cos(rho) - cos(rho + eta) as a product."""
    return 2.0 * math.sin(radius + 0.5 * eta) * math.sin(0.5 * eta)


def split_mean(problem: Problem) -> Bound:
    """4.4 (mean): the split head on equal-measure cells; N >= 1/sigma(C(rho/6)) of them exist within rho."""
    dim = problem.dim
    needed = concentration_needed(problem.eps, dim, problem.lipschitz)
    top = min(problem.eps / problem.lipschitz, math.pi)

    def error(concentration: float, radius: float) -> float:
        return log_mean_error(concentration, radius, dim)

    log_goal = math.log(problem.eps / problem.lipschitz)
    concentration, radius = best_radius(error, log_goal, top, needed, problem.concentration, dim)
    hypotheses = (accuracy(needed, concentration), Hypothesis("cells of equal measure", True))
    log = -float(log_cap_measure(dim, radius / 6.0)) if radius > 0.0 else math.inf
    log = 0.0 if radius >= math.pi else log
    reference = "docs/theorems.md, 4.4 (mean)"
    return Bound("prefix length", log, "upper", "sharp-split-mean", reference, hypotheses, concentration, radius)


def split_nearest(problem: Problem) -> Bound:
    """4.4 (nearest): the split head on any points with covering radius rho < eps/L; N = a covering number."""
    goal = problem.eps / problem.lipschitz

    def needed(radius: float, room: float) -> float:
        return nearest_concentration(radius, room, covering_bound(radius, problem.dim, problem.covering).log)

    if problem.concentration is None:
        radius = min((1.0 - problem.slack) * goal, math.pi)
        concentration = needed(radius, goal - radius if radius == math.pi else problem.slack * goal)
    else:
        concentration = problem.concentration
        radius = _nearest_radius(needed, goal, concentration, problem.dim)
    enough = Hypothesis(f"a larger concentration than {concentration:.6g}", radius > 0.0)
    return from_cover(problem, "sharp-split-nearest", "4.4 (nearest)", concentration, radius, enough)


def nearest_concentration(radius: float, room: float, log_n: float) -> float:
    """Return the smallest lambda at which 4.4 (nearest) promises W <= radius + room for N points, with the best eta."""
    if log_n <= 0.0:  # one point
        return 0.0
    if room <= 0.0:
        return math.inf
    log_others = math.log(math.pi) + log_less_one(log_n)

    def needed(share: float) -> float:
        eta = min(share * room, math.pi - radius)
        return (log_others - math.log(room * (1.0 - share))) / _cos_drop(radius, eta)

    found = minimize_scalar(needed, bounds=(1e-6, 1.0 - 1e-9), method="bounded", options={"xatol": 1e-10})
    return max(float(found.fun), 0.0)


def _nearest_radius(needed: Callable[[float, float], float], goal: float, concentration: float, dim: int) -> float:
    """Return the largest covering radius from which 4.4 (nearest) promises goal at a concentration, 0 if none does."""
    if goal >= math.pi:
        return math.pi

    def missing(log_slack: float) -> float:
        radius, room = goal * -math.expm1(log_slack), goal * math.exp(log_slack)
        return math.log(max(needed(radius, room), 1e-300)) - math.log(max(concentration, 1e-299))

    # the concentration needed is infinite at both ends (no slack; no radius): find the dip, then the end of least slack
    dip = minimize_scalar(missing, bounds=(-36.0, -1e-3), method="bounded", options={"xatol": 1e-6})
    best = float(dip.x)
    if missing(best) > 0.0:
        return 0.0
    log_slack = -36.0 if missing(-36.0) <= 0.0 else float(brentq(missing, -36.0, best, xtol=1e-13))
    radius = goal * -math.expm1(log_slack)
    # where the covering number is exact it jumps, and a radius beyond a jump may do with one point less
    while (jump := _next_jump(radius, dim)) < goal and needed(jump, goal - jump) <= concentration:
        radius = jump
    return radius


def _next_jump(radius: float, dim: int) -> float:
    """Return the least radius, above the given one, at which an exactly known covering number falls."""
    count = math.ceil(math.pi / radius)
    if radius >= math.pi / 2.0 or (dim == 1 and count <= 2):
        return math.pi
    return math.pi / (count - 1) * (1.0 + 1e-15) if dim == 1 else math.pi / 2.0


def log_less_one(log_n: float) -> float:
    """Return log(N - 1) from log N > 0."""
    return log_n + math.log(-math.expm1(-log_n))
