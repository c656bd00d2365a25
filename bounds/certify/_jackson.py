"""Best approximation of Lipschitz functions on S^m by polynomials, in ball arithmetic.

docs/theorems/4.6-jackson-constants.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import arb, ctx
from scipy.linalg import eigvalsh_tridiagonal

from ..jackson import EXACT_UP_TO
from ..records.enclosure import CertificationError
from . import _special as special
from ._balls import precision


def _lost(n: int, dim: int) -> int:
    """Return the bits that an evaluation of C_n may lose (measured)."""
    return (4 + dim.bit_length()) * n


def distance(degree: int, dim: int) -> arb:
    """Bound the best approximation of a function with Lipschitz constant 1 by polynomials of a degree."""
    if dim == 1:
        return arb.pi() / (2 * (degree + 1))
    n = degree // 2
    if n <= EXACT_UP_TO:
        return _gauss_error(n, dim, ctx.prec)
    return _zero_error(n, dim).min(_gauss_error(EXACT_UP_TO, dim, ctx.prec))


@lru_cache(maxsize=256)
def _gauss_error(n: int, dim: int, bits: int) -> arb:
    """Return half the error of n Gauss nodes for int (1-t^2)^(-1/2) dt = pi, weight (1-t^2)^((m-1)/2).

    The weights are 2^(2-m) pi Gamma(n+m) / (n! Gamma(m/2)^2 (1-t^2) C'(t)^2), C the Gegenbauer polynomial C_n^(m/2).
    """
    # 4.6: (pi - sum of omega_i)/2, omega_i = w_i / (1-t_i^2)^(m/2)
    total, half = arb(0), special.half(dim)
    with precision(bits + _lost(n, dim) + 64):  # C is evaluated from t = 1
        scale = (2 - dim) * arb(2).log() + arb(n + dim).lgamma() - arb(n + 1).lgamma() - 2 * half.lgamma()
        for t in _nodes(n, dim, bits):
            square = 1 - t**2
            slope = dim * t.gegenbauer_c(n - 1, half + 1)
            weight = (scale - (half + 1) * square.log() - 2 * abs(slope).log()).exp()
            total += weight if t.is_zero() else 2 * weight
    return arb.pi() * (1 - total) / 2


def _nodes(n: int, dim: int, bits: int) -> list[arb]:
    """Return the non-negative zeros of C_n^(m/2), each by a change of sign; with their images they are all."""
    k = np.arange(1.0, n)
    beta = 0.5 * np.sqrt(k * (k + dim - 1.0) / ((k + 0.5 * dim) * (k + 0.5 * dim - 1.0)))
    # Step 1: float64 eigenvalues of the Jacobi matrix
    guesses = eigvalsh_tridiagonal(np.zeros(n), beta)[n - n // 2 :].tolist() if n > 1 else []
    half, nodes = special.half(dim), [arb(0)] if n % 2 else []
    reach = arb(2) ** -(bits + _lost(n, dim) // 2 + 16)
    for guess in guesses:
        # Step 2: Newton at the precision set
        t = arb(guess)
        for _ in range(8):
            t = (t - t.gegenbauer_c(n, half) / (dim * t.gegenbauer_c(n - 1, half + 1))).mid()
        # Step 3: a change of sign encloses the zero
        low, high = (t - reach).mid(), (t + reach).mid()
        turns = low.gegenbauer_c(n, half) * high.gegenbauer_c(n, half) < 0
        if not turns or not low > (nodes[-1] if nodes else 0):
            raise CertificationError("a node of a Gauss rule could not be enclosed")
        nodes.append(low.union(high))
    return nodes


def _zero_error(n: int, dim: int) -> arb:
    """Bound the error of n >= 1 Gauss nodes by the first one's angle and weight (4.6, 2 and Sturm)."""
    half = special.half(dim)
    frequency, zero = n + half, special.bessel_zero(dim - 1, max(20, int(0.3 * ctx.prec)))
    share = half / frequency * ((half - 1) / frequency)
    angle = arb.pi() / 2
    for _ in range(4):  # each angle is above the first zero's, and so is the next
        gap = 1 / angle.sin() ** 2 - 1 / angle**2
        angle = (zero / (frequency * (1 - share * gap).sqrt())).min(arb.pi() / 2)
    weight = arb.pi() / frequency
    if dim >= 4:
        weight *= ((half - 1) * (half / (2 * (frequency * angle.sin()) ** 2)).log1p()).exp()
    return angle - weight / 2
