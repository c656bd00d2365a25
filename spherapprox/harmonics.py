r"""Real spherical harmonics on S^2 and zonal ones on S^m: values, sums, gradients, projection, and proven maxima.

Order of columns
    Column ``k*k + k + m`` belongs to degree k = 0, 1, ... and order m = -k, ..., k (`column` computes it), so a table
    to degree K has ``(K+1)**2`` columns.

Functions
    With colatitude theta from the last axis and longitude phi from the first axis towards the second,
    ``Y_k^m = P_k^m(cos theta) cos(m phi)`` for m >= 0 and ``Y_k^m = P_k^|m|(cos theta) sin(|m| phi)`` for m < 0.
    There is no Condon-Shortley phase: ``P_k^m`` is a positive constant times
    ``sin(theta)^m (d/dt)^m P_k(t)`` at t = cos theta.

Normalisation
    - ``"schmidt"`` (semi-normalised, as in geomagnetism): ``sum_m Y_k^m(x)^2 = 1``, the mean of ``(Y_k^m)^2`` over the
      sphere is ``1/(2k+1)``, and ``P_k^0`` is the Legendre polynomial.
    - ``"orthonormal"``: orthonormal for the normalised measure (total 1), geodesy's "4 pi" normalisation;
      ``sqrt(2k+1)`` times Schmidt's.
    - ``"surface"``: orthonormal for the surface measure (total 4 pi); ``sqrt((2k+1)/(4 pi))`` times Schmidt's.

Everything is computed and returned in float64. Rows are points by their direction: their length, which may differ from
1 by rounding, does not enter. At the poles longitude is taken as 0, and values there are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import next_fast_len

from . import _checks, special
from ._kernels import quadrature

__all__ = [
    "NORMALIZATIONS",
    "BandlimitedMaximum",
    "associated_legendre",
    "bandlimited_maximum",
    "column",
    "degrees",
    "gradient",
    "project",
    "real_spherical_harmonics",
    "synthesize",
    "zonal_harmonic",
]

Array = NDArray[np.float64]

NORMALIZATIONS = ("schmidt", "orthonormal", "surface")
"""The words that `normalization` takes; the module's docstring defines them."""

MAX_DEGREE = special.MAX_DEGREE
"""Largest degree that any function takes; memory sets lower limits, by the size of what is asked for."""

_RADIX = 800
"""Legendre functions below 2^-400 are carried as x 2^(-800 e), so that no seed underflows before it can grow."""

_BLOCK = 2**15
"""Elements per work array of one block of rows: a quarter of a MiB, so that the few arrays of a block stay in cache."""


def column(degree: int, order: int) -> int:
    """Return the column of degree k and order m: ``k*k + k + m``.

    Parameters
    ----------
    degree : int
        k >= 0.
    order : int
        m with -k <= m <= k; negative orders are the sines.

    Returns
    -------
    int

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.column(2, -1)
    5
    """
    degree = _checks.integer(degree, "degree", minimum=0)
    order = _checks.integer(order, "order", minimum=-degree, maximum=degree, why="|order| must not exceed 'degree'")
    return degree * degree + degree + order


def degrees(max_degree: int) -> NDArray[np.int64]:
    """Return the degree of every column, shape ``((max_degree+1)**2,)``.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.

    Returns
    -------
    ndarray of int

    Examples
    --------
    Convolution with a von Mises-Fisher kernel multiplies a coefficient vector by ``eigenvalues[degrees(K)]``.

    >>> from spherapprox import harmonics
    >>> harmonics.degrees(2)
    array([0, 1, 1, 1, 2, 2, 2, 2, 2])
    """
    max_degree = _max_degree(max_degree)
    what = f"the degrees of all columns up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * (max_degree + 1) ** 2, what, "lower 'max_degree'")
    each = np.arange(max_degree + 1)
    return np.repeat(each, 2 * each + 1)


