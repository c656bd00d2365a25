"""Jackson constants of S^m: the best approximation of Lipschitz functions by spherical polynomials.

docs/theorems/4.6-jackson-constants.md proves them, 3-errata.md, 3.6, the floor. The arguments are the same throughout:
`dim` is m, 1 to 1e6, and `degree` q, the largest of the polynomials, up to 1e300. A ValueError or TypeError names the
argument that is not.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.optimize import brentq
from scipy.special import jv

from spherapprox import _checks
from spherapprox._scalars.gamma import log_gamma_half_ratio
from spherapprox.special import cap_angle

from .records.problem import LARGEST_DIM

__all__ = ["approximation_error", "jackson_constant", "jackson_degree"]

EXACT_UP_TO = 64
"""Half degrees n up to which the error of the Gauss rule is summed up (a millisecond); tuned."""
LARGEST_DEGREE = 1e300
SMALLEST_GOAL = 1e-290
"""The least error, for Lipschitz constant 1, whose degree is below the largest."""


def _degree(value: object, minimum: int) -> int:
    """Check a polynomial degree whose float is finite."""
    degree = _checks.integer(value, "degree", minimum=minimum, maximum=10**400)
    _checks.real(degree, "degree", maximum=LARGEST_DEGREE, finite=False)
    return degree


@lru_cache(maxsize=1024)
def bessel_zero(order: float) -> float:
    """Return j, the first positive zero of the Bessel function J of an order from -1/2 to 1e6, to 1e-15 relative."""
    order = _checks.real(order, "order", minimum=-0.5, maximum=LARGEST_DIM)
    # order < j < sqrt(order + 1) (sqrt(order + 2) + 1), and J > 0 before its first zero
    upper = math.sqrt(order + 1.0) * (math.sqrt(order + 2.0) + 1.0)
    lower = max(order, 0.5)
    step = (upper - lower) / 64.0
    while jv(order, lower + step) > 0.0:
        lower += step
    return float(brentq(lambda x: jv(order, x), lower, lower + step, xtol=1e-14, rtol=1e-15))


def jackson_limit(dim: int) -> float:
    """Return pi j_(m/2-1,1), the constant C_R of non-negative polynomial kernels, valid for every degree.

    It is about pi m/2 for large m (4.6, non-negative kernels); `jackson_constant` is smaller.
    """
    return math.pi * bessel_zero(0.5 * _checks.dimension(dim, maximum=LARGEST_DIM) - 1.0)


def approximation_error(degree: int, dim: int) -> float:
    """Bound the best approximation of a function on S^m with Lipschitz constant 1 by polynomials of degree q >= 0.

    Returns
    -------
    float
        An angle e: every f with ``|f(x) - f(y)| <= L theta(x, y)``, with values in any R^p, is within ``L e`` of a
        polynomial of degree at most q. For dim 1 the best possible one, ``pi / (2 (q + 1))``; else that of the best
        kernel whose tail is not negative (to 1e-12) for q < 130, and a bound of it, some 1 % larger, from there on.
        It never increases with the degree.

    Examples
    --------
    >>> from bounds.jackson import approximation_error
    >>> round(approximation_error(10, 2), 4), round(approximation_error(10**9, 8), 10)
    (0.2618, 1.04e-08)
    """
    q, m = _degree(degree, 0), _checks.dimension(dim, maximum=LARGEST_DIM)
    if m == 1:
        return 0.5 * math.pi / (q + 1.0)
    n = q // 2
    if n <= EXACT_UP_TO:
        return _gauss_error(n, m)
    return min(_zero_error(float(n), m), _gauss_error(EXACT_UP_TO, m))


@lru_cache(maxsize=4096)
def _gauss_error(n: int, dim: int) -> float:
    """Return half the error of n Gauss nodes for int (1-t^2)^(-1/2) dt = pi, weight (1-t^2)^((m-1)/2) (4.6)."""
    if n == 0:
        return 0.5 * math.pi
    half = 0.5 * dim
    # Step 1: the nodes, eigenvalues of the Jacobi matrix:
    k = np.arange(1.0, n + 1.0)  # (n,)
    # t u_(k-1) = beta_k u_k + beta_(k-1) u_(k-2) for the orthonormal Gegenbauer polynomials with parameter m/2
    beta = 0.5 * np.sqrt(k * (k + dim - 1.0) / ((k + half) * (k + half - 1.0)))
    node = eigvalsh_tridiagonal(np.zeros(n), beta[:-1])
    # Step 2: the weights: each over sin^m is 1 over the sum of (sin^(m/2) u_k)^2, sin^(m/2) about e^-n or more
    log_start = 0.25 * dim * np.log1p(-node * node) - 0.25 * math.log(math.pi)
    before, now = np.zeros(n), np.exp(log_start + 0.5 * log_gamma_half_ratio(half + 0.5))
    total = now * now
    for j in range(n - 1):
        before, now = now, (node * now - (beta[j - 1] * before if j else 0.0)) / beta[j]
        total += now * now
    # Step 3: 4.6, (pi - sum of omega_i)/2
    return 0.5 * (math.pi - float(np.sum(1.0 / total)))


def _zero_error(n: float, dim: int) -> float:
    """Bound the error of n >= 1 Gauss nodes by the first one's angle and weight (4.6, 2 and Sturm)."""
    half = 0.5 * dim
    frequency, zero = n + half, bessel_zero(half - 0.5)
    share = half / frequency * ((half - 1.0) / frequency)
    angle = 0.5 * math.pi
    for _ in range(4):  # each angle is above the first zero's, and so is the next
        angle = min(0.5 * math.pi, zero / (frequency * math.sqrt(1.0 - share * _cosecant_gap(angle))))
    weight = math.pi / frequency
    if dim >= 4:
        weight *= math.exp((half - 1.0) * math.log1p(0.5 * half / (frequency * math.sin(angle)) ** 2))
    return angle - 0.5 * weight


