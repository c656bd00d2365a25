"""The record of control points on S^m, `PointSet`, and what else heads take."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks, sphere
from ..partition import EqualMeasurePartition

Floats = NDArray[np.float64]

_SUM_TOLERANCE = 1e-6
"""How far the weights' sum may be from 1: it catches mistakes, it is no statement of accuracy."""


class PointSet:
    """Points of S^m with quadrature weights and, where it is known, their covering radius. Immutable.

    Parameters
    ----------
    points : array_like, shape (n, dim+1)
        Points of unit length; they are copied, and float32 becomes float64.
    weights : array_like, shape (n,), optional
        Weights of any sign that sum to 1; None means 1/n each.
    covering_radius : float, optional
        An upper bound in [0, pi] of the distance from any point of the sphere to the nearest of the points. None
        means unknown: on S^1 and S^2 it is then computed when it is first asked for.
    degree : int, optional
        The largest total degree g >= 0 of polynomials in the m + 1 coordinates that the weights are known to integrate
        exactly. None means unknown.

    Raises
    ------
    TypeError, ValueError
        If the rows are not of unit length, or the weights do not fit or do not sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import PointSet
    >>> octahedron = PointSet(np.vstack([np.eye(3), -np.eye(3)]))
    >>> octahedron
    PointSet(n=6, dim=2)
    >>> round(octahedron.covering_radius, 6)  # arccos(1 / sqrt(3))
    0.955317
    """

    def __init__(
        self,
        points: ArrayLike,
        weights: ArrayLike | None = None,
        covering_radius: float | None = None,
        degree: int | None = None,
    ) -> None:
        self._points = np.array(_checks.rows(points, "points"), dtype=np.float64, order="C")
        n = len(self._points)
        if weights is None:
            self._weights = np.full(n, 1.0 / n)
        else:
            self._weights = np.array(_checks.values_for(weights, "weights", n, "'points'"), dtype=np.float64)
            _check_weights(self._weights)
        if covering_radius is not None:
            covering_radius = _checks.real(covering_radius, "covering_radius", minimum=0.0, maximum=np.pi)
        self._covering_radius = covering_radius
        self._degree = None if degree is None else _checks.integer(degree, "degree", minimum=0)
        self._points.flags.writeable = self._weights.flags.writeable = False

    @property
    def points(self) -> Floats:
        """The points, shape (n, dim+1), read-only."""
        return self._points

    @property
    def weights(self) -> Floats:
        """The weights, shape (n,), read-only; they sum to 1."""
        return self._weights

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m in R^(m+1)."""
        return int(self._points.shape[1]) - 1

    @property
    def covering_radius(self) -> float | None:
        """Largest distance from a point of the sphere to the nearest of the points; None where it is not known.

        What was given, else on S^1 and S^2 the exact value (1e-10 relative; on S^2 from the convex hull, whose
        facets are the empty caps), computed once.
        """
        if self._covering_radius is None and self.dim <= 2:
            self._covering_radius = (_largest_gap if self.dim == 1 else _largest_empty_cap)(self._points)
        return self._covering_radius

    @property
    def degree(self) -> int | None:
        """The largest total degree known to be integrated exactly, up to rounding; None where none is known."""
        return self._degree

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        return f"PointSet(n={len(self)}, dim={self.dim})"

    def __reduce__(self) -> tuple[type[PointSet], tuple[Floats, Floats, float | None, int | None]]:
        return type(self), (self._points, self._weights, self._covering_radius, self._degree)


Points = EqualMeasurePartition | PointSet | ArrayLike
"""What control points are made of: a partition (its centres), a point set, or bare rows."""


def nodes(points: Points) -> tuple[_checks.Floats, Floats | None]:
    """Return control points and their weights.

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        A partition stands for the centres of its cells.

    Returns
    -------
    rows : ndarray, shape (n, dim+1)
    weights : ndarray, shape (n,), or None
        None where they are all 1/n: for a partition and for bare rows.

    Raises
    ------
    TypeError, ValueError
        If bare rows are no points of a sphere.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition
    >>> from spherapprox.points import nodes
    >>> rows, weights = nodes(EqualMeasurePartition(2, 100))
    >>> rows.shape, weights
    ((100, 3), None)
    """
    if isinstance(points, EqualMeasurePartition):
        return points.centers(), None
    if isinstance(points, PointSet):
        return points.points, points.weights
    return _checks.rows(points, "points"), None


def require_equal(weights: Floats | None) -> None:
    """Raise unless all weights are equal, as the split head needs them; None means that they are."""
    if weights is not None and np.ptp(weights) > 1e-12 * np.abs(weights).max():
        raise ValueError(
            f"'points' must have equal weights for a split head, got weights from {weights.min():g} to "
            f"{weights.max():g}: softmax cannot carry weights; use a CoreHead, or the bare rows points.points"
        )


def _check_weights(weights: Floats) -> None:
    """Check the shape and the sum of weights."""
    if weights.ndim != 1:
        raise ValueError(f"'weights' must have shape ({len(weights)},), one for each point, got {weights.shape}")
    total = math.fsum(weights)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"'weights' must sum to 1, got {total:.9g}: divide them by their sum")


def _largest_gap(x: Floats) -> float:
    """Return half the largest arc of S^1 that holds no point."""
    azimuth = np.sort(sphere.to_polar(x)[:, 0])
    return float(np.diff(azimuth, append=azimuth[0] + 2.0 * np.pi).max() / 2.0)


def _largest_empty_cap(x: Floats) -> float:
    """Return the radius of the largest open cap of S^2 that holds no point: it rests on a facet of the convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    x = np.unique(x, axis=0)
    if len(x) == 1:
        return math.pi
    if len(x) == 2:
        return math.pi - 0.5 * float(sphere.distance(x[0], x[1]))
    try:
        hull = ConvexHull(x)
    except QhullError:  # all points lie on one circle, or there are three
        normal = np.linalg.svd(x - x.mean(axis=0))[2][-1]
        return float(max(sphere.distance(x, normal).max(), sphere.distance(x, -normal).max()))
    normals = hull.equations[:, :3] / np.linalg.norm(hull.equations[:, :3], axis=1, keepdims=True)
    return float(sphere.distance(x[hull.simplices], normals[:, None]).max())