def associated_legendre(max_degree: int, z: ArrayLike, *, normalization: str = "schmidt") -> Array:
    """Return the associated Legendre functions of all degrees and orders up to `max_degree`.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.
    z : array_like
        cos theta, in [-1, 1], any shape.
    normalization : {"schmidt", "orthonormal", "surface"}
        See the module's docstring; no Condon-Shortley phase in any of them.

    Returns
    -------
    ndarray, shape ``(K+1, K+1) + z.shape``
        Element ``[k, m]`` is ``P_k^m(z)``; it is 0 for m > k. In Schmidt's normalisation, whose values lie in [-1, 1],
        the absolute error was below ``5 (k+1) 2.2e-16`` against 40 digits for all k <= 200. No degree is too high for
        the seeds: near the poles they are carried with an exponent of their own.

    Raises
    ------
    ValueError
        If `z` is outside [-1, 1] or the table would be too large.

    Notes
    -----
    The recurrence in the degree,
    ``sqrt(k^2-m^2) P_k^m = (2k-1) z P_(k-1)^m - sqrt((k-1)^2-m^2) P_(k-2)^m``, is stable upwards [1]_.

    References
    ----------
    .. [1] S. A. Holmes and W. E. Featherstone, Journal of Geodesy 76 (2002) 279-299.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.associated_legendre(2, 0.5)[2].round(6)
    array([-0.125   ,  0.75    ,  0.649519])
    """
    max_degree = _max_degree(max_degree)
    factor = _factors(max_degree, normalization)
    z = _checks.reals(z, "z", minimum=-1.0, maximum=1.0, nan=False)
    flat = z.ravel()
    what = f"the table of Legendre functions up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * (max_degree + 1) ** 2 * (flat.size + 2), what, "lower it, or pass fewer values 'z'")
    table = np.zeros((max_degree + 1, max_degree + 1, flat.size))
    for k, row in enumerate(_legendre_rows(max_degree, flat, np.sqrt((1.0 - flat) * (1.0 + flat)))):
        table[k, : k + 1] = factor[k] * row
    return table.reshape(max_degree + 1, max_degree + 1, *z.shape)


def real_spherical_harmonics(max_degree: int, x: ArrayLike, *, normalization: str = "orthonormal") -> Array:
    """Return the table of all real spherical harmonics on S^2 up to `max_degree`.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.
    x : array_like, shape (n, 3)
        Points of S^2.
    normalization : {"orthonormal", "schmidt", "surface"}
        See the module's docstring, which also states the order of the columns.

    Returns
    -------
    ndarray, shape (n, (K+1)**2)

    Raises
    ------
    ValueError
        If the rows are not points of S^2 or the table would be too large.

    See Also
    --------
    synthesize : sums of harmonics without a table.

    Examples
    --------
    The harmonics of degree 1 are the coordinates y, z, x:

    >>> from spherapprox import harmonics
    >>> harmonics.real_spherical_harmonics(1, [[0.48, 0.6, 0.64]], normalization="schmidt")
    array([[1.  , 0.6 , 0.64, 0.48]])
    """
    max_degree = _max_degree(max_degree)
    factor = _factors(max_degree, normalization)
    rows = _checks.rows(x, dim=2)
    what = f"the table of harmonics up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * len(rows) * (max_degree + 1) ** 2, what, "lower it, pass fewer rows, or use synthesize")
    table = np.empty((len(rows), (max_degree + 1) ** 2))
    for block in _blocks(len(rows), max_degree):
        for k, values in _values(max_degree, rows[block]):
            table[block, k * k : (k + 1) ** 2] = factor[k] * values.T
    return table


