"""Proven enclosures of the kernel's eigenvalues over an interval of concentrations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..._types import Float64

_OUT = 2.0**-50
"""Four operations round by less than this."""
_LOGS = 2.0**-46
"""Share of the logarithms' sizes that sums of at most 64 of them round by, the logarithms' own errors included."""


@dataclass(frozen=True)
class Enclosure:
    """At one concentration, for q = 0, 1, ...: bounds of log(r_q / lambda) and of the slope of log r_q in log lambda.

    r_q is the ratio of the eigenvalues a_(q+1) and a_q.
    """

    log_low: Float64
    log_high: Float64
    slope_low: Float64
    slope_high: Float64


@lru_cache(maxsize=512)
def enclose_ratios(dim: int, concentration: float, count: int) -> Enclosure:
    """Enclose the first `count` ratios at a concentration in [0, inf)."""
    x, nu = concentration, 0.5 * (dim - 1)
    start = count + 30 + int(8.0 * math.sqrt(min(x, 1e4)))
    low, high = np.empty(start + 1), np.empty(start + 1)
    # 1.4: bounds of the last ratio; r_q = x / (2 (nu+q+1) + x r_(q+1)) contracts what is uncertain of it
    a = nu + start + 0.5
    low[start] = (1.0 - _OUT) / (a + math.hypot(x, a + 1.0))
    high[start] = (1.0 + _OUT) / (a + math.hypot(x, a))
    for q in range(start - 1, -1, -1):
        twice = 2.0 * (nu + q + 1.0)
        low[q] = (1.0 - _OUT) / (twice + x * (x * high[q + 1]))
        high[q] = (1.0 + _OUT) / (twice + x * (x * low[q + 1]))
    # 4.K, slopes: they are 1 - x (r_q - r_(q+1))
    slopes = [1.0 - x * (x * (end[:count] - opposite[1 : count + 1])) for end, opposite in ((high, low), (low, high))]
    room = 4.0 * _OUT * (1.0 + x * (x * high[:count]))
    logs = [np.log(end[:count]) for end in (low, high)]
    return Enclosure(
        logs[0] - 2.0 * _OUT * (1.0 - logs[0]), logs[1] + 2.0 * _OUT * (1.0 - logs[0]),
        np.maximum(slopes[0] - room, 0.0), slope_high=np.minimum(slopes[1] + room, 1.0),
    )  # fmt: skip


def enclose_near_zero(dim: int, high: float, exponents: Float64) -> tuple[Float64, Float64]:
    """Enclose the logarithms of products of powers of r_0, r_1, ... over the concentrations of (0, high].

    The last axis of the exponents is that of the ratios; their sums are at least 0.
    """
    count = exponents.shape[-1]
    up, down, total = np.maximum(exponents, 0.0), np.maximum(-exponents, 0.0), exponents.sum(axis=-1)
    # 4.K, near zero: r_q / lambda decreases
    at_high, at_limit = enclose_ratios(dim, high, count).log_low, enclose_ratios(dim, 0.0, count).log_high
    shift = np.where(total > 0.0, total * math.log(high), 0.0)
    below = np.where(total > 0.0, -math.inf, up @ at_high - down @ at_limit)
    above = shift + up @ at_limit - down @ at_high
    room = _LOGS * (1.0 + (up + down) @ np.abs(at_high) + np.abs(shift))
    return below - room, above + room


def enclose_eigenvalues(dim: int, concentration: float, count: int) -> tuple[Float64, Float64, Float64, Float64]:
    """Enclose log a_l and its slope in log lambda, l = 0, ..., count: lower, upper, lower, upper bounds.

    At an infinite concentration a_l = 1.
    """
    if concentration == math.inf:
        return (np.zeros(count + 1),) * 4
    bounds, log = enclose_ratios(dim, concentration, count), math.log(concentration)
    low, high, flattest, steepest = (
        np.concatenate([[0.0], np.cumsum(x)])
        for x in (bounds.log_low + log, np.minimum(bounds.log_high + log, 0.0), bounds.slope_low, bounds.slope_high)
    )
    room = _LOGS * np.abs(low)
    return low - room, np.minimum(high + room, 0.0), flattest * (1.0 - _LOGS), steepest * (1.0 + _LOGS)


def enclose_between(dim: int, low: float, high: float, powers: Float64, count: int) -> tuple[Float64, Float64]:
    """Enclose ``log((lambda/low)^power / a_l(lambda))`` over [low, high], 0 < low, l = 0, ..., count.

    The powers (..., 1) have an axis for l at the end; they have to be 0 for an infinite `high`.
    """
    low0, high0, _, steepest = enclose_eigenvalues(dim, low, count)
    low1, high1, flattest, _ = enclose_eigenvalues(dim, high, count)
    # 4.K, beyond: a_l increases
    if high == math.inf:
        return 0.0 * powers - high1, 0.0 * powers - low0
    # 4.K, between: the function is convex in log lambda, so it lies below its ends and above its tangents there
    width = math.log(high / low)
    rise = powers * width
    room = _LOGS * (1.0 + np.abs(rise) + np.abs(low0) + np.abs(powers) / 16.0)
    first_slope, last_slope = powers - steepest - room, powers - flattest + room
    begin, end = -high0 - room, rise - high1 - room
    meet = np.clip((last_slope * width - (end - begin)) / np.maximum(last_slope - first_slope, 1e-300), 0.0, width)
    below = np.where(first_slope >= 0.0, begin, np.where(last_slope <= 0.0, end, begin + first_slope * meet - room))
    return below, np.maximum(room - low0, rise - low1 + room)
