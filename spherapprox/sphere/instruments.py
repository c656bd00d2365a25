"""Points of S^2 by the angles that compass, clinometer and telescope give.

In the field the axes are north, east and down, a right-handed system: declination and inclination, azimuth and plunge,
strike and dip mix freely, and lines and poles that point down have a positive last coordinate. In the sky the first
axis is the vernal equinox and the last one the north celestial pole.

They are the same throughout: `degrees`, True by default for degrees and False for radians, and `x`, points of unit
length, shape (n, 3), or one, shape (3,). The first angle is any finite one, and angles broadcast. Points are returned
in their shape and a last axis of 3, angles in arrays (n,), or floats of one point. Error names: ValueError and
TypeError for angles that are no finite numbers or out of range, shapes that do not broadcast, rows that are no points
of S^2, and a `degrees` that is no bool.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import Float64
from .coordinates import elevations, lift, points_of_s2, resolve


def from_declination_inclination(declination: ArrayLike, inclination: ArrayLike, *, degrees: bool = True) -> Float64:
    """Return the directions (north, east, down) of a magnetisation or a magnetic field.

    Parameters
    ----------
    declination, inclination : array_like
        Angle from north towards east, and angle below the horizontal, in [-90, 90] degrees: positive in the north.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_declination_inclination([90, 0], [0, 90])
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return lift({"inclination": inclination, "declination": declination}, degrees, "the declination comes first")


def to_declination_inclination(x: ArrayLike, *, degrees: bool = True) -> tuple[Any, Any]:
    """Return declinations in [0, 360) and inclinations in [-90, 90] degrees of directions (north, east, down).

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_declination_inclination([[0.0, -0.6, -0.8]])
    (array([270.]), array([-53.13010235]))
    """
    return _angles(*points_of_s2(x), degrees)


def from_azimuth_plunge(azimuth: ArrayLike, plunge: ArrayLike, *, degrees: bool = True) -> Float64:
    """Return the directions (north, east, down) of lines by azimuth (trend) and plunge.

    Parameters
    ----------
    azimuth, plunge : array_like
        Angle from north towards east of the end that plunges, and its angle below the horizontal, in [-90, 90] degrees;
        negative plunges point up.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_azimuth_plunge(180, 60).round(6)
    array([-0.5     ,  0.      ,  0.866025])
    """
    return lift({"plunge": plunge, "azimuth": azimuth}, degrees, "the azimuth comes first")


def to_azimuth_plunge(x: ArrayLike, *, degrees: bool = True) -> tuple[Any, Any]:
    """Return azimuths in [0, 360) and plunges in [0, 90] degrees of lines, of which x and -x are the same.

    Of a horizontal line the azimuth is that of the end given.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_azimuth_plunge([[-0.6, 0.0, 0.8], [0.6, 0.0, -0.8]])
    (array([180., 180.]), array([53.13010235, 53.13010235]))
    """
    rows, single = points_of_s2(x)
    return _angles(_downward(rows), single, degrees)


def from_strike_dip(strike: ArrayLike, dip: ArrayLike, *, degrees: bool = True) -> Float64:
    """Return the poles (north, east, down) of planes, the normals that point down.

    Parameters
    ----------
    strike, dip : array_like
        Angle from north towards east of the horizontal line, and angle of the plane below the horizontal, in [0, 90]
        degrees. By the right-hand rule the plane falls to the right: the dip's azimuth is strike + 90.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_strike_dip([0, 90], [90, 90])  # vertical planes along north and along east
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.]])
    """
    why = "the strike comes first, and a plane falls to its right"
    down, across, north, east = resolve({"dip": dip, "strike": strike}, degrees, why, least=0.0)
    return np.stack([across * east, -across * north, down], axis=-1) + 0.0


def to_strike_dip(x: ArrayLike, *, degrees: bool = True) -> tuple[Any, Any]:
    """Return strikes in [0, 360) and dips in [0, 90] degrees of planes by their poles, of which x and -x are the same.

    The right-hand rule gives the strike; that of a vertical plane is 90 more than the azimuth of the pole as given.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_strike_dip([[0.0, -0.6, 0.8], [0.0, -0.6, -0.8]])
    (array([  0., 180.]), array([36.86989765, 36.86989765]))
    """
    rows, single = points_of_s2(x)
    north, east, down = _downward(rows).T
    strikes, _ = _angles(np.stack([-east, north, down], axis=1), False, degrees)
    dips = np.arctan2(np.hypot(north, east), down)
    dips = np.degrees(dips) if degrees else dips
    return (float(strikes[0]), float(dips[0])) if single else (strikes, dips)


def from_right_ascension_declination(
    right_ascension: ArrayLike, declination: ArrayLike, *, degrees: bool = True
) -> Float64:
    """Return the points of the sky at the given right ascensions and declinations.

    Parameters
    ----------
    right_ascension, declination : array_like
        Angle along the celestial equator from the vernal equinox towards east, 15 degrees to an hour, and angle above
        the celestial equator, in [-90, 90] degrees.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_right_ascension_declination(15 * 6, 0)
    array([0., 1., 0.])
    """
    why = "the right ascension comes first"
    return lift({"declination": declination, "right_ascension": right_ascension}, degrees, why)


def to_right_ascension_declination(x: ArrayLike, *, degrees: bool = True) -> tuple[Any, Any]:
    """Return right ascensions in [0, 360) and declinations in [-90, 90] degrees of points of the sky.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_right_ascension_declination([0.0, -1.0, 0.0])
    (270.0, 0.0)
    """
    return _angles(*points_of_s2(x), degrees)


def _angles(rows: Float64, single: bool, degrees: bool) -> tuple[Any, Any]:
    """Return angles from the first axis towards the second, in [0, 360), and above or below their plane."""
    up, around = elevations(rows + 0.0, degrees)
    turn = 360.0 if degrees else 2.0 * np.pi
    around[around < 0.0] += turn
    around[around >= turn] = 0.0  # a tiny negative angle rounds up to a full turn
    return (float(around[0]), float(up[0])) if single else (around, up)


def _downward(rows: Float64) -> Float64:
    """Return the ends of axes that point down."""
    return np.where(rows[:, 2:] < 0.0, -rows, rows)
