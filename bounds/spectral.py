"""Two-sided bounds of Bessel ratios, and from them of the kernel's eigenvalues, and of its mean angle.

docs/theorems/1-kernel.md, 1.4, and 4.1-convolution.md prove them. The arguments are the same throughout: `dim` is the
manifold's dimension m >= 1, `concentration` lambda >= 0. A ValueError or TypeError names the argument that is not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._types import Array
from spherapprox.vmf import VonMisesFisher

KAPPA = (math.pi**2 - 4.0) / 4.0
"""theta^2 <= 2 u + KAPPA u^2 with u = 1 - cos(theta), equality at theta = 0 and pi."""

LARGEST_DEGREE = 10**18
SMALL = 1e-280
"""A concentration whose square is nothing beside any order's."""

FACTORS = 256
"""Ratios of which an eigenvalue's bounds take each by itself; tuned."""


def iv_ratio_bounds(order: ArrayLike, x: ArrayLike) -> tuple[Array, Array]:
    """Enclose I_(order+1)(x) / I_order(x) between elementary functions (Amos); 0 <= order, x <= 1e300 broadcast (1.4).

    Returns
    -------
    lower, upper : ndarray
        ``x / (order + 1/2 + sqrt(x^2 + (order + 3/2)^2))``, and the smaller of ``x / (order + 1/2 + sqrt(x^2 + (order +
        1/2)^2))`` and ``x / (order + sqrt(x^2 + (order + 2)^2))``, the better one for large and for small x.

    References
    ----------
    D. E. Amos, Computation of modified Bessel functions and their ratios, Math. Comp. 28 (1974), (9), (11) and (16).
    """
    v = _checks.reals(order, "order", minimum=0.0, maximum=1e300)
    z = _checks.reals(x, "x", minimum=0.0, maximum=1e300)
    upper = np.maximum(v + 0.5 + np.hypot(z, v + 0.5), v + np.hypot(z, v + 2.0))
    return z / (v + 0.5 + np.hypot(z, v + 1.5)), z / upper


def eigenvalue_bounds(degree: int, concentration: float, dim: int) -> tuple[float, float]:
    """Enclose the kernel's eigenvalue a_k, k up to 1e18: first ratios as in `iv_ratio_bounds`, the others by integrals.

    Returns
    -------
    lower, upper : float
        Natural logarithms; -inf for the eigenvalue 0 (lambda = 0, k >= 1). Some 1e-14 of rounding, relative, comes on
        top; for lambda -> 0 and lambda -> infinity the two tend to each other.
    """
    k = _checks.integer(degree, "degree", minimum=0, maximum=LARGEST_DEGREE)
    lam, m = _checks.concentration(concentration), _order(dim)
    if k == 0 or lam == 0.0:
        return (0.0, 0.0) if k == 0 else (-math.inf, -math.inf)
    if lam < SMALL:  # a_k is proportional to lambda^k
        fall = k * (math.log(SMALL) - math.log(lam))
        lower, upper = eigenvalue_bounds(k, SMALL, dim)
        return lower - fall, upper - fall
    # Step 1: the first ratios one by one (1.4)
    first = min(k, FACTORS)
    a = m + 0.5 + np.arange(float(first))  # (first,)
    upper = -float(np.maximum(_log_ratio(a, a, lam), _log_ratio(a - 0.5, a + 1.5, lam)).sum())
    lower = -float(_log_ratio(a, a + 1.0, lam).sum())
    # Step 2: the others by the midpoint and the trapezoidal rule (1.4, eigenvalues)
    if k > first:
        start, stop = m + first, m + float(k)
        integral = _asinh_integral(start, stop, lam)
        upper -= integral
        lower -= integral + 0.5 * (math.asinh(stop / lam) - math.asinh(start / lam))
    return min(lower, 0.0), min(upper, 0.0)


def _log_ratio(a: Array, b: Array, x: float) -> Array:
    """Return log[(a + sqrt(x^2 + b^2)) / x] for a <= b, by the asinh of b/x, without cancellation (1.4)."""
    result: Array = np.arcsinh(b / x) + np.log1p((a - b) / (b + np.hypot(x, b)))
    return result


def _order(dim: object) -> float:
    return 0.5 * (_checks.dimension(dim, maximum=LARGEST_DEGREE) - 1)


def _asinh_integral(start: float, stop: float, x: float) -> float:
    """Return the integral of asinh(a/x) over start <= a <= stop without cancelling (1.4)."""
    width, high, low = stop - start, math.hypot(x, stop), math.hypot(x, start)
    rise = math.asinh((width / x) * ((stop + start) / (stop * low / x + start * high / x)))
    return width * math.asinh(stop / x) + start * rise - width * ((stop + start) / (high + low))


def mean_angle_upper(concentration: float, dim: int) -> float:
    """Bound the kernel's mean angle above by ``sqrt(2 u1 + KAPPA u2)``, of its moments of u = 1 - cos(theta)."""
    u1, u2 = _moments(concentration, dim)
    return math.sqrt(2.0 * u1 + KAPPA * u2)


def mean_angle_lower(concentration: float, dim: int) -> float:
    """Bound the kernel's mean angle below: ``sqrt(2) u1^(3/2) / u2^(1/2)`` from the moments of `mean_angle_upper`.

    The closer the larger the dimension; for dim 1 and lambda > 1e14 rounding makes it small.
    """
    u1, u2 = _moments(concentration, dim)
    return math.sqrt(2.0 * u1 * (u1 / u2)) * math.sqrt(u1)


def _moments(concentration: float, dim: int) -> tuple[float, float]:
    """Return E u, u = 1 - cos(theta), and a bound of E u^2 above, which is 2 E u - m a_1 / lambda but for rounding."""
    lam, m = _checks.concentration(concentration), _checks.dimension(dim)
    kernel = VonMisesFisher(m, lam)
    u1 = float(kernel.mean_one_minus_cos())
    if lam == 0.0:
        return u1, 1.0 + 1.0 / (m + 1.0)
    # 1.3
    exact = 2.0 * u1 - m * (float(kernel.eigenvalue(1)) / lam)
    safe = max(exact, u1 * u1) + 2e-15 * u1
    # for m >= 2 the density of u is a gamma variable's times a falling function: E u^2/E u <= (m/2 + 1)/lambda
    return u1, min(safe, u1 * (0.5 * m + 1.0) / lam) if m >= 2 else safe
