"""An orthonormal basis of the harmonics on S^m up to a degree that a finite group leaves fixed, and its slopes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .. import sphere
from .._types import Float64
from ..harmonics import recurrences
from ..harmonics.hyperspherical import sizes
from .symmetry import Group

_ARRAY_ELEMENTS = 2**15
"""Elements of one work array: a quarter of a MiB, so that the few arrays of a block stay in cache."""


def invariants(group: Group, degree: int) -> SphereInvariants | ZonalInvariants:
    """Return the invariant harmonics of the degrees 1, ..., degree; on S^2 from the table of spherical harmonics."""
    return (SphereInvariants if group.elements.shape[1] == 3 else ZonalInvariants)(group, degree)


class SphereInvariants:
    """Invariant harmonics on S^2: in each degree the left singular vectors of orbit sums at random points.

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
                ordered = recurrences.ordered
                table = np.stack([ordered(row, cos, sin), ordered(south, cos, sin), ordered(east, -sin, cos)])
                parts.append(self._bases[k] @ table)  # (3, N_k, q)
            before = row
        values, south, east = np.concatenate(parts, axis=1)  # (N, q) each
        tangents = np.array([[z * cos[1], z * sin[1], -s], [-sin[1], cos[1], np.zeros_like(s)]])
        return values, np.stack([south, east], axis=-1), np.moveaxis(tangents, 2, 0)


class ZonalInvariants:
    """Invariant harmonics on S^m, any m: orbit means of the reproducing kernel at random poles, made orthonormal.

    Twice as many poles as there are harmonics keep the Gram matrix's condition near 100. Calls as `SphereInvariants`.
    """

    def __init__(self, group: Group, degree: int) -> None:
        self._dim = group.elements.shape[1] - 1
        counts = group.invariants(degree)
        self._factors = (sizes(degree, self._dim) * (counts > 0)).astype(np.float64).tolist()
        n = int(counts[1:].sum())
        poles = sphere.uniform(self._dim, 2 * n + 8, 0)
        images = np.einsum("gij,nj->ngi", group.up_to_sign, poles)  # odd harmonics have no part where -1 is an element
        self._images = np.ascontiguousarray(images)  # (poles, order, dim+1)
        gram = np.concatenate([part for _, part, _ in self._kernel(poles, slopes=False)])  # (poles, poles)
        size, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
        self._basis = (vectors[:, -n:] / np.sqrt(size[-n:])).T  # (N, poles)

    def __call__(self, x: Float64) -> tuple[Float64, Float64, Float64]:
        """Return values, slopes and tangents at the rows."""
        tangents = _tangents(x)
        n_poles = len(self._images)
        kernels = np.empty((n_poles, len(x)))
        along = np.empty((n_poles, len(x), self._dim))
        for rows, kernel, gradient in self._kernel(x):
            kernels[:, rows] = kernel.T
            along[:, rows] = (gradient.transpose(1, 0, 2) @ tangents[rows].transpose(0, 2, 1)).transpose(1, 0, 2)
        slopes = self._basis @ along.reshape(n_poles, -1)  # (N, q dim)
        return self._basis @ kernels, slopes.reshape(-1, len(x), self._dim), tangents

    def _kernel(self, x: Float64, slopes: bool = True) -> Iterator[tuple[slice, Float64, Float64]]:
        """Yield rows, orbit means of the kernel there and at all poles, (q, poles), gradients (poles, q, dim+1)."""
        n_poles, order, width = self._images.shape
        step = max(1, _ARRAY_ELEMENTS // (n_poles * order))
        for start in range(0, len(x), step):
            rows = slice(start, start + step)
            t = (x[rows] @ self._images.reshape(-1, width).T).reshape(-1, n_poles, order)  # (q, poles, order)
            if not slopes:
                terms = zip(self._factors[1:], gegenbauer_values(t, self._dim, len(self._factors) - 1), strict=True)
                yield rows, sum(factor * values.mean(2) for factor, values in terms if factor), t[..., :0]
                continue
            value, slope = _gegenbauer_sum(t, self._dim, self._factors)
            # (poles, q, order) @ (poles, order, dim+1)
            yield rows, value.mean(2), slope.transpose(1, 0, 2) @ self._images / order


def gegenbauer_values(t: Float64, dim: int, degree: int) -> Iterator[Float64]:
    """Yield G_1(t), ..., G_degree(t), the zonal polynomials of S^m with value 1 at t = 1."""
    before, now = np.ones_like(t), t
    for k in range(1, degree + 1):
        yield now
        before, now = now, ((2 * k + dim - 1) * t * now - k * before) / (k + dim - 1)


def _gegenbauer_sum(t: Float64, dim: int, factors: list[float]) -> tuple[Float64, Float64]:
    """Return sum_k factors[k] G_k(t) over k >= 1 and its derivative, G_k the Gegenbauer polynomial with G_k(1) = 1."""
    before, now, slope_before, slope = np.ones_like(t), t, np.zeros_like(t), np.ones_like(t)
    value, derivative = np.zeros_like(t), np.zeros_like(t)
    for k in range(1, len(factors)):
        if factors[k]:
            value += factors[k] * now
            derivative += factors[k] * slope
        a, b = (2 * k + dim - 1) / (k + dim - 1), k / (k + dim - 1)
        before, now, slope_before, slope = (
            now,
            a * t * now - b * before,
            slope,
            a * (now + t * slope) - b * slope_before,
        )
    return value, derivative


def _tangents(x: Float64) -> Float64:
    """Return orthonormal tangents at the rows, (q, dim, dim+1), by Householder's reflection that moves x to an axis."""
    normal = x.copy()
    normal[:, -1] += np.where(x[:, -1] >= 0.0, 1.0, -1.0)
    scaled = normal[:, :-1] / (1.0 + np.abs(x[:, -1:]))
    return np.asarray(np.eye(x.shape[1])[None, :-1] - scaled[:, :, None] * normal[:, None, :])
