"""Harmonics on S^m, any m >= 1: an orthonormal basis up to a degree, and zonal harmonics.

docs/theorems/5.7-quadrature-error.md: a harmonic of degree l on S^m is one of degree l' <= l on S^(m-1) times a
Gegenbauer polynomial of degree l - l' in the last coordinate. As solid harmonics they need no angles: poles are points
like all others.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, special
from .._loading import load
from .._threads import slices
from .._types import Complex128, Float64, Int64
from .columns import check_degree, order_arguments
from .spherical import real_spherical_harmonics

_TABLE_ELEMENTS = 2**20  # elements of a table that is filled at a time: 8 MiB

MAX_SOLID_DEGREE = 1000
"""For m >= 3 powers sin^l of colatitudes are not scaled: up to this degree no harmonic is lost by their underflow."""


def hyperspherical_degrees(max_degree: int, dim: int) -> Int64:
    """Return the degree of every column of `hyperspherical_harmonics`.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.
    dim : int
        The manifold's dimension m >= 1 of the sphere S^m.

    Returns
    -------
    ndarray of int, shape (columns,)
        Degree l occurs as often as there are independent harmonics of it, ``(2l+m-1) (l+m-2)! / (l! (m-1)!)`` times.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range or the result too large for memory.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.hyperspherical_degrees(2, 3)
    array([0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    max_degree, dim = check_degree(max_degree), _checks.dimension(dim)
    _require_memory(max_degree, dim, 1)
    return np.repeat(np.arange(max_degree + 1), sizes(max_degree, dim))


def hyperspherical_harmonics(max_degree: int, x: ArrayLike) -> Float64:
    """Return the table of an orthonormal basis of the harmonics on S^m up to `max_degree`.

    Parameters
    ----------
    max_degree : int
        K >= 0, as far as memory allows: up to 1e6 for m <= 2, up to 1000 beyond.
    x : array_like, shape (n, dim+1)
        Points of S^m, any m >= 1, by their direction. Points may come first too: the number is the degree.

    Returns
    -------
    ndarray, shape (n, columns)
        Orthonormal for the normalised measure (total 1); degree by degree (`hyperspherical_degrees`), and the basis of
        a smaller K is the beginning of that of a larger one. On S^1 the columns are 1 and ``sqrt(2) cos(l phi)``,
        ``sqrt(2) sin(l phi)``, on S^2 those of `real_spherical_harmonics`, and beyond the harmonics of a degree
        are in the order in which the coordinates bring them in: first those of the first two coordinates.

        Harmonics of degree l take values up to ``sqrt(dim H_l)``. The error is below ``2e-15 (l+1) sqrt(dim H_l)``
        (seen against 40 digits, for rows that are unit to rounding); where points near a pole make harmonics smaller
        than that it is smaller too.

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of a sphere, the degree is out of its range, or the table would be too large.

    See Also
    --------
    spherapprox.special.gegenbauer : the reproducing kernel, ``sum_j Y_lj(x) Y_lj(y) = dim H_l P_l(<x, y>)``.

    References
    ----------
    docs/theorems/5.7-quadrature-error.md (a basis).

    Examples
    --------
    The harmonics of degree 1 on S^m are ``sqrt(m + 1)`` times the coordinates:

    >>> from spherapprox import harmonics
    >>> harmonics.hyperspherical_harmonics(1, [[0.5, 0.5, -0.5, 0.5]])
    array([[ 1.,  1.,  1., -1.,  1.]])
    """
    max_degree, x = order_arguments(max_degree, x)
    max_degree, rows = check_degree(max_degree), _checks.rows(x)
    n, dim = len(rows), rows.shape[1] - 1
    if dim > 2:
        why = "for dim >= 3 powers of sines of the colatitudes would underflow beyond it"
        max_degree = _checks.integer(max_degree, "max_degree", maximum=MAX_SOLID_DEGREE, limit=why)
    _require_memory(max_degree, dim, n)
    if dim == 2:
        return real_spherical_harmonics(max_degree, rows)
    offsets = np.concatenate([[0], np.cumsum(sizes(max_degree, dim))])  # (K+2,): degree l begins at offsets[l]
    constants = seeds(dim, max_degree)  # (dim, K+1)
    table = np.empty((int(offsets[-1]), n))  # points side by side, as they are computed
    scale = constants[-1].repeat(np.diff(offsets))[:, None]  # (columns, 1)
    for block in slices(n, max(16, _TABLE_ELEMENTS // int(offsets[-1]))):
        part = rows[block].T.astype(np.float64)  # (dim+1, points of the block)
        part /= np.sqrt(np.einsum("ij,ij->j", part, part))
        solid = solid_harmonics(
            part, np.ones(part.shape[1]), offsets, constants=constants
        )  # (columns, points of the block)
        np.multiply(solid, scale, out=table[:, block])
    return table.T


def zonal_harmonic(degree: int, x: ArrayLike, pole: ArrayLike) -> Float64:
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

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of a sphere, `pole` is none of the same, or the degree is out of its range.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.zonal_harmonic(2, [[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 1.0])
    array([-0.5,  1. ])
    """
    degree = check_degree(degree, "degree")
    rows = _checks.rows(x).astype(np.float64)
    centre = _checks.one_row(pole, "pole", dim=rows.shape[1] - 1).astype(np.float64)
    cosine = rows @ centre / (np.sqrt(np.square(rows).sum(1)) * math.sqrt(centre @ centre))  # (n,)
    return np.asarray(special.gegenbauer(degree, rows.shape[1] - 1, np.clip(cosine, -1.0, 1.0)))


def sizes(max_degree: int, dim: int) -> Int64:
    """Return the number of independent harmonics on S^m of each degree up to a degree, shape (max_degree+1,)."""
    if dim == 1:
        return np.array([1] + max_degree * [2])
    return np.array(
        [math.comb(dim + k, dim) - (math.comb(dim + k - 2, dim) if k > 1 else 0) for k in range(max_degree + 1)]
    )


def log_columns(max_degree: int, dim: int) -> float:
    """Return the logarithm of the number of harmonics up to a degree, (2K + m) (K + m - 1)! / (K! m!)."""
    if dim == 1:
        return math.log(2.0 * max_degree + 1.0)
    log_binomial = math.lgamma(max_degree + dim) - math.lgamma(max_degree + 1.0) - math.lgamma(dim + 1.0)
    return math.log(2.0 * max_degree + dim) + log_binomial


def seeds(dim: int, degree: int) -> Float64:
    """Return for S^k, k = 1, ..., m, the constants that make sin^l of each colatitude orthonormal, shape (m, L+1).

    Row k - 1 holds the product over 2 <= k' <= k of the c_l of S^k', sqrt(B(k'/2, 1/2) / B(l + k'/2, 1/2)).
    """
    j = np.arange(degree)
    constants = np.ones((dim, degree + 1))
    for k in range(2, dim + 1):
        # 5.7: c_l^2 is the product over j < l of (j + (k+1)/2) / (j + k/2)
        constants[k - 1, 1:] = constants[k - 2, 1:] * np.sqrt(np.cumprod((j + 0.5 * (k + 1)) / (j + 0.5 * k)))
    return constants


def solid_harmonics(x: Float64, weights: Float64, offsets: Int64, constants: Float64) -> Float64:
    """Return the table of weighted solid harmonics of coordinates x (m+1, n), a column for each point.

    In each degree the order is that in which coordinates bring harmonics in; they are over the constants of `seeds`.
    """
    degree = len(offsets) - 2
    table = np.empty((int(offsets[-1]), x.shape[1]))
    # Step 1: those of the first two coordinates, sqrt(2) Re z^l and sqrt(2) Im z^l for z = x_1 + i x_2
    circle = (math.sqrt(2.0) * weights) * powers(x[0] + 1j * x[1], degree)  # (L+1, n)
    table[0] = weights
    table[offsets[1:-1]] = circle[1:].real
    table[offsets[1:-1] + 1] = circle[1:].imag
    filled = np.array([1] + degree * [2])  # (L+1,): the rows of each degree that are done
    # Step 2: one coordinate after the other joins, 5.7
    squares = x[0] * x[0] + x[1] * x[1]  # (n,)
    kernels = load("spherapprox._kernels.harmonics.hyperspherical")
    for k in range(2, len(x)):
        squares += x[k] * x[k]
        kernels.extend(k, np.ascontiguousarray(x[k]), squares, offsets, filled, constants[k - 1], table)
    return table


def powers(z: Complex128, degree: int) -> Complex128:
    """Return the powers 0, ..., degree of complex numbers by doubling, shape (degree+1, n)."""
    table = np.ones((degree + 1, len(z)), dtype=np.complex128)
    table[1:2] = z
    top = 1
    while top < degree:
        count = min(top, degree - top)  # z^(top+1), ..., z^(top+count) are z^top times earlier powers
        np.multiply(table[1 : count + 1], table[top], out=table[top + 1 : top + count + 1])
        top += count
    return table


def _require_memory(max_degree: int, dim: int, n: int) -> None:
    """Refuse a table of too many columns before they are counted."""
    columns = math.exp(min(log_columns(max_degree, dim), 200.0))
    table_name = f"the table of harmonics on S^{dim} up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * n * columns, table_name, "lower it, or pass fewer rows")
