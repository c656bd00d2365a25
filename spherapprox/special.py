"""Functions of numbers: modified Bessel functions in logarithms and ratios, cap measures, Gegenbauer polynomials.

All broadcast like NumPy ufuncs; scalars in give a float out, and nan in gives nan out. A scalar call compiles nothing;
arrays of `COMPILE_FROM` elements or more run as compiled loops of the same formulas.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks
from ._kernels import bessel, beta

__all__ = [
    "cap_angle",
    "gegenbauer",
    "gegenbauer_max_zero",
    "iv_ratio",
    "iv_ratio_complement",
    "iv_ratio_inverse",
    "log_cap_measure",
    "log_iv",
    "log_iv_ratio",
    "log_surface_area",
]

Array = NDArray[np.float64]

COMPILE_FROM = 10_000
"""Elements from which compiling (about 2 s once, then cached) is worth it: tuned, 10 us per element otherwise."""

MAX_ORDER = 1e12

MAX_STEP = 10**15
"""Largest distance of two orders; all integers up to it are floats."""

MAX_DEGREE = 10**6
"""Largest degree of a zonal polynomial: its recurrence takes as many steps, some 10 s at the limit."""

MAX_DIM = 10**12
"""Largest dimension of a sphere, so that (dim - 1)/2 is an order."""


def log_iv(order: ArrayLike, x: ArrayLike) -> Any:
    """Logarithm of the modified Bessel function of the first kind, log I_order(x).

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

    Notes
    -----
    The power series where hypot(order, x) < 64, Debye's uniform expansion (DLMF 10.41.3) elsewhere.

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.log_iv(0.0, 1.0), 12)
    0.235914358507
    >>> special.log_iv([3.5, 1e6], [1e5, 1e6]).round(3)
    array([ 99993.325, 532831.975])
    """
    return _elementwise(bessel, bessel.log_iv, _order(order), _real(x, "x", minimum=0.0))


def iv_ratio(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """Ratio of modified Bessel functions, I_{order+step}(x) / I_order(x).

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
        A number in [0, 1], increasing in x and decreasing in order and step. Relative error below 4e-16 for one step,
        2e-14 for up to 256 and ``1e-15 max(16, |log ratio|)`` beyond.

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
    continued fraction).

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.iv_ratio(0.5, 10.0), 12)
    0.900000004122
    >>> special.iv_ratio(31.0, 1e4, step=[1, 10]).round(9)
    array([0.9968548 , 0.96463863])
    """
    return _elementwise(bessel, bessel.iv_ratio, _order(order), _real(x, "x", minimum=0.0), _steps(step))


def iv_ratio_complement(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """One minus the ratio of modified Bessel functions, 1 - I_{order+step}(x) / I_order(x), without subtraction.

    Parameters
    ----------
    order, x, step : array_like
        As for `iv_ratio`.

    Returns
    -------
    float or ndarray
        A number in [0, 1]; relative error below 1e-14, also where the ratio is 1 in floating point.

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
    return _elementwise(bessel, bessel.iv_ratio_complement, _order(order), _real(x, "x", minimum=0.0), _steps(step))


