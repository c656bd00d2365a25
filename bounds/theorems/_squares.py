"""Point sets of S^m with integer coordinates up to scale: their sizes, separations and scales.

Each construction of docs/theorems/4.E-lower-without-sampling.md returns a family of such sets, one per entry of its
arrays: the natural logarithm of a lower bound on the number of points of S^m, pairwise more than `angle` apart, whose
j-th coordinates are integers over a common number Q_j <= Q, and the logarithm of Q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import zeta

from spherapprox._types import Float64
from spherapprox.special import log_cap_measure

from ..covering.lattice import log_ball

Family = tuple[Float64, Float64]
"""(log of the number of points, log of the scale Q), entry by entry."""

_FIRST_TABLE = 256
_TABLE_LIMITS = ((64, 8192), (1024, 4096))
_LAST_LIMIT = 2048
"""Sums of up to 64 squares are counted up to 8192, and so on: 0.2 s at most, once for each number of squares."""

_FINEST = 48
"""Octaves below the angle wanted in which the last rotation of a tree is looked for: enough for dim 1e6."""
_WIDEST = 45
"""Octaves above 1 in which the product of angle and radius is looked for when spheres are averaged."""

_SMALL_TERMS = np.concatenate([[0.0], np.cumsum(np.log1p(0.25 ** np.arange(1, 40)))])
"""sum_{j <= s} log(1 + 4^-j); it stands still after 26 terms."""


def representations(squares: int, limit: int) -> list[int]:
    """Count r_k(n), n = 0..limit, the representations of n as a sum of k integer squares, with order and sign (4.E, i).

    The generating function theta^k satisfies theta (theta^k)' = k theta' theta^k; its coefficients give the recurrence
    n r_k(n) = 2 sum_j ((k+1) j^2 - n) r_k(n - j^2), in exact integers.
    """
    roots = [j * j for j in range(1, math.isqrt(limit) + 1)]
    counts = [1]
    for n in range(1, limit + 1):
        total = 0
        for square in roots:
            if square > n:
                break
            total += ((squares + 1) * square - n) * counts[n - square]
        counts.append(2 * total // n)
    return counts


@lru_cache(maxsize=64)
def _log_representations(squares: int, limit: int) -> Float64:
    """Return log r_k(n), n = 1..limit; -inf for r_k(n) = 0."""
    counts = representations(squares, limit)[1:]
    return np.array([math.log(count) if count else -math.inf for count in counts])  # (limit,)


def integer_spheres(dim: int, angle: float) -> Family:
    """Return the families of all integer points of norm^2 n_0 < 1/(1 - cos(angle)) (4.E, i)."""
    # Step 1: the norms that are separated, 1/n_0 > 1 - cos t
    largest = (1.0 - 1e-12) / (2.0 * math.sin(0.5 * angle) ** 2)
    end = next((limit for squares, limit in _TABLE_LIMITS if dim + 1 <= squares), _LAST_LIMIT)
    largest_norm = int(min(largest, end))
    # Step 2: a table of r_k that holds them, of a size that many angles share
    table = _FIRST_TABLE
    while table < largest_norm:
        table *= 2
    # Step 3: M = r_{m+1}(n_0), Q = sqrt(n_0)
    norms = np.arange(1, largest_norm + 1)  # (largest_norm,)
    return _log_representations(dim + 1, table)[:largest_norm], 0.5 * np.log(norms)


def averaged_spheres(dim: int, angle: float) -> Family:
    """Return the families of integer points on the best sphere r < radius <= R (4.E, ii); none for dim 1."""
    d = dim + 1
    if d == 2:
        return np.empty(0), np.empty(0)
    chord = 2.0 * math.sin(0.5 * angle)
    # Step 1: R and r, from grids that do not depend on the angle, so that the best entry is monotone in it
    first = math.floor(-4.0 * math.log2(chord)) - 16
    outer = np.exp2(0.25 * np.arange(first, first + 16 + 4 * _WIDEST))[:, None]  # (R, 1)
    gap = 2.0 ** (0.5 * np.arange(-14, 6)) / d  # (r,), log(R/r)
    inner = outer * np.exp(-gap)  # (R, r)
    half = 0.5 * math.sqrt(d)
    usable = outer - half > (inner + half) * (1.0 + 1e-9)  # (R, r)
    outer, inner = np.broadcast_to(outer, usable.shape)[usable], inner[usable]  # (n,)
    gap = np.broadcast_to(gap, usable.shape)[usable]  # (n,)
    # Step 2: B points, S H pairs of them too close, R^2 - r^2 + 1 norms
    log_points = log_ball(d) + log_power_gap(outer - half, inner + half, d)
    log_pairs = log_close_pairs(d, outer, inner, chord=chord)
    log_norms = np.log1p(outer * outer * -np.expm1(-2.0 * gap))
    # Step 3: Turan, B^2 / ((R^2 - r^2 + 1) (B + S H))
    return 2.0 * log_points - log_norms - np.logaddexp(log_points, log_pairs), np.log(outer)


def log_close_pairs(d: int, outer: Float64, inner: Float64, chord: float) -> Float64:
    """Bound the log of S H, the number of pairs of points within the chord (4.E, ii)."""
    m = d - 1
    reach = chord * outer
    spread = 0.5 * np.sqrt(m * m - 1.0 + reach * reach)
    hollow = np.sqrt(np.maximum(inner * inner - 0.25 * reach * reach, 0.0)) - spread
    # 4.E, ii: S = V_m [(R + mu)^m - (sqrt((r^2 - rho^2/4)_+) - mu)_+^m]
    log_slices = log_ball(m) + log_power_gap(outer + spread, np.maximum(hollow, 0.0), m)
    # 4.E, ii: H, its two terms at the best x
    cell = 0.5 * math.sqrt(d + 3.0)
    log_main = math.log(0.5 * float(zeta(m)) * (1.0 + 2.0**-m) * (1.0 + 1.0 / m)) + m * np.log(reach)
    log_plane = np.log(reach)
    split = np.exp((log_main - log_plane + math.log(cell)) / (d + 1.0))  # every value > 0 is right, this one is best
    log_differences = log_ball(d) + d * np.log(split + cell) + np.logaddexp(log_main - d * np.log(split), log_plane)
    return np.where(reach < math.sqrt(2.0), -math.inf, log_slices + log_differences)


def rotation_trees(dim: int, angle: float) -> Family:
    """Return the families of points with angles sum of +-arctan 2^-j, j = 1..s, along a binary tree (4.E, iii)."""
    depth = math.ceil(math.log2(dim + 1))
    start = max(0, math.floor(-math.log2(angle)) - 2)
    last = np.arange(start, start + 3 + _FINEST)  # (s,)
    cover = np.arctan(np.exp2(-last))
    small_terms = _SMALL_TERMS[np.minimum(last, len(_SMALL_TERMS) - 1)]
    # 4.E, iii: Q^2 = (prod_j (4^j + 1))^depth
    log_scale = 0.5 * depth * (math.log(2.0) * last * (last + 1) + small_terms)
    if dim == 1:
        return log_arcs(angle + 2.0 * cover), log_scale
    # 4.E, iii: M >= 1/sigma(C(t + sqrt(h) gamma))
    apart = np.minimum(angle + math.sqrt(depth) * cover, math.pi)
    log_points: Float64 = -log_cap_measure(dim, apart)
    return log_points, log_scale


FAMILIES: dict[str, Callable[[int, float], Family]] = {
    "integer points": integer_spheres,
    "averaged integer points": averaged_spheres,
    "trees of rotations": rotation_trees,
}


def log_arcs(angle: Float64) -> Float64:
    """Return log max(ceil(2 pi/angle) - 1, 1), the most points of the circle more than an angle apart (4.E)."""
    log_count: Float64 = np.log(np.maximum(np.ceil(2.0 * math.pi / angle * (1.0 - 1e-15)) - 1.0, 1.0))
    return log_count


def log_power_gap(large: Float64, small: Float64, power: int) -> Float64:
    """Return log(large^power - small^power) for large > small >= 0."""
    log_ratio = np.log(np.maximum(small / large, 1e-300))
    log_gap: Float64 = power * np.log(large) + np.log(-np.expm1(power * log_ratio))
    return log_gap
