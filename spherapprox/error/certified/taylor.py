"""Taylor's test: the change of a head over a cell, from moments of its terms about the centre."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._threads import load
from ..._types import Float64

CUT = 30.0
"""Exponent beyond that of the largest term from which on terms are left out, but for logarithms of their number."""
OMITTED = 1e-12
"""More than all omitted terms and roundings amount to, relative to the sum of the absolute terms."""
_LIFT = 1.0 + 1e-9
"""Against roundings of sums of positive numbers."""


@dataclass(frozen=True)
class Moments:
    """What 6.5 (T) takes of a head in cells.

    `along` (n, p, m) are its derivatives along the frame at the centre, `steep` (n,) their size, `rest` (n,) bounds all
    changes of second order but `defect` (n,) times the first-order one, and `log_growth` (n,) is the logarithm of what
    the denominator grows by at most.
    """

    along: Float64
    steep: Float64
    rest: Float64
    defect: Float64
    log_growth: Float64

    def first_order(self, radii: Float64) -> Float64:
        """Bound the head's change of first order over caps."""
        return np.sin(np.minimum(radii, 0.5 * math.pi)) * self.steep * _LIFT

    def bend(self, radii: Float64) -> Float64:
        """Bound how far the first-order change is from the derivative times the angle."""
        return (radii * self.defect + radii**3 / 6.0) * self.steep * _LIFT


def cut(count: int, concentration: float) -> float:
    """Return the exponent beyond the largest term's from which on a sum of so many terms leaves terms out."""
    return CUT + math.log(count) + math.log1p(concentration)


@dataclass(frozen=True)
class Terms:
    """The terms of a head: control points as rows (N, d) and as columns (d, N), and values (N, p)."""

    rows: Float64
    columns: Float64
    values: Float64
    concentration: float
    normalize: bool


def moments(x: Float64, radii: Float64, frames: Float64, terms: Terms, sizes: Float64) -> Moments:
    """Return the moments of a head in cells about x (n, d) with frames (n, m, d); `sizes` (n,) bound |h| there."""
    n, p, d, concentration = len(x), terms.values.shape[1], x.shape[1], terms.concentration
    chords, sag = 2.0 * np.sin(0.5 * radii) * (1.0 + 1e-12), 1.0 - np.cos(radii)
    slopes, origins, rests, growths = np.empty((n, p, d)), np.empty((n, d)), np.empty(n), np.empty(n)
    load("spherapprox._kernels.error.moments").local_moments(
        x, chords, terms.columns, terms.rows, terms.values, 0.5 * concentration, terms.normalize,
        cut(len(terms.rows), concentration), slopes, origins, rests, growths,
    )  # fmt: skip
    along = np.einsum("npd,nmd->npm", slopes, frames)
    steep = np.linalg.norm(along.reshape(n, -1), axis=1)
    rest = (sag * np.linalg.norm(np.einsum("npd,nd->np", slopes, x), axis=1) + rests) * _LIFT
    if not terms.normalize:
        lost = -np.expm1(-concentration * sag)  # 1 - kappa
        return Moments(along, steep, rest + lost * sizes * _LIFT, lost, np.zeros(n))
    # <y - c, o> for points y of the cell
    across = np.linalg.norm(np.einsum("nd,nmd->nm", origins, frames), axis=1)
    back = np.maximum(-np.einsum("nd,nd->n", origins, x), 0.0)
    log_growth = concentration * (np.sin(np.minimum(radii, 0.5 * math.pi)) * across + sag * back)
    return Moments(along, steep, rest, growths * _LIFT, log_growth * _LIFT + np.log1p(growths))
