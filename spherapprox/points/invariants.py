"""An orthonormal basis of the harmonics on S^2 up to a degree that a finite group leaves fixed, and its slopes."""

from __future__ import annotations

import math

import numpy as np

from .. import sphere
from .._types import Float64
from ..harmonics import recurrences
from .symmetry import Group


class Invariants:
    """The invariant harmonics of the degrees 1, ..., degree: singular vectors of orbit sums at random points.

    Calling it with x of shape (q, 3) returns the values (N, q), the slopes (N, q, 2) and the tangents (q, 2, 3) that
    the slopes belong to, orthonormal for the normalised measure.
    """

    def __init__(self, group: Group, degree: int) -> None:
        counts = group.invariants(degree)
        self._degree, self._bases = degree, dict[int, Float64]()
        n = int(counts.max()) + 8
        images = group.orbits(sphere.uniform(2, n, 0)) if len(group) > 1 else np.eye(3)
        for k, values in recurrences.by_degree(degree, images):
            if k == 0 or not counts[k]:
                continue
            if len(group) == 1:
                basis = np.eye(2 * k + 1)
            else:
                basis = np.linalg.svd(values.reshape(2 * k + 1, n, -1).mean(2))[0][:, : counts[k]]  # (2k+1, N_k)
            self._bases[k] = math.sqrt(2 * k + 1) * basis.T

    def __call__(self, x: Float64) -> tuple[Float64, Float64, Float64]:
        """Return values, slopes and tangents at the rows."""
        z, s, azimuth = recurrences.polar(x)
        cos, sin = recurrences.cosines_and_sines(azimuth, self._degree)
        before, parts = z[:0, None], []
        for k, row in enumerate(recurrences.legendre_rows(self._degree, z, s)):
            if k in self._bases:
                south, east = recurrences.derivative_rows(k, row, before)
                order_rows = recurrences.order_rows
                table = np.stack([order_rows(row, cos, sin), order_rows(south, cos, sin), order_rows(east, -sin, cos)])
                parts.append(self._bases[k] @ table)  # (3, N_k, q)
            before = row
        values, south, east = np.concatenate(parts, axis=1)  # (N, q) each
        tangents = np.array([[z * cos[1], z * sin[1], -s], [-sin[1], cos[1], np.zeros_like(s)]])
        return values, np.stack([south, east], axis=-1), np.moveaxis(tangents, 2, 0)
