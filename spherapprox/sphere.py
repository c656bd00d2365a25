"""The sphere S^m as rows of R^(m+1): geodesic distance, coordinates, the stereographic map and uniform samples.

Every function returns float64. The pole is the last axis, as everywhere in the package.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import cosdg, sindg

from . import _checks
from ._types import Float64

__all__ = [
    "distance",
    "from_latitude_longitude",
    "from_polar",
    "inverse_stereographic",
    "stereographic",
    "to_latitude_longitude",
    "to_polar",
    "uniform",
]


MAX_POINTS = 2**53
"""Largest number of points and largest dimension that are tried against memory: the products are floats."""


def distance(x: ArrayLike, y: ArrayLike) -> Float64:
    """Return the geodesic distance between points of S^m.

    Parameters
    ----------
    x, y : array_like, shape (..., dim+1)
        Points of unit length; the leading axes broadcast, so ``distance(x[:, None], y)`` is the full table.

    Returns
    -------
    ndarray, shape of the broadcast leading axes
        Angles in [0, pi].

    Raises
    ------
    ValueError
        If the rows are not of unit length, or the shapes do not fit.

    Notes
    -----
    This is the angle between the directions of the rows: with ``d = |x| - |y|``,
    ``2 atan2(sqrt(|x-y|^2 - d^2), sqrt(|x+y|^2 - d^2))`` [1]_. It is accurate to a few units in the last place from
    coinciding to antipodal points, where ``arccos <x, y>`` loses eight digits, and rounded lengths do not enter it.
    No array larger than the result is made.

    References
    ----------
    .. [1] W. Kahan, "How Futile are Mindless Assessments of Roundoff in Floating-Point Computation?", 2006, section 12.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import sphere
    >>> sphere.distance([1.0, 0.0, 0.0], [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).round(6)
    array([1.570796, 3.141593])
    >>> float(sphere.distance([1.0, 0.0], [1.0, 1e-12]))
    1e-12
    """
    a, b = _unit(x, "x"), _unit(y, "y")
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"'x' and 'y' must have the same last axis dim+1, got shapes {a.shape} and {b.shape}")
    try:
        shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise ValueError(
            f"'x' and 'y' must broadcast over their leading axes, got shapes {a.shape} and {b.shape}: "
            "x[:, None] and y give the table of all pairs"
        ) from None
    _checks.memory(5 * 8 * float(np.prod(shape, dtype=float)), "the table of distances", "pass fewer rows at a time")
    minus, plus, cross = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for j in range(a.shape[-1]):
        difference, total = a[..., j] - b[..., j], a[..., j] + b[..., j]
        cross += difference * total
        minus += difference * difference
        plus += total * total
    cross /= np.sqrt(np.square(a).sum(-1)) + np.sqrt(np.square(b).sum(-1))
    cross *= cross
    minus, plus = np.maximum(minus - cross, 0.0), np.maximum(plus - cross, 0.0)
    return np.asarray(2.0 * np.arctan2(np.sqrt(minus), np.sqrt(plus)))


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
    ValueError
        If a latitude is out of range or the shapes do not broadcast.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.from_latitude_longitude([90, 0, 0], [0, 0, 90])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    degrees = _checks.flag(degrees, "degrees")
    top = 90.0 if degrees else np.pi / 2
    north = _checks.reals(latitude, "latitude", minimum=-top, maximum=top, finite=True, nan=False)
    east = _checks.reals(longitude, "longitude", finite=True, nan=False)
    try:
        north, east = np.broadcast_arrays(north, east)
    except ValueError:
        raise ValueError(
            f"'latitude' and 'longitude' must broadcast, got shapes {north.shape} and {east.shape}: "
            "latitude[:, None] and longitude give a grid"
        ) from None
    if degrees:
        east = np.fmod(east, 360.0)  # exact; beyond 1.1e14 SciPy's functions return 0
    cos, sin = (cosdg, sindg) if degrees else (np.cos, np.sin)
    radius = cos(north)
    # adding 0.0 turns the -0.0 of exact degree arithmetic into 0.0
    return np.stack([radius * cos(east), radius * sin(east), sin(north)], axis=-1) + 0.0


def to_latitude_longitude(x: ArrayLike, *, degrees: bool = True) -> tuple[Float64, Float64]:
    """Return latitude and longitude of points of S^2.

    Parameters
    ----------
    x : array_like, shape (n, 3)
        Points of unit length; the north pole is the last axis, longitude 0 the first.
    degrees : bool, default True
        False for radians.

    Returns
    -------
    latitude, longitude : ndarray, shape (n,)
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
    degrees = _checks.flag(degrees, "degrees")
    rows = _checks.rows(x, dim=2).astype(np.float64)
    north = np.arctan2(rows[:, 2], np.hypot(rows[:, 0], rows[:, 1]))
    east = np.arctan2(rows[:, 1], rows[:, 0])
    east[east == -np.pi] = np.pi
    return (np.degrees(north), np.degrees(east)) if degrees else (north, east)


def to_polar(x: ArrayLike) -> Float64:
    """Return the hyperspherical angles of points of S^m.

    Parameters
    ----------
    x : array_like, shape (n, dim+1)
        Points of unit length.

    Returns
    -------
    ndarray, shape (n, dim)
        Column 0 is the colatitude from the last axis, column 1 the colatitude from the last axis but one inside the
        orthogonal sphere S^(m-1), and so on, in [0, pi]; the last column is the azimuth in the plane of the first two
        axes, in [0, 2 pi). Angles that a pole leaves open are 0 or pi.

    Raises
    ------
    TypeError, ValueError
        If the rows are no points of a sphere.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.to_polar([[0.0, -1.0, 0.0]]).round(4)
    array([[1.5708, 4.7124]])
    """
    rows = _checks.rows(x).astype(np.float64)
    rest = np.hypot.accumulate(rows[:, :-1], axis=1)
    colatitudes = np.arctan2(np.abs(rest[:, :0:-1]), rows[:, :1:-1])
    azimuth = np.arctan2(rows[:, 1], rows[:, 0])
    azimuth[azimuth < 0.0] += 2.0 * np.pi
    azimuth[azimuth >= 2.0 * np.pi] = 0.0  # a tiny negative angle rounds up to a full turn
    return np.column_stack([colatitudes, azimuth + 0.0])


def from_polar(angles: ArrayLike) -> Float64:
    """Return the points of S^m with the given hyperspherical angles, the inverse of `to_polar`.

    Parameters
    ----------
    angles : array_like, shape (n, dim)
        Colatitudes from the last axis downwards, then the azimuth; any finite values, in radians.

    Returns
    -------
    ndarray, shape (n, dim+1)

    Raises
    ------
    TypeError, ValueError
        If the angles are no finite numbers, or not of that shape.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import sphere
    >>> sphere.from_polar([[np.pi / 3, np.pi / 2]]).round(6)
    array([[0.      , 0.866025, 0.5     ]])
    """
    array = _checks.floating(angles, "angles").astype(np.float64)
    if array.ndim != 2:
        raise ValueError(f"'angles' must have shape (n, dim), got {array.shape}: one point is angles[None, :]")
    n, dim = array.shape
    x = np.empty((n, dim + 1))
    radius = np.ones(n)
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
    ValueError
        If a row is the north pole, whose image is infinite.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.stereographic([[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]]).round(12)
    array([[3., 0.],
           [0., 0.]])
    """
    rows = _checks.rows(x).astype(np.float64)
    plane, height = rows[:, :-1], rows[:, -1:]
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
    array = _checks.floating(y, "y").astype(np.float64)
    if array.ndim != 2:
        raise ValueError(f"'y' must have shape (n, dim), got {array.shape}: one point is y[None, :]")
    radius = np.abs(np.hypot.reduce(array, axis=1, keepdims=True))
    far = radius > 1.0
    shrink = np.where(far, radius, 1.0)
    small = np.where(far, 1.0 / shrink, radius)  # 1/r beyond the equator, so that nothing overflows
    scale = 1.0 + small * small
    height = (1.0 - small) * (1.0 + small) / scale
    return np.hstack([array / shrink * np.where(far, 2.0 * small, 2.0) / scale, np.where(far, height, -height)])


def uniform(dim: int, n: int, rng: np.random.Generator | int | None = None) -> Float64:
    """Draw independent uniform points of S^m.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    n : int
        The number of points, at least 1.
    rng : None, int or numpy.random.Generator
        Source of randomness; an int is a seed.

    Returns
    -------
    ndarray, shape (n, dim+1)

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or the points would not fit into memory.

    Examples
    --------
    >>> from spherapprox import sphere
    >>> sphere.uniform(8, 5, rng=0).shape
    (5, 9)
    """
    dim = _checks.dimension(dim, maximum=MAX_POINTS)
    n = _checks.integer(n, "n", minimum=1, maximum=MAX_POINTS, limit="draw fewer points at a time")
    _checks.memory(16.0 * n * (dim + 1), f"{n} points of S^{dim}", "draw fewer points at a time")
    x = _checks.generator(rng).standard_normal((n, dim + 1))
    x /= np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    return x


def _unit(x: ArrayLike, name: str) -> Float64:
    """Return rows of unit length with any leading axes."""
    array = _checks.floating(x, name)
    if array.ndim == 0:
        raise ValueError(f"'{name}' must have shape (..., dim+1), got a scalar")
    _checks.rows(array.reshape(-1, array.shape[-1]), name)
    return array.astype(np.float64, copy=False)
