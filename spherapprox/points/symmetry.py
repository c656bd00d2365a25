"""Finite groups of rotations and reflections of R^(m+1): elements, orbits and numbers of invariant harmonics."""

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
    """A finite group of orthogonal matrices.

    Parameters
    ----------
    elements : ndarray, shape (order, dim+1, dim+1)
        All elements, the identity first.
    """

    elements: Float64

    def __len__(self) -> int:
        return len(self.elements)

    @functools.cached_property
    def freedom(self) -> int:
        """Dimension of the rotations that commute with the group, which move a design to another one."""
        trace = np.trace(self.elements, axis1=1, axis2=2)
        of_square = np.einsum("gij,gji->g", self.elements, self.elements)
        return round(float(np.mean(trace**2 - of_square)) / 2.0)

    @functools.cached_property
    def up_to_sign(self) -> Float64:
        """One of each pair g, -g where -1 is an element, else all: on them even functions have the same means."""
        if len(self) == 1 or np.trace(self.elements, axis1=1, axis2=2).min() > 0.5 - self.elements.shape[1]:
            return self.elements
        row = self.elements[:, 0]
        first = np.argmax(np.abs(row) > 1e-9, axis=1)
        return np.asarray(self.elements[row[np.arange(len(row)), first] > 0.0])

    def sufficient_degree(self, degree: int) -> int:
        """Return the even degree below an odd one if -1 is an element: odd harmonics then have mean 0 on orbits."""
        return degree - degree % 2 if len(self.up_to_sign) < len(self) else degree

    @functools.cached_property
    def _characteristic_polynomials(self) -> tuple[Float64, Int64]:
        """Different characteristic polynomials, (p, dim+2), highest power first, and the number of elements of each."""
        polynomials = np.array([np.poly(g) for g in self.elements])
        some, counts = np.unique(polynomials.round(6), axis=0, return_counts=True)
        return some, counts.astype(np.int64)

    def orbits(self, x: Float64) -> Float64:
        """Return the images of the rows, all images of the first row first, shape (n * order, dim+1)."""
        return np.asarray(np.einsum("gij,nj->ngi", self.elements, x).reshape(-1, x.shape[1]))

    def invariants(self, degree: int) -> Int64:
        """Return the dimensions of the invariant harmonics of the degrees 0, ..., degree, by Molien's series.

        They are the coefficients of the mean over the group of (1 - s^2) / det(1 - s g).
        """
        some, counts = self._characteristic_polynomials
        series = np.zeros((len(some), degree + 1))
        for k in range(degree + 1):
            series[:, k] = (k == 0) - float(k == 2)
            for j in range(1, min(some.shape[1] - 1, k) + 1):
                series[:, k] -= some[:, j] * series[:, k - j]
        return np.rint(counts @ series / len(self)).astype(np.int64)


@functools.cache
def groups(dim: int) -> tuple[Group, ...]:
    """Return the groups that designs of S^m may have, from the largest to the trivial one.

    S^2: the rotations of the icosahedron, the cube and the tetrahedron. S^3: the binary polyhedral groups and the
    quaternion group, which multiply quaternions from the left, so that no element but 1 has a fixed point. S^7: the
    signed shifts and signs of (Z/2)^3, an extraspecial group. Everywhere the cyclic shifts of the coordinates with
    and without the antipodal map, the antipodal map alone, and the trivial group.
    """
    identity = np.eye(dim + 1)
    antipodal = np.stack([identity, -identity])
    shifts = np.stack([np.roll(identity, i, axis=0) for i in range(dim + 1)])
    some = [np.concatenate([shifts, -shifts]), shifts, antipodal, identity[None]]
    quaternions = [binary_icosahedral(), binary_octahedral(), binary_tetrahedral()]
    if dim == 2:
        some = [_rotations(q) for q in quaternions] + some
    elif dim == 3:
        some = [_left_products(q) for q in (*quaternions, binary_tetrahedral()[:8])] + some
    elif dim == 7:
        some = [_signed_translations(3), *some]
    return tuple(Group(elements) for elements in sorted(some, key=len, reverse=True))


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


def _left_products(quaternions: Float64) -> Float64:
    """Return the matrices of the products with quaternions from the left."""
    a, b, c, d = quaternions.T
    rows = [[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]]
    return np.moveaxis(np.array(rows), 2, 0).copy()


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


def _signed_translations(rank: int) -> Float64:
    """Return the group of x_i -> +-(-1)^<c, i> x_(i + s), c, s in (Z/2)^rank, of order 2^(2 rank + 1)."""
    size = 2**rank
    i = np.arange(size)
    signs = 1.0 - 2.0 * parities(rank)
    elements = np.eye(size)[i[:, None] ^ i][:, None] * signs[:, None, :]  # (s, c, i, j)
    elements = elements.reshape(-1, size, size)
    return np.concatenate([elements, -elements])
