"""The record of control points on S^m, `PointSet`, and the nodes and weights that heads take from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _archive, _checks, special
from .._types import Float64, Floats
from ..partition import EqualMeasurePartition
from . import operations
from .measured import Measured

_SUM_TOLERANCE = 1e-6  # how far the weights' sum may be from 1: it catches mistakes, it is no statement of accuracy
_LARGEST_WEIGHT = 1e100


class PointSet(_archive.Savable, Measured):
    """Points of S^m with quadrature weights and, where it is known, their covering radius. Immutable.

    Parameters
    ----------
    points : array_like, shape (n, dim+1)
        Points of unit length; they are copied, and float32 becomes float64.
    weights : array_like, shape (n,), optional
        Weights of any sign, up to 1e100 in size, that sum to 1; None means 1/n each.
    covering_radius : float, optional
        An upper bound of the distance from any point of the sphere to the nearest of the points: at most pi, and at
        least the radius of a cap of measure 1/n, which no n points go below. None means unknown: on S^1 and S^2 it is
        then computed when it is first asked for.
    degree : int, optional
        The largest total degree g >= 0 of polynomials in the m + 1 coordinates that the weights are known to integrate
        exactly. None means unknown.

    Raises
    ------
    TypeError, ValueError
        If the rows are not of unit length, the weights do not fit or do not sum to 1, or no n points have the radius.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import PointSet
    >>> octahedron = PointSet(np.vstack([np.eye(3), -np.eye(3)]))
    >>> octahedron
    PointSet(n=6, dim=2)
    >>> round(octahedron.covering_bound(), 6)  # arccos(1 / sqrt(3))
    0.955317
    """

    _kind = "point-set"

    def __init__(
        self,
        points: ArrayLike,
        weights: ArrayLike | None = None,
        covering_radius: float | None = None,
        degree: int | None = None,
    ) -> None:
        for record, rows in ((EqualMeasurePartition, ".centers()"), (PointSet, ".points")):
            if isinstance(points, record):  # whose weights and radius would be lost
                raise TypeError(f"'points' must be an array of rows, got {points!r}: pass its {rows}")
        self._points = np.array(_checks.rows(points, "points"), dtype=np.float64, order="C")
        n = len(self._points)
        self._weights = np.full(n, 1.0 / n) if weights is None else _checked_weights(weights, n)
        if covering_radius is not None:
            covering_radius = _checks.real(covering_radius, "covering_radius", minimum=0.0, maximum=np.pi)
            least = float(special.cap_angle(self.dim, -math.log(n)))
            if covering_radius < least * (1.0 - 1e-9):
                raise ValueError(
                    f"'covering_radius' must be at least {least:.6g}, the radius of a cap of measure 1/{n}, for {n} "
                    f"points of S^{self.dim}, got {covering_radius:.6g}: give an upper bound, or None where none is "
                    "known"
                )
        self._covering_radius = covering_radius
        self._degree = None if degree is None else _checks.integer(degree, "degree", minimum=0, maximum=None)
        self._points.flags.writeable = self._weights.flags.writeable = False

    @property
    def points(self) -> Float64:
        """The points, shape (n, dim+1), read-only."""
        return self._points

    @property
    def weights(self) -> Float64:
        """The weights, shape (n,), read-only; they sum to 1."""
        return self._weights

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m in R^(m+1)."""
        return int(self._points.shape[1]) - 1

    @property
    def degree(self) -> int | None:
        """The largest total degree known to be integrated exactly, up to rounding; None where none is known."""
        return self._degree

    def integrate(self, f: Callable[[Any], ArrayLike] | ArrayLike) -> float | Float64:
        """Return ``sum_k w_k f(b_k)``, the rule's value for the mean of f over the sphere.

        Parameters
        ----------
        f : callable or array_like
            Maps points (n, dim+1) to real values (n,) or (n, p), as a `Target` or a head does; it is called once, with
            all points. Or these values themselves.

        Returns
        -------
        float, or ndarray of shape (p,)
            Exact but for the rounding of each product and of the result: to 2^-53 times ``sum_k |w_k f(b_k)|``, and
            half a unit in the last place.

        Raises
        ------
        TypeError, ValueError
            If the values are not real and finite, one row for each point.

        Examples
        --------
        >>> from spherapprox import points
        >>> rule = points.gauss_product(2, 5)
        >>> round(rule.integrate(lambda x: x[:, 2] ** 4), 15)  # 1/5
        0.2
        >>> rule.integrate(rule.points**2).round(15)
        array([0.33333333, 0.33333333, 0.33333333])
        """
        table, name = (_checks.called(f, self._points), "f(points)") if callable(f) else (f, "f")
        values = _checks.values_for(table, name, len(self), owner="the points")
        total = operations.weighted_sum(self._weights, values.reshape(len(self), -1).astype(np.float64))
        return total if values.ndim == 2 else float(total[0])

    def rotate(self, R: Any) -> PointSet:
        """Return the points ``R b_k`` with the same weights, covering radius and degree.

        Parameters
        ----------
        R : array_like, shape (dim+1, dim+1), or scipy.spatial.transform.Rotation
            An orthogonal matrix to 1e-10, reflections included, such as ``scipy.stats.special_ortho_group.rvs(dim+1)``
            draws; for dim = 2 also a single `Rotation`.

        Returns
        -------
        PointSet
            Its rows are of unit length to rounding.

        Raises
        ------
        ValueError
            If R is of another shape or not orthogonal.

        Examples
        --------
        >>> from scipy.spatial.transform import Rotation
        >>> from spherapprox import PointSet
        >>> PointSet([[1.0, 0.0, 0.0]]).rotate(Rotation.from_euler("z", 30, degrees=True)).points.round(6)
        array([[0.866025, 0.5     , 0.      ]])
        """
        x = self._points @ operations.isometry(R, self.dim).T
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return PointSet(x, self._weights, self._covering_radius, degree=self._degree)

    def merge(self, other: Points, share: float | None = None) -> PointSet:
        """Return the union of two sets, as the mixture of their rules.

        Parameters
        ----------
        other : EqualMeasurePartition, PointSet or array_like, shape (k, dim+1)
            Its points follow those of this set; points that both have are repeated.
        share : float, optional
            In [0, 1]; the weights are `share` times those of this set and ``1 - share`` times those of `other`. None
            means n/(n + k), which keeps equal weights equal.

        Returns
        -------
        PointSet
            Its degree is the smaller of the two, if both are known. Its covering radius is computed when it is asked
            for on S^1 and S^2, and beyond is the smaller of those that are known, an upper bound.

        Raises
        ------
        TypeError, ValueError
            If `other` is no set of points of the same sphere, or `share` is out of its range.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition, points
        >>> both = points.fibonacci(30).merge(EqualMeasurePartition(2, 10))
        >>> both, round(float(both.weights[0]), 6)
        (PointSet(n=40, dim=2), 0.025)
        """
        if isinstance(other, EqualMeasurePartition | PointSet):
            _checks.same_dim(other.dim, "other", self.dim, why="as this set has")
        if isinstance(other, PointSet):
            second = other
        elif isinstance(other, EqualMeasurePartition):  # with its radius where none is computed on demand
            second = PointSet(other.centers(), covering_radius=other.cell_radius() if self.dim > 2 else None)
        else:
            second = PointSet(_checks.rows(other, "other", dim=self.dim))
        n, k = len(self), len(second)
        share = n / (n + k) if share is None else _checks.real(share, "share", minimum=0.0, maximum=1.0)
        radii = (self._covering_radius, second._covering_radius) if self.dim > 2 else ()
        return PointSet(
            np.concatenate([self._points, second._points]),
            np.concatenate([share * self._weights, (1.0 - share) * second._weights]),
            min((radius for radius in radii if radius is not None), default=None),
            degree=None if self._degree is None or second._degree is None else min(self._degree, second._degree),
        )

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        return f"PointSet(n={len(self)}, dim={self.dim})"

    def __reduce__(self) -> tuple[type[PointSet], tuple[Float64, Float64, float | None, int | None]]:
        return type(self), (self._points, self._weights, self._covering_radius, self._degree)

    def _arguments(self) -> dict[str, Float64 | float | int | None]:
        facts = {"covering_radius": self._covering_radius, "degree": self._degree}
        return {"points": self._points, "weights": self._weights} | facts