def log_iv_ratio(order: ArrayLike, x: ArrayLike, step: ArrayLike = 1) -> Any:
    """Logarithm of the ratio of modified Bessel functions, log[I_{order+step}(x) / I_order(x)].

    Parameters
    ----------
    order, x, step : array_like
        As for `iv_ratio`.

    Returns
    -------
    float or ndarray
        A number <= 0, -inf at x = 0 with step > 0; relative error below 1e-14. It does not underflow.

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
    return _elementwise(bessel, bessel.log_iv_ratio, _order(order), _real(x, "x", minimum=0.0), _steps(step))


def iv_ratio_inverse(order: ArrayLike, ratio: ArrayLike) -> Any:
    """Argument x at which I_{order+1}(x) / I_order(x) equals `ratio`.

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
    ``iv_ratio_inverse((m - 1) / 2, mean resultant length)``.

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.iv_ratio_inverse(0.5, special.iv_ratio(0.5, 10.0)), 9)
    10.0
    """
    r = _real(ratio, "ratio", minimum=0.0, maximum=1.0)
    return _elementwise(bessel, bessel.iv_ratio_inverse, _order(order), r, 1.0 - r)


def log_cap_measure(dim: ArrayLike, angle: ArrayLike) -> Any:
    """Logarithm of the normalised measure of a spherical cap.

    Parameters
    ----------
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.
    angle : array_like
        Geodesic radius of the cap, in [0, pi].

    Returns
    -------
    float or ndarray
        log sigma(C(angle)) with sigma(S^m) = 1; -inf at 0. For dim up to 1e6 the measure's relative error is below
        1e-13, or ``4 eps |value|`` where that is more: a float can carry no more.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Notes
    -----
    sigma(C(phi)) = I_{sin^2 phi}(m/2, 1/2) / 2 for phi <= pi/2 and 1 - sigma(C(pi - phi)) beyond.

    Examples
    --------
    >>> import math
    >>> from spherapprox import special
    >>> round(math.exp(special.log_cap_measure(2, math.pi / 3)), 15)
    0.25
    >>> special.log_cap_measure([8, 1000], 0.1).round(6)
    array([  -20.419844, -2308.620383])
    """
    return _elementwise(beta, beta.log_cap_measure, _dims(dim), _real(angle, "angle", minimum=0.0, maximum=math.pi))


def cap_angle(dim: ArrayLike, log_measure: ArrayLike) -> Any:
    """Geodesic radius of the cap whose normalised measure has the given logarithm.

    Parameters
    ----------
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.
    log_measure : array_like
        Logarithm of the measure, in [-inf, 0].

    Returns
    -------
    float or ndarray
        The angle in [0, pi], for dim up to 1e6 to 1e-13 relative; near pi as far as `log_measure` carries the
        complement.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Examples
    --------
    >>> import math
    >>> from spherapprox import special
    >>> round(special.cap_angle(2, math.log(0.25)), 12) == round(math.pi / 3, 12)
    True
    """
    return _elementwise(beta, beta.cap_angle, _dims(dim), _real(log_measure, "log_measure", maximum=0.0))


def log_surface_area(dim: ArrayLike) -> Any:
    """Logarithm of the surface area of S^m in R^(m+1), log[2 pi^((m+1)/2) / Gamma((m+1)/2)].

    Parameters
    ----------
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.

    Returns
    -------
    float or ndarray
        The logarithm, to 4e-16 of the largest of its terms.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer or outside its range.

    Examples
    --------
    >>> import math
    >>> from spherapprox import special
    >>> round(math.exp(special.log_surface_area(2)) / math.pi, 12)
    4.0
    """
    return _elementwise(None, _log_surface_area, _dims(dim))


def gegenbauer(degree: ArrayLike, dim: ArrayLike, t: ArrayLike) -> Any:
    """Zonal polynomial of S^m: the Gegenbauer polynomial C^nu_degree(t), nu = (m-1)/2, divided by its value at 1.

    Parameters
    ----------
    degree : array_like of int
        Degree, 0 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12; dim 1 gives Chebyshev polynomials, dim 2 Legendre polynomials.
    t : array_like
        Cosines, in [-1, 1].

    Returns
    -------
    float or ndarray
        Values in [-1, 1], 1 at t = 1; absolute error below ``1e-15 (degree + 1)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not real or outside its range.

    Notes
    -----
    Forward recurrence in the differences G_k - G_{k-1} and 1 - |t| (Reinsch's form), which is stable up to t = +-1.

    Examples
    --------
    >>> from spherapprox import special
    >>> float(special.gegenbauer(2, 2, 0.5))
    -0.125
    >>> special.gegenbauer([0, 1, 2], 1, 0.5)
    array([ 1. ,  0.5, -0.5])
    """
    k, m, cosine = np.broadcast_arrays(_degrees(degree), _dims(dim), _real(t, "t", minimum=-1.0, maximum=1.0))
    size = np.abs(cosine)
    top = 0 if k.size == 0 else int(k.max())
    value, difference = np.ones(k.shape), np.zeros(k.shape)
    result = value.copy()
    for j in range(top):
        whole = np.maximum(j + m - 1.0, 1.0)  # dim 1 starts from 0/0: G_1 = t there as everywhere
        both = (2.0 * j + m - 1.0) / whole if j else 1.0
        difference = difference * (j / whole) - both * (1.0 - size) * value
        value = value + difference
        result = np.where(k == j + 1, value, result)
    result = np.where((cosine < 0.0) & (k % 2 == 1), -result, result)
    result = np.where(np.isnan(cosine), np.nan, result)
    return float(result) if result.ndim == 0 else result


def gegenbauer_max_zero(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Largest zero of the Gegenbauer polynomial of `gegenbauer`.

    Parameters
    ----------
    degree : array_like of int
        Degree, 1 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.

    Returns
    -------
    float or ndarray
        The zero in [0, 1), to 1e-15 absolute.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or outside its range.

    Notes
    -----
    The largest eigenvalue of the Jacobi matrix of the weight (1-t^2)^(m/2-1) (Golub & Welsch 1969).

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.gegenbauer_max_zero(2, 2), 12) == round(3**-0.5, 12)
    True
    """
    return _elementwise(None, _max_zero, _degrees(degree, minimum=1), _dims(dim))


def _log_surface_area(m: float) -> float:
    half = 0.5 * (m + 1.0)
    return math.log(2.0) + half * math.log(math.pi) - math.lgamma(half)


def _max_zero(degree: float, m: float) -> float:
    from scipy.linalg import eigvalsh_tridiagonal

    n = int(degree)
    if n == 1:
        return 0.0
    if m == 1.0:
        return math.cos(0.5 * math.pi / n)
    k = np.arange(1.0, n)
    off = np.sqrt(k * (k + m - 2.0) / ((2.0 * k + m - 1.0) * (2.0 * k + m - 3.0)))
    return float(eigvalsh_tridiagonal(np.zeros(n), off, select="i", select_range=(n - 1, n - 1))[0])


@functools.cache
def _compiled(module: Any) -> dict[str, Callable[..., None]]:
    """Return the module's compiled loops; compiling them starts at their first call."""
    return module.compiled()  # type: ignore[no-any-return]


def _elementwise(module: Any, kernel: Callable[..., float], *arguments: float | Array) -> Any:
    """Apply a scalar kernel to broadcast arguments; nan where any argument is nan."""
    if all(isinstance(argument, float) for argument in arguments):
        if any(map(math.isnan, arguments)):
            return math.nan
        return kernel(*arguments)
    arrays = np.broadcast_arrays(*arguments)
    shape = arrays[0].shape
    flat = [np.ascontiguousarray(array, dtype=np.float64).ravel() for array in arrays]
    nan = functools.reduce(np.logical_or, [np.isnan(array) for array in flat])
    if nan.any():
        flat = [np.where(nan, 0.5, array) for array in flat]
    if module is not None and flat[0].size >= COMPILE_FROM:
        result = np.empty(flat[0].size)
        _compiled(module)[kernel.__name__](*flat, result)
    else:
        result = np.array([kernel(*row) for row in zip(*(array.tolist() for array in flat), strict=True)], dtype=float)
    result[nan] = np.nan
    return result.reshape(shape)


def _real(value: Any, name: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """Return a float for a scalar in range, without building an array, and a checked float64 array else."""
    if type(value) in (float, int, np.float64):
        try:
            number = float(value)
        except OverflowError:
            bits = value.bit_length()
            raise ValueError(f"'{name}' must be within the range of floats, got an integer of {bits} bits") from None
        if (minimum is None or number >= minimum) and (maximum is None or number <= maximum):
            return number
    array = _checks.reals(value, name, minimum=minimum, maximum=maximum)
    return float(array) if array.ndim == 0 else array


def whole(value: ArrayLike, name: str, *, minimum: int, maximum: int, why: str = "") -> Any:
    """Return integers as float or float64 array."""
    try:
        scalar = np.ndim(value) == 0
    except ValueError:  # lists of different lengths: `_checks.reals` says which argument they are
        scalar = False
    if scalar:
        return float(_checks.integer(value, name, minimum=minimum, maximum=maximum, why=why))
    array = _checks.reals(value, name, minimum=minimum, maximum=maximum, nan=False)
    fractional = array != np.floor(array)
    if fractional.any():
        raise ValueError(f"'{name}' must hold integers, got {array[fractional].flat[0]:g}")
    return array


def _order(order: ArrayLike) -> Any:
    return _real(order, "order", minimum=0.0, maximum=MAX_ORDER)


def _steps(step: ArrayLike) -> Any:
    return whole(step, "step", minimum=0, maximum=MAX_STEP)


def _degrees(degree: ArrayLike, minimum: int = 0) -> Any:
    return whole(degree, "degree", minimum=minimum, maximum=MAX_DEGREE)


def _dims(dim: ArrayLike) -> Any:
    why = "'dim' is m of the sphere S^m in R^(m+1), one less than the number of columns"
    return whole(dim, "dim", minimum=1, maximum=MAX_DIM, why=why)
