"""One fit from one start: squares, values within bounds, the largest error, and its polish."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._types import Float64
from ..fitting.descent import least_squares
from ..fitting.projection import Samples, Stop, never
from ..fitting.sup import Judge, minimax
from ..fitting.tokens import Tokens

STEPS = 60
"""Levenberg and Marquardt's steps of a fit, at most."""
_PROMISING, _NEARLY = 1.8, 1.25
"""Errors over eps up to which Lawson's weights, and a polish, are worth their time."""
_RIDGES = 10.0 ** np.arange(-12.0, -3.5)
"""Ridges that are tried for tokens that are rounded."""
_LARGEST_RIDGE, _BISECTIONS = 1e-2, 7
_ROUNDS, _FIRST_STEP, _LAST_STEP = 15, 0.05, 1e-5
"""Linear programs, and the longest steps that the first and the last allow."""
_SHARE, _ROWS = 0.5, 6
"""Share of the largest error from which on samples are in a program, and their number for each unknown, at most."""
_SMALL_GAIN = 1e-3


@dataclass(frozen=True)
class Goal:
    """The goal of a search: a function (n, d) -> (n, p), the error, the kind of tokens, and how much work it may do.

    Function, error and values are divided by the target's size.
    """

    function: Callable[[Float64], Float64]
    dim: int
    eps: float
    normalize: bool
    unit: bool
    ridge: float
    max_tokens: int
    starts: int
    seed: int
    norm: str = "sup"
    value_bound: float = math.inf
    dtype: str | None = None
    size: float = 1.0
    polish: bool = False
    deadline: float = math.inf

    @property
    def family(self) -> str:
        """The family of the heads."""
        return "split" if self.normalize else "core"


@dataclass(frozen=True)
class Candidate:
    """The best tokens of one length, the ridge on their values, their error, and how they came about.

    `at` is where the error was seen, if this was between the samples.
    """

    tokens: Tokens
    ridge: float
    error: float = math.inf
    start: str = ""
    starts: int = 0
    seconds: float = 0.0
    at: Float64 | None = None


def fit_candidate(name: str, start: Tokens, judge: Judge, *, goal: Goal, stop: Stop) -> Candidate:
    """Fit tokens from a start."""
    tokens = least_squares(start, judge.fit, goal.ridge, steps=STEPS, stop=stop)
    tokens, ridge = _bound_values(tokens, judge, goal.ridge, stop=stop)
    candidate = Candidate(tokens, ridge, judge(tokens, ridge), start=name)
    return lower_error(candidate, judge, goal, promising=_PROMISING, stop=stop)


def lower_error(candidate: Candidate, judge: Judge, goal: Goal, *, promising: float, stop: Stop) -> Candidate:
    """Lower the largest error of tokens, if it is within a factor `promising` of eps, and still above it."""
    tokens, ridge, error = candidate.tokens, candidate.ridge, candidate.error
    if judge.norm == "sup" and goal.eps < error < promising * goal.eps:
        tokens, error = minimax(tokens, judge, ridge, stop=stop)
        if goal.polish and judge.fit.y.shape[1] == 1 and goal.eps < error < _NEARLY * goal.eps:
            tokens, error = polish_tokens(tokens, judge, ridge, stop=stop)
    return Candidate(tokens, ridge, error, start=candidate.start, starts=candidate.starts, seconds=candidate.seconds)


def _bound_values(tokens: Tokens, judge: Judge, ridge: float, *, stop: Stop) -> tuple[Tokens, float]:
    """Return the tokens, and the ridge, with values within the judge's bound and of least error once rounded."""
    if np.abs(tokens.values).max() > judge.value_bound:
        low, high = math.log10(max(ridge, 1e-16)), math.log10(_LARGEST_RIDGE)
        best = None
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            trial = least_squares(tokens, judge.fit, 10.0**middle, steps=STEPS, stop=stop)
            if np.abs(trial.values).max() <= judge.value_bound:
                best, high = (trial, 10.0**middle), middle
            else:
                low = middle
        tokens, ridge = best or (tokens, ridge)
    if judge.dtype is None:
        return tokens, ridge
    trial, trials = tokens, [(judge(tokens, ridge), tokens, ridge)]
    for larger in _RIDGES[ridge < _RIDGES]:
        trial = least_squares(trial, judge.fit, float(larger), steps=STEPS, stop=stop)
        trials.append((judge(trial, float(larger)), trial, float(larger)))
    return min(trials, key=lambda trial: trial[0])[1:]


def polish_tokens(tokens: Tokens, judge: Judge, ridge: float, *, stop: Stop = never) -> tuple[Tokens, float]:
    """Lower the largest error of tokens with scalar values; return it at the checked samples, too."""
    best, least, samples = tokens, judge(tokens, ridge), judge.checked
    length, residuals = _FIRST_STEP, (samples.y - tokens(samples.x))[:, 0]
    for _ in range(_ROUNDS):
        step = _take_step(tokens, samples, residuals, length=length)
        if step is None:
            length /= 4.0
            continue
        stepped, promised = step
        ahead, before = (samples.y - stepped(samples.x))[:, 0], float(np.abs(residuals).max())
        gain = before - float(np.abs(ahead).max())
        if not gain > 0.0:
            length /= 4.0
        else:
            ratio = gain / max(before - promised, 1e-300)
            tokens, residuals = stepped, ahead
            length *= 2.0 if ratio > 0.5 else 1.0 if ratio > 0.2 else 0.5
            error = judge(tokens, ridge)
            if error < least:
                best, least = tokens, error
            if gain < _SMALL_GAIN * before and ratio > 0.2:
                break
        if length < _LAST_STEP or stop():
            break
    return best, least


def _take_step(tokens: Tokens, samples: Samples, residuals: Float64, *, length: float) -> tuple[Tokens, float] | None:
    """Return tokens a step further, within boxes, of least linearised largest error, and that error."""
    from scipy.optimize import linprog

    n, keys, sizes = len(tokens), tokens.parameters, np.abs(residuals)
    rows = np.flatnonzero(sizes > _SHARE * sizes.max())
    count = _ROWS * (keys + n)
    rows = rows if len(rows) <= count else rows[np.argsort(-sizes[rows], kind="stable")[:count]]
    x, r = samples.x[rows], residuals[rows]
    weights = tokens.matrix(x)
    slopes = np.concatenate([tokens.jacobian(x, weights, 0), weights], axis=1)
    largest = -np.ones((len(rows), 1))
    values = np.abs(tokens.values[:, 0])
    room = np.concatenate([
        np.full(keys, length * (1.0 if tokens.unit else tokens.concentration)), length * (4.0 * values + values.max())
    ])  # fmt: skip
    bounds = np.concatenate([np.stack([-room, room], axis=1), [[0.0, np.inf]]])
    program = linprog(
        np.append(np.zeros(keys + n), 1.0), np.block([[-slopes, largest], [slopes, largest]]),
        np.concatenate([-r, r]), bounds=bounds, method="highs-ds",
    )  # fmt: skip
    if program.x is None:
        return None
    stepped = tokens.move(program.x[:keys])
    return replace(stepped, values=tokens.values + program.x[keys:-1, None]), float(program.x[-1])
