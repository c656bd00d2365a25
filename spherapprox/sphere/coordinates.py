"""Points of S^2 by latitude and longitude, of S^m by hyperspherical angles and by their stereographic projection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64


def from_latitude_longitude(latitude: ArrayLike, longitude: ArrayLike, *, degrees: bool = True) -> Float64:
    """Return the points of S^2 at the given latitudes and longitudes.

    Parameters
    ----------
    latitude : array_like
        Angle above the equator, in [-90, 90] degrees; the north pole is the last axis.
    longitude : array_like
        Angle from the first axis towards the second, any finite value; it broadcasts with `latitude`.
    degrees : bool, default True
        False for radians.

    Returns
    -------
    ndarray, shape (n, 3)
        One row for each pair (in general the broadcast shape and a last axis of 3). In degrees the poles and the
        axes are exact.

    Raises
    ------
    TypeError, ValueError
        If an angle is no number or out of its range, the shapes do not broadcast, or `degrees` is no bool.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_latitude_longitude([90, 0, 0], [0, 0, 90])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    why = "the latitude comes first; of a colatitude c it is 90 - c"
    return lift({"latitude": latitude, "longitude": longitude}, degrees, why)


def lift(angles: dict[str, ArrayLike], degrees: bool, why: str) -> Float64:
    """Return points from an elevation in [-90, 90] degrees, whose remedy is `why`, and an azimuth, by their names."""
    radius, height, first, second = resolve(angles, degrees, why)
    # adding 0.0 turns the -0.0 of exact degree arithmetic into 0.0
    return np.stack([radius * first, radius * second, height], axis=-1) + 0.0  # (..., 3)


def resolve(angles: dict[str, ArrayLike], degrees: bool, why: str, least: float = -90.0) -> tuple[Float64, ...]:
    """Return cosines and sines of an elevation in [least, 90] degrees, and of an azimuth, in their broadcast shape."""
    degrees = _checks.flag(degrees, "degrees")
    unit = 1.0 if degrees else np.pi / 180.0
    (name, first), (other, second) = angles.items()
    why = why if degrees else "degrees=True takes degrees"
    up = _checks.reals(first, name, minimum=least * unit, maximum=90.0 * unit, finite=True, nan=False, why=why)
    around = _checks.reals(second, other, finite=True, nan=False)
    _checks.broadcast_shape(f"{name}[:, None] and {other} give a grid", **{name: up.shape, other: around.shape})
    cos, sin = np.cos, np.sin
    if degrees:
        from scipy.special import cosdg, sindg  # SciPy takes longer than what many a process does

        cos, sin = cosdg, sindg
        around = np.fmod(around, 360.0)  # exact; beyond 1.1e14 SciPy's functions return 0
    return np.broadcast_arrays(cos(up), sin(up), cos(around), sin(around))


def to_latitude_longitude(x: ArrayLike, *, degrees: bool = True) -> tuple[Any, Any]:
    """Return latitude and longitude of points of S^2.

    Parameters
    ----------
    x : array_like, shape (n, 3) or (3,)
        Points of unit length, or one; the north pole is the last axis, longitude 0 the first.
    degrees : bool, default True
        False for radians.

    Returns
    -------
    latitude, longitude : ndarray, shape (n,), or floats
        In [-90, 90] and (-180, 180] degrees; the longitude of a pole is 0 or 180.

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of S^2, or `degrees` is neither True nor False.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_latitude_longitude([[0.0, -1.0, 0.0], [0.6, 0.0, 0.8]])
    (array([ 0.        , 53.13010235]), array([-90.,   0.]))
    """
    rows, single = points_of_s2(x)
    north, east = elevations(rows, degrees=degrees)
    return (float(north[0]), float(east[0])) if single else (north, east)


def points_of_s2(x: ArrayLike) -> tuple[Float64, bool]:
    """Return points of S^2 as rows, and whether it was a single one."""
    array = _checks.numeric(x, "x")
    if array.shape[-1:] == (2,):
        row = "x[None, :]" if array.ndim == 1 else "x"
        remedy = f"points of the circle have one angle, sphere.to_polar({row}, degrees=True)"
        _checks.shaped(array, "x", ("n", 3), (3,), remedy=remedy)
    rows = _checks.rows(array[None] if array.shape == (3,) else array, dim=2)
    return rows.astype(np.float64), array.ndim == 1


def elevations(rows: Float64, degrees: bool) -> tuple[Float64, Float64]:
    """Return angles above the plane of the first two axes, and from the first axis towards the second."""
    degrees = _checks.flag(degrees, "degrees")
    up = np.arctan2(rows[:, 2], np.hypot(rows[:, 0], rows[:, 1]))
    around = np.arctan2(rows[:, 1], rows[:, 0])
    around[around == -np.pi] = np.pi
    return (np.degrees(up), np.degrees(around)) if degrees else (up, around)


