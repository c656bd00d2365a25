"""Means of values that are nearly as good as any, at one mass of the prefix."""

from __future__ import annotations

import numpy as np

from ...._norms import lengths
from ...._types import Float64

_SLACK = 1e-13
"""Intervals are this much wider, so that those of small masses still meet beside those of large ones."""


def middle(y: Float64, steps: Float64, error: Float64) -> Float64:
    """Return F (p,) with ``|F - exp(steps_i) y_i| <= error exp(steps_i)`` in each coordinate, but for roundings."""
    wide = error * (1.0 + _SLACK) + 1e-15 * np.abs(y).max(axis=0)
    times = np.exp(steps)[:, None]
    low = np.max(np.where(y == wide, 0.0, (y - wide) * times), axis=0)
    high = np.min(np.where(y == -wide, 0.0, (y + wide) * times), axis=0)
    ends = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
    return np.asarray(ends[0] + 0.5 * (ends[1] - ends[0]))


def centre(y: Float64, steps: Float64, origin: Float64, bound: float) -> Float64:
    """Return nearly the F (p,) with the least largest length of ``exp(-steps_i) F - y_i``.

    Of several rows ``|origin + F| <= bound``; of one row, F may be longer: then the nearest one within is best.
    """
    if len(y) == 1:
        return np.asarray(y[0] * np.exp(steps[0]))
    if len(y) == 2:  # where the errors are equal, between the two
        both = np.logaddexp(steps[0], steps[1])
        mean = np.asarray((y[0] + y[1]) * np.exp(steps[0] + steps[1] - both))
        if bound == np.inf or float(lengths((origin + mean)[None])[0]) <= bound:
            return mean
    return _lawson(y, steps, origin, bound)


def _lawson(y: Float64, steps: Float64, origin: Float64, bound: float, passes: int = 300) -> Float64:
    """Return it by least squares whose weights are multiplied by the errors (Lawson 1961), the best one met.

    Within the bound the best F of a pass is the one nearest to that of least squares, whose level sets are balls.
    """
    least = float(steps.min())
    unit, own = float(np.exp(-least)), np.exp(least - steps)[:, None]
    weights, best, error = np.full((len(y), 1), 1.0 / len(y)), np.zeros(y.shape[1]), np.inf
    for _ in range(passes):
        below = float(np.sum(weights * own * own))
        if not below > 0.0:  # what is left cannot see the prefix
            break
        mean = _within(np.sum(weights * own * y, axis=0) / below, origin * unit, bound * unit)
        missed = lengths(own * mean - y)
        if float(missed.max()) < error:
            best, error = mean, float(missed.max())
        total = float(np.sum(weights[:, 0] * missed))
        if not total > 0.0:
            break
        weights = weights * (missed / total)[:, None]
    return np.asarray(best * np.exp(least))


def _within(mean: Float64, origin: Float64, bound: float) -> Float64:
    """Return the nearest vector to a mean that is at most so long once the origin is added."""
    size = float(lengths((origin + mean)[None])[0])
    return mean if not size > bound else (origin + mean) * (bound / size) - origin
