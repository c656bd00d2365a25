"""Functions of numbers: modified Bessel functions in logarithms and ratios, cap measures, Gegenbauer polynomials.

All broadcast like NumPy ufuncs and compute in float64. Scalars in give a float out; a real argument that is nan gives
nan, integers have to be integers. Scalars run as plain Python; so do arrays until about `COMPILE_FROM` elements have
been seen, then as compiled loops of the same formulas, to the same bits.

In functions compiled by numba's ``njit`` they can be called on integers and floats, as they are written here:

>>> import numba
>>> from spherapprox import special
>>> @numba.njit
... def mean_cosine(dim, concentration):
...     return special.iv_ratio((dim - 1) / 2, concentration)
>>> round(mean_cosine(2, 10.0), 12)
0.900000004122
"""

from __future__ import annotations

import functools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _checks
from ._scalars import bessel, bessel_ratio, beta
from ._scalars import gegenbauer as polynomials
from ._types import Float64

__all__ = [
    "cap_angle",
    "gegenbauer",
    "gegenbauer_derivative",
    "gegenbauer_derivative_bound",
    "gegenbauer_lipschitz",
    "gegenbauer_max_zero",
    "gegenbauer_max_zero_angle",
    "iv_ratio",
    "iv_ratio_complement",
    "iv_ratio_inverse",
    "log_cap_measure",
    "log_iv",
    "log_iv_ratio",
    "log_surface_area",
]


COMPILE_FROM = 10_000
"""Elements from which compiled kernels are used, in one call, or over all calls by the time they took: the kernels load
in 0.3 s (each takes some 0.5 s more the first time on a machine)."""

ELEMENT = 1e-5
"""Seconds that plain Python takes for an element, where nothing better is known."""

CHUNK = 64
"""Elements that plain Python goes through between two looks at the clock."""

MAX_ORDER = 1e12

MAX_STEP = 10**15
"""Largest distance of two orders; all integers up to it are floats."""

MAX_DEGREE = 10**6
"""Largest degree of a zonal polynomial: its recurrence takes as many steps, some 4 ms at the limit."""

LONG = 100
"""Elements' time from which a scalar goes to a compiled loop too."""

RECURRENCE_STEPS = 50.0
TWOFOLD_STEPS = 2.0
"""Steps of a zonal polynomial's recurrence that plain Python does in 10 us, in float and in twice the precision."""

MAX_DIM = _checks.MAX_DIM
"""Largest dimension of a sphere, so that (dim - 1)/2 is an order."""


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
    return elementwise(bessel.log_iv, _order(order), _real(x, "x", minimum=0.0))


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
        A number in [0, 1], increasing in x and decreasing in order and step. Relative error below 4e-16 for one step
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
    v, z, n = _order(order), _real(x, "x", minimum=0.0), _steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_ratio, v, z)
    return elementwise(bessel_ratio.iv_ratio, v, z, n)


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
    v, z, n = _order(order), _real(x, "x", minimum=0.0), _steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_complement, v, z)
    return elementwise(bessel_ratio.iv_ratio_complement, v, z, n)


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
    v, z, n = _order(order), _real(x, "x", minimum=0.0), _steps(step)
    if isinstance(n, float) and n == 1.0:
        return elementwise(bessel_ratio.first_log_ratio, v, z)
    return elementwise(bessel_ratio.log_iv_ratio, v, z, n)


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
    r = _real(ratio, "ratio", minimum=0.0, maximum=1.0)
    return elementwise(bessel_ratio.iv_ratio_inverse, _order(order), r, 1.0 - r)


