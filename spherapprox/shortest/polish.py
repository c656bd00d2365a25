"""The largest error at samples lowered by a sequence of linear programs, as Remez' algorithm does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._types import Float64
from ..fitting.projection import Samples, Stop, never
from ..fitting.sup import Judge
from ..fitting.tokens import Tokens

_ROUNDS, _FIRST_STEP, _LAST_STEP = 15, 0.05, 1e-5
"""Linear programs, and the longest steps that the first and the last allow."""
_SHARE, _ROWS = 0.5, 6
"""Share of the largest error from which on samples are in a program, and their number for each unknown, at most."""
_SMALL_GAIN = 1e-3


def polish_tokens(tokens: Tokens, judge: Judge, ridge: float, *, stop: Stop = never) -> tuple[Tokens, float]:
    """Lower the largest error of tokens with scalar values; return it at the checked samples, too."""
    best, least, samples = tokens, judge(tokens, ridge), judge.checked
    length, residuals = _FIRST_STEP, _residuals(tokens, samples)
    for _ in range(_ROUNDS):
        step = _take_step(tokens, samples, residuals, length=length)
        if step is None:
            length /= 4.0
            continue
        stepped, promised = step
        largest, before = _residuals(stepped, samples), float(np.abs(residuals).max())
        gain = before - float(np.abs(largest).max())
        if not gain > 0.0:
            length /= 4.0
        else:
            ratio = gain / max(before - promised, 1e-300)
            tokens, residuals = stepped, largest
            length *= 2.0 if ratio > 0.5 else 1.0 if ratio > 0.2 else 0.5
            error = judge(tokens, ridge)
            if error < least:
                best, least = tokens, error
            if gain < _SMALL_GAIN * before and ratio > 0.2:
                break
        if length < _LAST_STEP or stop():
            break
    return best, least


def _residuals(tokens: Tokens, samples: Samples) -> Float64:
    return np.asarray((samples.y - tokens(samples.x))[:, 0])


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
