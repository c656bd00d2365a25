"""Zonal (Gegenbauer) polynomials, normalised to 1 at t = 1: values, derivatives, zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._scalars import gegenbauer as polynomials
from .._scalars import gegenbauer_zeros
from .._types import Float64
from .arguments import degrees, derivative_orders, dims, real
from .dispatch import common_shape, elementwise

LONG = 100  # work from which a scalar goes to a compiled loop too
STEPS, TWOFOLD_STEPS = 40.0, 5.0
"""Steps of a zonal polynomial's recurrence that are one unit of work, in float and in twice the precision."""
SERIES, SLOPES = 16.0, 32.0  # work of a zero by power series, and of a Lipschitz constant


def gegenbauer(degree: ArrayLike, dim: ArrayLike, t: ArrayLike) -> Any:
    """Return the zonal polynomial G_k of S^m: the Gegenbauer polynomial C_k^((m-1)/2)(t) divided by its value at 1.

    Parameters
    ----------
    degree : array_like of int
        Degree k, 0 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12; dim 1 gives Chebyshev polynomials, dim 2 Legendre polynomials.
    t : array_like
        Cosines cos(theta), in [-1, 1].

    Returns
    -------
    float or ndarray
        Values in [-1, 1], 1 at t = 1. With A = sqrt(G^2 + (dG/dtheta)^2 / (k(k+m-1))), which falls from 1 at the poles
        to the equator, the error is below ``8 eps sqrt(k + 1) A`` (eps = 2.2e-16), and below ``4 eps`` for dim 1 and
        where 1 - |t| <= min(1/2, m/(k(k+m-1))). So values that are tiny because dim is large have relative accuracy
        too, down to 1e-300, where they become 0. (The rounding of t may move G by more: ``eps |t dG/dt|``.)

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    See Also
    --------
    gegenbauer_derivative : its derivatives.
    gegenbauer_max_zero_angle : where it vanishes first.

    Notes
    -----
    Three-term recurrence, for |t| > 1/2 in the differences G_k - G_{k-1} and 1 - |t| (Reinsch's form); the power series
    near the poles; dim 1 and 3 (where G_k is sin((k+1) theta) / ((k+1) sin(theta))) by doubling the degree, in twice
    the precision.

    References
    ----------
    DLMF 18.9.1, 18.5.9; P. Deuflhard, On algorithms for the summation of certain special functions, Computing 17
    (1976), for the stability of Reinsch's form.

    Examples
    --------
    >>> from spherapprox import special
    >>> special.gegenbauer(2, 2, 0.5)
    -0.125
    >>> special.gegenbauer([0, 1, 2], 1, 0.5)
    array([ 1. ,  0.5, -0.5])
    >>> special.gegenbauer(10**4, 767, [0.99, 0.9999])
    array([1.01195753e-274, 6.11823783e-007])
    """
    k, m, cosine = degrees(degree), dims(dim), real(t, "t", minimum=-1.0, maximum=1.0)
    return _run_loop(polynomials.gegenbauer, _steps(k, m, 1.0) / STEPS, k, m, cosine)


def gegenbauer_derivative(degree: ArrayLike, dim: ArrayLike, t: ArrayLike, order: ArrayLike = 1) -> Any:
    """Return any derivative of `gegenbauer` with respect to t.

    Parameters
    ----------
    degree, dim, t : array_like
        As for `gegenbauer`.
    order : array_like of int, optional
        Order j of the derivative, 0 to 1e6.

    Returns
    -------
    float or ndarray
        d^j/dt^j G_k(t), 0 for j > k, +-inf where that exceeds the floats. Relative to `gegenbauer_derivative_bound` the
        error is that of `gegenbauer` at degree k - j and dim m + 2j, plus ``2 j eps`` of the value.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Notes
    -----
    The derivative of degree k on S^m is the polynomial of degree k - j on S^(m+2j) times its value at t = 1, the
    product over i < j of (k - i)(k + m - 1 + i) / (m + 2i) (DLMF 18.9.19).

    Examples
    --------
    >>> from spherapprox import special
    >>> special.gegenbauer_derivative(2, 2, 0.5)  # (3 t^2 - 1)/2
    1.5
    >>> special.gegenbauer_derivative(3, 2, [0.0, 1.0], order=2)  # 15 t
    array([ 0., 15.])
    """
    k, m, cosine = degrees(degree), dims(dim), real(t, "t", minimum=-1.0, maximum=1.0)
    return _run_loop(polynomials.derivative, k / STEPS, k, m, cosine, derivative_orders(order))


def gegenbauer_derivative_bound(degree: ArrayLike, dim: ArrayLike, order: ArrayLike = 1, log: bool = False) -> Any:
    """Return the maximum over [-1, 1] of the absolute value of `gegenbauer_derivative`, which it takes at t = 1.

    Parameters
    ----------
    degree, dim, order : array_like of int
        As for `gegenbauer_derivative`.
    log : bool, optional
        Return the natural logarithm, which does not overflow.

    Returns
    -------
    float or ndarray
        The product over i < j of (k - i)(k + m - 1 + i) / (m + 2i), 0 for j > k, inf where that exceeds the floats;
        relative error below ``2 (j + 1) eps``. With `log`, -inf for j > k; relative error below ``(j + 4) eps``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or outside its range.

    Examples
    --------
    >>> from spherapprox import special
    >>> special.gegenbauer_derivative_bound(10, 2)
    55.0
    >>> round(special.gegenbauer_derivative_bound(10**5, 2, order=1000, log=True), 6)
    16420.552237
    """
    kernel = polynomials.log_derivative_bound if _checks.flag(log, "log") else polynomials.derivative_bound
    j = derivative_orders(order)
    return _run_loop(kernel, j / STEPS, degrees(degree), dims(dim), j)


