"""Modified Bessel functions of the first kind: their logarithm, ratios, and the inverse of these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._scalars import bessel, bessel_ratio
from .._types import Float64
from .arguments import bessel_order, real, steps
from .dispatch import common_shape, elementwise

INVERSE = 2.5  # work of an inverse, in ratios


def log_iv(order: ArrayLike, x: ArrayLike) -> Any:
    """Return the logarithm of the modified Bessel function of the first kind, log I_order(x).

    Parameters
    ----------
    order : array_like
        Real order in [0, 1e12].
    x : array_like
        Argument in [0, inf].

    Returns
    -------
    float or ndarray
        log I_order(x); -inf at x = 0 unless order = 0. The error is at most
        ``4 eps max(1, |value|, hypot(order, x))``, the conditioning of the input itself; nothing under- or overflows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    See Also
    --------
    scipy.special.ive : e^-x I_order(x) itself, which underflows where the order is large.
    iv_ratio : the logarithm's derivative is ``iv_ratio(order, x) + order / x``.

    Notes
    -----
    The power series where hypot(order, x) < 64, Debye's uniform expansion elsewhere.

    References
    ----------
    DLMF 10.25.2 (the series), 10.41.3 (the uniform expansion).

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.log_iv(0.0, 1.0), 12)
    0.235914358507
    >>> special.log_iv([3.5, 1e6], [1e5, 1e6]).round(3)
    array([ 99993.325, 532831.975])
    """
    return elementwise(bessel.log_iv, bessel_order(order), real(x, "x", minimum=0.0))


def iv_ratio(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """Return the ratio of modified Bessel functions, I_{order+step}(x) / I_order(x).

    Parameters
    ----------
    order : array_like
        Real order in [0, 1e12].
    x : array_like
        Argument in [0, inf].
    step : array_like of int, optional
        How far the orders are apart, 0 to 1e15.

    Returns
    -------
    float or ndarray
        A number in [0, 1], increasing in x and decreasing in order and step. Relative error below 3e-16 for one step
        and 1e-14 for any number of steps, as long as the value is a normal number (above 2e-308).

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    See Also
    --------
    iv_ratio_complement : 1 minus the ratio, where the ratio is near 1.
    log_iv_ratio : its logarithm, where the ratio underflows.

    References
    ----------
    Gautschi & Slavik (1978), On the computation of modified Bessel function ratios, Math. Comp. 32 (Perron's
    continued fraction, one formula for the whole range). Many steps: DLMF 10.41.3.

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.iv_ratio(0.5, 10.0), 12)
    0.900000004122
    >>> special.iv_ratio(31.0, 1e4, step=[1, 10]).round(9)
    array([0.9968548 , 0.96463863])
    """
    v, z, n = bessel_order(order), real(x, "x", minimum=0.0), steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_ratio, v, z)
    return elementwise(bessel_ratio.iv_ratio, v, z, n, work=_step_work(v, z, n))


def iv_ratio_complement(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """Return one minus the ratio of modified Bessel functions, 1 - I_{order+step}(x) / I_order(x), without subtraction.

    Parameters
    ----------
    order, x, step : array_like
        As for `iv_ratio`.

    Returns
    -------
    float or ndarray
        A number in [0, 1]; relative error below 1e-15 for one step and 1e-14 for any number of steps, also where the
        ratio is 1 in floating point.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Examples
    --------
    >>> from spherapprox import special
    >>> special.iv_ratio_complement(0.5, 1e20)
    1e-20
    """
    v, z, n = bessel_order(order), real(x, "x", minimum=0.0), steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_complement, v, z)
    return elementwise(bessel_ratio.iv_ratio_complement, v, z, n, work=_step_work(v, z, n))


def log_iv_ratio(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """Return the logarithm of the ratio of modified Bessel functions, log[I_{order+step}(x) / I_order(x)].

    Parameters
    ----------
    order, x, step : array_like
        As for `iv_ratio`.

    Returns
    -------
    float or ndarray
        A number <= 0, -inf at x = 0 with step > 0; relative error below 1e-15 for one step and 1e-14 for any number of
        steps. It does not underflow.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.log_iv_ratio(0.5, 10.0, step=1000), 6)
    -4313.244606
    """
    v, z, n = bessel_order(order), real(x, "x", minimum=0.0), steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_log_ratio, v, z)
    return elementwise(bessel_ratio.log_iv_ratio, v, z, n, work=_step_work(v, z, n))


def iv_ratio_inverse(order: ArrayLike, ratio: ArrayLike) -> Any:
    """Return the argument x at which I_{order+1}(x) / I_order(x) equals `ratio`.

    Parameters
    ----------
    order : array_like
        Real order in [0, 1e12].
    ratio : array_like
        The value of `iv_ratio`, in [0, 1].

    Returns
    -------
    float or ndarray
        x in [0, inf], to 1e-15 relative or the spacing of subnormal numbers, apart from the input's own conditioning
        (a ratio near 1 carries 1 - ratio to 1e-16 absolute only).

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Notes
    -----
    The maximum-likelihood concentration of a von Mises-Fisher distribution on S^m is
    ``iv_ratio_inverse((m - 1) / 2, mean resultant length)``. Newton's method in log x.

    References
    ----------
    A. Banerjee et al. (2005), Clustering on the unit hypersphere using von Mises-Fisher distributions, J. Mach. Learn.
    Res. 6, 1345-1382, eq. 4.4 (the start).

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.iv_ratio_inverse(0.5, special.iv_ratio(0.5, 10.0)), 9)
    10.0
    """
    r = real(ratio, "ratio", minimum=0.0, maximum=1.0)
    return elementwise(bessel_ratio.iv_ratio_inverse, bessel_order(order), r, 1.0 - r, work=INVERSE)


def _step_work(v: float | Float64, x: float | Float64, n: float | Float64) -> float:
    """Return the mean work of ratios over n steps: the single steps that `bessel_ratio.single_steps` tells, and one."""
    if isinstance(v, float) and isinstance(x, float) and isinstance(n, float):
        return 1.0
    common_shape((v, x, n))
    far, few = bessel_ratio.FAR, bessel_ratio.FEW
    room = np.sqrt(far * far - np.minimum(x, far) ** 2) - v
    steps = np.where(n <= few, n, np.clip(room, 0.0, n))
    return 1.0 + float(np.nansum(steps)) / max(1, steps.size)
