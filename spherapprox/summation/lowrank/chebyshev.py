"""The polynomial that stands for exp(z s) on [-1, 1]: Chebyshev's series, cut off, in powers of s.

References: docs/theorems/4.10-polynomial-features.md.
"""

from __future__ import annotations

import math

import numpy as np

from ... import special
from ..._types import Float64

GROWTH = 1.0 + math.sqrt(2.0)
"""The coefficients of the Chebyshev polynomial T_k add up to at most GROWTH^k in absolute value."""
_EPS = float(np.finfo(np.float64).eps)


def log_tail(z: float, degree: int, growth: float = 1.0) -> float:
    """Bound the logarithm of ``2 sum_{k > degree} growth^k I_k(z)``; inf where the bound does not hold."""
    if z == 0.0:
        return -math.inf
    ratio = growth * z / (2.0 * (degree + 2))
    if ratio >= 1.0:
        return math.inf
    k = degree + 1
    # 4.10: tau_g
    log_bessel = k * math.log(growth * z / 2.0) - math.lgamma(k + 1.0) + z * z / (4.0 * (k + 1))
    return math.log(2.0) + log_bessel - math.log1p(-ratio)


def log_size(z: float, degree: int) -> float:
    """Bound the logarithm of the sum of the polynomial's absolute coefficients; inf where the bound does not hold."""
    # 4.10, coefficients: A = e^z + 2 sum_(k>g) (1 + sqrt 2)^k I_k(z)
    return float(np.logaddexp(z, log_tail(z, degree, GROWTH)))


def coefficients(z: float, degree: int) -> tuple[Float64, Float64, float]:
    """Return the coefficients of s^0, ..., s^degree, bounds of their size, and of the error that their sum may have.

    They are the exponential series less what Chebyshev polynomials of higher degree hold: their sum would cancel.
    """
    j = np.arange(degree + 1)
    series = np.cumprod(np.concatenate([[1.0], z / np.maximum(j[1:], 1)]))
    beyond, size, error = np.zeros(degree + 1), np.zeros(degree + 1), 2.0 * _EPS
    if z > 0.0:
        before, chebyshev = np.zeros((2, degree + 1))
        chebyshev[0] = 1.0  # the coefficients of T_0; T_1 = s T_0, and T_(k+1) = 2 s T_k - T_(k-1)
        k = 0
        while k <= degree or log_tail(z, k - 1, GROWTH) > math.log(_EPS) - 5.0:
            if k > degree:
                log_bessel = float(special.log_iv(float(k), z))
                bessel = 2.0 * math.exp(log_bessel)
                beyond += bessel * chebyshev
                size += bessel * np.abs(chebyshev)
                uncertain = 4.0 * max(1.0, abs(log_bessel), math.hypot(k, z)) + k + 4.0
                error += _EPS * uncertain * bessel * float(np.abs(chebyshev).sum())
            shifted = np.concatenate([[0.0], chebyshev[:-1]])
            chebyshev, before = (1.0 if k == 0 else 2.0) * shifted - before, chebyshev
            k += 1
    # 4.10, coefficients: p_j = z^j / j! - 2 sum_(k>g) I_k(z) t_kj
    return series - beyond, series + size, error
