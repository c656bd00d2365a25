"""Fits of tokens to a problem: L-BFGS with the values eliminated, Levenberg and Marquardt's steps, Lawson's weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...._types import Indices
from ....fitting.descent import descend_keys
from ....fitting.projection import Samples, Stop, fit_tokens, solve_values
from ....fitting.tokens import Tokens
from .problem import Errors, Problem
from .selection import ENTRIES

_TOLERANCE = 1e-12
"""Relative gain at which iterations of L-BFGS end."""
_OPERATIONS, _STEPS = 1e9, 60
"""Operations up to which Levenberg and Marquardt's steps are worth their time, and how many there are."""
_RIDGE = 1e-5
"""The ridge on the values over the squares of the start: fits are hardly worse, and values do not drift."""
_ROUND, _LEAST = 25, 1e-3
"""Iterations in a round of Lawson's weights, and the share by which even queries without an error keep weight."""
_WORK, _MEANS = 4e10, 0.1
"""Operations for each start that is asked for, one or two seconds of a core, and the part of them that means take."""
_ENTRY, _SHRINKING, _LEAST_BRIEF = 80.0, 8, 20
"""Operations for each entry of the matrix, beside products; iterations that a start stands for, and least ones from it.
"""
_PURSUIT, _PASSES, _MASS, _SOLUTIONS = 0.15, 16, 8.0, 15
"""Part of the operations that the pursuit takes at most, its passes over all masses at first and for each e-fold of
tokens, operations that a mass in memory stands for, and factorisations of all tokens that its solutions come to."""
_HOPELESS, _PROMISING = 20.0, 2.5
"""Errors over the one asked for beyond which a brief fit is not continued, and the largest one is not lowered."""


@dataclass(frozen=True)
class Fit:
    """Tokens that were fitted, the ridge of their values, their errors, what they started from, which ones they are."""

    tokens: Tokens
    ridge: float
    errors: Errors
    start: str
    indices: Indices | None = None


@dataclass(frozen=True)
class Effort:
    """What a fit of one length may take: the pursuit, starts, rounds of means, L-BFGS' iterations, Lawson's rounds."""

    pursuit: bool
    starts: int
    clusters: int
    brief: int
    long: int
    lawson: int

    @classmethod
    def of(cls, problem: Problem, length: int, starts: int) -> Effort:
        """Return what so many starts are worth: where the work allows, 100 iterations from each, 500 from the best."""
        (m, d), (n, p) = problem.samples.x.shape, problem.value.shape
        work = starts * _WORK
        count = work / (m * length * (6.0 * d + 6.0 * p + length + _ENTRY) + length**3 / 3.0)
        share = 0.4 * count
        taken = min(max(int(share / (_SHRINKING + _LEAST_BRIEF)), count > 2 * _SHRINKING), starts)
        clusters = int(_MEANS * work / max(taken, 1) / (2.0 * n * length * d))
        brief = min(int(share / max(taken, 1)) - _SHRINKING, 100)
        rows = min(m, max(ENTRIES // n, 1))
        passes = _PASSES * (1.0 + math.log(max(length / _PASSES, 1.0)))
        sums = rows * (_MASS * n * passes + 2.0 * length**2)
        pursuit = sums + _SOLUTIONS * length**3 / 3.0 < _PURSUIT * work
        return cls(
            pursuit,
            taken,
            min(max(clusters, 1), 30),
            max(brief, 1),
            min(int(share), 500),
            min(int(0.2 * count / _ROUND), 12),
        )


def refine(tokens: Tokens, samples: Samples, ridge: float, iterations: int, steps: int, stop: Stop) -> Tokens:
    """Return tokens at a local minimum of the squares, or near one if they are many or it is stopped."""
    tokens = descend_keys(tokens, samples, ridge, steps=iterations, tolerance=_TOLERANCE, stop=stop)
    # a step costs one product of Jacobians, for each output a part of one, and a factorisation
    products = len(samples.x) * (1.0 + 2.0 * samples.y.shape[1] / samples.x.shape[1])
    operations = tokens.parameters**2 * (products + tokens.parameters / 3.0)
    return tokens if stop() or operations > _OPERATIONS else fit_tokens(tokens, samples, ridge, steps=steps, stop=stop)


def fit_briefly(problem: Problem, tokens: Tokens, start: str, steps: int, stop: Stop) -> Fit:
    """Return a brief fit from one start."""
    ridge = _RIDGE * solve_values(tokens, problem.samples, 1e-12).square
    tokens = descend_keys(tokens, problem.samples, ridge, steps=steps, tolerance=_TOLERANCE, stop=stop)
    return Fit(tokens, ridge, problem.errors(tokens), start=start)


def fit_fully(problem: Problem, fits: Iterable[Fit], effort: Effort, norm: str, enough: float, stop: Stop) -> Fit:
    """Return the best of brief fits after a long one, and with the largest error lowered if that is the norm.

    What cannot come down to an error that is small enough is left as it is.
    """
    mass = problem.samples.mass
    best = min(fits, key=lambda fit: fit.errors.measure("rms", mass))
    if stop() or best.errors.measure("rms", mass) > _HOPELESS * enough > 0.0:
        return best
    tokens = refine(best.tokens, problem.samples, best.ridge, iterations=effort.long, steps=_STEPS, stop=stop)
    if not mass > 0.0:
        tokens = problem.align(tokens)
    best = replace(best, tokens=tokens, errors=problem.errors(tokens))
    far = best.errors.measure("sup", mass) > _PROMISING * enough > 0.0
    return best if norm == "rms" or far else minimax(problem, best, enough, rounds=effort.lawson, stop=stop)


def minimax(problem: Problem, best: Fit, enough: float, rounds: int, stop: Stop) -> Fit:
    """Lower the largest error until it is small enough, by squares with Lawson's weights."""
    samples, tokens, mass = problem.samples, best.tokens, problem.samples.mass
    for _ in range(rounds):
        if stop() or best.errors.measure("sup", mass) <= enough:
            break
        squares, mass_squares = problem.squares(tokens)
        size = np.sqrt(squares + mass**2 * mass_squares)
        weights = samples.weights * (size / max(float(size.max()), 1e-300) + _LEAST)
        samples = replace(samples, weights=weights / weights.mean())
        tokens = refine(tokens, samples, best.ridge, iterations=_ROUND, steps=2, stop=stop)
        if not mass > 0.0:
            tokens = problem.align(tokens)
        errors = problem.errors(tokens)
        if errors.measure("sup", mass) < best.errors.measure("sup", mass):
            best = replace(best, tokens=tokens, errors=errors)
    return best
