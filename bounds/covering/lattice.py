"""Covers of S^m by pieces of lattice coverings, laid on it by exponential maps.

docs/theorems/4.2-covering-numbers.md, lattice.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from spherapprox.special import log_surface_area

from ..records.bound import Hypothesis
from ._method import Method

MAX_DIM = 64
"""The densities known here exceed those of random caps above dimension 34 already."""
LARGEST_RADIUS = math.pi / 4.0

MAX_CUBE_DIM = 16
_BINS = 64
SPREADS = np.geomspace(0.4, 1.6, 41)


def log_ball(dim: int) -> float:
    """Return the log volume of the unit ball of R^dim."""
    return 0.5 * dim * math.log(math.pi) - math.lgamma(0.5 * dim + 1.0)


@functools.cache
def log_density(dim: int) -> float:
    """Return the log of the least lattice covering density of R^dim known here: A_dim*, Leech, and orthogonal sums."""
    if dim == 24:
        return log_ball(24) + 12.0 * math.log(2.0)  # determinant 1, covering radius sqrt 2
    # 4.2, lattices: A_m* has determinant 1/sqrt(m+1), squared covering radius m(m+2)/(12(m+1))
    squared_radius = dim * (dim + 2.0) / (12.0 * (dim + 1.0))
    best = log_ball(dim) + 0.5 * math.log(dim + 1.0) + 0.5 * dim * math.log(squared_radius)
    if dim > 24:
        n = dim - 24
        parts = log_density(24) + log_density(n) - log_ball(24) - log_ball(n)
        shares = 12.0 * math.log(24.0 / dim) + 0.5 * n * math.log(n / dim)
        best = min(best, log_ball(dim) + parts - shares)
    return best


@functools.cache
def log_cube_volume(dim: int) -> float:
    """Bound the log of the volume of 2 (dim+1) cube cells, each spread on its tangent space (4.2, lattice).

    2 (m+1) int over [-1,1]^m of (arctan s/s)^(m-1)/(1+s^2), s = |x|. The integrand is convex in each x_i^2: moving
    the measure of x_i^2 in a bin to its ends, with the mean kept, bounds the integral from above.
    """
    # Step 1: the measure of one x_i^2, moved to the ends of the bins with its mean kept
    edges = np.arange(_BINS + 1) / _BINS
    mass = np.diff(np.sqrt(edges))  # (bins,)
    upper = np.maximum(np.diff(edges**1.5) / 3.0 - mass * edges[:-1], 0.0) * _BINS  # mean = lower + upper/bins/mass
    coordinate = np.append(mass - upper, 0.0) + np.append(0.0, upper)  # (bins + 1,)
    # Step 2: that of |x|^2
    squares = coordinate
    for _ in range(dim - 1):
        squares = np.convolve(squares, coordinate)  # at last (dim bins + 1,)
    # Step 3: the integral
    r = np.arange(squares.size) / _BINS
    s = np.sqrt(np.maximum(r, 1e-300))
    integrand = (np.arctan(s) / s) ** (dim - 1) / (1.0 + r)
    return math.log(2.0 * (dim + 1)) + dim * math.log(2.0) + math.log(float(squares @ integrand))


def log_lattice(dim: int, radius: float) -> float:
    """Return log N for 0 < radius <= pi/4 and 2 <= dim <= `MAX_DIM`: the better of Voronoi cells and cube cells."""
    # 4.2, lattice: Voronoi cells at the best delta in [2 rho, pi/2]
    sine = math.sin(radius)
    ideal = (6.0 * radius * dim / (dim - 1.0)) ** (1.0 / 3.0)
    delta = np.clip(ideal * SPREADS, 2.0 * radius, 0.5 * math.pi)
    voronoi = dim * np.log1p(sine / np.sin(0.5 * delta)) + (dim - 1) * np.log(delta / np.sin(delta))
    flat = float(voronoi.min()) + float(log_surface_area(dim))
    # 4.2, lattice: cubes
    if dim <= MAX_CUBE_DIM:
        flat = min(flat, dim * math.log1p(sine / math.sin(0.25 * math.pi)) + log_cube_volume(dim))
    return log_density(dim) - log_ball(dim) - dim * math.log(radius) + flat


METHOD = Method(
    "lattice", log_lattice, needs=lambda dim: (Hypothesis(f"2 <= dim <= {MAX_DIM}", 2 <= dim <= MAX_DIM),),
    needs_radius=lambda _dim, radius: (Hypothesis("radius <= pi/4", radius <= LARGEST_RADIUS),),
    top=lambda _dim: LARGEST_RADIUS,
)  # fmt: skip
