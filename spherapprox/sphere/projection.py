"""The stereographic projection of S^m to R^m and its inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64


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
