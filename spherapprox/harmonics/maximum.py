"""Proven bounds of the largest value and the largest slope of a spherical polynomial on S^2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._norms import unit_of
from .._types import Float64
from .columns import degrees, scalar_coefficients
from .recurrences import derivative_rows, legendre_rows
from .rounding import mean_size, sum_rounding, transform_rounding


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
    >>> maximum = harmonics.bandlimited_maximum([0.0, 0.0, 1.0, 0.0], normalization="schmidt")  # the height x_3
    >>> maximum.attained_value <= 1.0 <= maximum.sup_norm, maximum.degree
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

    Raises
    ------
    TypeError, ValueError
        If there is more than one coefficient per column, their number is no square, `slack` is out of its range, or the
        grid would be too large.

    Notes
    -----
    Let f be a spherical polynomial of degree n, G a set with covering radius d, and n d < pi/2. Then
    ``sup |f| <= max_G |f| / cos(n d)`` and ``sup |grad f| <= max_G |grad f| / cos(n d)``:
    docs/theorems/6.1-polynomial-maximum.md, after M. Riesz [1]_.

    *Grid.* A parallels at colatitudes ``(i + 1/2) pi/A`` with B = 2A longitudes each, for which
    ``d <= 2 arcsin sqrt(sin^2(pi/(4A)) + sin^2(pi/(2B)))``. A is chosen such that ``cos(n d) >= 1 - slack``.

    *Rounding.* To the grid's maxima is added what rounding may change them by, which is proven to degree 256: up to
    some ``2e-15 (n+1)^3`` of the root of the mean square of f, and four times as much of that of grad f.

    References
    ----------
    .. [1] M. Riesz, Eine trigonometrische Interpolationsformel und einige Ungleichungen fuer Polynome, Jahresbericht
       der Deutschen Mathematiker-Vereinigung 23 (1914) 354-368.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> maximum = harmonics.bandlimited_maximum([0.0, 0.0, 3.0, 4.0], normalization="schmidt")  # 3 z + 4 x
    >>> 5.0 <= maximum.sup_norm <= 5.005, 5.0 <= maximum.lipschitz <= 5.005
    (True, True)
    """
    from scipy.fft import next_fast_len  # not before it is needed, as it loads much

    weights, max_degree = scalar_coefficients(coefficients, normalization)
    slack = _checks.real(slack, "slack", minimum=1e-8, maximum=0.5)
    occurring = degrees(max_degree)[weights != 0.0]
    n = int(occurring.max(initial=0))
    if n == 0:
        constant = abs(float(weights[0]))
        return BandlimitedMaximum(constant, 0.0, constant, attained_slope=0.0, degree=0, covering_radius=math.pi)
    # Step 1: a grid of covering radius d with cos(n d) >= 1 - slack
    # With B = 2 A longitudes the bound of 6.1 is d = 2 arcsin(sqrt(2) sin(pi/(4A)))
    largest = 2.0 * math.asin(math.sqrt(slack / 2.0)) / n
    n_parallels = next_fast_len(math.ceil(math.pi / (4.0 * math.asin(math.sin(largest / 2.0) / math.sqrt(2.0)))), True)
    radius = 2.0 * math.asin(math.sqrt(2.0) * math.sin(math.pi / (4.0 * n_parallels)))
    # Step 2: the maxima over the grid, in units in which squares neither overflow nor vanish
    unit = unit_of(weights)
    weights = weights[: (n + 1) ** 2] / unit
    value, slope = _grid_maxima(weights, n, n_parallels)
    # Step 3: what rounding may add to them (6.1, rounding)
    rounding, transform = sum_rounding(n), transform_rounding(2 * n_parallels)
    value_error = rounding * mean_size(weights) + transform * value
    slope_error = 4.0 * rounding * mean_size(weights, order=1) + 1.5 * transform * slope
    # Step 4: the maxima over the sphere, 6.1; angles are right to 1e-15
    raise_by = (1.0 + 1e-14) / math.cos(n * (radius + 1e-15))
    return BandlimitedMaximum(
        sup_norm=unit * float((value + value_error) * raise_by),
        lipschitz=unit * float((slope + slope_error) * raise_by),
        attained_value=unit * max(0.0, float(value - value_error)),
        attained_slope=unit * max(0.0, float(slope - slope_error)),
        degree=n,
        covering_radius=radius,
    )


def _grid_maxima(weights: Float64, n: int, n_parallels: int) -> tuple[float, float]:
    """Return the maxima of |f| and |grad f| over the grid, one Fourier series in longitude per parallel."""
    order = np.arange(n + 1)
    colatitude = (np.arange(n_parallels) + 0.5) * (np.pi / n_parallels)
    steps = max(1, 2**19 // (2 * n_parallels))
    value = slope = 0.0
    for start in range(0, n_parallels, steps):
        theta = colatitude[start : start + steps]  # (rows,)
        series = np.zeros((3, n + 1, len(theta)), dtype=np.complex128)  # of f, d/dtheta f, (1/sin theta) d/dphi f
        before = np.zeros((0, len(theta)))
        for k, row in enumerate(legendre_rows(n, np.cos(theta), np.sin(theta))):
            c = weights[k * k : (k + 1) ** 2]
            # (k+1,): f is the real part of sum_m c_m P_k^m e^(i m phi)
            complex_c = c[k:] - 1j * np.where(order[: k + 1] > 0, c[k::-1], 0.0)
            for j, part in enumerate((row, *derivative_rows(k, row, before))):
                series[j, : k + 1] += complex_c[:, None] * part  # (k+1, rows)
            before = row
        series[2] *= 1j
        series[:, 1:] *= 0.5
        grid = np.fft.irfft(series, 2 * n_parallels, axis=1, norm="forward")  # (3, longitudes, rows)
        value = max(value, float(np.abs(grid[0]).max()))
        slope = max(slope, float((grid[1] ** 2 + grid[2] ** 2).max()))
    return value, math.sqrt(slope)
