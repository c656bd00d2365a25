"""The catalogue of targets: a real field and test functions, each with exact or proven constants."""

from __future__ import annotations

import functools
import importlib.resources
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, harmonics, special, sphere
from .target import Target

__all__ = ["bump", "distance", "geomagnetic_coefficients", "geomagnetic_field", "make", "names", "zonal_harmonic"]

Array = NDArray[np.float64]

_FIRST_YEAR, _LAST_YEAR, _PREDICTED_FROM = 1900.0, 2030.0, 2025.0
"""What IGRF-14 covers, and where its predictive part starts."""

_MAX_DEGREE = 10_000
"""Largest degree of a zonal harmonic: each value takes as many steps."""


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


def geomagnetic_coefficients(year: float = 2025.0) -> Array:
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


def distance(dim: int, *, pole: ArrayLike | None = None) -> Target:
    """Return the geodesic distance to a point: the extremal function of the convolution error.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    pole : array_like, shape (dim+1,), optional
        The point; by default the last axis.

    Returns
    -------
    Target
        Values in [0, pi].

    Notes
    -----
    *Constants.* L = 1, exact: the triangle inequality, with equality along great circles through the pole. F = pi,
    exact: the antipode.

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.distance(2)([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).round(6)
    array([0.      , 1.570796])
    """
    dim = _checks.dimension(dim, maximum=special.MAX_DIM)
    return Target(
        functools.partial(_distance, _pole(pole, dim)),
        dim,
        lipschitz=1.0,
        sup_norm=math.pi,
        name="distance",
        provenance="exact: triangle inequality",
    )


def zonal_harmonic(dim: int, degree: int = 4, *, pole: ArrayLike | None = None) -> Target:
    """Return a zonal harmonic, normalised to 1 at its pole: an eigenfunction of every zonal kernel.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    degree : int, default 4
        k, 0 to 10000.
    pole : array_like, shape (dim+1,), optional
        Where it is 1; by default the last axis.

    Returns
    -------
    Target
        ``P_k(<x, pole>)`` with the normalised Gegenbauer polynomial; on S^1 ``cos(k theta)``.

    Notes
    -----
    *Constants.* F = 1, exact. L is `special.gegenbauer_lipschitz`: the best constant, rounded upward by 4e-15 relative
    at most; exact for k <= 1 and on S^1.

    Examples
    --------
    >>> from spherapprox import targets
    >>> wave = targets.zonal_harmonic(2, 2)  # (3 cos(theta)^2 - 1) / 2
    >>> wave([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).round(6)
    array([ 1. , -0.5])
    >>> round(wave.lipschitz, 6)
    1.5
    """
    dim = _checks.dimension(dim, maximum=special.MAX_DIM)
    degree = _checks.integer(degree, "degree", minimum=0, maximum=_MAX_DEGREE)
    return Target(
        functools.partial(_zonal, degree, _pole(pole, dim)),
        dim,
        lipschitz=special.gegenbauer_lipschitz(degree, dim),
        sup_norm=1.0,
        name=f"zonal harmonic {degree}",
        provenance="sup norm exact; Lipschitz constant a proven upper bound within 4e-15",
    )


def bump(dim: int, concentration: float = 10.0, *, pole: ArrayLike | None = None) -> Target:
    """Return a smooth bump: a von Mises-Fisher kernel scaled to height 1.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    concentration : float, default 10.0
        kappa in [0, 1e300]; its width is about ``1/sqrt(kappa)``.
    pole : array_like, shape (dim+1,), optional
        Its top; by default the last axis.

    Returns
    -------
    Target
        ``exp(kappa (<x, pole> - 1))``, computed as ``exp(-kappa |x - pole|^2 / 2)``.

    Notes
    -----
    *Constants.* F = 1, exact. ``L = max_t kappa sin(t) exp(kappa (cos t - 1))`` is attained where
    ``cos t = c = 2 kappa/(1 + s)``, ``s = sqrt(1 + 4 kappa^2)`` (the root of ``kappa (1 - c^2) = c``), so with
    ``1 - c = (1 + 1/(s + 2 kappa))/(1 + s)`` nothing cancels: closed form, accurate to a few units in the last place.

    Examples
    --------
    >>> from spherapprox import targets
    >>> hill = targets.bump(3, concentration=2.0)
    >>> hill([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]).round(6)
    array([1.      , 0.135335])
    >>> round(hill.lipschitz, 6)
    0.806052
    """
    dim = _checks.dimension(dim, maximum=special.MAX_DIM)
    kappa = _checks.concentration(concentration, maximum=1e300)
    return Target(
        functools.partial(_bump, kappa, _pole(pole, dim)),
        dim,
        lipschitz=_steepest_bump(kappa),
        sup_norm=1.0,
        name=f"bump {kappa:g}",
        provenance="exact: closed form",
    )


_CATALOGUE: dict[str, Callable[..., Target]] = {
    "geomagnetic_field": geomagnetic_field,
    "distance": distance,
    "zonal_harmonic": zonal_harmonic,
    "bump": bump,
}
"""What `make` knows by name."""

_ONLY_DIM = {"geomagnetic_field": 2}
"""Targets that exist on one sphere."""


def names() -> tuple[str, ...]:
    """Return the names of the catalogue's targets, for `make`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.names()
    ('geomagnetic_field', 'distance', 'zonal_harmonic', 'bump')
    """
    return tuple(_CATALOGUE)


