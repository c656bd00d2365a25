"""Errors that depend on few coordinates, on a sphere of fewer dimensions: 6.5, symmetry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..._types import Float64
from ...target import Target

_RANK = 1e-14
"""Singular values up to this share of the largest count as roundings of 0."""


@dataclass(frozen=True)
class Subspace:
    """A subspace of R^(m+1) with an orthonormal basis (m+1, k+1) whose first k vectors span rows given.

    A function of the inner products with the rows takes all its values on the unit sphere S^k of the subspace.
    `deviation` is the largest distance of a row from its span.
    """

    basis: Float64
    deviation: float

    @classmethod
    def of(cls, rows: Float64) -> Subspace | None:
        """Return the subspace of rows (n, m+1), None unless k < m."""
        columns = rows.shape[1]
        singular, right = np.linalg.svd(rows, full_matrices=len(rows) < columns)[1:]
        rank = int((singular > _RANK * singular[0]).sum())
        if rank >= columns - 1:
            return None
        basis = np.ascontiguousarray(right[: rank + 1].T)  # (m+1, k+1)
        off = rows - (rows @ basis[:, :rank]) @ basis[:, :rank].T
        return cls(basis, float(np.linalg.norm(off, axis=1).max()) + 1e-15)

    def inward(self, x: Float64) -> Float64:
        """Return a point of S^k with the same inner products as a point of S^m."""
        y = x @ self.basis
        y[-1] = math.sqrt(max(0.0, 1.0 - float(y[:-1] @ y[:-1])))
        return np.asarray(y / np.linalg.norm(y))

    def outward(self, y: Float64) -> Float64:
        """Return points of S^k, rows or one, as points of S^m."""
        return np.asarray(y @ self.basis.T)

    def restrict(self, target: Target) -> Target:
        """Return a target on S^k: its constants are no larger than on S^m."""
        return replace(target, function=lambda y: target(self.outward(y)), dim=self.basis.shape[1] - 1, axes=None)
