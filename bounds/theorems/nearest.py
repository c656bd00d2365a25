"""The split head on equal-measure cells and on any points: docs/theorems.md, 4.4 (mean) and (nearest)."""

from __future__ import annotations

import math

from scipy.optimize import brentq, minimize_scalar

from spherapprox.special import cap_angle, log_cap_measure
from spherapprox.vmf import VonMisesFisher

from .._bound import Bound, Hypothesis
from .._problem import Problem
from ..covering import covering_bound
from .convolution import concentration_needed, log_concentration_at
from .search import Curve, accuracy, best_radius, from_cover, golden, increasing_root, log_goal, log_sum, too_fine

_LOG_PI = math.log(math.pi)


def log_mean_error(concentration: float, radius: float, dim: int) -> float:
    """4.4 (mean): log of the bound on W for a split head on equal-measure cells within rho of their centres."""
    return float(VonMisesFisher(dim, concentration).shifted_mean_angle(radius, log=True))


def equal_measure_radius(n: float, dim: int) -> float:
    """4.4: the R with n sigma(C(R/6)) = 1, within which n cells of equal measure exist; on S^1 that of n arcs."""
    return math.pi / math.floor(n) if dim == 1 else min(6.0 * float(cap_angle(dim, -math.log(n))), math.pi)


def log_equal_cells(radius: float, dim: int) -> float:
    """4.4: log of a number of equal-measure cells that exist within a radius of their centres; on S^1 the least one."""
    return math.log(math.ceil(math.pi / radius)) if dim == 1 else -float(log_cap_measure(dim, radius / 6.0))


