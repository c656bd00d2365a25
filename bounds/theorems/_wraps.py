"""Points of S^m far apart, from dense lattices of R^m: docs/theorems/4.E-lower-without-sampling.md (v)."""

from __future__ import annotations

import functools
import math

from scipy.integrate import quad
from scipy.special import erfc

from spherapprox._scalars.gamma import log_gamma_half_ratio

from ..records.bound import EXACT
from ._shells import log_density

_HALVINGS = 64


@functools.cache
def largest_normal(d: int) -> float:
    """Return the mean of the largest of d independent standard normal numbers in absolute value (4.E, v)."""
    far = math.sqrt(2.0 * math.log(d) + 90.0)
    near = 0.7 * math.sqrt(2.0 * math.log(d))

    def survival(s: float) -> float:
        return -math.expm1(d * math.log1p(-min(float(erfc(s * math.sqrt(0.5))), 1.0 - 1e-16)))

    ends = ((0.0, near), (near, far))
    return math.fsum(float(quad(survival, a, b, epsabs=0.0, epsrel=2e-14, limit=200)[0]) for a, b in ends)


def separation(dim: int, angle: float) -> float:
    """Maximise (1/sin(t/2) - 1/sin(delta/2))^m cos(delta) over t < delta < pi/2 (4.E, v: Voronoi cells)."""
    low, high, sine = math.log(angle), math.log(0.5 * math.pi), math.sin(0.5 * angle)
    for _ in range(_HALVINGS):
        delta = math.exp(0.5 * (low + high))
        inner = math.sin(0.5 * delta)
        # the derivative of the logarithm: its first term falls, its second rises
        rises = dim * math.cos(0.5 * delta) > 2.0 * inner * (inner / sine - 1.0) * math.tan(delta)
        low, high = (math.log(delta), high) if rises else (low, math.log(delta))
    return math.exp(low)


def log_wrapped(dim: int, angle: float) -> float:
    """Return log M, M points of S^m pairwise more than an angle apart, from lattices laid on cells; 0 from pi/2 on."""
    if angle >= 0.5 * math.pi:
        return 0.0
    sine, density = math.sin(0.5 * angle), log_density(dim)
    # 4.E, v: Delta (cot(t/2) - 1)^m sqrt(2 pi) E on 2(m+1) cubes, rounded up on each where its units are known
    cubes = math.log(2.0 * (dim + 1.0))
    log = density + dim * (math.log(math.cos(0.5 * angle) - sine) - math.log(sine))
    log += 0.5 * math.log(2.0 * math.pi) + math.log(largest_normal(dim + 1)) - cubes
    count = cubes + (log if log > EXACT else math.log(max(math.ceil(math.exp(log) * (1.0 - 1e-12)), 1)))
    # 4.E, v: Voronoi cells
    delta = separation(dim, angle)
    area = math.log(2.0) + 0.5 * math.log(math.pi) + log_gamma_half_ratio(0.5 * (dim + 1.0))
    room = sine / math.sin(0.5 * delta)
    if room >= 1.0:
        return count
    cells = density + area + dim * (math.log1p(-room) - math.log(sine)) + math.log(math.cos(delta))
    return max(count, cells)
