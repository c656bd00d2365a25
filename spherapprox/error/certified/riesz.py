"""Riesz's test: the error times the denominator is nearly a polynomial, which is large about its maximum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._types import Bools, Float64
from ...vmf import VonMisesFisher
from ...vmf.tail import log_tails

_MOST_DEGREE = 200_000


@dataclass(frozen=True)
class Riesz:
    """The test of 6.5 (R) in units of the constant that stands for the denominator.

    `degree` is that of the polynomials, `tail` what they leave out, eta / dbar, `log_scale` is log dbar, 0 for core
    heads, whose denominator is 1, and `room` what the tail may add to the bound.
    """

    degree: int
    tail: float
    log_scale: float
    room: float

    def passed(
        self, radii: Float64, errors: Float64, log_sums: Float64, fall: Float64, bound: float, rounding: float
    ) -> Bools:
        """Tell which cells cannot hold the maximum if it is above `bound`.

        `log_sums` are logarithms of the denominators at the centres, which may be smaller by e^-fall in the cells;
        `rounding` is their relative error.
        """
        ratios = np.exp(np.minimum(log_sums - self.log_scale, 700.0))  # (n,)
        sizes = ratios * errors + bound * np.abs(1.0 - ratios) + rounding * ratios * (errors + bound)
        cosines = np.cos(np.minimum(self.degree * radii, 0.5 * math.pi)) - 1e-15
        # 6.5 (R), and the share of the tail in the bound, 2 eta / d over the cell
        least = 0.99 * ratios * np.exp(-fall)
        return (sizes + self.tail < (bound + self.tail) * cosines) & (self.room * least >= 2.0 * self.tail)


def degree_for(dim: int, concentration: float, log_share: float) -> tuple[int, float] | None:
    """Return the least degree g with log tau_g at most `log_share`, and log tau_g; None if it would be too large."""
    reach = 50.0 + 12.0 * math.sqrt(concentration * (dim + 8.0))
    if reach > _MOST_DEGREE:
        return None
    tails = log_tails(dim, concentration, int(reach))
    small = np.flatnonzero(tails <= log_share)
    return (int(small[0]), float(tails[small[0]])) if len(small) else None


def log_mean(dim: int, concentration: float) -> float:
    """Return the log of the mean of ``exp(concentration (t - 1))`` over the sphere."""
    return -float(VonMisesFisher(dim, concentration).log_density(1.0))
