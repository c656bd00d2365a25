"""Collars of the recursive zonal partition of S^m, m >= 3, for the sweep to its largest radius.

Only the northern half is made, and the collar about the equator: the others mirror them.
docs/theorems/5.6-largest-radius.md.
"""

from __future__ import annotations

import math
from typing import Any

from ..._scalars import beta, gamma
from ..._scalars.gauss import gauss_legendre
from ..._types import Float64, Int64
from ..jit import njit, subroutine
from ..scalars import subroutines  # noqa: F401

HALF_PI = 0.5 * math.pi
POWERS = 40  # dimensions below it have sin^(m-1) by squaring, exact to 1e-14 there; others by its logarithm

_nodes, _weights = gauss_legendre(20)
_NODES, _WEIGHTS = 0.5 + 0.5 * _nodes, 0.5 * _weights
_short_nodes, _short_weights = gauss_legendre(8)
_SHORT_NODES = 0.5 + 0.5 * _short_nodes
_SHORT_WEIGHTS = 0.5 * _short_weights


@njit
def log_density(m: int) -> float:
    """Return log kappa, where kappa sin^(m-1) is the density of the colatitude."""
    result: float = gamma.log_gamma_half_ratio(0.5 * m) - 0.5 * math.log(math.pi)
    return result


@subroutine
def power(x: float, exponent: int) -> float:
    """Return x^exponent by squaring."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= x
        x *= x
        exponent >>= 1
    return result


@njit
def cap_of(m: int, n: float) -> float:
    """Return the polar caps' colatitude in n >= 2 cells."""
    return beta.half_cap_angle(float(m), -math.log(n)) if n > 2.0 else HALF_PI


@njit
def ideal_angle(m: int, n: float) -> float:
    """Return the ideal collar angle (w_m/n)^(1/m)."""
    return math.exp((beta.log_surface_area(float(m)) - math.log(n)) / m)


@subroutine
def collars_of(m: int, n: int) -> Any:
    """Return the polar caps' colatitude, the number of collars of S^m in n >= 3 cells, and whether it is near a tie."""
    cap = cap_of(m, float(n))
    fit = (math.pi - 2.0 * cap) / ideal_angle(m, float(n)) + 0.5
    return cap, max(1, math.floor(fit)), abs(fit - math.floor(fit + 0.5)) < 1e-11 * fit


@subroutine
def weight(m: int, angle: float) -> float:
    """Return sin^(m-1) of the colatitude."""
    if m < POWERS:
        return power(math.sin(angle), m - 1)
    return math.exp((m - 1.0) * math.log1p(-2.0 * math.sin(0.5 * (angle - HALF_PI)) ** 2))


@subroutine
def measure_between(m: int, a: float, width: float) -> float:
    """Return the integral of sin^(m-1) over [a, a + width]."""
    total = 0.0
    for i in range(len(_NODES)):
        total += _WEIGHTS[i] * weight(m, a + width * _NODES[i])
    return width * total


@subroutine
def solve_colatitude(m: int, angle: float, measure: float) -> float:
    """Solve for the colatitude with this integral of sin^(m-1) between it and `angle`, by Newton's method."""
    step = measure / weight(m, angle)
    for _ in range(30):
        total = 0.0
        for i in range(len(_SHORT_NODES)):
            total += _SHORT_WEIGHTS[i] * weight(m, angle + step * _SHORT_NODES[i])
        change = (measure - step * total) / weight(m, angle + step)
        step += change
        if abs(change) <= 1e-9 * abs(step) or abs(change) < 1e-17:
            break
    return angle + step


@subroutine
def north(m: int, n: int, first: Int64, angle: Float64) -> Any:
    """Fill the boundaries of S^m in n >= 3 cells from the northern cap to the equator at most.

    Returns the number of collars, and whether a rounding is too near a tie to be trusted.
    """
    # Step 1: the polar cap, the number of collars and the fitting angle
    cap, collars, close = collars_of(m, n)
    step = (math.pi - 2.0 * cap) / collars
    scale = n * math.exp(log_density(m))
    first[0], angle[0], ideal = 1, cap, 1.0
    for j in range(1, collars // 2 + 1):
        at = cap + j * step
        if 2 * j == collars:
            first[j] = (n + 1) // 2
            angle[j] = HALF_PI if n % 2 == 0 else math.pi - beta.half_cap_angle(float(m), math.log((n // 2) / n))
            break
        # Step 2: the ideal count north of the collar's end, and the rounded one
        ideal += scale * measure_between(m, at - step, step)
        first[j] = math.floor(ideal + 0.5)
        close |= abs(ideal - math.floor(ideal) - 0.5) < 1e-12 + 3e-13 * ideal
        # Step 3: the colatitude that holds the rounded count
        angle[j] = solve_colatitude(m, at, (first[j] - ideal) / scale)
    return collars, close


@njit
def room(m: int, n: int) -> int:
    """Bound the number of boundaries of S^m in n cells."""
    return 3 + int(math.pi / ideal_angle(m, float(n)))
