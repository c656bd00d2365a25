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

    def check(
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


def degree_for(rows: Float64, concentration: float, log_share: float, order: int = 0) -> tuple[int, float] | None:
    """Return the least degree g with log tau_g at most `log_share`, and a bound of log tau_g for rows (N, d).

    With an order, tau_g bounds what the degrees beyond g add to derivatives of this order, up to 2. None if the degree
    would be too large, or if the rows' lengths are not near 1 for it.
    """
    d = rows.shape[1]
    reach = 50.0 + 12.0 * math.sqrt(concentration * (d + 7.0))
    if concentration == 0.0:
        return 0, -math.inf
    if reach > _MOST_DEGREE:
        return None
    tails = log_tails(d - 1, concentration, int(reach))
    # 6.6, (tail): rho_(g+1) / rho_g falls, and s = 1 / (1 - that)
    steps = -1.0 / np.expm1(np.minimum(np.diff(tails), 0.0) + 1e-8)  # (g,)
    tails = tails[:-1]
    if order:
        degrees = np.arange(len(steps))
        moments = degrees + steps if order == 1 else np.square(degrees + steps) + np.square(steps)
        tails = tails + np.log(np.where((steps > 0.0) & (steps <= degrees + d - 1), moments, math.inf))
    small = np.flatnonzero((tails <= log_share) & (steps > 0.0))
    if not len(small):
        return None
    # 6.6, (lengths): rows of other lengths have kernels of other concentrations
    degree, defect = int(small[0]), float(np.abs(np.linalg.norm(rows, axis=1) - 1.0).max())
    count = degree + d + float(steps[degree])
    if not defect * count <= 1e-2:
        return None
    return degree, float(tails[degree]) + 2.0 * defect * (concentration + 2.0 * count) + 1e-6


def log_mean(dim: int, concentration: float) -> float:
    """Return the log of the mean of ``exp(concentration (t - 1))`` over the sphere."""
    return -float(VonMisesFisher(dim, concentration).log_density(1.0))
