"""The radial component of the Earth's main magnetic field."""

from __future__ import annotations

import functools

from .. import harmonics
from ..target import Target
from .entry import DERIVED, Entry
from .igrf import check_year, radial_coefficients, sum_harmonics

__all__ = ["geomagnetic_field"]


def geomagnetic_field(year: float = 2025.0) -> Target:
    """Return the radial component of the Earth's main magnetic field at the reference radius 6371.2 km.

    Parameters
    ----------
    year : float, default 2025.0
        Decimal year in [1900, 2030]; beyond 2025 the model predicts, and a `UserWarning` says so.

    Returns
    -------
    Target
        On S^2, in microtesla, positive outward (the conventional downward component Z is its negative). Points are
        geocentric: the last axis is the north pole, the first has longitude 0
        (`sphere.from_latitude_longitude` makes them). Values are accurate to about 1e-13 microtesla.

    Raises
    ------
    ValueError
        If `year` is outside [1900, 2030].

    Warns
    -----
    UserWarning
        If `year` is above 2025.

    Notes
    -----
    ``B_r = sum_(n<=13) (n+1) (a/r)^(n+2) sum_m (g_n^m cos m phi + h_n^m sin m phi) P_n^m(cos theta)`` with r = a and
    IGRF-14's Gauss coefficients [1]_, which are piecewise linear in time between the epochs.

    *Constants.* Proven upper bounds of ``sup |B_r|`` and of ``sup |grad B_r|`` (microtesla per radian), at most 0.1 %
    above the true ones: B_r is a spherical polynomial of degree 13, see `harmonics.bandlimited_maximum`. The gradient's
    supremum is the best Lipschitz constant for the geodesic distance.

    References
    ----------
    .. [1] International Association of Geomagnetism and Aeronomy (2024), IGRF-14, https://doi.org/10.5281/zenodo.14012302

    Examples
    --------
    >>> from spherapprox import sphere, targets
    >>> field = targets.geomagnetic_field(2025)
    >>> field(sphere.from_latitude_longitude([90, 0, -90], [0, 0, 0])).round(2)
    array([-56.51,  16.09,  51.35])
    >>> round(field.sup_norm, 1), round(field.lipschitz, 1)
    (66.6, 104.9)
    """
    year = check_year(year)
    constants = _field_constants(year)
    return Target(
        functools.partial(sum_harmonics, radial_coefficients(year)),
        2,
        lipschitz=constants.lipschitz,
        sup_norm=constants.sup_norm,
        degree=constants.degree,
        name=f"radial geomagnetic field {year:g}",
        unit="microtesla",
        provenance="proven upper bounds, at most 0.1 % above the suprema: harmonics.bandlimited_maximum",
        origins=DERIVED,
    )


@functools.lru_cache(maxsize=256)
def _field_constants(year: float) -> harmonics.BandlimitedMaximum:
    """Return the proven constants of the field of a year."""
    return harmonics.bandlimited_maximum(radial_coefficients(year), normalization="schmidt")


CATALOGUE = (Entry(geomagnetic_field),)
