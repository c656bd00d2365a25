"""Cells of S^m: the faces of the cube, each cut into boxes of equal angles, and their centres and angular radii."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from .._types import Bools, Float64, Indices

ROUNDING = 1e-14  # radians added to radii: more than the roundings of centres, corners and arc cosines near 0 amount to


@dataclass(frozen=True)
class Cells:
    """Some of the ``2 (m+1) divisions^m`` cells of S^m.

    Face 2 j + s of the cube is where the coordinate j is largest in size, negative for s = 1. On it the others, over
    that one, are the tangents of m angles, which `indices` (n, m) count in steps of ``pi / (2 divisions)`` from -pi/4.
    """

    faces: Indices
    indices: Indices
    divisions: int

    @classmethod
    def cover(cls, dim: int, divisions: int) -> Cells:
        """Return all cells of S^dim."""
        axes = np.meshgrid(*[np.arange(divisions)] * dim, indexing="ij")
        face = np.stack(axes, axis=-1).reshape(-1, dim)  # (divisions^m, m)
        faces = np.repeat(np.arange(2 * (dim + 1)), len(face))
        return cls(faces, np.tile(face, (2 * (dim + 1), 1)), divisions)

    def __len__(self) -> int:
        return len(self.faces)

    def __getitem__(self, rows: slice | Bools) -> Cells:
        """Return some of the cells."""
        return Cells(self.faces[rows], self.indices[rows], self.divisions)

    def locate(self) -> tuple[Float64, Float64]:
        """Return the centres (n, m+1), and the radii (n,) of caps about them that hold the cells."""
        (n, dim), axis = self.indices.shape, self.faces // 2
        low, middle, high = self._tangents()  # (m, n) each
        # Step 1: the sine of half the angle to the farthest corner; a cell is the convex hull of its corners
        middle_length = np.sqrt(1.0 + np.square(middle).sum(axis=0))  # (n,)
        unit, height = middle / middle_length, 1.0 / middle_length
        farthest = np.zeros(n)
        for corner in product((low, high), repeat=dim):
            end = [tangents[j] for j, tangents in enumerate(corner)]  # m times (n,)
            end_length = np.sqrt(1.0 + sum(map(np.square, end)))
            chords = sum(np.square(part / end_length - own) for part, own in zip(end, unit, strict=True))
            np.maximum(farthest, chords + np.square(1.0 / end_length - height), out=farthest)
        # Step 2: the centres, from face to sphere
        centers = np.empty((n, dim + 1))
        ends = np.where(self.faces % 2, -height, height)
        for j in range(dim + 1):
            after, before = unit[max(j - 1, 0)], unit[min(j, dim - 1)]
            centers[:, j] = np.where(axis == j, ends, np.where(axis > j, before, after))
        return centers, 2.0 * np.arcsin(0.5 * np.sqrt(farthest)) + ROUNDING

    def _tangents(self) -> tuple[Float64, Float64, Float64]:
        """Return the tangents of the angles where the cells begin, of their middles and where they end, (m, n) each."""
        step, steps = 0.5 * math.pi / self.divisions, np.ascontiguousarray(self.indices.T)
        shared = self.divisions < steps.size  # so that cells share angles
        angles = ((np.arange(self.divisions) if shared else steps) + 0.5) * step - 0.25 * math.pi
        tangents = (np.tan(angles - 0.5 * step), np.tan(angles), np.tan(angles + 0.5 * step))
        low, middle, high = (tangent[steps] for tangent in tangents) if shared else tangents
        return low, middle, high

    def halve(self) -> Cells:
        """Return the cells cut in half along each angle, 2^m each."""
        dim = self.indices.shape[1]
        steps = np.array(list(product((0, 1), repeat=dim)))  # (2^m, m)
        indices = (2 * self.indices[:, None, :] + steps).reshape(-1, dim)
        return Cells(np.repeat(self.faces, len(steps)), indices, 2 * self.divisions)


def divisions_for(dim: int, radius: float) -> int:
    """Return the least number of divisions with cells of S^dim about this radius."""
    return max(1, math.ceil(0.25 * math.pi * math.sqrt(dim) / radius))