def to_polar(x: ArrayLike, *, degrees: bool = False) -> Float64:
    """Return the hyperspherical angles of points of S^m.

    Parameters
    ----------
    x : array_like, shape (n, dim+1)
        Points of unit length.
    degrees : bool, default False
        Return degrees and not radians.

    Returns
    -------
    ndarray, shape (n, dim)
        Column 0 is the colatitude from the last axis, column 1 the colatitude from the last axis but one inside the
        orthogonal sphere S^(m-1), and so on, in [0, pi]; the last column is the azimuth in the plane of the first two
        axes, in [0, 2 pi). Angles that a pole leaves open are 0 or pi.

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of a sphere, or `degrees` is neither True nor False.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_polar([[0.0, -1.0, 0.0]]).round(4)
    array([[1.5708, 4.7124]])
    """
    degrees = _checks.flag(degrees, "degrees")
    rows = _checks.rows(x).astype(np.float64)
    lengths = np.hypot.accumulate(rows[:, :-1], axis=1)  # (n, dim), of the first 1, ..., dim coordinates
    colatitudes = np.arctan2(np.abs(lengths[:, :0:-1]), rows[:, :1:-1])  # (n, dim-1)
    azimuth = np.arctan2(rows[:, 1], rows[:, 0])
    azimuth[azimuth < 0.0] += 2.0 * np.pi
    azimuth[azimuth >= 2.0 * np.pi] = 0.0  # a tiny negative angle rounds up to a full turn
    angles = np.column_stack([colatitudes, azimuth + 0.0])  # (n, dim)
    return np.degrees(angles) if degrees else angles


def from_polar(angles: ArrayLike, *, degrees: bool = False) -> Float64:
    """Return the points of S^m with the given hyperspherical angles, the inverse of `to_polar`.

    Parameters
    ----------
    angles : array_like, shape (n, dim)
        Colatitudes from the last axis downwards, then the azimuth, alone on the circle; any finite values.
    degrees : bool, default False
        Take degrees and not radians.

    Returns
    -------
    ndarray, shape (n, dim+1)

    Raises
    ------
    TypeError, ValueError
        If the angles are no finite numbers, or not of that shape, or `degrees` is neither True nor False.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import sphere
    >>> sphere.from_polar([[np.pi / 3, np.pi / 2]]).round(6)
    array([[0.      , 0.866025, 0.5     ]])
    """
    degrees = _checks.flag(degrees, "degrees")
    remedy = "angles of the circle are angles[:, None], and those of one point angles[None, :]"
    array = _checks.floating(angles, "angles", ("n", "dim"), remedy=remedy).astype(np.float64)
    if degrees:
        array = np.radians(array)
    n, dim = array.shape
    x = np.empty((n, dim + 1))
    radius = np.ones(n)  # the product of the sines so far
    for j in range(dim - 1):
        x[:, dim - j] = radius * np.cos(array[:, j])
        radius *= np.sin(array[:, j])
    x[:, 0] = radius * np.cos(array[:, -1])
    x[:, 1] = radius * np.sin(array[:, -1])
    return x


def stereographic(x: ArrayLike) -> Float64:
    """Project points of S^m from the north pole (the last axis) to the plane through the equator.

    Parameters
    ----------
    x : array_like, shape (n, dim+1)
        Points of unit length, none of them the north pole.

    Returns
    -------
    ndarray, shape (n, dim)
        ``x[:, :-1] / (1 - x[:, -1])``, accurate to a few units in the last place also near the pole.

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of a sphere, or one is the north pole, whose image is infinite.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.stereographic([[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]]).round(12)
    array([[3., 0.],
           [0., 0.]])
    """
    rows = _checks.rows(x).astype(np.float64)
    plane, height = rows[:, :-1], rows[:, -1:]  # (n, dim), (n, 1)
    radius = np.abs(np.hypot.reduce(plane, axis=1, keepdims=True))
    north = height > 0.0
    pole = north & (radius < 4.0 * np.finfo(np.float64).tiny)
    if pole.any():
        raise ValueError(
            f"'x' must not hold the north pole, whose image is infinite, got it in row {int(np.argmax(pole))}: "
            "drop the row or rotate the points"
        )
    safe = np.where(north, radius, 1.0)
    # 1 - height = radius^2 / (1 + height) holds no cancellation
    return np.where(north, plane / safe * ((1.0 + height) / safe), plane / (1.0 - np.minimum(height, 0.0)))


def inverse_stereographic(y: ArrayLike) -> Float64:
    """Lift points of the plane to S^m, the inverse of `stereographic`.

    Parameters
    ----------
    y : array_like, shape (n, dim)
        Points of R^dim, any finite values.

    Returns
    -------
    ndarray, shape (n, dim+1)

    Raises
    ------
    TypeError, ValueError
        If the points are no finite numbers, or not of that shape.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.inverse_stereographic([[3.0, 0.0]])
    array([[0.6, 0. , 0.8]])
    """
    array = _checks.floating(y, "y", ("n", "dim"), remedy="one point is y[None, :]").astype(np.float64)
    radius = np.abs(np.hypot.reduce(array, axis=1, keepdims=True))  # (n, 1)
    far = radius > 1.0
    shrink = np.where(far, radius, 1.0)
    small = np.where(far, 1.0 / shrink, radius)  # 1/r beyond the equator, so that nothing overflows
    scale = 1.0 + small * small
    height = (1.0 - small) * (1.0 + small) / scale
    return np.hstack([array / shrink * np.where(far, 2.0 * small, 2.0) / scale, np.where(far, height, -height)])
