"""IGRF-14, the model of the Earth's main magnetic field: Gauss coefficients by year, and the radial component."""

from __future__ import annotations

import functools
import importlib.resources
import math

import numpy as np

from .. import _checks, harmonics
from .._types import Float64, Floats
from ..target import DERIVED, Target

_FIRST_YEAR, _LAST_YEAR, _PREDICTED_FROM = 1900.0, 2030.0, 2025.0
"""The years that IGRF-14 covers, and the start of its predictive part."""


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
        functools.partial(sum_harmonics, radial_coefficients(year)), 2, lipschitz=constants.lipschitz,
        sup_norm=constants.sup_norm, degree=constants.degree, name=f"radial geomagnetic field {year:g}",
        unit="microtesla", origins=DERIVED,
        provenance="proven upper bounds, at most 0.1 % above the suprema: bandlimited_maximum",
    )  # fmt: skip


@functools.lru_cache(maxsize=256)
def _field_constants(year: float) -> harmonics.BandlimitedMaximum:
    """Return the proven constants of the field of a year."""
    return harmonics.bandlimited_maximum(radial_coefficients(year), normalization="schmidt")


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
    return gauss_coefficients(check_year(year))


def check_year(year: float) -> float:
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


def gauss_coefficients(year: float) -> Float64:
    """Return the Gauss coefficients of a year, linear between the epochs (spline order 2)."""
    epochs, table = _igrf()
    i = min(int(np.searchsorted(epochs, year, side="right")) - 1, len(epochs) - 2)
    part = (year - epochs[i]) / (epochs[i + 1] - epochs[i])
    return np.asarray((1.0 - part) * table[:, i] + part * table[:, i + 1])


def radial_coefficients(year: float) -> Float64:
    """Return the coefficients of B_r at r = a, in microtesla, for Schmidt's harmonics."""
    degree = harmonics.degrees(math.isqrt(len(_igrf()[1])) - 1)
    return 1e-3 * (degree + 1.0) * gauss_coefficients(year)


def sum_harmonics(coefficients: Float64, x: Floats) -> Float64:
    """Evaluate the sum of Schmidt's harmonics with these coefficients."""
    return harmonics.synthesize(coefficients, x, normalization="schmidt")


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