def _cosecant_gap(angle: float) -> float:
    """Return 1/sin^2 - 1/angle^2, which increases from 1/3."""
    square = angle * angle
    if square < 1e-3:
        return 1.0 / 3.0 + square * (1.0 / 15.0 + square * (2.0 / 189.0))
    return 1.0 / math.sin(angle) ** 2 - 1.0 / square


def jackson_constant(dim: int, degree: int | None = None) -> float:
    """Return an explicit C_R: a function with Lipschitz constant L is within ``C_R L / q`` of a polynomial of degree q.

    Returns
    -------
    float
        ``q approximation_error(q, m)`` at a degree q >= 1; without one, for every q >= 1, ``2 j - pi``, j the first
        positive zero of the Bessel function J_((m-1)/2), and ``pi/2`` for dim 1. The latter is 6 % at most (seen) above
        the limit of the former.

    Examples
    --------
    >>> from bounds.jackson import jackson_constant
    >>> [round(jackson_constant(m), 2) for m in (1, 2, 8, 16)], round(jackson_constant(8, degree=20), 2)
    ([1.57, 3.14, 10.83, 20.17], 7.43)
    """
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    if degree is not None:
        q = _degree(degree, 1)
        return q * approximation_error(q, m)
    return 0.5 * math.pi if m == 1 else 2.0 * bessel_zero(0.5 * (m - 1.0)) - math.pi


def jackson_floor(dim: int, degree: int) -> float:
    """Bound C_R at a degree q >= 1 below by half the angle of a cap, times the degree (3.6).

    It is ``q r`` where caps of radius 2r have measure 1/(dim P_q + 1), and tends to about m/(2e) for large q and m.
    """
    m, q = _checks.dimension(dim, maximum=LARGEST_DIM), float(_degree(degree, 1))
    i = np.arange(1.0, min(m, q - 1.0) + 1.0)
    # dim P_q = C(m+q-1, m) (2q+m)/q
    count = float(np.log((max(m, q - 1.0) + i) / i).sum()) + math.log1p((q + m) / q)
    return 0.5 * q * float(cap_angle(m, -count - math.log1p(math.exp(-count))))


def jackson_degree(eps: float, dim: int, lipschitz: float = 1.0) -> int:
    """Return the smallest degree q with ``lipschitz approximation_error(q, dim) <= eps``, 0 where a constant will do.

    Parameters
    ----------
    eps, lipschitz : float
        The error, and the Lipschitz constant; positive, and ``eps >= 1e-290 lipschitz``.
    dim : int

    Examples
    --------
    >>> from bounds.jackson import jackson_degree
    >>> jackson_degree(0.1, 2), jackson_degree(0.1, 8), jackson_degree(2.0, 8)
    (30, 96, 0)
    """
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    goal = _checks.real(eps, "eps", above=0.0) / (unit := _checks.real(lipschitz, "lipschitz", above=0.0))
    if goal < SMALLEST_GOAL:
        raise ValueError(f"'eps' must be at least {SMALLEST_GOAL:g} times lipschitz = {unit:g}, got {eps:g}")
    step = 1 if m == 1 else 2  # the errors for m >= 2 fall at even degrees
    low, high = -1, math.ceil(jackson_constant(m) / (step * goal))
    while approximation_error(step * high, m) > goal:  # only by rounding
        high += 1 + high // 2**50
    while high - low > 1:
        middle = (low + high) // 2
        if approximation_error(step * middle, m) <= goal:
            high = middle
        else:
            low = middle
    return step * high
