"""The library's own theorems: errors and prefix lengths for Lipschitz targets, without the thesis's constants.

Numbers such as 4.3 are the sections of docs/theorems.md, where each statement is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar

from spherapprox.special import cap_angle, log_cap_measure
from spherapprox.vmf import VonMisesFisher

from ._bound import Bound, Hypothesis
from ._problem import Problem
from .covering import covering_bound

_WIDEST = 18.0
"""How far above Lambda_sharp, and above dim, a free concentration is looked for, in its natural logarithm."""

LogError = Callable[[float, float], float]
"""(concentration, radius) -> log of an error bound, increasing in the radius."""


def concentration_needed(eps: float, dim: int, lipschitz: float) -> float:
    """4.1: the lambda with L E[theta] = eps, from which ``|f - K * f| <= eps`` for every L-Lipschitz f; sharp."""
    goal = eps / lipschitz
    if goal >= math.pi / 2.0:  # E[theta] = pi/2 at lambda = 0
        return 0.0

    def excess(log_lambda: float) -> float:
        return math.log(VonMisesFisher(dim, math.exp(log_lambda)).mean_angle() / goal)

    # E[theta] is about sqrt(m/lambda): a first guess, widened until it brackets
    high = math.log(dim) + 2.0 * math.log(math.pi / (2.0 * goal)) + 0.1
    while excess(high) > 0.0:
        high += 1.0
    low = high - 3.0
    while excess(low) < 0.0:
        low -= 3.0
        if low < -690.0:
            return 0.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15)))


def convolution_error(concentration: float, dim: int, lipschitz: float, exponent: float = 1.0) -> float:
    """4.1: sup of ``|f - K * f|`` over all f with modulus L t^exponent, equal to L E[theta^exponent]."""
    return lipschitz * float(VonMisesFisher(dim, concentration).mean_angle(exponent))


def core_error(
    concentration: float, radius: float, dim: int, lipschitz: float, sup_norm: float, exponent: float = 1.0
) -> float:
    """4.3: L E[theta] + L rho + F D(lambda, rho) for a core head whose cells lie within rho of their points."""
    kernel = VonMisesFisher(dim, concentration)
    smooth = lipschitz * (float(kernel.mean_angle(exponent)) + math.pow(radius, exponent))
    return smooth + sup_norm * float(kernel.shift_variation(radius))


def log_mean_error(concentration: float, radius: float, dim: int) -> float:
    """4.4 (mean): log of the bound on W for a split head on equal-measure cells within rho of their centres."""
    return float(VonMisesFisher(dim, concentration).shifted_mean_angle(radius, log=True))


def log_nearest_error(concentration: float, radius: float, log_n: float) -> float:
    """4.4 (nearest): log of W <= rho + eta + pi (N-1) exp(-lambda (cos rho - cos(rho+eta))), with the best eta > 0."""
    if log_n <= 0.0:
        return math.log(radius)
    log_others = math.log(math.pi) + _log_less_one(log_n)

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


def lower_radius(n: float, dim: int) -> float:
    """4.5: rho_N with N sigma(C(rho_N)) = 1."""
    return float(cap_angle(dim, -math.log(n)))


def _largest_radius(error: LogError, concentration: float, log_goal: float, top: float) -> float:
    """Return the largest radius <= top at which the error stays within its goal, 0 where none does."""

    def excess(log_radius: float) -> float:
        return error(concentration, math.exp(log_radius)) - log_goal

    high = math.log(top)
    if excess(high) <= 0.0:
        return top
    low, step = high - 2.0, 2.0
    while excess(low) > 0.0:
        high, step = low, 2.0 * step
        low -= step
        if low < math.log(top) - 600.0:
            return 0.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)))


def _best_radius(
    error: LogError, log_goal: float, top: float, needed: float, fixed: float | None, dim: int
) -> tuple[float, float]:
    """Return (concentration, radius): the largest radius over all concentrations, or at the fixed one."""
    if fixed is not None:
        return fixed, _largest_radius(error, fixed, log_goal, top)
    low = math.log(needed) + 1e-3 if needed > 0.0 else math.log(1e-3 * dim)
    high = max(low, math.log(dim)) + _WIDEST

    def loss(log_concentration: float) -> float:
        radius = _largest_radius(error, math.exp(log_concentration), log_goal, top)
        return -math.log(radius) if radius > 0.0 else 1e3

    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
    concentration = math.exp(float(found.x))
    radius = _largest_radius(error, concentration, log_goal, top)
    uniform = _largest_radius(error, 0.0, log_goal, top) if needed == 0.0 else 0.0
    return (concentration, radius) if radius > uniform else (0.0, uniform)


def _accuracy(needed: float, concentration: float) -> Hypothesis:
    return Hypothesis(f"concentration > {needed:.6g}", concentration > needed or needed == 0.0)


def core(problem: Problem) -> Bound:
    """4.3: the core head on any partition whose cells lie within rho of their points; N from a cover at rho."""
    dim, lip, sup = problem.dim, problem.lipschitz, problem.sup_norm
    needed = concentration_needed(problem.eps, dim, lip)

    def error(concentration: float, radius: float) -> float:
        return math.log(core_error(concentration, radius, dim, lip, sup))

    top = min(problem.eps / lip, math.pi)
    concentration, radius = _best_radius(error, math.log(problem.eps), top, needed, problem.concentration, dim)
    return _from_cover(problem, "sharp-core", "4.3", concentration, radius, _accuracy(needed, concentration))


def split_mean(problem: Problem) -> Bound:
    """4.4 (mean): the split head on equal-measure cells; N >= 1/sigma(C(rho/6)) of them exist within rho."""
    dim = problem.dim
    needed = concentration_needed(problem.eps, dim, problem.lipschitz)
    top = min(problem.eps / problem.lipschitz, math.pi)

    def error(concentration: float, radius: float) -> float:
        return log_mean_error(concentration, radius, dim)

    log_goal = math.log(problem.eps / problem.lipschitz)
    concentration, radius = _best_radius(error, log_goal, top, needed, problem.concentration, dim)
    hypotheses = (_accuracy(needed, concentration), Hypothesis("cells of equal measure", True))
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
    return _from_cover(problem, "sharp-split-nearest", "4.4 (nearest)", concentration, radius, enough)


def nearest_concentration(radius: float, room: float, log_n: float) -> float:
    """Return the smallest lambda at which 4.4 (nearest) promises W <= radius + room for N points, with the best eta."""
    if log_n <= 0.0:  # one point
        return 0.0
    if room <= 0.0:
        return math.inf
    log_others = math.log(math.pi) + _log_less_one(log_n)

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


def _log_less_one(log_n: float) -> float:
    """Return log(N - 1) from log N > 0."""
    return log_n + math.log(-math.expm1(-log_n))


def _from_cover(
    problem: Problem, theorem: str, section: str, concentration: float, radius: float, *hypotheses: Hypothesis
) -> Bound:
    """Turn an allowed covering radius into a prefix length."""
    log, reference = math.inf, f"docs/theorems.md, {section}"
    if radius > 0.0:
        cover = covering_bound(radius, problem.dim, problem.covering)
        log = cover.log
        hypotheses += cover.hypotheses
        reference += f", {cover.theorem} cover"
    return Bound("prefix length", log, "upper", theorem, reference, hypotheses, concentration, radius)


def lower(problem: Problem) -> Bound:
    """4.5: whatever uses only the values at N points needs N >= 1/sigma(C(eps/L)) for some L-Lipschitz target."""
    radius = problem.eps / problem.lipschitz
    log = -float(log_cap_measure(problem.dim, min(radius, math.pi)))
    below = Hypothesis("eps < sup_norm", problem.eps < problem.sup_norm)
    return Bound("prefix length", log, "lower", "lower", "docs/theorems.md, 4.5", (below,), None, radius)
