"""The record of control points on S^m, `PointSet`, and what else heads take."""

from __future__ import annotations

import math
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks, sphere
from ..partition import EqualMeasurePartition
from ..quality.interval import Interval

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
        self, points: ArrayLike, weights: ArrayLike | None = None, covering_radius: float | None = None
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

    @overload
    def quadrature_error(self, degree: int, *, by_degree: Literal[False] = ..., workers: int = ...) -> float: ...
    @overload
    def quadrature_error(self, degree: int, *, by_degree: Literal[True], workers: int = ...) -> Floats: ...
    def quadrature_error(self, degree: int, *, by_degree: bool = False, workers: int = 1) -> float | Floats:
        """Return the largest error of the weighted mean over spherical polynomials of L2 norm 1.

        Parameters
        ----------
        degree : int
            The largest total degree L of the polynomials, 0 to 1e6, as far as memory and time allow.
        by_degree : bool, default False
            Whether to tell the errors over the harmonics of each degree alone.
        workers : int, default 1
            Number of threads; -1 means all cores. The result does not depend on it.

        Returns
        -------
        float or ndarray, shape (L+1,)
            The maximum of ``|sum_k w_k p(b_k) - mean of p|`` over p of degree at most L whose square has mean 1 over
            the sphere; by degree, over homogeneous harmonic p of degree l = 0, ..., L, and the other is the root of
            the sum of squares. Where a rule with positive weights is exact, rounding leaves some 1e-15, less than
            ``(L + 1) 2e-16`` for each degree as a rule: that is how far its points are rounded themselves. Where it is
            not, the relative error is of the same size.

        Raises
        ------
        ValueError
            If that would take more than 8 GiB or 1e13 operations.

        Notes
        -----
        The root of ``sum_lj |sum_k w_k Y_lj(b_k)|^2`` over an orthonormal basis of harmonics, which is set up level by
        level and never stored (docs/theorems.md, 5.7). The double sum over pairs of points that reproducing kernels
        give in its place loses half of the digits. With P harmonics up to degree L on S^m, P' on S^(m-1), n points
        take ``n P' + n' P`` operations, n' the number of different last coordinates, and memory ``O(P)``.

        References
        ----------
        .. [1] I. H. Sloan and R. S. Womersley, "Extremal systems of points and numerical integration on the sphere",
           Advances in Computational Mathematics 21 (2004), 107-125.

        Examples
        --------
        The octahedron is a design of strength 3:

        >>> import numpy as np
        >>> from spherapprox import PointSet
        >>> octahedron = PointSet(np.vstack([np.eye(3), -np.eye(3)]))
        >>> octahedron.quadrature_error(3) < 1e-15
        True
        >>> octahedron.quadrature_error(4, by_degree=True).round(6)
        array([0.      , 0.      , 0.      , 0.      , 2.291288])
        """
        from ..quality import quadrature

        degree = _checks.integer(degree, "degree", minimum=0, maximum=10**6)
        by_degree = _checks.flag(by_degree, "by_degree")
        workers = _checks.workers(workers)
        errors = quadrature.errors_by_degree(self._points, self._weights, degree, workers=workers)
        return errors if by_degree else float(np.linalg.norm(errors))

    @overload
    def cap_discrepancy(self, norm: Literal["l2"] = ..., *, cells: int = ..., workers: int = ...) -> float: ...
    @overload
    def cap_discrepancy(self, norm: Literal["sup"], *, cells: int = ..., workers: int = ...) -> Interval: ...
    def cap_discrepancy(
        self, norm: Literal["l2", "sup"] = "l2", *, cells: int = 2**12, workers: int = 1
    ) -> float | Interval:
        """Return how far the weight in a cap is from the cap's measure: in the mean square, or at most.

        Parameters
        ----------
        norm : {"l2", "sup"}
            "l2": the root of the integral over the caps ``C = {y: <c, y> >= t}`` of ``(weight in C - sigma(C))^2``,
            dsigma(c) dt with -1 <= t <= 1. "sup": the supremum of ``|weight in C - sigma(C)|`` over all caps, the
            weights over their sum.
        cells : int, default 4096
            For "sup" on S^m, m > 1: how many cells of an equal-measure partition the search for the cap's centre goes
            down to. `upper` exceeds the supremum by at most ``sqrt(m / (2 pi))`` times their radius: it says much in
            low dimensions only.
        workers : int, default 1
            Number of threads; -1 means all cores. The result does not depend on it.

        Returns
        -------
        float or Interval
            "l2": accurate to 1e-15 in its square, so never below some 1e-8 (docs/theorems.md, 5.8); it takes
            ``n^2 (m + 3) / 2`` operations.
            "sup": an `Interval`; `lower` is the difference at a cap with centre `at` (or its limit from inside),
            `upper` is proven, and both are equal on S^1. Each cell takes some ``n log n`` operations.

        Raises
        ------
        ValueError
            For "sup" on S^m, m > 1, if a weight is negative; if it would take more than 1e13 operations.

        References
        ----------
        .. [1] K. B. Stolarsky, "Sums of distances between points on a sphere II", Proceedings of the AMS 41 (1973),
           575-582.
        .. [2] J. S. Brauchart and J. Dick, "A simple proof of Stolarsky's invariance principle", Proceedings of the
           AMS 141 (2013), 2085-2096.

        Examples
        --------
        Equal weights on the circle miss an arc's share by 1/n, just as for a single point:

        >>> from spherapprox import points
        >>> round(points.gauss_product(1, 9).cap_discrepancy("sup").upper, 12)
        0.1
        >>> [round(points.fibonacci(n).cap_discrepancy() * n**0.75, 3) for n in (100, 1000)]
        [0.453, 0.451]
        """
        from ..quality import discrepancy

        norm = _checks.choice(norm, "norm", ("l2", "sup"))  # type: ignore[assignment]
        cells = _checks.integer(cells, "cells", minimum=1)
        workers = _checks.workers(workers)
        if norm == "l2":
            return discrepancy.l2(self._points, self._weights, workers=workers)
        return discrepancy.sup(self._points, self._weights, cells=cells, workers=workers)

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        return f"PointSet(n={len(self)}, dim={self.dim})"

    def __reduce__(self) -> tuple[type[PointSet], tuple[Floats, Floats, float | None]]:
        return type(self), (self._points, self._weights, self._covering_radius)


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