def log_nearest_error(concentration: float, radius: float, log_n: float) -> float:
    """4.4 (nearest): log of W <= rho + eta + pi (N-1) exp(-lambda (cos rho - cos(rho+eta))), with the best eta > 0."""
    if log_n <= 0.0:
        return math.log(radius)
    log_others = _LOG_PI + log_less_one(log_n)

    def log_excess(log_eta: float) -> float:
        return log_sum(log_eta, log_others - concentration * _cos_drop(radius, math.exp(log_eta)))

    top = math.pi - radius
    if top <= 0.0:
        return _LOG_PI
    widest = math.log(top)
    bounds = (min(math.log(radius), widest) - 45.0, widest)
    found = minimize_scalar(log_excess, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    return min(log_sum(math.log(radius), float(found.fun)), _LOG_PI)


def _cos_drop(radius: float, eta: float) -> float:
    """Return cos(rho) - cos(rho + eta) as a product."""
    return 2.0 * math.sin(radius + 0.5 * eta) * math.sin(0.5 * eta)


def split_mean(problem: Problem) -> Bound:
    """4.4 (mean): the split head on equal-measure cells; N >= 1/sigma(C(rho/6)) of them exist within rho."""
    dim, goal = problem.dim, log_goal(problem)
    theorem, reference = "sharp-split-mean", "docs/theorems.md, 4.4 (mean)"
    if goal >= _LOG_PI:
        return one_point(problem, theorem, reference)
    if (hypothesis := too_fine(problem)) is not None:
        return Bound("prefix length", math.inf, "upper", theorem, reference, (hypothesis,), 0.0, 0.0)
    angle = math.exp(goal)
    needed = concentration_needed(angle, dim, 1.0)

    def excess_at(concentration: float) -> Curve:
        kernel = VonMisesFisher(dim, concentration)
        return lambda log_radius: kernel.shifted_mean_angle(math.exp(log_radius), log=True) - goal

    concentration, radius = best_radius(excess_at, _mean_start(angle, dim), 1.0, angle, needed, problem)
    hypotheses = (accuracy(needed, concentration), Hypothesis("cells of equal measure", True))
    log = log_equal_cells(radius, dim) if radius > 0.0 else math.inf
    return Bound("prefix length", log, "upper", theorem, reference, hypotheses, concentration, radius, whole=dim == 1)


def _mean_start(goal: float, dim: int) -> tuple[float, float]:
    """Return (concentration, radius) best where theta is its mean: W is about theta e^(2 rho lambda sin theta)."""
    widest = min(goal, 1.57)

    def log_radius(share: float) -> float:
        angle = share * widest
        slope = 2.0 * math.exp(log_concentration_at(angle, dim)) * math.sin(angle)
        return -math.log(slope / math.log(goal / angle) + 1.0 / (goal - angle))

    share = golden(log_radius, 1e-3, 0.999)
    return math.exp(log_concentration_at(share * widest, dim)), math.exp(log_radius(share))


def one_point(problem: Problem, theorem: str, reference: str) -> Bound:
    """Return the prefix length 1, enough where the target moves by at most eps over the whole sphere."""
    concentration = 0.0 if problem.concentration is None else problem.concentration
    return Bound("prefix length", 0.0, "upper", theorem, reference, (), concentration, math.pi, whole=True)


def split_nearest(problem: Problem) -> Bound:
    """4.4 (nearest): the split head on any points with covering radius rho < eps/L; N = a covering number."""
    theorem, section = "sharp-split-nearest", "4.4 (nearest)"
    if log_goal(problem) >= _LOG_PI:
        return one_point(problem, theorem, f"docs/theorems.md, {section}")
    if (hypothesis := too_fine(problem)) is not None:
        return from_cover(problem, theorem, section, 0.0, 0.0, hypothesis)
    goal = math.exp(log_goal(problem))
    if problem.concentration is None:
        radius = (1.0 - problem.slack) * goal
        log_n = covering_bound(radius, problem.dim, problem.covering).log
        concentration = nearest_concentration(radius, problem.slack * goal, log_n)
    else:
        concentration = problem.concentration
        radius = _nearest_radius(problem, goal, concentration)
    enough = Hypothesis("a large enough concentration", radius > 0.0)
    return from_cover(problem, theorem, section, concentration, radius, enough)


def nearest_concentration(radius: float, room: float, log_n: float) -> float:
    """Return the smallest lambda at which 4.4 (nearest) promises W <= radius + room for N points, with the best eta."""
    if log_n <= 0.0:  # one point
        return 0.0
    if room <= 0.0:
        return math.inf
    log_others = _LOG_PI + log_less_one(log_n)

    def needed(share: float) -> float:
        eta = min(share * room, math.pi - radius)
        return (log_others - math.log(room * (1.0 - share))) / _cos_drop(radius, eta)

    found = minimize_scalar(needed, bounds=(1e-6, 1.0 - 1e-9), method="bounded", options={"xatol": 1e-10})
    return max(float(found.fun), 0.0)


def _nearest_radius(problem: Problem, goal: float, concentration: float) -> float:
    """Return the largest covering radius from which 4.4 (nearest) promises goal < pi, 0 if none does.

    rho + eta is best at the v < goal where -lambda cos v + log(goal - v) is largest, whatever rho is. N points then do
    if rho <= T(N), with lambda (cos T - cos v) = log(pi (N-1)/(goal - v)). From above, rho <- T(N(rho)) falls to the
    largest such rho and never passes it, also where N(rho) has jumps.
    """
    rest = _room_beyond(goal, concentration)
    if rest == 0.0:
        return 0.0
    outer, log_rest = goal - rest, math.log(rest)

    def allowed(radius: float) -> tuple[float, bool]:
        cover = covering_bound(radius, problem.dim, problem.covering)
        if not math.isfinite(cover.log):
            return 0.0, False
        spent = (_LOG_PI + log_less_one(cover.log) - log_rest) / (2.0 * concentration)
        square = math.sin(0.5 * outer) ** 2 - spent
        return min(2.0 * math.asin(math.sqrt(square)), outer) if square > 0.0 else 0.0, cover.whole

    radius = outer
    for _ in range(100):
        new, whole = allowed(radius)
        if new >= radius or new == 0.0:
            return min(new, radius)
        if not whole:
            break
        radius = new

    def excess(log_radius: float) -> float:
        there = math.exp(log_radius)
        return math.log(there) - math.log(max(allowed(there)[0], 1e-300))

    # lambda cos rho + log N(rho) is least near lambda sin^2 rho = m cos rho; below it the sign of the excess turns
    least = math.log(radius) - 5.0
    found, _ = increasing_root(excess, math.log(new), 1.0, least, math.log(radius))
    return math.exp(found) if excess(found) <= 1e-12 else 0.0


def _room_beyond(goal: float, concentration: float) -> float:
    """Return the least d = goal - v > 0 with lambda d sin(goal - d) = 1, 0 where there is none."""
    widest = float(brentq(lambda d: math.sin(goal - d) - d * math.cos(goal - d), 0.0, goal, xtol=1e-300, rtol=1e-15))
    if concentration * widest * math.sin(goal - widest) <= 1.0:
        return 0.0
    return float(brentq(lambda d: concentration * d * math.sin(goal - d) - 1.0, 0.0, widest, xtol=1e-300, rtol=1e-15))


def log_less_one(log_n: float) -> float:
    """Return log(N - 1) from log N > 0."""
    return log_n + math.log(-math.expm1(-log_n))
