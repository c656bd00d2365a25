"""The vector of the Earth's main magnetic field."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import _checks, harmonics
from .._types import Float64, Floats
from ..target import DERIVED, Target
from .geomagnetic import check_year, gauss_coefficients, radial_coefficients, sum_harmonics
from .maximum import FieldMaximum, field_maximum


def geomagnetic_vector(year: float = 2025.0, *, frame: str = "cartesian") -> Target:
    """Return the vector of the Earth's main magnetic field at the reference radius 6371.2 km.

    Parameters
    ----------
    year : float, default 2025.0
        Decimal year in [1900, 2030]; beyond 2025 the model predicts, and a `UserWarning` says so.
    frame : {"cartesian", "local"}
        What the three components refer to. "cartesian": the geocentric axes, as the points do (longitude 0 on the
        equator, longitude 90 on the equator, north pole); they are smooth on the whole sphere. "local": north, east and
        down at the point, the X, Y and Z of geomagnetism for geocentric latitude; every such frame jumps somewhere,
        this one at the poles, where north and east are those of longitude 0.

    Returns
    -------
    Target
        On S^2, with 3 outputs in microtesla, accurate to about 1e-13 microtesla.

    Raises
    ------
    ValueError
        If `year` is outside [1900, 2030], or the frame is unknown.

    Warns
    -----
    UserWarning
        If `year` is above 2025.

    See Also
    --------
    geomagnetic_field : the radial component, ``-Z``.

    Notes
    -----
    ``B = -grad V`` with ``V = a sum_(n<=13) (a/r)^(n+1) sum_m (g_n^m cos m phi + h_n^m sin m phi) P_n^m(cos theta)``
    and IGRF-14's Gauss coefficients [1]_. The derivatives of ``r^-(n+1) Y_n`` along fixed axes are ``r^-(n+2)`` times
    harmonics of degree n + 1, so the Cartesian components are spherical polynomials of degree 14 at r = a.

    *Constants.* Proven upper bounds of ``sup |B|`` and of ``sup ||DB||`` (operator norm, microtesla per radian), at
    most 0.001 % above the true ones: `targets.maximum.field_maximum`. The second is the best Lipschitz constant for the
    geodesic distance and the Euclidean norm of the Cartesian components; the local ones have none, because they are
    discontinuous at the poles.

    References
    ----------
    .. [1] International Association of Geomagnetism and Aeronomy (2024), IGRF-14, https://doi.org/10.5281/zenodo.14012302

    Examples
    --------
    >>> from spherapprox import sphere, targets
    >>> london = sphere.from_latitude_longitude([51.5], [-0.1])
    >>> targets.geomagnetic_vector(2025, frame="local")(london).round(1)  # north, east, down
    array([[19.3,  0.3, 45. ]])
    >>> field = targets.geomagnetic_vector(2025)
    >>> round(field.sup_norm, 1), round(field.lipschitz, 1)
    (66.6, 146.8)
    """
    year, local = check_year(year), _checks.choice(frame, "frame", ("cartesian", "local")) == "local"
    coefficients, constants = _vector_coefficients(year), _vector_constants(year)
    provenance = "proven upper bounds, at most 0.001 % above the suprema: targets.maximum"
    if local:
        options: dict[str, Any] = {"provenance": f"{provenance} (discontinuous at the poles)"}
    else:
        degree = math.isqrt(len(coefficients)) - 1
        options = {"provenance": provenance, "lipschitz": constants.lipschitz, "degree": degree}
    return Target(
        functools.partial(_sum_local if local else sum_harmonics, coefficients), 2, sup_norm=constants.sup_norm,
        n_outputs=3, name=f"{'local' if local else 'Cartesian'} geomagnetic vector {year:g}", unit="microtesla",
        origins=DERIVED, **options,
    )  # fmt: skip


def _sum_local(coefficients: Float64, x: Floats) -> Float64:
    """Evaluate the north, east and down components of the field with these Cartesian coefficients, (n, 3)."""
    field = sum_harmonics(coefficients, x)  # (n, 3)
    x = x.astype(np.float64)
    s = np.hypot(x[:, 0], x[:, 1])
    cos, sin = np.ones(len(x)), np.zeros(len(x))  # of the longitude, 0 at the poles
    np.divide(x[:, 0], s, out=cos, where=s > 0.0)
    np.divide(x[:, 1], s, out=sin, where=s > 0.0)
    outward = cos * field[:, 0] + sin * field[:, 1]  # from the axis
    north = s * field[:, 2] - x[:, 2] * outward
    down = -(s * outward + x[:, 2] * field[:, 2])
    return np.stack([north, cos * field[:, 1] - sin * field[:, 0], down], axis=1)


@functools.lru_cache(maxsize=256)
def _vector_coefficients(year: float) -> Float64:
    """Return the coefficients of the Cartesian components at r = a, in microtesla, (225, 3)."""
    potential, radial = 1e-3 * gauss_coefficients(year), radial_coefficients(year)

    def field(x: Float64) -> Float64:
        return sum_harmonics(radial, x)[:, None] * x - harmonics.gradient(potential, x, normalization="schmidt")

    table = harmonics.project(field, math.isqrt(len(radial)), normalization="schmidt")  # one degree more
    table.flags.writeable = False
    return table


@functools.lru_cache(maxsize=256)
def _vector_constants(year: float) -> FieldMaximum:
    """Return the proven constants of the field vector of a year."""
    return field_maximum(_vector_coefficients(year), normalization="schmidt")
