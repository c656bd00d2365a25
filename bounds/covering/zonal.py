"""Covers of S^m made of bands of latitude, each covered by a cover of S^(m-1).

docs/theorems/4.2-covering-numbers.md, zonal.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from spherapprox._types import Float64

from ..records.bound import Hypothesis
from ._method import HALF_PI, Method, inverse
from .polytope import polytopes

MAX_DIM = 64
"""The closed form doubles its density with each dimension: above dim 6 random caps need fewer points at any radius."""

_SMALLEST_COUNTED = {2: 0.03, 3: 0.04, 4: 0.06, 5: 0.1, 6: 0.15, 7: 0.25, 8: 0.4}
"""dim: the radius from which covers are counted. Below it the closed form loses little, or other covers are better."""
_STEP = 1.0025
"""Ratio of neighbouring radii in the tables of counted covers."""
_CHUNK = 64
_SAFE = 1.0 - 1e-14
"""What rounding is allowed to cost in a half chord."""


@functools.cache
def _log_coefficients(dim: int) -> Float64:
    """Return log c_p, p = 0, ..., dim, with N(rho) <= sum_p c_p y^p, y = 1/sin(rho/2), 0 < rho <= pi (4.2, zonal)."""
    if dim == 1:
        return np.array([0.0, math.log(0.5 * math.pi)])
    below = _log_coefficients(dim - 1)  # (dim,)
    p = np.arange(dim, dtype=np.float64)
    log_beta = np.array([math.lgamma((q + 1) / 2) + math.lgamma(0.5) - math.lgamma(q / 2 + 1) for q in range(dim)])
    share = math.sqrt(1.0 / dim)  # t = sin(h/2)/sin(rho/2), best where rho is small
    scaled = below - 0.5 * p * math.log1p(-share * share)
    level = scaled + np.log(np.exp(log_beta) / math.pi + (p > 0))
    above = scaled + log_beta - math.log(4.0 * share)
    total: Float64 = np.logaddexp(np.append(level, -np.inf), np.append(-np.inf, above))  # (dim + 1,)
    return total


def log_zonal_sum(dim: int, radius: float) -> float:
    """Return the log of the closed form, which falls smoothly as the radius grows (4.2, zonal)."""
    coefficients = _log_coefficients(dim)
    terms = coefficients - math.log(math.sin(radius / 2.0)) * np.arange(dim + 1)
    top = float(terms[-1]) if radius < 0.5 else float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum()))


@functools.cache
def counted(dim: int) -> tuple[Float64, Float64]:
    """Return radii, increasing, and the sufficient number of points from each on, counted band by band (4.2, counting).

    Empty above dim 8. The radii are those of a fixed ladder and of the polytopes.
    """
    if dim not in _SMALLEST_COUNTED:
        return np.empty(0), np.empty(0)
    steps = int(math.log(0.5 * math.pi / _SMALLEST_COUNTED[dim]) / math.log(_STEP))
    ladder = 0.5 * math.pi * _STEP ** -np.arange(1.0, steps + 1)
    # Step 1: the covers at the radii of the ladder, chunk by chunk
    chunks = np.array_split(ladder, 1 + steps // _CHUNK)
    counts = np.concatenate([_count(dim, chunk) for chunk in chunks])
    # Step 2: polytopes among them, and the best count of any smaller radius
    covers = [*zip(ladder, counts, strict=True), *polytopes(dim)]
    radii, counts = np.array(sorted(covers)).T
    return radii, np.minimum.accumulate(counts)


def _count(dim: int, radii: Float64) -> Float64:
    """Count the points of the best cover at each radius: a cap at each pole and J equal bands (4.2, counting)."""
    # Step 1: 13 numbers of bands about the ideal one; axes are (radii, numbers of bands, bands)
    radius = radii[:, np.newaxis, np.newaxis]  # (radii, 1, 1)
    span = math.pi - 2.0 * radius
    ideal = 0.5 * span * math.sqrt(dim) / radius
    least = np.maximum(np.floor(0.5 * span / radius) + 1.0, np.floor(0.7 * ideal))  # half a band is below the radius
    largest = np.maximum(np.ceil(1.2 * ideal), least + 1.0)
    bands = np.round(least + (largest - least) * np.linspace(0.0, 1.0, 13)[:, np.newaxis])  # (radii, 13, 1)
    # Step 2: the bands from the north pole to the equator
    half = 0.5 * span / bands
    north = np.arange(math.ceil(float(largest.max()) / 2.0), dtype=np.float64)  # (bands,)
    centre = np.minimum(radius + half * (2.0 * north + 1.0), 0.5 * math.pi)  # (radii, 13, bands)
    widest = np.sin(np.minimum(centre + half, 0.5 * math.pi))
    # Step 3: 4.2, band rule: sin^2(R/2) = (sin^2(rho/2) - sin^2(h/2))/(s sin theta_0)
    chord = (np.sin(0.5 * radius) - np.sin(0.5 * half)) * (np.sin(0.5 * radius) + np.sin(0.5 * half))
    ratio = np.sqrt(chord * _SAFE / (widest * np.sin(centre)))
    points = _counts(dim - 1, 2.0 * np.arcsin(np.minimum(ratio, 1.0)))
    # Step 4: their sum over the sphere, least over the numbers of bands
    mirrored = np.clip(bands - 2.0 * north, 0.0, 2.0)  # 2: a band and its image, 1: the equator's, 0: beyond it
    best: Float64 = 2.0 + (mirrored * np.where(mirrored > 0.0, points, 1.0)).sum(axis=2).min(axis=1)  # (radii,)
    return best


def _counts(dim: int, radii: Float64) -> Float64:
    """Return sufficient numbers of points for many radii, inf below the table."""
    if dim == 1:
        arcs: Float64 = np.ceil(math.pi / _SAFE / radii)
        return np.where(radii >= math.pi, 1.0, arcs)
    table, counts = counted(dim)
    places = np.searchsorted(table, radii, side="right") - 1
    points = np.where(places >= 0, counts[np.maximum(places, 0)], np.inf)
    return np.where(radii >= math.pi, 1.0, np.where(radii >= 0.5 * math.pi, 2.0, points))


def zonal(dim: int, radius: float) -> tuple[float, bool]:
    """Return (log N, True if N was counted) for 0 < radius < pi/2 and 2 <= dim <= `MAX_DIM`."""
    log_sum = log_zonal_sum(dim, radius)
    if radius < _SMALLEST_COUNTED.get(dim, math.inf):
        return log_sum, False
    radii, counts = counted(dim)
    place = int(np.searchsorted(radii, radius, side="right")) - 1
    log_count = math.log(float(counts[place])) if place >= 0 else math.inf
    return (log_count, True) if log_count <= log_sum else (log_sum, False)


def _least_radius(n: int, dim: int) -> float:
    """Return the least radius of a counted cover or of the closed form with at most n points."""
    radii, counts = counted(dim)
    return min(float(radii[counts <= n].min(initial=HALF_PI)), inverse(log_zonal_sum, n, dim))


METHOD = Method(
    "zonal", log_zonal_sum, needs=lambda dim: (Hypothesis(f"2 <= dim <= {MAX_DIM}", 2 <= dim <= MAX_DIM),),
    counted=zonal, least_radius=_least_radius,
)  # fmt: skip