def log_cap_measure(dim: ArrayLike, angle: ArrayLike) -> Any:
    """Return the logarithm of the normalised measure of a spherical cap.

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
    return elementwise(beta.log_cap_measure, _dims(dim), _real(angle, "angle", minimum=0.0, maximum=math.pi))


def cap_angle(dim: ArrayLike, log_measure: ArrayLike) -> Any:
    """Return the geodesic radius of the cap whose normalised measure has the given logarithm.

    Parameters
    ----------
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.
    log_measure : array_like
        Logarithm of the measure, in [-inf, 0].

    Returns
    -------
    float or ndarray
        The angle in [0, pi], for dim up to 1e6 to 1e-13 relative, or ``2 eps |log_measure| / dim`` below 1e-150, where
        that is more; near pi as far as `log_measure` carries the complement.

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
    return elementwise(beta.cap_angle, _dims(dim), _real(log_measure, "log_measure", maximum=0.0))


def log_surface_area(dim: ArrayLike) -> Any:
    """Return the logarithm of the surface area of S^m in R^(m+1), log[2 pi^((m+1)/2) / Gamma((m+1)/2)].

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
    return elementwise(beta.log_surface_area, _dims(dim))


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
    k, m, cosine = _degrees(degree), _dims(dim), _real(t, "t", minimum=-1.0, maximum=1.0)
    return _by_degree(polynomials.gegenbauer, k * (m > 1.0), RECURRENCE_STEPS, k, m, cosine)


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
    k, m, cosine = _degrees(degree), _dims(dim), _real(t, "t", minimum=-1.0, maximum=1.0)
    return _by_degree(polynomials.derivative, k, RECURRENCE_STEPS, k, m, cosine, _orders(order))


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
    j = _orders(order)
    return _by_degree(kernel, j, RECURRENCE_STEPS, _degrees(degree), _dims(dim), j)


def gegenbauer_lipschitz(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Return the best Lipschitz constant of a zonal polynomial in the angle, max_theta |dG_k(cos theta)/dtheta|.

    It is the Lipschitz constant of ``x -> G_k(<x, y>)`` on S^m for the geodesic distance.

    Parameters
    ----------
    degree : array_like of int
        Degree k, 0 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.

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
    docs/theorems.md, section 6, "Slope of a zonal polynomial".

    Examples
    --------
    >>> from spherapprox import special
    >>> round(special.gegenbauer_lipschitz(2, 2), 12)  # (1 + 3 cos(2 theta)) / 4
    1.5
    >>> special.gegenbauer_lipschitz([10, 1000], 767).round(6)
    array([ 1.981113, 29.13548 ])
    """
    return elementwise(polynomials.lipschitz, _degrees(degree), _dims(dim))


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
    k, m = _degrees(degree, minimum=1), _dims(dim)
    return _by_degree(polynomials.max_zero, k * (m > polynomials.SERIES_UP_TO), TWOFOLD_STEPS, k, m)


def gegenbauer_max_zero_angle(degree: ArrayLike, dim: ArrayLike) -> Any:
    """Return the smallest zero of the zonal polynomial G_k(cos theta) in theta: arccos of `gegenbauer_max_zero`.

    Parameters
    ----------
    degree : array_like of int
        Degree, 1 to 1e6.
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.

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
    >>> special.gegenbauer_max_zero_angle(10, 1) == math.pi / 20
    True
    >>> theta = special.gegenbauer_max_zero_angle(10**6, 2)
    >>> round(2e12 * math.sin(theta / 2) ** 2, 5)  # half the square of J_0's first zero
    2.89159
    """
    k, m = _degrees(degree, minimum=1), _dims(dim)
    return _by_degree(polynomials.max_zero_angle, k * (m > polynomials.SERIES_UP_TO), TWOFOLD_STEPS, k, m)


def _by_degree(kernel: Callable[..., float], steps: float | Float64, rate: float, *arguments: float | Float64) -> Any:
    """Apply a kernel that takes so many steps of a loop; `rate` of them take as long as other kernels take in all."""
    if all(isinstance(argument, float) for argument in arguments):
        if float(steps) < LONG * rate:
            return elementwise(kernel, *arguments)
        return float(elementwise(kernel, *map(np.asarray, arguments), work=float(steps) / rate))
    size = math.prod(np.broadcast_shapes(*map(np.shape, arguments)))
    return elementwise(kernel, *arguments, work=size * float(np.max(steps, initial=0.0)) / rate)


