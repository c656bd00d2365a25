"""Variable projection by L-BFGS, for so many parameters that Levenberg and Marquardt's equations take long."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from .._types import Float64
from .projection import Samples, Solution, Stop, fit_tokens, gradient, never, solve_values
from .tokens import Tokens

_FACTOR, _MEMORY = 10, 20
"""Steps that stand for one of Levenberg and Marquardt's, and those that are remembered."""
_OPERATIONS = 5e9
"""Operations up to which a step of Levenberg and Marquardt is worth its time: it takes far fewer of them."""


class _Interrupt(Exception):
    """A fit is no longer wanted."""


def least_squares(
    tokens: Tokens, samples: Samples, ridge: float, steps: int, *, stop: Stop = never, grain: float = 0.0
) -> Tokens:
    """Return tokens whose keys and values are a local minimum of the weighted squares, or near one.

    Where a step of Levenberg and Marquardt is worth its time, the steps end on the grid of a grain.
    """
    operations = float(len(samples.x)) * tokens.parameters**2 * samples.y.shape[1]
    if operations <= _OPERATIONS:
        return fit_tokens(tokens, samples, ridge, steps=steps, stop=stop, grain=grain)
    return descend_keys(tokens, samples, ridge, steps=_FACTOR * steps, stop=stop)


def descend_keys(
    tokens: Tokens, samples: Samples, ridge: float, steps: int, tolerance: float = 1e-7, *, stop: Stop = never
) -> Tokens:
    """Return tokens of less weighted squares, by L-BFGS over keys."""
    begin = solve_values(tokens, samples, ridge)
    if begin.square == 0.0:
        return begin.tokens
    best = [begin]

    def objective(parameters: Float64) -> tuple[float, Float64]:
        solution = solve_values(_tokens(parameters, tokens), samples, ridge)
        if solution.square < best[0].square:
            best[0] = solution
        if stop():
            raise _Interrupt
        return solution.square / begin.square, -2.0 / begin.square * _slope(parameters, solution, samples)

    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": _MEMORY, "ftol": tolerance, "gtol": 0.0}
    # free keys; or vectors along unit keys, and the logarithm of the concentration
    first = tokens.keys.ravel()
    if tokens.unit:
        first = np.append(tokens.keys / tokens.lengths[:, None], np.log(tokens.concentration))
    with suppress(_Interrupt):
        minimize(objective, first, jac=True, method="L-BFGS-B", options=options)
    return best[0].tokens


def _tokens(parameters: Float64, like: Tokens) -> Tokens:
    """Return the tokens of parameters, with other values."""
    if not like.unit:
        return Tokens(parameters.reshape(like.keys.shape), like.values, like.normalize, unit=False)
    b = parameters[:-1].reshape(like.keys.shape)
    length = np.exp(np.clip(parameters[-1], -40.0, 40.0)) / np.linalg.norm(b, axis=1, keepdims=True)
    return Tokens(length * b, like.values, like.normalize, unit=True)


def _slope(parameters: Float64, solution: Solution, samples: Samples) -> Float64:
    """Return minus half the derivative of the squares along the parameters."""
    slope = gradient(solution, samples)
    tokens = solution.tokens
    if not tokens.unit:
        return slope.ravel()
    b = parameters[:-1].reshape(tokens.keys.shape)
    lengths = np.linalg.norm(b, axis=1, keepdims=True)
    b = b / lengths
    along = np.einsum("kd,kd->k", slope, b)
    tangential = tokens.concentration / lengths * (slope - along[:, None] * b)
    return np.append(tangential, tokens.concentration * along.sum())
