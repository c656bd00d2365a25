"""The split head on random points, bare or with fill points in their gaps: docs/theorems/4.F-random-points.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..records.bound import Bound, Hypothesis
from ..records.problem import Problem
from ..records.theorem import Theorem
from ._integrals import Excess, log_total
from ._search import accuracy, log_sum
from ._split_head import extreme, moderate_concentration
from ._window import NO_RATE, Rate, Window, log_net
from .convolution import concentration_needed
from .equal import log_balance

_RATIO = 1.3  # eta is w times a power of this: a finite choice, so that N stays monotone to the last digit
FAILURE = 1e-3  # chance of an outcome that fill points cannot mend (tuned: it hardly matters)
_SHARPEST = 1e10  # lambda w^2/m from which s may be any that is small: P does not change, and Q is next to nothing
_FILLED_DIM = 32  # beyond, fill points disturb each other more than they spare (tuned)


class Choice(NamedTuple):
    """Parameters of 4.F and the log of the prefix length that they give."""

    log: float
    window: Window
    log_s: float


class Fill(NamedTuple):
    """The cost of fill points: their distance delta, log of s H, its growth with log s, and log X of 4.F."""

    delta: float
    log_harm: float
    growth: float
    log_x: float
    allowed: bool


def fill(window: Window, log_s: float, log_rate: float) -> Fill:
    """Return the largest delta with q <= `FAILURE` and its cost (4.F, filled), at 2 eta if it is smaller."""
    excess, eta = window.excess, window.eta
    # Step 1: delta, from s (w - delta) k(delta) = log(N(eta) sigma(C(eta)) / (q (-log M)))
    widest = eta + window.reach(_log_stakes(window, log_rate) - log_s)
    delta = max(widest, 2.0 * eta)
    # Step 2: s H
    logs = excess.log_integrals([*excess.positive(0.5 * delta), excess.cap(0.5 * delta)])
    log_harm = log_s + log_total(logs[:-1]) - float(logs[-1])
    m, w = excess.dim, excess.threshold  # with s delta grows too, and fewer fill points have room: about
    slower = m * (1.0 / delta - 1.0 / (2.0 * w + delta))
    slower /= excess.concentration * math.sin(delta) + 1.0 / max(w - delta, 1e-16 * w)
    # Step 3: X = e^(sH) (-log M) / ((1 - q) sigma(C(eta)))
    log_x = math.exp(min(log_harm, 300.0)) + log_rate - window.log_ball - math.log1p(-FAILURE)
    return Fill(delta, log_harm, max(1.0 - slower, 0.1), log_x=log_x, allowed=widest >= 2.0 * eta * (1.0 - 1e-12))


def _log_stakes(window: Window, log_rate: float) -> float:
    """Return the log of s (w-delta) k(delta) that makes q of 4.F equal to `FAILURE`."""
    return math.log(max(window.log_net + window.log_ball - log_rate - math.log(FAILURE), 1.0))


def log_filled(log_x: float, log_rate: float) -> float:
    """Return log(1 + (1 + log X)/(-log M)) (4.F, filled)."""
    return log_sum(0.0, math.log1p(max(log_x, 0.0)) - log_rate)


def log_bare(window: Window, log_rate: float, failure: float = 1.0) -> float:
    """Return log(1 + (log N(eta) + log(1/failure))/(-log M)) (4.F, bare)."""
    return log_sum(0.0, math.log(window.log_net - math.log(failure)) - log_rate)


def _best_s(window: Window, log_s: float, harm: Callable[[float, Rate], float], tolerance: float) -> tuple[float, Rate]:
    """Solve dP/dlog s = dQ/dlog s + harm for s by secants from a guess; return log s and the rate there (4.F).

    The quotient of the two sides is nearly linear in s, and at s = 0 it is E g_+ / E g_-: from 1 on, no s will do.
    """
    if sharpness(window.excess) > _SHARPEST:
        return log_s, window.rate(log_s)
    last, value = 0.0, 0.0  # s in units of the guess, and the quotient there
    if sharpness(window.excess) < 8.0:  # else it starts from next to nothing
        value = math.exp(min(log_balance(window.excess, window.eta), 1.0))
        if value >= 1.0:
            return log_s, NO_RATE
    s, low, high = 1.0, 0.0, math.inf
    for _ in range(60):
        log_trial = log_s + math.log(s)
        rate = window.rate(log_trial)
        quotient = math.exp(min(log_sum(rate.slope_q, harm(log_trial, rate)) - rate.slope_p, 50.0))
        if abs(quotient - 1.0) < tolerance:
            break
        low, high = (low, s) if quotient > 1.0 else (s, high)
        slope = (quotient - value) / (s - last)
        new = s + (1.0 - quotient) / slope if slope > 0.0 else math.inf
        last, value = s, quotient
        s = min(max(new, 1e-3 * s), 1e3 * s)
        if not low < s < high:
            s = math.sqrt(max(low, 1e-3 * high) * high) if high < math.inf else 10.0 * low
        if abs(s - last) <= 0.01 * tolerance * s:
            break
    return log_trial, rate


def _bare(window: Window, log_s: float) -> Choice:
    log_s, rate = _best_s(window, log_s, lambda _log_s, _rate: -math.inf, tolerance=1e-5)
    return Choice(log_bare(window, rate.log), window, log_s)


def _filled(window: Window, log_s: float) -> Choice:
    def harm(log_s: float, rate: Rate) -> float:  # what s H adds to log X, weighed against -log M
        if rate.log == -math.inf:
            return -math.inf
        cost = fill(window, log_s, rate.log)
        return cost.log_harm + math.log(cost.growth) + rate.log_d - math.log(max(cost.log_x, 1.0))

    log_s, rate = _best_s(window, log_s, harm, tolerance=1e-7)
    for _ in range(20):
        if rate.log == -math.inf:
            break
        cost = fill(window, log_s, rate.log)
        if cost.allowed:
            return Choice(log_filled(cost.log_x, rate.log), window, log_s)
        log_s = _log_stakes(window, rate.log) - window.excess.log_value(2.0 * window.eta - window.excess.threshold)
        rate = window.rate(log_s)
    return Choice(math.inf, window, log_s)


def sharpness(excess: Excess) -> float:
    """Return lambda w^2/m, about 1 for a kernel of mean angle w."""
    return excess.concentration * excess.threshold**2 / excess.dim


def _walk(excess: Excess, kind: Callable[[Window, float], Choice], share: float, height: float) -> Choice:
    """Minimise the count over eta = w times powers of a ratio, downhill from guesses of eta/w and s phi(t1) (4.F).

    The guesses are for small w; near pi/2 caps no longer grow like w^m but with a lower power, about m w cot w.
    """
    choices: dict[int, Choice] = {}
    power = 1.0 + (excess.dim - 1.0) * excess.threshold / math.tan(excess.threshold)
    share *= excess.dim / max(power, math.sqrt(excess.dim))
    guess = math.log(height / (1.0 + sharpness(excess) / 40.0)) - excess.log_value(excess.rise)
    unit = math.log(_RATIO)
    top = math.floor(math.log(0.49) / unit)

    def at(i: int) -> Choice:
        if i not in choices:
            window = Window(excess, excess.threshold * math.exp(i * unit))
            near = min(choices.values(), key=lambda choice: abs(choice.window.eta - window.eta), default=None)
            choices[i] = kind(window, guess if near is None or near.log == math.inf else near.log_s)
        return choices[i]

    i, jump = min(round(math.log(share) / unit), top), 4
    while at(i).log == math.inf:  # a concentration that hardly suffices
        i, jump = i - jump, 2 * jump
        if i < -200:
            return at(i + jump // 2)
    step, moves = 1, 0
    while step:
        new = min((j for j in (i - step, min(i + step, top)) if j != i), key=lambda j: at(j).log)
        if at(new).log < at(i).log:
            i, moves = new, moves + 1
            step *= 2 if moves > 2 else 1
        else:
            step, moves = step // 2, 0
    return at(i)


def bare_points(concentration: float, threshold: float, dim: int, failure: float = 1.0) -> Choice:
    """Bound the number of uniform points with W <= threshold <= pi/2 with probability 1 - failure (4.F, bare)."""
    share = 0.9 / log_net(0.1 * threshold / dim, dim)
    choice = _walk(Excess(concentration, dim, threshold), _bare, share, height=0.08)
    rate = choice.window.rate(choice.log_s)
    return choice._replace(log=log_bare(choice.window, rate.log, failure))


def filled_points(concentration: float, threshold: float, dim: int) -> Choice:
    """Bound the number of random and fill points with W <= threshold <= pi/2 everywhere (4.F, filled)."""
    share = 0.35 / dim**1.2
    return _walk(Excess(concentration, dim, threshold), _filled, share, height=0.18 * math.exp(-dim))


def random(problem: Problem) -> Bound:
    """Bound the prefix length of 4.F: the fewer of bare and filled random points."""
    if bound := extreme(problem, THEOREM):
        return bound
    w, dim, concentration = problem.goal, problem.dim, moderate_concentration(problem)
    threshold = concentration_needed(w, dim, 1.0)
    log = math.inf
    constants: tuple[tuple[str, float], ...] = ()
    if concentration > threshold:
        sharp = concentration * w * w / dim
        kinds: list[Callable[[float, float, int], Choice]] = (
            [] if dim <= 4 and sharp >= 8.0 else [bare_points]
        )  # there fill points always save some (tuned)
        if dim <= _FILLED_DIM and sharp >= 3.0 * max(1.0, dim / 8.0):  # tuned alike
            kinds.append(filled_points)
        best = min((kind(concentration, w, dim) for kind in kinds), key=lambda choice: choice.log)
        log, constants = best.log, (("eta", best.window.eta), ("log_s", best.log_s))
    enough = Hypothesis("a large enough concentration", log < math.inf)
    return THEOREM.prefix_length(
        log, accuracy(threshold, concentration), enough, concentration=concentration, constants=constants
    )


THEOREM = Theorem(
    "sharp-split-random", "docs/theorems/4.F-random-points.md", "split head on random points",
    head="split", count=random, constants=("lipschitz",), options=("concentration",), joins="sharp-split",
)  # fmt: skip