def synthesize(coefficients: ArrayLike, x: ArrayLike, *, normalization: str = "orthonormal") -> Array:
    """Return the spherical polynomial ``sum_km coefficients[k*k+k+m] Y_k^m`` at points of S^2.

    Parameters
    ----------
    coefficients : array_like, shape ((K+1)**2,) or ((K+1)**2, p)
        One coefficient, or p of them, per column in the order of the module's docstring.
    x : array_like, shape (n, 3)
        Points of S^2.
    normalization : {"orthonormal", "schmidt", "surface"}
        Of the harmonics that the coefficients belong to.

    Returns
    -------
    ndarray, shape (n,) or (n, p)
        The error is some ``(K+1)`` units of 2.2e-16 times the sum of the coefficients' sizes (Schmidt's normalisation).

    Raises
    ------
    ValueError
        If the number of coefficients is no square, or the rows are not points of S^2.

    Notes
    -----
    Rows are taken in blocks and degrees one by one, so memory is O(K) per row of a block: no table is made.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.synthesize([1.0, 0.0, 2.0, 0.0], [[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]], normalization="schmidt")
    array([ 2.6, -1. ])
    """
    weights, max_degree = _schmidt_coefficients(coefficients, normalization)
    rows = _checks.rows(x, dim=2)
    columns = weights.reshape(len(weights), -1)
    result = np.zeros((len(rows), columns.shape[1]))
    for block in _blocks(len(rows), max_degree):
        part = result[block]
        for k, values in _values(max_degree, rows[block]):
            part += values.T @ columns[k * k : (k + 1) ** 2]
    return result.reshape(len(rows), *weights.shape[1:])


def gradient(coefficients: ArrayLike, x: ArrayLike, *, normalization: str = "orthonormal") -> Array:
    """Return the gradient on the sphere of a spherical polynomial, as tangent vectors of R^3.

    Parameters
    ----------
    coefficients : array_like, shape ((K+1)**2,)
        As in `synthesize`, of one function.
    x : array_like, shape (n, 3)
        Points of S^2.
    normalization : {"orthonormal", "schmidt", "surface"}
        Of the harmonics that the coefficients belong to.

    Returns
    -------
    ndarray, shape (n, 3)
        Row i is orthogonal to ``x[i]``; its length is the slope per radian in the steepest direction. Nothing is
        divided by sin theta, so the poles are points like all others.

    Raises
    ------
    ValueError
        If there is more than one coefficient per column, their number is no square, or the rows are not points of S^2.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.gradient([0.0, 0.0, 1.0, 0.0], [[1.0, 0.0, 0.0]], normalization="schmidt")
    array([[0., 0., 1.]])
    """
    weights, max_degree = _scalar_coefficients(coefficients, normalization)
    rows = _checks.rows(x, dim=2)
    result = np.empty((len(rows), 3))
    for block in _blocks(len(rows), max_degree):
        z, s, azimuth = _polar(rows[block])
        south, east = np.zeros(len(z)), np.zeros(len(z))
        for k, to_south, to_east in _slopes(max_degree, z, s, azimuth):
            south += weights[k * k : (k + 1) ** 2] @ to_south
            east += weights[k * k : (k + 1) ** 2] @ to_east
        horizontal = (south * z + 1j * east) * azimuth
        result[block] = np.stack([horizontal.real, horizontal.imag, -s * south], axis=1) + 0.0  # no -0.0
    return result


