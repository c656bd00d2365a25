"""The errors of tokens at samples, as they are to be stored, and the weights of Lawson that lower the largest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .._types import Float64
from .descent import least_squares
from .projection import Samples, Stop, never, solve_values
from .tokens import Tokens

LARGEST = {"float16": 65504.0, "bfloat16": 255.0 * 2.0**120}
"""Types of 16 bits that prefixes of models are stored in, each with its largest number."""
ROUNDS, STEPS = 12, 2
"""Rounds of Lawson's weights, and Levenberg and Marquardt's steps in each."""
_LEAST = 1e-3
"""Share of the largest error by which even points without an error keep weight."""


def errors(tokens: Tokens, samples: Samples) -> Float64:
    """Return the Euclidean errors at samples, (n,)."""
    return np.asarray(np.linalg.norm(tokens(samples.x) - samples.y, axis=1))


def round_to(numbers: Float64, dtype: str) -> Float64:
    """Round numbers to the nearest ones of float16 or bfloat16, ties to even; inf beyond the largest."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return numbers.astype(np.float16).astype(np.float64)
    # bfloat16 has 8 digits, and the exponents of float32
    _, exponent = np.frexp(numbers)
    exponent = np.maximum(exponent, -125)  # the smallest normal number is 2^-126; below it digits are lost
    with np.errstate(over="ignore"):
        result = np.ldexp(np.rint(np.ldexp(numbers, 8 - exponent)), exponent - 8)
    return np.where(np.abs(result) >= 2.0**128, np.copysign(np.inf, numbers), result)


@dataclass(frozen=True)
class Judge:
    """What is asked of tokens: a small error at the checked samples, in a norm, when stored in a dtype.

    Values beyond the bound are no answer. Values of rounded keys are solved for at the samples of the fit.
    """

    fit: Samples
    checked: Samples
    norm: str = "sup"
    value_bound: float = math.inf
    dtype: str | None = None
    size: float = 1.0
    """What values are multiplied by where they are stored."""

    def __call__(self, tokens: Tokens, ridge: float) -> float:
        """Return the error of tokens; inf for those that are not finite, or whose values are too large."""
        tokens = self.store(tokens, ridge)
        if not np.abs(tokens.values).max() <= self.value_bound:
            return math.inf
        size = errors(tokens, self.checked)
        error = math.sqrt(float(np.square(size).mean())) if self.norm == "rms" else float(size.max())
        return error if error >= 0.0 else math.inf

    def store(self, tokens: Tokens, ridge: float) -> Tokens:
        """Return the tokens in the dtype: keys rounded, values solved for again, and rounded."""
        if self.dtype is None:
            return tokens
        largest = LARGEST[self.dtype]
        keys = round_to(np.clip(tokens.keys, -largest, largest), self.dtype)
        again = solve_values(replace(tokens, keys=keys, unit=False), self.fit, ridge).tokens
        return replace(again, values=round_to(self.size * again.values, self.dtype) / self.size)

    def extend(self, x: Float64, y: Float64) -> Judge:
        """Return the judge with more points among all samples."""
        return replace(self, fit=self.fit.extend(x, y), checked=self.checked.extend(x, y))


def minimax(
    tokens: Tokens, judge: Judge, ridge: float, *, moving: bool = True, stop: Stop = never
) -> tuple[Tokens, float]:
    """Lower the error at the checked samples, by squares with Lawson's weights; return it, too.

    Unless `moving`, the keys stay where they are.
    """
    best, least, samples = tokens, judge(tokens, ridge), judge.fit
    for _ in range(ROUNDS):
        size = errors(tokens, samples)
        weights = samples.weights * (size / max(float(size.max()), 1e-300) + _LEAST)
        samples = replace(samples, weights=weights / weights.mean())
        if moving:
            tokens = least_squares(tokens, samples, ridge, steps=STEPS, stop=stop)
        else:
            tokens = solve_values(tokens, samples, ridge).tokens
        error = judge(tokens, ridge)
        if error < least:
            best, least = tokens, error
        if stop():
            break
    return best, least
