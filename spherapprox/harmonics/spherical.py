"""Real spherical harmonics on S^2: tables, sums, and gradients of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import slices
from .._types import Float64
from .columns import check_degree, factors, order_arguments, scalar_coefficients, schmidt_coefficients
from .recurrences import blocks, by_degree, legendre_rows
from .sums import weighted_sums
from .turns import turn_coefficients

_CROSSED = 2**12  # cross products in one block, whose arrays stay in cache


def associated_legendre(max_degree: int, z: ArrayLike, *, normalization: str = "schmidt") -> Float64:
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
    max_degree = check_degree(max_degree)
    factor = factors(max_degree, normalization)
    z = _checks.reals(z, "z", minimum=-1.0, maximum=1.0, nan=False)
    flat = z.ravel()  # (n,)
    table_name = f"the table of Legendre functions up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * (max_degree + 1) ** 2 * (flat.size + 2), table_name, "lower it, or pass fewer values 'z'")
    table = np.zeros((max_degree + 1, max_degree + 1, flat.size))
    for k, row in enumerate(legendre_rows(max_degree, flat, np.sqrt((1.0 - flat) * (1.0 + flat)))):
        table[k, : k + 1] = factor[k] * row
    return table.reshape(max_degree + 1, max_degree + 1, *z.shape)


def real_spherical_harmonics(max_degree: int, x: ArrayLike, *, normalization: str = "orthonormal") -> Float64:
    """Return the table of all real spherical harmonics on S^2 up to `max_degree`.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.
    x : array_like, shape (n, 3)
        Points of S^2. Points may come first too: the number is the degree.
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
    max_degree, x = order_arguments(max_degree, x)
    max_degree = check_degree(max_degree)
    factor = factors(max_degree, normalization)
    rows = _checks.rows(x, dim=2)
    table_name = f"the table of harmonics up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * len(rows) * (max_degree + 1) ** 2, table_name, "lower it, pass fewer rows, or use synthesize")
    table = np.empty(((max_degree + 1) ** 2, len(rows)))  # points side by side, as they are computed
    for block in blocks(len(rows), max_degree):
        for k, values in by_degree(max_degree, rows[block]):
            np.multiply(factor[k], values, out=table[k * k : (k + 1) ** 2, block])
    return table.T


def synthesize(coefficients: ArrayLike, x: ArrayLike, *, normalization: str = "orthonormal") -> Float64:
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
        With coefficients c of Schmidt's normalisation the error of sums of few terms is some ``(K+1)`` units of 2.2e-16
        times ``sum |c_km|``, next to the poles up to ``(K+1)**2/2`` of them. That of many is below
        ``20 + sqrt(K+1)`` units times ``sum_k (sum_m c_km^2)^(1/2)`` everywhere (seen against 40 digits, K <= 2047).

    Raises
    ------
    ValueError
        If the number of coefficients is no square, or the rows are not points of S^2.

    Notes
    -----
    Up to 2e7 terms (n ``(K+1)**2`` p) are added one by one, rows in blocks, so memory is O(K) per row of a block. More
    are taken by Legendre and Fourier transforms to a grid, from which a window interpolates them, where counts of the
    work say that this is faster: docs/theorems/4.9-harmonic-sums.md (f). The way depends on n, K and p alone.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.synthesize([1.0, 0.0, 2.0, 0.0], [[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]], normalization="schmidt")
    array([ 2.6, -1. ])
    """
    weights, max_degree = schmidt_coefficients(coefficients, normalization)
    rows = _checks.rows(x, dim=2)
    result = weighted_sums(weights.reshape(len(weights), -1), max_degree, rows)
    return np.ascontiguousarray(result.T).reshape(len(rows), *weights.shape[1:])


def gradient(coefficients: ArrayLike, x: ArrayLike, *, normalization: str = "orthonormal") -> Float64:
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
        divided by sin theta, so the poles are points like all others. The error is that of `synthesize` for three
        sums, of coefficients up to k times those of degree k.

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
    weights, max_degree = scalar_coefficients(coefficients, normalization)
    rows = _checks.rows(x, dim=2)
    # 6.3: the derivatives of f as it is turned about the axes are L f = x times grad f, so that grad f = L f times x
    turns = np.concatenate([turn_coefficients(weights[:, None], axis) for axis in range(3)], axis=1)
    slopes = weighted_sums(turns, max_degree, rows)  # (3, n)
    result = np.empty((len(rows), 3))
    for block in slices(len(rows), _CROSSED):
        a, b, c = slopes[:, block]
        u, v, w = rows[block].T.astype(np.float64)
        length = np.sqrt(u * u + v * v + w * w)
        for column, part in enumerate((b * w - c * v, c * u - a * w, a * v - b * u)):
            result[block, column] = part / length + 0.0  # no -0.0
    return result
