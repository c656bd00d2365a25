"""The record of control points on S^m, `PointSet`, and what else heads take."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks
from ..partition import EqualMeasurePartition
from ..quality.covering import BUDGET, covering_interval
from ..quality.interval import Interval
from ..quality.separation import separation

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
        self._separation: float | None = None
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

        What was given, else on S^1 and S^2 the exact value (1e-10 relative), computed once; in more dimensions
        `covering_interval` encloses it.
        """
        if self._covering_radius is None and self.dim <= 2:
            self._covering_radius = covering_interval(self._points).lower
        return self._covering_radius

    @property
    def separation(self) -> float:
        """Smallest distance between two of the points, to 1e-15: 0 if one is repeated, inf for a single point.

        Computed once; `spherapprox.quality.separation.separation` does it in several threads.
        """
        if self._separation is None:
            self._separation = separation(self._points)
        return self._separation

    @property
    def mesh_ratio(self) -> float | None:
        """The covering radius over half the separation, at least 1; None where the covering radius is not known.

        Half the separation is the radius to which caps about the points stay disjoint. A single point, whose cap of
        radius pi is the sphere, has 1; a repeated point makes it inf.
        """
        if len(self) == 1:
            return 1.0
        covering = self.covering_radius
        if covering is None:
            return None
        return 2.0 * covering / self.separation if self.separation > 0.0 else math.inf

    def covering_interval(
        self,
        rtol: float = 0.05,
        *,
        budget: int = BUDGET,
        workers: int = 1,
        progress: bool = False,
        rng: np.random.Generator | int | None = 0,
    ) -> Interval:
        """Return two numbers between which the covering radius lies, in any dimension.

        Parameters
        ----------
        rtol : float, default 0.05
            The search ends where ``upper <= (1 + rtol) lower``; 0 asks for the exact radius. Without effect on S^1
            and S^2, where the radius is exact.
        budget : int, default 200000
            No convex hull of more facets is made, so that the search ends: 1e5 facets take a second in three
            dimensions and half a minute in ten. Beyond it the interval stays as wide as it then is.
        workers : int, default 1
            Threads; -1 takes all cores.
        progress : bool, default False
            Show a progress bar.
        rng : None, int or numpy.random.Generator, default 0
            Directions from which holes are looked for where hulls do not settle the radius.

        Returns
        -------
        Interval
            `lower` is the distance from `at`, the centre of the largest hole found, to the nearest of the points;
            `upper` is proven, rounding included.

        Raises
        ------
        TypeError, ValueError
            If an option is out of its range, or memory would not suffice.

        See Also
        --------
        EqualMeasurePartition.radius : a proven upper bound for a partition's centres at no cost, as in
            ``PointSet(partition.centers(), covering_radius=partition.radius)``.

        Notes
        -----
        Empty caps rest on facets of the convex hull. Hulls of growing subsets of the points give upper bounds, the
        distances from their facets' poles to all points lower ones, and each round adds the points deepest in the
        caps that are still too large; the interval is a point after finitely many rounds. As a rule uniform points
        are settled up to dim 3 for n = 1e5, dim 5 for 1e3 and dim 7 for 1e2. Where the budget ends first, and above
        dim 15, moments of the points bound the radius from above, less sharply, and walks along the polar polytope's
        edges find large holes (docs/theorems.md, 5.6). Points with a free open half-space around them, as all sets of
        at most dim + 1 points, have their exact radius in any dimension.

        References
        ----------
        docs/theorems.md, 5.6.

        Examples
        --------
        >>> from spherapprox import points
        >>> interval = points.uniform(3, 200, rng=0).covering_interval()
        >>> round(interval.lower, 3), round(interval.upper, 3)
        (0.61, 0.61)
        """
        return covering_interval(self._points, rtol, budget=budget, workers=workers, progress=progress, rng=rng)

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
