"""Projection of a function on S^2 onto the harmonics, by a product rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._scalars import gauss as quadrature
from .._types import Float64
from .columns import check_degree, factors
from .recurrences import legendre_rows


def project(
    function: Callable[[Float64], ArrayLike],
    max_degree: int,
    *,
    band_limit: int | None = None,
    normalization: str = "orthonormal",
) -> Float64:
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
    max_degree = check_degree(max_degree)
    factor = factors(max_degree, normalization)
    limit = max_degree if band_limit is None else check_degree(band_limit, "band_limit", minimum=max_degree)
    table_name = f"the quadrature for 'max_degree' = {max_degree} and 'band_limit' = {limit}"
    _checks.memory(40.0 * (max_degree + limit + 1) ** 2, table_name, "lower them")
    # Step 1: the points of the product rule, a parallel for each Gauss node
    z, weight = quadrature.gauss_legendre(2 * ((max_degree + limit) // 4 + 1))  # (parallels,)
    n_longitudes = max_degree + limit + 1
    s = np.sqrt((1.0 - z) * (1.0 + z))
    longitude = np.arange(n_longitudes) * (2.0 * np.pi / n_longitudes)
    horizontal = s[:, None] * np.exp(1j * longitude)  # (parallels, n_longitudes)
    x = np.stack([horizontal.real, horizontal.imag, np.broadcast_to(z[:, None], horizontal.shape)], axis=-1)
    # Step 2: the function there, (parallels n_longitudes,) or (parallels n_longitudes, p)
    returned = _checks.called(function, x.reshape(-1, 3))
    values = _checks.values_for(returned, "function(x)", horizontal.size, owner="the points")
    # Step 3: a Fourier series in longitude on each parallel, (parallels, n_longitudes//2 + 1, p)
    series = np.fft.rfft(values.reshape(*horizontal.shape, -1), axis=1, norm="forward")
    series *= 0.5 * weight[:, None, None]
    # Step 4: Gauss's rule in z for every degree and order; Schmidt's functions have mean square 1/(2k+1)
    result = np.empty(((max_degree + 1) ** 2, series.shape[2]))
    for k, row in enumerate(legendre_rows(max_degree, z, s)):
        part = (2 * k + 1) / factor[k] * np.einsum("mi,imp->mp", row, series[:, : k + 1])  # (k+1, p)
        result[k * k + k : (k + 1) ** 2] = part.real
        result[k * k : k * k + k] = -part.imag[:0:-1]
    return result.reshape(-1, *values.shape[1:])
