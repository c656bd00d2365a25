"""What the kernel costs by Petrov (2025), B.2.1 to B.2.5 and (4.6): polynomials, their convolution, and Lambda(eps).

The arguments are the same throughout: `dim` is m, 1 to 1e6; `eps`, `lipschitz` (L), `jackson_constant` (C_R) and
`harmonic_constant` (C_H) are 1e-200 to 1e200, `concentration` (lambda) 0 to 1e150, `degree` 0 to 1e18. A ValueError or
TypeError names the argument that is not. Results beyond the largest float are inf; `printed` asks for the text's form.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from ...jackson import approximation_error
from ._arguments import checked


@checked
def best_approximation(degree: int, dim: int, *, lipschitz: float, jackson_constant: float | None = None) -> float:
    """Bound the best approximation by polynomials of degree q >= 1, C_R L / q (Lemma B.2.1).

    Printed with an unknown C_R; without `jackson_constant` the proven value of docs/theorems/4.6-jackson-constants.md,
    at this degree. By Lemma B.2.2, ``|K * f - K * W_q| <= |f - W_q|``, it bounds what is left after convolution too.

    Examples
    --------
    >>> best_approximation(10, 8, lipschitz=1.0, jackson_constant=1.0)
    0.1
    """
    if jackson_constant is None:
        return lipschitz * approximation_error(degree, dim)
    return lipschitz * jackson_constant / degree if degree > 0 else math.inf


@checked
def eigenvalue_lower(degree: int, concentration: float, dim: int) -> float:
    """Bound log a_k below by that of (lambda / (nu + k + sqrt(lambda^2 + (nu+k)^2)))^k (Lemma B.2.3).

    Examples
    --------
    >>> round(eigenvalue_lower(3, 100.0, 8), 6)
    -0.194863
    """
    order = (dim - 1) / 2.0 + degree
    if degree == 0:
        return 0.0
    if concentration == 0.0:
        return -math.inf
    return -degree * math.asinh(order / concentration)


@checked
def projection_error(degree: int, concentration: float, dim: int, *, harmonic_constant: float) -> float:
    """Bound the convolution error of a polynomial of degree q by C_H q (1 - B^q) (Lemma B.2.4).

    Examples
    --------
    >>> round(projection_error(3, 100.0, 8, harmonic_constant=1.0), 6)
    0.531158
    """
    log_b = eigenvalue_lower(degree, concentration, dim) / max(degree, 1)
    return -harmonic_constant * degree * math.expm1(degree * log_b)


@checked
def concentration_at_degree(eps: float, degree: int, dim: int, *, harmonic_constant: float) -> float:
    """Return the lambda of (B.14, B.15), 2 D E / (1 - D^2), E = nu + q, from which B.2.4 is at most eps/2, q >= 1.

    ``D = (1 - eps / (2 C_H q))^(1/q)``; 0 where C_H q <= eps/2.

    Examples
    --------
    >>> round(concentration_at_degree(0.1, 3, 8, harmonic_constant=1.0), 6)
    1160.216619
    """
    if (size := 2.0 * harmonic_constant * degree) <= eps:
        return 0.0
    drop = eps / size
    log_d = math.log1p(-drop) / degree
    return ((dim - 1.0) + 2.0 * degree) * math.exp(log_d) / -math.expm1(2.0 * log_d) if log_d < 0.0 else math.inf


@checked
def concentration_needed(
    eps: float, dim: int, *, lipschitz: float, jackson_constant: float, harmonic_constant: float
) -> float:
    """Return Lambda(eps) of Lemma B.2.5 and (4.6), the concentration from which ``|f - K * f| <= eps``.

    With ``u = 1 - eps^2 / (8 L C_H C_R + 2 eps C_H)`` and ``s = eps / (4 L C_R + eps)``,
    ``Lambda = (8 L C_R + (m+1) eps) u^s / (eps (1 - u^(2s)))``; 0 where u <= 0, since then every concentration will do;
    inf where it exceeds the largest float (see `log_concentration_needed`).
    """
    return _needed(eps, dim, lipschitz, jackson_constant=jackson_constant, harmonic_constant=harmonic_constant)


def _needed(eps: float, dim: int, lipschitz: float, jackson_constant: float, harmonic_constant: float) -> float:
    # B.2.5: u = 1 - drop, s = eps/base
    base = 4.0 * lipschitz * jackson_constant + eps
    drop = (eps / base) * (eps / (2.0 * harmonic_constant))
    if drop >= 1.0:
        return 0.0
    exponent = (eps / base) * math.log1p(-drop)
    if exponent > -1e-290:  # subnormal numbers have few digits
        return math.inf
    return ((8.0 * lipschitz * jackson_constant / eps) + dim + 1.0) * math.exp(exponent) / -math.expm1(2.0 * exponent)


@checked
def log_concentration_needed(
    eps: float, dim: int, *, lipschitz: float, jackson_constant: float, harmonic_constant: float
) -> float:
    """Return log Lambda(eps) of `concentration_needed`, finite also beyond the largest float; -inf for Lambda = 0.

    Examples
    --------
    >>> round(log_concentration_needed(0.1, 8, lipschitz=1.0, jackson_constant=1.0, harmonic_constant=1.0), 6)
    14.217756
    """
    return _log_needed(eps, dim, lipschitz, jackson_constant=jackson_constant, harmonic_constant=harmonic_constant)


def _log_needed(eps: float, dim: int, lipschitz: float, jackson_constant: float, harmonic_constant: float) -> float:
    value = _needed(eps, dim, lipschitz, jackson_constant=jackson_constant, harmonic_constant=harmonic_constant)
    if value == 0.0:
        return -math.inf
    if value < math.inf:
        return math.log(value)
    # B.2.5 from logarithms
    log_reach = math.log(4.0) + math.log(lipschitz) + math.log(jackson_constant) - math.log(eps)
    # u^s / (1 - u^(2s)) = 1 / (2 s (1 - u)) up to a factor 1 + O(s (1 - u)), which is 1 here
    wide, log_share = np.logaddexp((math.log(2.0) + log_reach, log_reach), (math.log(dim + 1.0), 0.0))
    return float(wide + 2.0 * log_share) + math.log(harmonic_constant) - math.log(eps)


@checked
def concentration_series(
    eps: float, dim: int, *, lipschitz: float, jackson_constant: float, harmonic_constant: float, printed: bool = False
) -> float:
    """Return the first two terms of Lambda as eps -> 0 (B.2.5).

    ``128 L^3 C_H C_R^3 / eps^4 + 16 L^2 (m+5) C_H C_R^2 / eps^3``; the thesis prints m - 1 for m + 5.

    Examples
    --------
    >>> round(concentration_series(0.1, 8, lipschitz=1.0, jackson_constant=1.0, harmonic_constant=1.0), 3)
    1488000.0
    """
    reach = (lipschitz / eps) * jackson_constant
    second = dim - 1.0 if printed else dim + 5.0
    return (128.0 * reach + 16.0 * second) * reach * reach * (harmonic_constant / eps)


@checked
def convolution_error(
    concentration: float, dim: int, *, lipschitz: float, jackson_constant: float, harmonic_constant: float
) -> float:
    """Invert (4.6): the eps with Lambda(eps) = lambda, which bounds ``|f - K * f|``; inf for lambda = 0."""
    if concentration == 0.0:
        return math.inf

    def excess(log_eps: float) -> float:
        log_threshold = _log_needed(
            math.exp(log_eps), dim, lipschitz, jackson_constant=jackson_constant, harmonic_constant=harmonic_constant
        )
        return max(log_threshold - math.log(concentration), -700.0)

    # u = 0 at this eps, where Lambda reaches 0; a little above it lest rounding leave u > 0
    mean = math.sqrt(8.0) * math.sqrt(harmonic_constant) * math.sqrt(lipschitz) * math.sqrt(jackson_constant)
    top = (harmonic_constant + math.hypot(harmonic_constant, mean)) * (1.0 + 1e-12)
    low = math.log(top) - 1.0
    while excess(low) < 0.0:
        low -= 2.0
    return math.exp(float(brentq(excess, low, math.log(top), xtol=1e-13)))
