"""Mixtures of Watson distributions: what differs from those of `mixtures`, where rows have signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _checks
from .._types import Array, Float64
from ..vmf.sparse import is_sparse
from .mixtures import Parts
from .rows import Rows
from .watson import MAX_CONCENTRATION, log_densities, orient, solve_concentration, square_law

SIGNS = {"bipolar": (1.0,), "girdle": (-1.0,), "either": (1.0, -1.0)}
"""Of the concentrations of a form."""


class AxialParts(Parts):
    """Watson parts: the means are axes, and concentrations have either sign."""

    @staticmethod
    def log_peaks(columns: int, concentrations: Float64) -> Float64:
        """Return the logarithms of the largest densities, at the ends of bipolar parts and the circles of girdles."""
        laws = [(square_law(columns, kappa), kappa) for kappa in concentrations]
        return np.array([log_densities(*law, square=float(law[1] > 0.0), rest=float(law[1] <= 0.0)) for law in laws])

    @staticmethod
    def largest(dtype: Any) -> float:
        """Return the largest concentration, as of other parts and as Watson's distribution has it."""
        return min(Parts.largest(dtype), MAX_CONCENTRATION)

    def exponents(self, cosines: Array, *, out: Array) -> None:
        """Write squares of cosines (k, n), less 1 for bipolar parts."""
        np.square(cosines, out=out, dtype=np.float64)
        out -= self.concentrations[:, None] > 0.0

    @staticmethod
    def add_up(rows: Rows, masses: Array) -> Float64:
        """Return the sums of x x^T with masses (k, n): (k, p, p)."""
        (k, _), p, unit = masses.shape, rows.shape[1], rows.unit()
        _checks.memory(24.0 * k * p * p, f"second moments of {k} parts in {p} columns", "reduce the columns first")
        sums = np.empty((k, p, p))
        for mass, moments in zip(masses.astype(rows.dtype, copy=False), sums, strict=True):
            own = np.flatnonzero(mass)
            part = unit[own]
            weighted = part.multiply(mass[own, None]).tocsr() if is_sparse(unit) else mass[own, None] * part
            moments[:] = (part.T @ weighted).toarray() if is_sparse(unit) else part.T @ weighted
        return sums

    def refit(self, masses: Float64, sums: Float64, choice: str | float, top: float) -> tuple[Float64, Float64]:
        """Return the likeliest axes and concentrations up to `top` of the form `choice`; without rows an axis stays."""
        axes, sizes = self.means.copy(), np.zeros(len(masses))
        for j in np.flatnonzero(masses):
            shares, vectors = np.linalg.eigh(sums[j])
            shares = np.maximum(shares, 0.0) / shares.sum()
            fits = [_fit(shares, sign, top) for sign in SIGNS[str(choice)]]
            _, sizes[j], end = max(fits)
            axes[j] = orient(vectors[:, end])
        return axes, sizes


def _fit(shares: Float64, sign: float, top: float) -> tuple[float, float, int]:
    """Return the mean log density of the likeliest part of a sign, its concentration, and the number of its axis.

    `shares` (p,) are the eigenvalues of the mean of x x^T, that is, the mean squares of cosines with its eigenvectors.
    """
    end = len(shares) - 1 if sign > 0.0 else 0
    square, rest = float(shares[end]), float(np.delete(shares, end).sum())
    kappa = sign * min(abs(solve_concentration(len(shares) - 1.0, square, rest, sign=sign)), top)
    return log_densities(square_law(len(shares), kappa), kappa, square, rest), kappa, end
