"""Two-sided bounds of Bessel ratios, and what follows from them for the kernel's eigenvalues and mean angle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spherapprox import _checks
from spherapprox.vmf import VonMisesFisher

KAPPA = (math.pi**2 - 4.0) / 4.0
"""theta^2 <= 2 u + KAPPA u^2 with u = 1 - cos(theta), equality at theta = 0 and pi."""


def iv_ratio_bounds(order: ArrayLike, x: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Enclose I_(order+1)(x) / I_order(x) between elementary functions (Amos).

    Parameters
    ----------
    order, x : array_like
        ``order >= 0`` and ``x >= 0``; they broadcast.

    Returns
    -------
    lower, upper : ndarray
        ``x / (order + 1/2 + sqrt(x^2 + (order + 3/2)^2))`` and ``x / (order + 1/2 + sqrt(x^2 + (order + 1/2)^2))``.

    Raises
    ------
    ValueError, TypeError
        For negative or non-numeric arguments.

    References
    ----------
    D. E. Amos, Computation of modified Bessel functions and their ratios, Math. Comp. 28 (1974), (11) and (16).

    Examples
    --------
    >>> lower, upper = iv_ratio_bounds(0.5, 10.0)
    >>> bool(lower <= 0.90000000412 <= upper)
    True
    """
    v = _checks.reals(order, "order", minimum=0.0, finite=True)
    z = _checks.reals(x, "x", minimum=0.0, finite=True)
    return z / (v + 0.5 + np.hypot(z, v + 1.5)), z / (v + 0.5 + np.hypot(z, v + 0.5))


def mean_angle_upper(concentration: float, dim: int) -> float:
    """Bound the kernel's mean angle above: ``sqrt(2 u1 + KAPPA u2)`` from its first two moments of u = 1 - cos(theta).

    Parameters
    ----------
    concentration : float
        lambda >= 0.
    dim : int
        The manifold's dimension m >= 1.

    Returns
    -------
    float
        At least E[theta]; in the example 5 % above it.

    References
    ----------
    docs/theorems.md, 4.1.

    Examples
    --------
    >>> round(mean_angle_upper(100.0, 8), 4), round(VonMisesFisher(8, 100.0).mean_angle(), 4)
    (0.2857, 0.2731)
    """
    lam, m = _checks.concentration(concentration), _checks.dimension(dim)
    kernel = VonMisesFisher(m, lam)
    u1 = float(kernel.mean_one_minus_cos())
    # E (1-t)^2 = 2 (1-a_1) - m a_1 / lambda; what cancels is of order lambda^-2, small beside u1 of order 1/lambda
    u2 = max(2.0 * u1 - m * (1.0 - u1) / lam, u1 * u1) if lam > 0.0 else 1.0 + 1.0 / (m + 1.0)
    return math.sqrt(2.0 * u1 + KAPPA * u2)