def make(name: str, *, dim: int | None = None, **options: Any) -> Target:
    """Return a target of the catalogue by its name.

    Parameters
    ----------
    name : str
        One of `names`.
    dim : int, optional
        m of the sphere S^m; by default 2.
    **options
        The target's own arguments, such as ``year``, ``degree``, ``concentration`` or ``pole``.

    Returns
    -------
    Target

    Raises
    ------
    ValueError
        If there is no such target, or not on this sphere.
    TypeError
        If the target does not take an option.

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.make("bump", dim=8, concentration=3).dim
    8
    """
    maker = _CATALOGUE[_checks.choice(name, "name", _CATALOGUE)]
    only = _ONLY_DIM.get(name)
    dim = _checks.dimension((only or 2) if dim is None else dim, maximum=special.MAX_DIM)
    if only is not None and dim != only:
        raise ValueError(f"'dim' must be {only} for target '{name}', got {dim}: leave it out")
    takes = [option for option in inspect.signature(maker).parameters if option != "dim"]
    for option in options:
        if option not in takes:
            raise TypeError(f"'{option}' is no option of target '{name}', which takes {', '.join(map(repr, takes))}")
    return maker(**options) if only is not None else maker(dim, **options)


def _sum_harmonics(coefficients: Array, x: NDArray[np.floating[Any]]) -> Array:
    return harmonics.synthesize(coefficients, x, normalization="schmidt")


def _distance(pole: Array, x: NDArray[np.floating[Any]]) -> Array:
    return sphere.distance(x, pole)


def _zonal(degree: int, pole: Array, x: NDArray[np.floating[Any]]) -> Array:
    return harmonics.zonal_harmonic(degree, x, pole)


def _bump(kappa: float, pole: Array, x: NDArray[np.floating[Any]]) -> Array:
    return np.asarray(np.exp(-0.5 * kappa * np.square(x - pole).sum(axis=1)))


def _pole(pole: ArrayLike | None, dim: int) -> Array:
    """Return the pole as a read-only row, by default the last axis."""
    if pole is None:
        _checks.memory(8.0 * (dim + 1), f"a point of S^m for 'dim' = {dim}", "choose a smaller 'dim'")
        row = np.zeros(dim + 1)
        row[-1] = 1.0
    else:
        row = _checks.one_row(pole, "pole", dim=dim).astype(np.float64)
    row.flags.writeable = False
    return row


def _year(year: float) -> float:
    """Check a year of IGRF-14, and warn in its predictive part."""
    year = _checks.real(
        year, "year", minimum=_FIRST_YEAR, maximum=_LAST_YEAR, why="IGRF-14 covers the years 1900 to 2030"
    )
    if year > _PREDICTED_FROM:
        message = (
            f"IGRF-14 predicts the field after {_PREDICTED_FROM:g} (year = {year:g}): a later generation will differ"
        )
        warnings.warn(message, UserWarning, stacklevel=_level_outside())
    return year


def _level_outside() -> int:
    """Return the `stacklevel` at which a warning of the calling function points at the line that called this module."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals is globals():
        frame, level = frame.f_back, level + 1
    return level


@functools.cache
def _igrf() -> tuple[Array, Array]:
    """Read IGRF-14: its epochs, and the coefficients in the order of `harmonics`, (columns, epochs)."""
    text = importlib.resources.files(__package__).joinpath("data", "IGRF14.shc").read_text(encoding="ascii")
    header, epochs, *lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    _, max_degree, n_epochs, spline_order = map(int, header[:4])
    table = np.zeros(((max_degree + 1) ** 2, n_epochs))
    for degree, order, *values in lines:
        table[harmonics.column(int(degree), int(order))] = [float(value) for value in values]
    if len(lines) != len(table) - 1 or len(epochs) != n_epochs or spline_order != 2:
        raise RuntimeError("data/IGRF14.shc is damaged: install spherapprox again")
    return np.array(epochs, dtype=np.float64), table


def _interpolate(year: float) -> Array:
    """Return the Gauss coefficients of a year, linear between the epochs (spline order 2)."""
    epochs, table = _igrf()
    left = min(int(np.searchsorted(epochs, year, side="right")) - 1, len(epochs) - 2)
    part = (year - epochs[left]) / (epochs[left + 1] - epochs[left])
    return np.asarray((1.0 - part) * table[:, left] + part * table[:, left + 1])


def _radial_coefficients(year: float) -> Array:
    """Return the coefficients of B_r at r = a, in microtesla, for Schmidt's harmonics."""
    degree = harmonics.degrees(math.isqrt(len(_igrf()[1])) - 1)
    return 1e-3 * (degree + 1.0) * _interpolate(year)


@functools.lru_cache(maxsize=256)
def _field_constants(year: float) -> harmonics.BandlimitedMaximum:
    """Return the proven constants of the field of a year."""
    return harmonics.bandlimited_maximum(_radial_coefficients(year), normalization="schmidt")


def _steepest_bump(kappa: float) -> float:
    """Return max_t kappa sin(t) exp(kappa (cos t - 1)); docstring of `bump`."""
    s = math.hypot(1.0, 2.0 * kappa)
    c = 2.0 * kappa / (1.0 + s)
    u = (1.0 + 1.0 / (s + 2.0 * kappa)) / (1.0 + s)  # 1 - c
    return kappa * math.sqrt(u) * math.sqrt(1.0 + c) * math.exp(-kappa * u)