def gegenbauer_lipschitz(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Return the best Lipschitz constant of a zonal polynomial in the angle, max_theta |dG_k(cos theta)/dtheta|.

    It is the Lipschitz constant of ``x -> G_k(<x, y>)`` on S^m for the geodesic distance.

    Parameters
    ----------
    degree, dim : array_like of int
        As for `gegenbauer`.

    Returns
    -------
    float or ndarray
        The maximum, rounded upward: never below it, and above it by 4e-15 relative at most (exact for k <= 1 and on
        S^1, where it is k).

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or outside its range.

    Notes
    -----
    It is at most k (Bernstein), and ``|dG/dtheta| <= sqrt(k(k+m-1)(1 - G^2))`` at every angle. For growing k it tends
    to ``k max_z |d/dz Gamma(m/2) (2/z)^(m/2-1) J_(m/2-1)(z)|``, 0.58187 k on S^2; for growing m to that of ``t^k``.

    References
    ----------
    docs/theorems/6.2-zonal-slope.md.

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.gegenbauer_lipschitz(2, 2), 12)  # (1 + 3 cos(2 theta)) / 4
    1.5
    >>> special.gegenbauer_lipschitz([10, 1000], 767).round(6)
    array([ 1.981113, 29.13548 ])
    """
    return elementwise(gegenbauer_zeros.lipschitz, degrees(degree), dims(dim), work=SLOPES)


def gegenbauer_max_zero(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Return the largest zero of the Gegenbauer polynomial of `gegenbauer`.

    Parameters
    ----------
    degree : array_like of int
        Degree, 1 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.

    Returns
    -------
    float or ndarray
        The zero in [0, 1), to 4e-16 relative.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or outside its range.

    See Also
    --------
    gegenbauer_max_zero_angle : its angle, with full accuracy also where the zero is near 1.

    Notes
    -----
    The largest node of the Gauss rule for the weight (1-t^2)^(m/2-1).

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.gegenbauer_max_zero(2, 2), 12) == round(3**-0.5, 12)
    True
    """
    k, m = degrees(degree, minimum=1), dims(dim)
    return _run_loop(gegenbauer_zeros.max_zero, _zero_work(k, m), k, m)


def gegenbauer_max_zero_angle(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Return the smallest zero of the zonal polynomial G_k(cos theta) in theta: arccos of `gegenbauer_max_zero`.

    Parameters
    ----------
    degree, dim : array_like of int
        As for `gegenbauer_max_zero`.

    Returns
    -------
    float or ndarray
        The angle in (0, pi/2], to 4e-16 relative. So 1 minus the zero, ``2 sin(theta/2)^2``, needs no subtraction.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or outside its range.

    Notes
    -----
    A fourth-order iteration for the differential equation of ``sin(theta)^((m-1)/2) G_k`` [1]_ from a guess whose phase
    is that of Airy's first zero, right to 1%; G_k by its power series (dim up to 100) or the recurrence, both in twice
    the precision.

    References
    ----------
    .. [1] J. Segura, "Reliable computation of the zeros of solutions of second order linear ODEs using a fourth order
       method", SIAM J. Numer. Anal. 48 (2010), 452-469.

    Examples
    --------
    >>> import math
    >>> from spherapprox import special
    >>> round(special.gegenbauer_max_zero_angle(10, 1) / math.pi, 12)
    0.05
    >>> theta = special.gegenbauer_max_zero_angle(10**6, 2)
    >>> round(2e12 * math.sin(theta / 2) ** 2, 5)  # half the square of J_0's first zero
    2.89159
    """
    k, m = degrees(degree, minimum=1), dims(dim)
    return _run_loop(gegenbauer_zeros.max_zero_angle, _zero_work(k, m), k, m)


def _steps(k: float | Float64, m: float | Float64, closed: float) -> Any:
    """Return the degrees, 0 where the dimension has a closed form."""
    common_shape((k, m))
    return k * (m > closed)


def _zero_work(k: float | Float64, m: float | Float64) -> Any:
    """Return the work of a zero: its power series, or several runs of the recurrence."""
    return np.maximum(SERIES, _steps(k, m, gegenbauer_zeros.SERIES_UP_TO) / TWOFOLD_STEPS)


def _run_loop(kernel: Callable[..., float], work: float | Float64, *arguments: float | Float64) -> Any:
    """Apply a kernel whose loop is long: so are scalars that take long. All elements count as the longest one."""
    longest = max(1.0, work) if isinstance(work, float) else float(np.max(work, initial=1.0))
    if longest >= LONG and all(isinstance(argument, float) for argument in arguments):
        return float(elementwise(kernel, *map(np.asarray, arguments), work=longest))
    return elementwise(kernel, *arguments, work=longest)