Points = EqualMeasurePartition | PointSet | ArrayLike
"""What control points are made of: a partition (its centres), a point set, or bare rows."""


def nodes(points: Points, name: str = "points") -> tuple[Floats, Float64 | None]:
    """Return control points and their weights.

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        A partition stands for the centres of its cells.
    name : str, default "points"
        Their name in errors.

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
    if hasattr(points, "control_points"):
        raise TypeError(f"'{name}' must be points, got a {type(points).__name__}: take its control_points")
    if isinstance(points, int):
        raise TypeError(f"'{name}' must be points, got {points}: EqualMeasurePartition(dim, {points}) makes as many")
    if callable(points):
        raise TypeError(f"'{name}' must be points, got a {type(points).__name__}: the function comes before them")
    return _checks.rows(points, name), None


def require_equal(weights: Float64 | None) -> None:
    """Raise unless all weights are equal, as the split head needs them; None means that they are."""
    if weights is not None and np.ptp(weights) > 1e-12 * np.abs(weights).max():
        raise ValueError(
            f"'points' must have equal weights for a split head, got weights from {weights.min():g} to "
            f"{weights.max():g}: softmax cannot carry weights; use a CoreHead, or the bare rows points.points"
        )


def _checked_weights(weights: ArrayLike, n: int) -> Float64:
    """Return n weights, after a check of their sizes, whose products must not overflow, and of their sum."""
    array = np.array(_checks.floating(weights, "weights"), dtype=np.float64)
    _checks.shaped(array, "weights", (n,), note=", one for each of 'points'")
    largest = array[np.argmax(np.abs(array))]
    if abs(largest) > _LARGEST_WEIGHT:
        raise ValueError(f"'weights' must be at most {_LARGEST_WEIGHT:g} in size, got {largest:g}: use smaller ones")
    total = math.fsum(array)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"'weights' must sum to 1, got {total:.9g}: divide them by their sum")
    return array
