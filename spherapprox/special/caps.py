"""Measures of caps and of the sphere, as logarithms."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from .._scalars import beta
from .arguments import dims, real
from .dispatch import elementwise

INVERSE = 2.5  # work of an inverse, in Bessel ratios


def log_cap_measure(dim: ArrayLike, angle: ArrayLike) -> Any:
    """Return the logarithm of the normalised measure of a spherical cap.

    Parameters
    ----------
    dim : array_like of int
        m of the sphere S^m, 1 to 1e12.
    angle : array_like
        Geodesic radius of the cap in radians, in [0, pi].

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
    sigma(C(phi)) = I_{sin^2 phi}(m/2, 1/2) / 2 for phi <= pi/2 and 1 - sigma(C(pi - phi)) beyond: in closed form for
    dim 1 and 2, by Gauss's continued fraction (DLMF 15.7.1), and by the power series of what is between the cap and the
    equator where ``cos(phi)^2 max(m, 12) <= 3``.

    Examples
    --------
    >>> import math
    >>> from spherapprox import special
    >>> round(math.exp(special.log_cap_measure(2, math.pi / 3)), 15)
    0.25
    >>> special.log_cap_measure([8, 1000], 0.1).round(6)
    array([  -20.419844, -2308.620383])
    """
    why = "angles are in radians, as numpy.radians(degrees)"
    return elementwise(beta.log_cap_measure, dims(dim), real(angle, "angle", minimum=0.0, maximum=math.pi, why=why))


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
    why = "it is the logarithm of a share of the sphere, as math.log(0.25)"
    return elementwise(beta.cap_angle, dims(dim), real(log_measure, "log_measure", maximum=0.0, why=why), work=INVERSE)


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
    return elementwise(beta.log_surface_area, dims(dim))