def project(
    function: Callable[[Array], ArrayLike],
    max_degree: int,
    *,
    band_limit: int | None = None,
    normalization: str = "orthonormal",
) -> Array:
    """Return the coefficients of a function's orthogonal projection onto the harmonics on S^2 up to `max_degree`.

    Parameters
    ----------
    function : callable
        Maps points (n, 3) to values (n,) or (n, p). It is called once.
    max_degree : int
        K, 0 to 1e6, as far as memory allows.
    band_limit : int, optional
        The result is exact up to rounding if the function is a spherical polynomial of this degree, which is at least
        `max_degree` (the default) and at most 1e6. For other functions the error is that of the quadrature, so a
        larger number helps.
    normalization : {"orthonormal", "schmidt", "surface"}
        Of the harmonics that the coefficients are to belong to.

    Returns
    -------
    ndarray, shape ((K+1)**2,) or ((K+1)**2, p)
        What `synthesize` takes.

    Raises
    ------
    ValueError
        If `band_limit` is below `max_degree`, the function returns something else than one row per point, or the
        quadrature would be too large for memory.

    Notes
    -----
    Product rule: Gauss-Legendre in z times equal longitudes, exact to degree ``max_degree + band_limit``.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.project(lambda x: 3.0 + x[:, 2], 1, normalization="schmidt").round(12) + 0.0
    array([3., 0., 1., 0.])
    """
    _checks.callable_(function, "function")
    max_degree = _max_degree(max_degree)
    factor = _factors(max_degree, normalization)
    limit = max_degree if band_limit is None else _max_degree(band_limit, "band_limit", minimum=max_degree)
    what = f"the quadrature for 'max_degree' = {max_degree} and 'band_limit' = {limit}"
    _checks.memory(40.0 * (max_degree + limit + 1) ** 2, what, "lower them")
    z, weight = quadrature.gauss_legendre(2 * ((max_degree + limit) // 4 + 1))
    n_longitudes = max_degree + limit + 1
    s = np.sqrt((1.0 - z) * (1.0 + z))
    longitude = np.arange(n_longitudes) * (2.0 * np.pi / n_longitudes)
    horizontal = s[:, None] * np.exp(1j * longitude)  # (rows of the grid, n_longitudes)
    x = np.stack([horizontal.real, horizontal.imag, np.broadcast_to(z[:, None], horizontal.shape)], axis=-1)
    values = _checks.values_for(function(x.reshape(-1, 3)), "function(x)", horizontal.size, "the points")
    series = np.fft.rfft(values.reshape(*horizontal.shape, -1), axis=1, norm="forward")
    series *= 0.5 * weight[:, None, None]
    result = np.empty(((max_degree + 1) ** 2, series.shape[2]))
    for k, row in enumerate(_legendre_rows(max_degree, z, s)):
        part = (2 * k + 1) / factor[k] * np.einsum("mi,imp->mp", row, series[:, : k + 1])
        result[k * k + k : (k + 1) ** 2] = part.real
        result[k * k : k * k + k] = -part.imag[:0:-1]
    return result.reshape(-1, *values.shape[1:])


def zonal_harmonic(degree: int, x: ArrayLike, pole: ArrayLike) -> Array:
    """Return the zonal harmonic of a degree about a pole of S^m, normalised to 1 at the pole.

    Parameters
    ----------
    degree : int
        k, 0 to 1e6.
    x : array_like, shape (n, dim+1)
        Points of S^m, any m >= 1.
    pole : array_like, shape (dim+1,)
        A point of S^m.

    Returns
    -------
    ndarray, shape (n,)
        The normalised Gegenbauer polynomial of <x, pole>, in [-1, 1]; on S^1 it is ``cos(k theta)``.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.zonal_harmonic(2, [[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 1.0])
    array([-0.5,  1. ])
    """
    degree = _max_degree(degree, "degree")
    rows = _checks.rows(x).astype(np.float64)
    centre = _checks.one_row(pole, "pole", dim=rows.shape[1] - 1).astype(np.float64)
    cosine = rows @ centre / (np.sqrt(np.square(rows).sum(1)) * math.sqrt(centre @ centre))
    return np.asarray(special.gegenbauer(degree, rows.shape[1] - 1, np.clip(cosine, -1.0, 1.0)))


@dataclass(frozen=True)
class BandlimitedMaximum:
    """Enclosures of the largest value and the largest slope of a spherical polynomial on S^2.

    Attributes
    ----------
    sup_norm, lipschitz : float
        Upper bounds of ``sup |f|`` and of ``sup |grad f|``, which is the best Lipschitz constant for the geodesic
        distance.
    attained_value, attained_slope : float
        Lower bounds of the same: what ``|f|`` and ``|grad f|`` are at some point.
    degree : int
        The highest degree with a coefficient that is not zero.
    covering_radius : float
        Of the grid that was searched.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> found = harmonics.bandlimited_maximum([0.0, 0.0, 1.0, 0.0], normalization="schmidt")  # the height x_3
    >>> found.attained_value <= 1.0 <= found.sup_norm, found.degree
    (True, 1)
    """

    sup_norm: float
    lipschitz: float
    attained_value: float
    attained_slope: float
    degree: int
    covering_radius: float


def bandlimited_maximum(
    coefficients: ArrayLike, *, normalization: str = "orthonormal", slack: float = 1e-3
) -> BandlimitedMaximum:
    r"""Return proven bounds of a spherical polynomial's largest value and largest slope on S^2.

    Parameters
    ----------
    coefficients : array_like, shape ((K+1)**2,)
        As in `synthesize`, of one function.
    normalization : {"orthonormal", "schmidt", "surface"}
        Of the harmonics that the coefficients belong to.
    slack : float, default 1e-3
        The bounds exceed the true maxima by at most a factor ``1/(1 - slack)``; in [1e-8, 1/2]. The grid has about
        ``5 K**2 / slack`` points, 0.85 million for degree 13 at the default, and a million take 0.1 s.

    Returns
    -------
    BandlimitedMaximum

    Notes
    -----
    *Lemma.* Let f be a spherical polynomial of degree n on S^m, G a set with covering radius d, and n d < pi/2. Then
    ``sup |f| <= max_G |f| / cos(n d)`` and ``sup |grad f| <= max_G |grad f| / cos(n d)``.

    *Proof.* Let ``M = sup |grad f|`` be attained at x* in the unit direction u*, y the point of G nearest to x*, and c
    a great circle with unit speed, c(0) = x*, c(t*) = y, 0 <= t* <= d. Write ``u* = a c'(0) + b v``, where v is a unit
    vector orthogonal to the plane of c, and ``E(t) = a c'(t) + b v``, a unit tangent vector at c(t). With a polynomial
    p of degree n in R^(m+1) that equals f on the sphere,
    ``h(t) = <grad f(c(t)), E(t)> = a (d/dt) p(c(t)) + b (d_v p)(c(t))``
    is a trigonometric polynomial of degree at most n; ``|h| <= M`` and ``h(0) = M``. Then ``h(t) >= M cos(n t)`` for
    ``|t| <= pi/n`` (M. Riesz [1]_: else ``M cos(n t) - h``, which changes sign between the extrema of the cosine, would
    have 2n + 1 zeros in a period, a double one at 0 among them), hence ``|grad f(y)| >= h(t*) >= M cos(n d)``. For |f|
    take ``h(t) = +-f(c(t))``.  QED

    *Grid.* A parallels at colatitudes ``(i + 1/2) pi/A`` with B longitudes each. A point is at most ``pi/(2A)`` in
    colatitude and ``pi/B`` in longitude from one of them, and
    ``sin^2(d/2) = sin^2(dtheta/2) + sin(theta) sin(theta') sin^2(dphi/2)`` gives
    ``d <= 2 arcsin sqrt(sin^2(pi/(4A)) + sin^2(pi/(2B)))``. A, B are chosen such that ``cos(n d) >= 1 - slack``.

    *Rounding.* To the grid's maxima is added ``4 (n+1)^2 2.2e-16 sum_km |c_km| {1, sqrt(k(k+1))}`` (Schmidt's
    normalisation): several times the largest error seen against 40 digits, no enclosure in ball arithmetic.

    References
    ----------
    .. [1] M. Riesz, Eine trigonometrische Interpolationsformel und einige Ungleichungen fuer Polynome, Jahresbericht
       der Deutschen Mathematiker-Vereinigung 23 (1914) 354-368.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> found = harmonics.bandlimited_maximum([0.0, 0.0, 3.0, 4.0], normalization="schmidt")  # 3 z + 4 x
    >>> 5.0 <= found.sup_norm <= 5.005, 5.0 <= found.lipschitz <= 5.005
    (True, True)
    """
    weights, max_degree = _scalar_coefficients(coefficients, normalization)
    slack = _checks.real(slack, "slack", minimum=1e-8, maximum=0.5)
    used = degrees(max_degree)[weights != 0.0]
    n = int(used.max(initial=0))
    if n == 0:
        constant = abs(float(weights[0]))
        return BandlimitedMaximum(constant, 0.0, constant, 0.0, 0, math.pi)
    n_parallels, radius = _grid_for(2.0 * math.asin(math.sqrt(slack / 2.0)) / n)  # cos(n d) = 1 - slack
    value, slope = _grid_maxima(weights[: (n + 1) ** 2], n, n_parallels)
    sizes, k = np.abs(weights[: (n + 1) ** 2]), degrees(n)
    rounding = 4.0 * (n + 1) ** 2 * np.finfo(float).eps
    value_error, slope_error = rounding * sizes.sum(), rounding * float(sizes @ np.sqrt(k * (k + 1.0)))
    raise_by = (1.0 + 1e-15) / math.cos(n * radius)
    return BandlimitedMaximum(
        sup_norm=float((value + value_error) * raise_by),
        lipschitz=float((slope + slope_error) * raise_by),
        attained_value=max(0.0, float(value - value_error)),
        attained_slope=max(0.0, float(slope - slope_error)),
        degree=n,
        covering_radius=radius,
    )


def _grid_for(radius: float) -> tuple[int, float]:
    """Return A of a grid of A parallels and 2 A longitudes with at most this covering radius, and its bound of it."""
    n_parallels = next_fast_len(math.ceil(math.pi / (4.0 * math.asin(math.sin(radius / 2.0) / math.sqrt(2.0)))), True)
    return n_parallels, 2.0 * math.asin(math.sqrt(2.0) * math.sin(math.pi / (4.0 * n_parallels)))


def _grid_maxima(weights: Array, n: int, n_parallels: int) -> tuple[float, float]:
    """Return the maxima of |f| and |grad f| over the grid, one Fourier series in longitude per parallel."""
    order = np.arange(n + 1)
    colatitude = (np.arange(n_parallels) + 0.5) * (np.pi / n_parallels)
    steps = max(1, 2**19 // (2 * n_parallels))
    value = slope = 0.0
    for start in range(0, n_parallels, steps):
        theta = colatitude[start : start + steps]
        series = np.zeros((3, n + 1, len(theta)), dtype=np.complex128)  # of f, d/dtheta f, (1/sin theta) d/dphi f
        before = np.zeros((0, len(theta)))
        for k, row in enumerate(_legendre_rows(n, np.cos(theta), np.sin(theta))):
            c = weights[k * k : (k + 1) ** 2]
            complex_c = c[k:] - 1j * np.where(order[: k + 1] > 0, c[k::-1], 0.0)  # f = Re sum c e^(i m phi)
            for j, part in enumerate((row, *_derivative_rows(k, row, before))):
                series[j, : k + 1] += complex_c[:, None] * part
            before = row
        series[2] *= 1j
        series[:, 1:] *= 0.5
        grid = np.fft.irfft(series, 2 * n_parallels, axis=1, norm="forward")
        value = max(value, float(np.abs(grid[0]).max()))
        slope = max(slope, float((grid[1] ** 2 + grid[2] ** 2).max()))
    return value, math.sqrt(slope)


def _max_degree(value: int, name: str = "max_degree", *, minimum: int = 0) -> int:
    """Check a degree."""
    return _checks.integer(value, name, minimum=minimum, maximum=MAX_DEGREE)


def _factors(max_degree: int, normalization: str) -> Array:
    """Return what Schmidt's functions of each degree are multiplied by."""
    normalization = _checks.choice(normalization, "normalization", NORMALIZATIONS)
    if normalization == "schmidt":
        return np.ones(max_degree + 1)
    total = 1.0 if normalization == "orthonormal" else 4.0 * np.pi
    return np.asarray(np.sqrt((2.0 * np.arange(max_degree + 1) + 1.0) / total))


def _schmidt_coefficients(coefficients: ArrayLike, normalization: str) -> tuple[Array, int]:
    """Return the coefficients for Schmidt's functions, and the highest degree."""
    array = _checks.floating(coefficients, "coefficients").astype(np.float64)
    max_degree = math.isqrt(len(array)) - 1 if array.ndim else -1
    if array.ndim not in (1, 2) or (max_degree + 1) ** 2 != len(array):
        raise ValueError(
            f"'coefficients' must have shape ((K+1)^2,) or ((K+1)^2, p), got {array.shape}: "
            "entry k*k + k + m belongs to degree k and order m, for all degrees up to K; fill up with zeros"
        )
    factor = _factors(max_degree, normalization)[degrees(max_degree)]
    return array * factor.reshape(-1, *[1] * (array.ndim - 1)), max_degree


def _scalar_coefficients(coefficients: ArrayLike, normalization: str) -> tuple[Array, int]:
    """Return the coefficients of one function for Schmidt's functions, and the highest degree."""
    weights, max_degree = _schmidt_coefficients(coefficients, normalization)
    if weights.ndim != 1:
        raise ValueError(f"'coefficients' must have shape ((K+1)^2,), got {weights.shape}: pass one column at a time")
    return weights, max_degree


def _blocks(n_rows: int, max_degree: int) -> Iterator[slice]:
    """Cut the rows into blocks whose work arrays stay in cache."""
    size = max(16, _BLOCK // (max_degree + 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def _polar(rows: NDArray[np.floating[Any]]) -> tuple[Array, Array, NDArray[np.complex128]]:
    """Return cos theta, sin theta and e^(i phi) of the rows' directions."""
    x, y, z = rows.T.astype(np.float64)
    s = np.hypot(x, y)
    azimuth = np.ones(len(s), dtype=np.complex128)
    np.divide(x + 1j * y, s, out=azimuth, where=s > 0.0)
    length = np.hypot(s, z)
    return z / length, s / length, azimuth


def _sectoral(max_degree: int, s: Array) -> tuple[Array, NDArray[np.int32]]:
    """Return x, e with ``P_m^m = x 2^(-_RADIX e)``, from ``P_m^m = sqrt((2m-1)/(2m)) s P_(m-1)^(m-1)``, m >= 2."""
    seed = np.ones((max_degree + 1, len(s)))
    exponent = np.zeros((max_degree + 1, len(s)), dtype=np.int32)
    for m in range(1, max_degree + 1):
        seed[m] = (math.sqrt((2 * m - 1) / (2 * m)) if m > 1 else 1.0) * s * seed[m - 1]
        small = (seed[m] < 2.0 ** (-_RADIX // 2)) & (seed[m] > 0.0)
        seed[m, small] *= 2.0**_RADIX
        exponent[m] = exponent[m - 1] + small
    return seed, exponent


def _legendre_rows(max_degree: int, z: Array, s: Array) -> Iterator[Array]:
    """Yield Schmidt's ``P_k^0, ..., P_k^k`` at z = cos theta, s = sin theta, as (k+1, n), for k = 0..max_degree."""
    seed, exponent = _sectoral(max_degree, s)
    deep = np.flatnonzero(exponent.any(axis=0))  # the points near enough to a pole for seeds to be scaled
    exponent = exponent[:, deep]
    before = last = np.empty((0, len(z)))
    for k in range(max_degree + 1):
        m = np.arange(k, dtype=np.float64)[:, None]
        row = np.empty((k + 1, len(z)))
        row[k] = seed[k]
        np.multiply((2 * k - 1) * z, last, out=row[:k])
        row[: max(k - 1, 0)] -= np.sqrt((k - 1 - m[:-1]) * (k - 1 + m[:-1])) * before
        row[:k] /= np.sqrt((k - m) * (k + m))
        true = row
        if deep.size:
            grown = (np.abs(row[:k, deep]) > 2.0 ** (_RADIX // 2)) & (exponent[:k] > 0)
            exponent[:k] -= grown
            factor = np.where(grown, 2.0**-_RADIX, 1.0)
            row[:k, deep] *= factor
            last[:, deep] *= factor
            true = row.copy()
            true[:, deep] = np.ldexp(row[:, deep], -_RADIX * exponent[: k + 1])
        yield true
        before, last = last, row


def _derivative_rows(k: int, row: Array, before: Array) -> tuple[Array, Array]:
    """Return ``d/dtheta P_k^m`` and ``m P_k^m / sin theta``, (k+1, n) each, from the rows of degrees k and k-1.

    Ladder relations (NIST DLMF 14.10 in Schmidt's normalisation), so that nothing is divided by sin theta.
    """
    slope, quotient = np.zeros_like(row), np.zeros_like(row)
    if k == 0:
        return slope, quotient
    m = np.arange(k + 1, dtype=np.float64)[:, None]
    double = np.where(m == 1.0, 2.0, 1.0)  # P_k^0 lacks the factor sqrt(2) of the other orders
    slope[0] = -math.sqrt(k * (k + 1) / 2) * row[1]
    slope[1:] = 0.5 * np.sqrt(double * (k + m) * (k - m + 1))[1:] * row[:-1]
    slope[1:-1] -= 0.5 * np.sqrt((k - m) * (k + m + 1))[1:-1] * row[2:]
    quotient[1:] = 0.5 * np.sqrt(double * (k + m) * (k + m - 1))[1:] * before
    quotient[1:-2] += 0.5 * np.sqrt((k - m) * (k - m - 1))[1:-2] * before[2:]
    return slope, quotient


def _powers(azimuth: NDArray[np.complex128], max_degree: int) -> tuple[Array, Array]:
    """Return ``cos(m phi)`` and ``sin(m phi)`` for m = 0..max_degree, (max_degree+1, n) each."""
    power = np.ones((max_degree + 1, len(azimuth)), dtype=np.complex128)
    for m in range(1, max_degree + 1):
        np.multiply(power[m - 1], azimuth, out=power[m])
    return np.ascontiguousarray(power.real), np.ascontiguousarray(power.imag)


def _ordered(row: Array, even: Array, odd: Array) -> Array:
    """Return ``row[|m|]`` times even[m] for m >= 0 and odd[|m|] for m < 0, in the order m = -k..k: (2k+1, n)."""
    k = len(row) - 1
    result = np.empty((2 * k + 1, row.shape[1]))
    np.multiply(row, even[: k + 1], out=result[k:])
    np.multiply(row[:0:-1], odd[k:0:-1], out=result[:k])
    return result


def _values(max_degree: int, rows: NDArray[np.floating[Any]]) -> Iterator[tuple[int, Array]]:
    """Yield k and Schmidt's harmonics of degree k, (2k+1, n)."""
    z, s, azimuth = _polar(rows)
    cos, sin = _powers(azimuth, max_degree)
    for k, row in enumerate(_legendre_rows(max_degree, z, s)):
        yield k, _ordered(row, cos, sin)


def _slopes(max_degree: int, z: Array, s: Array, azimuth: NDArray[np.complex128]) -> Iterator[tuple[int, Array, Array]]:
    """Yield k and the slopes of Schmidt's harmonics of degree k to the south and to the east, (2k+1, n) each."""
    cos, sin = _powers(azimuth, max_degree)
    before = np.empty((0, len(z)))
    for k, row in enumerate(_legendre_rows(max_degree, z, s)):
        south, east = _derivative_rows(k, row, before)
        yield k, _ordered(south, cos, sin), _ordered(east, -sin, cos)
        before = row
