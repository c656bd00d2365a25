"""The Earth's main magnetic field: its radial component and its vector."""

from __future__ import annotations

import functools
import importlib.resources
import math

import numpy as np

from .. import _checks, harmonics
from .._types import Float64, Floats
from ..target import Target
from .maximum import FieldMaximum, field_maximum

_FIRST_YEAR, _LAST_YEAR, _PREDICTED_FROM = 1900.0, 2030.0, 2025.0
"""What IGRF-14 covers, and where its predictive part starts."""


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
    year = _year(year)
    found = _field_constants(year)
    return Target(
        functools.partial(_sum_harmonics, _radial_coefficients(year)),
        2,
        lipschitz=found.lipschitz,
        sup_norm=found.sup_norm,
        name=f"radial geomagnetic field {year:g}",
        unit="microtesla",
        provenance="proven upper bounds, at most 0.1 % above the suprema: harmonics.bandlimited_maximum",
    )


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
    year, local = _year(year), _checks.choice(frame, "frame", ("cartesian", "local")) == "local"
    found = _vector_constants(year)
    return Target(
        functools.partial(_sum_local if local else _sum_harmonics, _vector_coefficients(year)),
        2,
        lipschitz=None if local else found.lipschitz,
        sup_norm=found.sup_norm,
        n_outputs=3,
        name=f"{'local' if local else 'Cartesian'} geomagnetic vector {year:g}",
        unit="microtesla",
        provenance="proven upper bounds, at most 0.001 % above the suprema: targets.maximum"
        + (" (discontinuous at the poles)" if local else ""),
    )


def geomagnetic_coefficients(year: float = 2025.0) -> Float64:
    """Return IGRF-14's Gauss coefficients for a year.

    Parameters
    ----------
    year : float, default 2025.0
        Decimal year in [1900, 2030]; beyond 2025 the model predicts, and a `UserWarning` says so.

    Returns
    -------
    ndarray, shape (196,)
        In nanotesla, for Schmidt's semi-normalised harmonics to degree 13 in the order of `harmonics`: entry
        ``n*n + n + m`` is g_n^m, entry ``n*n + n - m`` is h_n^m. Entry 0 is 0.

    Raises
    ------
    ValueError
        If `year` is outside [1900, 2030].

    Examples
    --------
    >>> from spherapprox import harmonics, targets
    >>> float(targets.geomagnetic_coefficients(2025)[harmonics.column(1, 0)])
    -29350.0
    """
    return _interpolate(_year(year))


def _sum_harmonics(coefficients: Float64, x: Floats) -> Float64:
    return harmonics.synthesize(coefficients, x, normalization="schmidt")


def _sum_local(coefficients: Float64, x: Floats) -> Float64:
    """Return north, east and down components of the field with these Cartesian ones."""
    field = _sum_harmonics(coefficients, x)
    x = x.astype(np.float64)
    s = np.hypot(x[:, 0], x[:, 1])
    cos, sin = np.ones(len(x)), np.zeros(len(x))  # of the longitude, 0 at the poles
    np.divide(x[:, 0], s, out=cos, where=s > 0.0)
    np.divide(x[:, 1], s, out=sin, where=s > 0.0)
    outward = cos * field[:, 0] + sin * field[:, 1]  # from the axis
    north = s * field[:, 2] - x[:, 2] * outward
    down = -(s * outward + x[:, 2] * field[:, 2])
    return np.stack([north, cos * field[:, 1] - sin * field[:, 0], down], axis=1)


def _year(year: float) -> float:
    """Check a year of IGRF-14, and warn in its predictive part."""
    year = _checks.real(
        year, "year", minimum=_FIRST_YEAR, maximum=_LAST_YEAR, why="IGRF-14 covers the years 1900 to 2030"
    )
    if year > _PREDICTED_FROM:
        message = (
            f"IGRF-14 predicts the field after {_PREDICTED_FROM:g} (year = {year:g}): a later generation will differ"
        )
        _checks.warn(message, UserWarning)
    return year


@functools.cache
def _igrf() -> tuple[Float64, Float64]:
    """Read IGRF-14: its epochs, and the coefficients in the order of `harmonics`, (columns, epochs)."""
    text = importlib.resources.files("spherapprox").joinpath("data", "IGRF14.shc").read_text(encoding="ascii")
    header, epochs, *lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    _, max_degree, n_epochs, spline_order = map(int, header[:4])
    table = np.zeros(((max_degree + 1) ** 2, n_epochs))
    for degree, order, *values in lines:
        table[harmonics.column(int(degree), int(order))] = [float(value) for value in values]
    if len(lines) != len(table) - 1 or len(epochs) != n_epochs or spline_order != 2:
        raise RuntimeError("data/IGRF14.shc is damaged: install spherapprox again")
    return np.array(epochs, dtype=np.float64), table


def _interpolate(year: float) -> Float64:
    """Return the Gauss coefficients of a year, linear between the epochs (spline order 2)."""
    epochs, table = _igrf()
    left = min(int(np.searchsorted(epochs, year, side="right")) - 1, len(epochs) - 2)
    part = (year - epochs[left]) / (epochs[left + 1] - epochs[left])
    return np.asarray((1.0 - part) * table[:, left] + part * table[:, left + 1])


def _radial_coefficients(year: float) -> Float64:
    """Return the coefficients of B_r at r = a, in microtesla, for Schmidt's harmonics."""
    degree = harmonics.degrees(math.isqrt(len(_igrf()[1])) - 1)
    return 1e-3 * (degree + 1.0) * _interpolate(year)


@functools.lru_cache(maxsize=256)
def _field_constants(year: float) -> harmonics.BandlimitedMaximum:
    """Return the proven constants of the field of a year."""
    return harmonics.bandlimited_maximum(_radial_coefficients(year), normalization="schmidt")


@functools.lru_cache(maxsize=256)
def _vector_coefficients(year: float) -> Float64:
    """Return the coefficients of the Cartesian components at r = a, in microtesla, (225, 3)."""
    potential, radial = 1e-3 * _interpolate(year), _radial_coefficients(year)

    def field(x: Float64) -> Float64:
        return _sum_harmonics(radial, x)[:, None] * x - harmonics.gradient(potential, x, normalization="schmidt")

    found = harmonics.project(field, math.isqrt(len(radial)), normalization="schmidt")  # one degree more
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=256)
def _vector_constants(year: float) -> FieldMaximum:
    """Return the proven constants of the field vector of a year."""
    return field_maximum(_vector_coefficients(year), normalization="schmidt")
