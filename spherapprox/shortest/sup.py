"""Sup errors at samples: Lawson's weights, and the errors that choose between tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._types import Float64
from .projection import Samples, fitted
from .tokens import Tokens

ROUNDS, STEPS = 12, 2
"""Rounds of Lawson's weights, and Levenberg and Marquardt's steps in each."""
_LEAST = 1e-3
"""Share of the largest error by which even points without an error keep weight."""


def errors(tokens: Tokens, samples: Samples) -> Float64:
    """Return the Euclidean errors at samples, (n,)."""
    return np.asarray(np.linalg.norm(tokens(samples.x) - samples.y, axis=1))


def worst(tokens: Tokens, samples: Samples) -> float:
    """Return the largest error at samples; inf for tokens that are not finite."""
    largest = float(errors(tokens, samples).max())
    return largest if largest >= 0.0 else np.inf


def minimax(tokens: Tokens, samples: Samples, checked: Samples, ridge: float) -> tuple[Tokens, float]:
    """Lower the largest error at the checked samples, by squares with Lawson's weights; return it, too."""
    best, least = tokens, worst(tokens, checked)
    for _ in range(ROUNDS):
        size = errors(tokens, samples)
        weights = samples.weights * (size / max(float(size.max()), 1e-300) + _LEAST)
        samples = replace(samples, weights=weights / weights.mean())
        tokens = fitted(tokens, samples, ridge, STEPS)
        largest = worst(tokens, checked)
        if largest < least:
            best, least = tokens, largest
    return best, least
