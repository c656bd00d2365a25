"""The split head on any points with a covering radius: docs/theorems/4.4-split-head.md (nearest)."""

from __future__ import annotations

import math

from scipy.optimize import brentq, minimize_scalar

from ..covering import covering_bound
from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Curve, Prefix, Promise, Theorem
from ._search import from_cover, increasing_root, least_error, log_goal, log_sum, too_fine
from ._split_head import LOG_PI, log_error, one_point
from .requirements import COVER


def log_nearest_error(concentration: float, radius: float, log_n: float) -> float:
    """Bound log W by rho + eta + pi (N-1) e^(-lambda (cos rho - cos(rho+eta))) at the best eta > 0 (4.4, nearest)."""
    if log_n <= 0.0:
        return math.log(radius)
    log_others = LOG_PI + log_less_one(log_n)

    def log_excess(log_eta: float) -> float:
        return log_sum(log_eta, log_others - concentration * _cos_drop(radius, math.exp(log_eta)))

    top = math.pi - radius
    if top <= 0.0:
        return LOG_PI
    widest = math.log(top)
    bounds = (min(math.log(radius), widest) - 45.0, widest)
    minimum = minimize_scalar(log_excess, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    return min(log_sum(math.log(radius), float(minimum.fun)), LOG_PI)


def _cos_drop(radius: float, eta: float) -> float:
    """Return cos(rho) - cos(rho + eta) as a product (4.4, nearest)."""
    return 2.0 * math.sin(radius + 0.5 * eta) * math.sin(0.5 * eta)


def split_nearest(problem: Problem) -> Bound:
    """Bound the prefix length of 4.4 (nearest): a covering number at rho < (eps/L)^(1/alpha)."""
    if log_goal(problem) >= LOG_PI:
        return one_point(problem, THEOREM)
    if (hypothesis := too_fine(problem)) is not None:
        return from_cover(problem, THEOREM, 0.0, 0.0, hypothesis)
    goal = math.exp(log_goal(problem))
    if problem.concentration is None:
        radius = (1.0 - problem.slack) * goal
        log_n = covering_bound(radius, problem.dim, problem.covering).log
        concentration = nearest_concentration(radius, problem.slack * goal, log_n)
    else:
        concentration = problem.concentration
        radius = _nearest_radius(problem, goal, concentration)
    enough = Hypothesis("a large enough concentration", radius > 0.0)
    return from_cover(problem, THEOREM, concentration, radius, enough)


def nearest_concentration(radius: float, room: float, log_n: float) -> float:
    """Minimise lambda over eta, subject to W <= radius + room for N points (4.4, nearest)."""
    if log_n <= 0.0:  # one point
        return 0.0
    if room <= 0.0:
        return math.inf
    log_others = LOG_PI + log_less_one(log_n)

    def concentration(share: float) -> float:
        eta = min(share * room, math.pi - radius)
        return (log_others - math.log(room * (1.0 - share))) / _cos_drop(radius, eta)

    minimum = minimize_scalar(concentration, bounds=(1e-6, 1.0 - 1e-9), method="bounded", options={"xatol": 1e-10})
    return max(float(minimum.fun), 0.0)


def _nearest_radius(problem: Problem, goal: float, concentration: float) -> float:
    """Return the largest covering radius with W <= goal < pi (4.4, nearest), 0 for none.

    rho + eta is best at the v < goal where -lambda cos v + log(goal - v) is largest, whatever rho is. N points then do
    if rho <= T(N), with lambda (cos T - cos v) = log(pi (N-1)/(goal - v)). From above, rho <- T(N(rho)) falls to the
    largest such rho and never passes it, also where N(rho) has jumps.
    """
    # Step 1: v, the last maximum of log(goal - v) - lambda cos v
    room = _room_beyond(goal, concentration)
    if room == 0.0:
        return 0.0
    outer, log_room = goal - room, math.log(room)

    def allowed(radius: float) -> tuple[float, bool]:
        cover = covering_bound(radius, problem.dim, problem.covering)
        if not math.isfinite(cover.log):
            return 0.0, False
        spent = (LOG_PI + log_less_one(cover.log) - log_room) / (2.0 * concentration)
        square = math.sin(0.5 * outer) ** 2 - spent
        return min(2.0 * math.asin(math.sqrt(square)), outer) if square > 0.0 else 0.0, cover.whole

    # Step 2: rho <- T(N(rho)) from v, while N jumps
    radius = outer
    for _ in range(100):
        new, is_whole = allowed(radius)
        if new >= radius or new == 0.0:
            return min(new, radius)
        if not is_whole:
            break
        radius = new

    def excess(log_radius: float) -> float:
        there = math.exp(log_radius)
        return math.log(there) - math.log(max(allowed(there)[0], 1e-300))

    # Step 3: the root of rho = T(N(rho)) where N is smooth:
    # lambda cos rho + log N(rho) is least near lambda sin^2 rho = m cos rho; below it the sign of the excess turns
    least = math.log(radius) - 5.0
    root, _ = increasing_root(excess, math.log(new), 1.0, low=least, high=math.log(radius))
    return math.exp(root) if excess(root) <= 1e-12 else 0.0


def _room_beyond(goal: float, concentration: float) -> float:
    """Return the least root d = goal - v > 0 of lambda d sin(goal - d) = 1, 0 for none (4.4, nearest)."""
    widest = float(brentq(lambda d: math.sin(goal - d) - d * math.cos(goal - d), 0.0, goal, xtol=1e-300, rtol=1e-15))
    if concentration * widest * math.sin(goal - widest) <= 1.0:
        return 0.0
    return float(brentq(lambda d: concentration * d * math.sin(goal - d) - 1.0, 0.0, widest, xtol=1e-300, rtol=1e-15))


def log_less_one(log_n: float) -> float:
    """Return log(N - 1) from log N > 0."""
    return log_n + math.log(-math.expm1(-log_n))


def _error(problem: Problem, prefix: Prefix) -> Promise:
    log_w = log_nearest_error(problem.fixed_concentration, prefix.radius, math.log(prefix.n))
    return log_error(problem, log_w), ()


def least_concentration(problem: Problem, prefix: Prefix, log_error: Curve) -> float:
    """Return the least concentration with W <= (1 + slack) rho; from rho = pi on, that of the least error."""
    if prefix.radius < math.pi:
        room = min(problem.slack * prefix.radius, math.pi - prefix.radius)
        return nearest_concentration(prefix.radius, room, math.log(prefix.n))
    return least_error(problem, prefix, log_error)


THEOREM = Theorem(
    "sharp-split-nearest", "docs/theorems/4.4-split-head.md (nearest)",
    "split head on any points with a covering radius",
    head="split", count=split_nearest, constants=("lipschitz",), options=("concentration", "covering", "slack"),
    joins="sharp-split", error=_error, needs=("lipschitz", "concentration", "radius", "n"), uses=("sup_norm",),
    requires=COVER, free_concentration=least_concentration,
)  # fmt: skip
