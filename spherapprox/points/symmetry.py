"""Finite groups of rotations and reflections of R^3: elements, orbits and numbers of invariant harmonics."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from .._types import Float64, Int64

GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0


@dataclass(frozen=True, eq=False)
class Group:
    """A finite group of orthogonal matrices."""

    elements: Float64  # (order, 3, 3), the identity first

    def __len__(self) -> int:
        return len(self.elements)

    @functools.cached_property
    def freedom(self) -> int:
        """Dimension of the rotations that commute with the group, which move a design to another one."""
        trace = np.trace(self.elements, axis1=1, axis2=2)
        of_square = np.einsum("gij,gji->g", self.elements, self.elements)
        return round(float(np.mean(trace**2 - of_square)) / 2.0)

    def sufficient_degree(self, degree: int) -> int:
        """Return the even degree below an odd one if -1 is an element: odd harmonics then have mean 0 on orbits."""
        antipodal = np.trace(self.elements, axis1=1, axis2=2).min() < 0.5 - self.elements.shape[1]
        return degree - degree % 2 if antipodal else degree

    @functools.cached_property
    def _characteristic_polynomials(self) -> tuple[Float64, Int64]:
        """Different characteristic polynomials, (p, dim+2), highest power first, and the number of elements of each."""
        polynomials = np.array([np.poly(g) for g in self.elements])
        classes, counts = np.unique(polynomials.round(6), axis=0, return_counts=True)
        return classes, counts.astype(np.int64)

    def orbits(self, x: Float64) -> Float64:
        """Return the images of the rows, all images of the first row first, shape (n * order, dim+1)."""
        return np.asarray(np.einsum("gij,nj->ngi", self.elements, x).reshape(-1, x.shape[1]))

    def invariants(self, degree: int) -> Int64:
        """Return the dimensions of the invariant harmonics of the degrees 0, ..., degree, by Molien's series.

        They are the coefficients of the mean over the group of (1 - s^2) / det(1 - s g).
        """
        classes, counts = self._characteristic_polynomials
        series = np.zeros((len(classes), degree + 1))
        for k in range(degree + 1):
            series[:, k] = (k == 0) - float(k == 2)
            for j in range(1, min(classes.shape[1] - 1, k) + 1):
                series[:, k] -= classes[:, j] * series[:, k - j]
        return np.rint(counts @ series / len(self)).astype(np.int64)


@functools.cache
def groups() -> tuple[Group, ...]:
    """Return the groups that designs of S^2 may have, from the largest to the trivial one.

    The rotations of the icosahedron, the cube and the tetrahedron, the cyclic shifts of the coordinates with and
    without the antipodal map, the antipodal map alone, and the trivial group.
    """
    identity = np.eye(3)
    antipodal = np.stack([identity, -identity])
    shifts = np.stack([np.roll(identity, i, axis=0) for i in range(3)])
    polyhedral = [_rotations(q) for q in (binary_icosahedral(), binary_octahedral(), binary_tetrahedral())]
    elements = [*polyhedral, np.concatenate([shifts, -shifts]), shifts, antipodal, identity[None]]
    return tuple(Group(group) for group in sorted(elements, key=len, reverse=True))


def binary_tetrahedral() -> Float64:
    """Return the 24 Hurwitz units, the vertices of the 24-cell; the first 8 are the quaternion group, 1 first."""
    axes = np.stack([np.eye(4), -np.eye(4)], axis=1).reshape(8, 4)
    return np.vstack([axes, list(itertools.product((0.5, -0.5), repeat=4))])


def binary_octahedral() -> Float64:
    """Return the 48 quaternions of the cube's rotations: the 24-cell and its dual."""
    half = math.sqrt(0.5)
    dual = np.zeros((6, 4, 4))
    for rows, (i, j) in zip(dual, itertools.combinations(range(4), 2), strict=True):
        rows[:, [i, j]] = list(itertools.product((half, -half), repeat=2))
    return np.vstack([binary_tetrahedral(), dual.reshape(24, 4)])


def binary_icosahedral() -> Float64:
    """Return the 120 icosians of length 1, the vertices of the 600-cell."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=3)))
    rows = np.pad(signs * [0.5, GOLDEN / 2.0, 0.5 / GOLDEN], ((0, 0), (1, 0)))
    even = [p for p in itertools.permutations(range(4)) if np.linalg.det(np.eye(4)[list(p)]) > 0.0]
    return np.vstack([binary_tetrahedral(), *(rows[:, p] for p in even)])


def parities(rank: int) -> Int64:
    """Return <b, u> modulo 2 for all b, u in (Z/2)^rank, the bits of the indices, shape (2^rank, 2^rank)."""
    bits = (np.arange(2**rank)[:, None] >> np.arange(rank)) % 2
    return np.asarray(bits @ bits.T % 2)


def _rotations(quaternions: Float64) -> Float64:
    """Return the rotations of R^3 by the quaternions, one for each pair q, -q."""
    first = np.argmax(quaternions != 0.0, axis=1)
    w, x, y, z = quaternions[quaternions[np.arange(len(quaternions)), first] > 0.0].T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    matrices = np.moveaxis(np.array(rows), 2, 0)
    halves = np.rint(2.0 * matrices) / 2.0
    return np.where(np.abs(matrices - halves) < 1e-12, halves, matrices)
