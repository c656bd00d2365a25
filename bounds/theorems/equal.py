"""The split head on equal-measure cells, sharp in the cells' radius: docs/theorems/4.B-equal-measure.md."""

from __future__ import annotations

import math

from scipy.optimize import brentq

from spherapprox._integrals.zonal import HALF_PI

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Curve, Prefix, Promise, Theorem
from ._integrals import Excess, log_total, root_of_falling
from ._search import accuracy, least_error
from ._split_head import EQUAL_CELLS, equal_measure_radius, extreme, log_equal_cells, log_error, moderate_concentration
from .convolution import concentration_needed
from .mean import log_mean_error
from .requirements import CELLS


def log_balance(excess: Excess, radius: float) -> float:
    """Return the log of int g_+ / int g_-, g(u) the largest phi within `radius` of u; if <= 0, W <= w (4.B)."""
    negative = excess.negative(radius)
    logs = excess.log_integrals([*negative, *excess.positive(radius)])
    return log_total(logs[len(negative) :]) - log_total(logs[: len(negative)]) if negative else math.inf


def log_equal_error(concentration: float, radius: float, dim: int) -> float:
    """Return log W*, the root w of int max_{|t-u|<=rho} (t-w) k(t) dsigma(u) (4.B); beyond pi/2 by 4.4 (mean)."""
    mean = min(log_mean_error(concentration, radius, dim), math.log(math.pi))
    if radius >= HALF_PI:
        return mean

    def excess(gap: float) -> float:
        return log_balance(Excess(concentration, dim, radius + gap), radius)

    widest = HALF_PI - radius
    if excess(widest) > 0.0:
        return mean
    steepness = concentration * math.sin(radius) + math.sqrt(concentration * dim) + 1.0 / radius
    gap = root_of_falling(excess, min((dim + 3.0) / steepness, widest), steepness, low=1e-17 * radius, high=widest)
    return min(mean, math.log(radius + gap))


def sufficient_concentration(radius: float, goal: float, dim: int) -> float:
    """Return a concentration with W* <= goal, radius < goal <= pi/2 (4.B): W* falls to the radius as lambda grows."""

    def excess(log_concentration: float) -> float:
        return max(min(log_balance(Excess(math.exp(log_concentration), dim, goal), radius), 50.0), -50.0)

    low = math.log(dim) - 2.0 * math.log(goal)
    step = 4.0
    while excess(low + step) > 0.0:
        low, step = low + step, 2.0 * step
    return math.exp(float(brentq(excess, low, low + step, xtol=1e-6))) * (1.0 + 2e-6)


def equal(problem: Problem) -> Bound:
    """Bound the prefix length of 4.B: N >= 1/sigma(C(rho/6)) equal-measure cells exist within rho (dim 1: N arcs)."""
    if bound := extreme(problem, THEOREM):
        return bound
    w, dim, concentration = problem.goal, problem.dim, moderate_concentration(problem)
    threshold = concentration_needed(w, dim, 1.0)
    radius = _largest_radius(Excess(concentration, dim, w)) if concentration > threshold else 0.0
    enough = Hypothesis("a large enough concentration", radius > 0.0)
    hypotheses = (accuracy(threshold, concentration), enough, EQUAL_CELLS)
    log = log_equal_cells(radius, dim) if radius > 0.0 else math.inf
    return THEOREM.prefix_length(log, *hypotheses, concentration=concentration, radius=radius, whole=dim == 1)


def _largest_radius(excess: Excess) -> float:
    """Return the largest rho with W* <= w (4.B), 0 for none."""
    w, steepness = excess.threshold, excess.concentration * math.sin(excess.threshold)
    smallest = 1e-12 * w

    def surplus(gap: float) -> float:  # falls as rho = w - gap does
        return log_balance(excess, w - gap)

    if surplus(0.5 * w) <= 0.0:
        guess = max(min((excess.dim + 3.0) / steepness, 0.5 * w), 4e-16 * w)
        return w - root_of_falling(surplus, guess, steepness, low=4e-16 * w, high=0.5 * w)

    def deficit(radius: float) -> float:
        return -log_balance(excess, radius)

    if deficit(smallest) <= 0.0:
        return 0.0
    return root_of_falling(deficit, 0.4 * w, steepness, low=smallest, high=0.5 * w)


def _error(problem: Problem, prefix: Prefix) -> Promise:
    log_w = log_equal_error(problem.fixed_concentration, prefix.radius, problem.dim)
    return log_error(problem, log_w), (EQUAL_CELLS,)


def _free(problem: Problem, prefix: Prefix, log_error: Curve) -> float:
    """Return the least concentration with W* <= (1 + slack) rho; beyond pi/2, that of the least error."""
    radius, goal = prefix.radius, (1.0 + problem.slack) * prefix.radius
    if goal <= HALF_PI:
        return sufficient_concentration(radius, goal, problem.dim)
    return least_error(problem, prefix, log_error)


THEOREM = Theorem(
    "sharp-split-equal", "docs/theorems/4.B-equal-measure.md",
    "split head on equal-measure cells, the best that their radius allows",
    head="split", count=equal, constants=("lipschitz",), options=("concentration", "slack"), joins="sharp-split",
    error=_error, needs=("lipschitz", "concentration", "radius"), uses=("sup_norm",), requires=CELLS,
    radius=equal_measure_radius, measured="error", free_concentration=_free,
)  # fmt: skip
