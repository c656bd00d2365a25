"""Spherical designs by construction: simplices, polytopes and the roots of E8."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Float64, Int64
from .symmetry import GOLDEN, binary_icosahedral, binary_octahedral, binary_tetrahedral, parities


class Configuration(NamedTuple):
    """A design by construction of n points, which integrates polynomials up to a degree exactly."""

    n: int
    degree: int
    name: str
    points: Callable[[], NDArray[np.number]]  # makes them, (n, dim+1), of any one length
    covering_radius: float | None = None  # in closed form


def configurations(dim: int) -> list[Configuration]:
    """Return the designs by construction on S^m, m >= 2, from few points to many."""
    d = dim + 1
    designs = [
        Configuration(2, 1, "two antipodes", points=lambda: _antipodes(d), covering_radius=math.pi / 2),
        Configuration(d + 1, 2, "simplex", points=lambda: _simplex(d), covering_radius=math.acos(1.0 / d)),
        Configuration(
            2 * d, 3, "cross-polytope", points=lambda: _cross(d), covering_radius=math.acos(1.0 / math.sqrt(d))
        ),
        *_SPORADIC.get(dim, ()),
    ]
    return sorted(designs, key=lambda design: design.n)


def _antipodes(d: int) -> Float64:
    """Return the two ends of the last axis."""
    x = np.zeros((2, d))
    x[:, -1] = 1.0, -1.0
    return x


def _simplex(d: int) -> Float64:
    """Return d + 1 points of R^d with equal distances, each coordinate being -1 until it points to its own vertex."""
    k = np.arange(d, 0, -1.0)
    radius = np.sqrt((d + 1) * (k + 1.0) * k) / math.sqrt(d) / (k + 1.0) / k  # height of the axis over 1 / k
    x = np.tril(np.broadcast_to(-radius, (d + 1, d)), -1)
    x[np.arange(d), np.arange(d)] = radius * k
    return np.asarray(x[:, ::-1])


def _cross(d: int) -> Float64:
    """Return the ends of all axes."""
    x = np.zeros((2 * d, d))  # pages of zeros are not written
    x[np.arange(d), np.arange(d)], x[np.arange(d, 2 * d), np.arange(d)] = 1.0, -1.0
    return x


def icosahedron() -> Float64:
    """Return the 12 vertices of the icosahedron."""
    rows = np.array([[0.0, a, b * GOLDEN] for a in (1.0, -1.0) for b in (1.0, -1.0)])
    return np.vstack([np.roll(rows, shift, axis=1) for shift in range(3)])


def roots_of_e8() -> Int64:
    """Return the 240 shortest vectors of E8.

    Words of weight 4 of the first-order Reed-Muller code of length 8 with all signs, and +-2 e_i [1]_.

    References
    ----------
    .. [1] J. H. Conway, N. J. A. Sloane, "Sphere Packings, Lattices and Groups", Springer, section 4.8.
    """
    words = np.vstack([parities(3)[1:], 1 - parities(3)[1:]])  # (14, 8)
    signs = 1 - 2 * ((np.arange(16)[:, None] >> np.arange(4)) % 2)  # (16, 4)
    rows = np.zeros((14, 16, 8), dtype=np.int64)
    places = np.nonzero(words)[1].reshape(14, 1, 4)
    np.put_along_axis(rows, np.broadcast_to(places, (14, 16, 4)), signs[None], axis=2)
    return np.vstack([rows.reshape(-1, 8), 2 * np.eye(8, dtype=np.int64), -2 * np.eye(8, dtype=np.int64)])


_SPORADIC: dict[int, tuple[Configuration, ...]] = {
    2: (Configuration(12, 5, "icosahedron", points=icosahedron),),
    3: (
        Configuration(24, 5, "24-cell", points=binary_tetrahedral, covering_radius=math.pi / 4),
        Configuration(
            48, 7, "roots of F4", points=binary_octahedral, covering_radius=math.acos((2.0 + math.sqrt(2.0)) / 4.0)
        ),
        Configuration(
            120, 11, "600-cell", points=binary_icosahedral, covering_radius=math.acos(GOLDEN**2 / math.sqrt(8.0))
        ),
    ),
    7: (Configuration(240, 7, "roots of E8", points=roots_of_e8, covering_radius=math.pi / 4),),
}
"""Constructions of one dimension each."""