def _extend_numba() -> None:
    """Make this module's functions callable on numbers in compiled code (numba's entry point `numba_extensions`)."""
    from ._kernels.scalars import overloads

    overloads.install(sys.modules[__name__])


_interpreted = 0.0
"""What went through plain Python so far, in elements of `ELEMENT` seconds."""


def loop_of(kernel: Callable[..., Any], work: float) -> Callable[..., None] | None:
    """Return the kernel's compiled loop where that much work more is worth compiling, else None."""
    return _loops().get(kernel) if _interpreted + work >= COMPILE_FROM else None


def run(kernel: Callable[..., None], work: float, *arguments: Any) -> None:
    """Run a kernel that fills its last argument, compiled where that pays."""
    loop = loop_of(kernel, work)
    if loop is None:
        _by_the_clock(kernel, *arguments)
    else:
        loop(*arguments)


def _by_the_clock(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in plain Python and keep account of the time."""
    global _interpreted  # noqa: PLW0603
    start = time.perf_counter()
    function(*arguments)
    _interpreted += (time.perf_counter() - start) / ELEMENT


def _row_by_row(kernel: Callable[..., float], columns: list[Float64], result: Float64) -> None:
    result[:] = [kernel(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@functools.cache
def _loops() -> dict[Callable[..., Any], Callable[..., None]]:
    """Import the compiled loops; each compiles at its first call."""
    from ._kernels.scalars.loops import LOOPS

    return LOOPS


def elementwise(kernel: Callable[..., float], *arguments: float | Float64, work: float = 0.0) -> Any:
    """Apply a scalar kernel to broadcast arguments; nan where any argument is nan.

    `work` is what is known beforehand of the time it takes, in elements; what turns out to take long is compiled too.
    """
    numbers = [argument for argument in arguments if isinstance(argument, float)]
    if len(numbers) == len(arguments):
        return math.nan if any(map(math.isnan, numbers)) else kernel(*numbers)
    shapes = {argument.shape for argument in arguments if not isinstance(argument, float)}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    flat = [_flat(argument, shape) for argument in arguments]
    nans = [nan for array in flat if (nan := np.isnan(array)).any()]
    if nans:
        flat = [np.where(np.isnan(array), 0.5, array) for array in flat]
    result = np.empty(flat[0].size)
    done = 0
    loop = loop_of(kernel, max(work, result.size))
    while loop is None and done < result.size:
        some = slice(done, done + CHUNK)
        _by_the_clock(_row_by_row, kernel, [array[some] for array in flat], result[some])
        done += CHUNK
        loop = loop_of(kernel, result.size - done)
    if loop is not None and done < result.size:
        loop(*(array[done:] for array in flat), result[done:])
    for nan in nans:
        result[nan] = np.nan
    return result.reshape(shape)


def _flat(argument: float | Float64, shape: tuple[int, ...]) -> Float64:
    """Return a contiguous vector of the argument broadcast to a shape."""
    if isinstance(argument, float):
        return np.full(math.prod(shape), argument)
    return np.ascontiguousarray(argument if argument.shape == shape else np.broadcast_to(argument, shape)).ravel()


def _real(value: Any, name: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """Return a float for a scalar in range, without building an array, and a checked float64 array else."""
    if type(value) in (float, int, np.float64):
        try:
            number = float(value)
        except OverflowError:
            raise ValueError(f"'{name}' must be within the range of floats, got {_checks.show(value)}") from None
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


def _orders(order: ArrayLike) -> Any:
    return whole(order, "order", minimum=0, maximum=MAX_DEGREE)


def _dims(dim: ArrayLike) -> Any:
    why = "'dim' is m of the sphere S^m in R^(m+1), one less than the number of columns"
    return whole(dim, "dim", minimum=1, maximum=MAX_DIM, why=why)
