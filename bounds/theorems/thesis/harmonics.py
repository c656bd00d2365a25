"""Sup norms of the spherical harmonics of a zonal function: an estimate of the thesis's constant C_H.

docs/theorems/2-thesis.md (C_H) has it. The arguments are the same throughout: `function` is g of f(x) = g(theta(x,
pole)), from angles in [0, pi], shape (k,), to finite values of the same shape; `dim` is m, 1 to 1e6; `max_degree` is n,
0 to 10,000, as far as dim(H_n) <= 2e19: floats resolve no more. A ValueError or TypeError names the argument that is
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from spherapprox import _checks
from spherapprox._scalars.gamma import log_gamma_half_ratio
from spherapprox._types import Float64

from ...records.problem import LARGEST_DIM

LARGEST_DEGREE = 10_000
PANEL = 16
MOST_NODES = 2**15
AGREEMENT = 1e-9
"""Two quadratures, one with twice the nodes, differ by less than this times the largest norm; tuned."""
NOISE = 1e-6
"""What rounding may add to a norm, relative to max |g|: about 2e-16 sqrt(dim H_k)."""


def zonal_harmonic_norms(function: Callable[[Float64], Any], dim: int, max_degree: int) -> Float64:
    """Return the sup norms, shape (n + 1,), of the projections of f onto the harmonics of degree 0 to n.

    They are ``dim(H_k) |int g P_k dsigma|``, P_k the zonal polynomial with P_k(1) = 1; the projection takes it at the
    pole. The error is some 1e-9 of the largest norm for smooth g; where g has kinks, some 1e-6 for low degrees.
    Rounding adds about ``2e-16 sqrt(dim(H_k)) max |g|``.
    """
    _checks.callable_(function, "function")
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    n = _checks.integer(max_degree, "max_degree", minimum=0, maximum=LARGEST_DEGREE)
    if n > 0 and 0.5 * _log_harmonics(n, m) > math.log(NOISE / 2e-16):
        raise ValueError(f"'max_degree' must be smaller for dim = {m}, got {n}: floats cannot resolve so high a degree")
    nodes = PANEL * math.ceil((64 + 2 * n + 8 * math.isqrt(m)) / PANEL)
    norms = _norms(function, m, n, nodes=nodes)
    while nodes < MOST_NODES:
        nodes *= 2
        before, norms = norms, _norms(function, m, n, nodes=nodes)
        if float(np.max(np.abs(norms - before))) <= AGREEMENT * float(np.max(norms)):
            break
    return norms


def zonal_harmonic_bound(function: Callable[[Float64], Any], dim: int, max_degree: int) -> float:
    """Estimate C_H, the `harmonic_constant` of f: the largest sup norm of its projections up to a degree.

    An estimate and no bound, in two ways: the thesis's C_H bounds the harmonics of the best polynomial approximations
    of every degree, not those of f, which are their limits; and degrees beyond `max_degree` may be larger, without end
    for some f (docs/theorems/3-errata.md, 3.9).

    Examples
    --------
    >>> round(zonal_harmonic_bound(lambda theta: theta, 8, 30), 4)
    1.5708
    """
    return float(np.max(zonal_harmonic_norms(function, dim, max_degree)))


def _norms(function: Callable[[Float64], Any], dim: int, max_degree: int, nodes: int) -> Float64:
    """Integrate the norms by Gauss-Legendre on panels of theta near pi/2, the support of sin^(m-1) to rounding."""
    # Gauss-Legendre nodes and weights of equal panels of [-1, 1]
    x, w = np.polynomial.legendre.leggauss(PANEL)
    count = nodes // PANEL
    x = ((2.0 * np.arange(count)[:, None] + 1.0) / count - 1.0 + x / count).ravel()  # (nodes,)
    w = np.tile(w / count, count)  # (nodes,)
    # sin^(m-1) = exp((m-1) log cos(theta - pi/2)) is below 1e-32 of its maximum beyond this distance from pi/2
    reach = min(0.5 * math.pi, 12.2 / math.sqrt(max(dim - 1.0, 1e-9)))
    offset = reach * x
    theta = 0.5 * math.pi + offset
    values = np.asarray(function(theta), dtype=float)
    if values.shape != theta.shape or not np.isfinite(values).all():
        raise ValueError(f"'function' must return finite values of shape {theta.shape}, got shape {values.shape}")
    t = -np.sin(offset)
    density = np.exp((dim - 1.0) * np.log(np.cos(offset))) * reach * w
    density *= math.exp(log_gamma_half_ratio(0.5 * dim) - 0.5 * math.log(math.pi))  # s_m
    weighted = values * density
    norms = np.empty(max_degree + 1)
    before, now, size = np.zeros(nodes), np.ones(nodes), 1.0
    # u_k = sqrt(dim H_k) P_k are orthonormal, Gegenbauer: t u_k = b_(k+1) u_(k+1) + b_k u_(k-1), b_1 = 1/sqrt(m+1)
    b, m, j = 0.0, dim, np.arange(2.0, max_degree + 2.0)
    slopes = [1.0 / math.sqrt(m + 1.0), *np.sqrt(j / (2.0 * j + m - 1.0) * ((j + m - 2.0) / (2.0 * j + m - 3.0)))]
    for k, following in enumerate(slopes):
        norms[k] = size * abs(float(np.dot(weighted, now)))
        before, now, b = now, (t * now - b * before) / following, following
        size = math.exp(0.5 * _log_harmonics(k + 1, dim))
    return norms


def _log_harmonics(degree: int, dim: int) -> float:
    """Return log dim(H_l) = log[(2l+m-1)/(l+m-1) C(l+m-1, l)], l >= 1."""
    if dim == 1:
        return math.log(2.0)
    binomial = math.lgamma(degree + dim) - math.lgamma(degree + 1.0) - math.lgamma(dim)
    return binomial + math.log1p(degree / (degree + dim - 1.0))
