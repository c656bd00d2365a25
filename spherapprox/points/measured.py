"""Measures of control points and weights, the base of `PointSet`: covering, separation and quadrature errors."""

from __future__ import annotations

import math
from typing import Literal, overload

import numpy as np

from .. import _checks
from .._loading import load
from .._types import Float64, Seed
from ..quality.nearest import separation
from .covering.radius import BUDGET, Interval, covering_interval


class Measured:
    """Points with weights, and measures of their covering, separation and quadrature."""

    _points: Float64
    _weights: Float64
    _covering_radius: float | None
    _separation: float | None = None

    @property
    def covering_is_known(self) -> bool:
        """Whether `covering_bound` has an answer: the radius was given, or the points lie on S^1 or S^2."""
        return self._covering_radius is not None or self._points.shape[1] <= 3

    def covering_bound(self) -> float:
        """Return an upper bound of the distance from any point of the sphere to the nearest of the points.

        Returns
        -------
        float
            The covering radius as it was given, else on S^1 and S^2 the exact one, computed once: to 1e-10 of it, or on
            S^2 to 2e-8 where all points are within 1e-6 of each other.

        Raises
        ------
        ValueError
            In more dimensions, where none was given: `covering_interval` encloses it there, in some seconds.

        Examples
        --------
        >>> from spherapprox import points
        >>> round(points.fibonacci(1000).covering_bound(), 6)
        0.086277
        """
        if self._covering_radius is None:
            if not self.covering_is_known:
                n, d = self._points.shape
                raise ValueError(
                    f"the covering radius of these {n} points of S^{d - 1} is not known: covering_interval() encloses "
                    "it, and PointSet(points, covering_radius=...) states an upper bound"
                )
            self._covering_radius = covering_interval(self._points).upper
        return self._covering_radius

    def smallest_distance(self) -> float:
        """Return the smallest distance between two of the points; it is computed once.

        Returns
        -------
        float
            To 1e-15; 0 if a point is repeated, inf for a single one.

        Examples
        --------
        >>> from spherapprox import points
        >>> round(points.fibonacci(1000).smallest_distance(), 6)
        0.097813
        """
        if self._separation is None:
            self._separation = separation(self._points)
        return self._separation

    def mesh_separation_ratio(self) -> float:
        """Return the covering radius over half the smallest distance, a measure of the points' evenness.

        Returns
        -------
        float
            At least 1 where the covering radius is exact: to half the smallest distance caps about the points stay
            disjoint. A single point, whose cap of radius pi is the sphere, has 1; a repeated point makes it inf.

        Raises
        ------
        ValueError
            If the covering radius is not known (`covering_bound`).

        Examples
        --------
        >>> from spherapprox import points
        >>> round(points.fibonacci(1000).mesh_separation_ratio(), 3)
        1.764
        """
        if len(self._points) == 1:
            return 1.0
        covering, distance = self.covering_bound(), self.smallest_distance()
        return 2.0 * covering / distance if distance > 0.0 else math.inf

    def covering_interval(
        self,
        rtol: float = 0.05,
        *,
        budget: int = BUDGET,
        workers: int | None = None,
        progress: bool = False,
        rng: Seed = 0,
    ) -> Interval:
        """Return an enclosure of the covering radius, in any dimension.

        Parameters
        ----------
        rtol : float, default 0.05
            The search ends where ``upper <= (1 + rtol) lower``; 0 asks for the exact radius. Without effect on S^1
            and S^2, where the radius is exact.
        budget : int, default 200000
            At most 1e9. No convex hull of more facets is made, so that the search ends: 1e5 facets take a second in
            three dimensions and half a minute in ten. Beyond, and above dim 15, the interval stays as wide as it is.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.
        progress : bool, default False
            Show a progress bar.
        rng : None, int or numpy.random.Generator, default 0
            Directions whose distances bound the radius from below where hulls do not settle it.

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
        EqualMeasurePartition.cell_radius : a proven upper bound for a partition's centres, as in
            ``PointSet(partition.centers(), covering_radius=partition.cell_radius())``.

        Notes
        -----
        Empty caps rest on facets of the convex hull. Hulls of growing subsets of the points give upper bounds, the
        distances from their facets' poles to all points lower ones, and each round adds the points deepest in the
        caps that are still too large; the interval is a point after finitely many rounds. As a rule uniform points
        are settled up to dim 3 for n = 1e5, dim 5 for 1e3 and dim 7 for 1e2. Above dim 15
        the upper bound is that of a half-space alone: pi/2 and the angle of the hull's point of least norm
        (docs/theorems/5.11-covering-radius.md). A facet with more than dim + 1 vertices counts,
        and takes time, as the simplices it is cut into, hundreds each from dim 7 on: sets with large facets, such as
        the roots and minimal vectors of lattices, are settled later than uniform ones. Points with a free open
        half-space around them, as all sets of at most dim + 1 points, have their exact radius in any dimension.

        Examples
        --------
        >>> from spherapprox import points
        >>> interval = points.uniform(3, 200, rng=0).covering_interval()
        >>> round(interval.lower, 3), round(interval.upper, 3)
        (0.61, 0.61)
        """
        return covering_interval(self._points, rtol, budget=budget, workers=workers, progress=progress, rng=rng)

    @overload
    def quadrature_error(self, degree: int, *, by_degree: Literal[False] = ..., workers: int | None = ...) -> float: ...
    @overload
    def quadrature_error(self, degree: int, *, by_degree: Literal[True], workers: int | None = ...) -> Float64: ...
    def quadrature_error(self, degree: int, *, by_degree: bool = False, workers: int | None = None) -> float | Float64:
        """Return the largest error of the weighted mean over spherical polynomials of L2 norm 1.

        Parameters
        ----------
        degree : int
            The largest total degree L of the polynomials, 0 to 1e6, as far as memory and time allow.
        by_degree : bool, default False
            Whether to tell the errors over the harmonics of each degree alone.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

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
        level and never stored (docs/theorems/5.7-quadrature-error.md). The double sum over pairs of points that
        reproducing kernels give in its place loses half of the digits. With P harmonics up to degree L on S^m, P' on
        S^(m-1), n points take ``n P' + n' P`` operations, n' the number of different last coordinates, and memory
        ``O(P)``.

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
        load("spherapprox.quality.quadrature")
        from ..quality import quadrature

        degree = _checks.integer(degree, "degree", minimum=0, maximum=10**6)
        by_degree = _checks.flag(by_degree, "by_degree")
        workers = _checks.workers(workers)
        errors = quadrature.errors_by_degree(self._points, self._weights, degree, workers=workers)
        return errors if by_degree else float(np.linalg.norm(errors))

    def cap_discrepancy(self, norm: Literal["l2"] = "l2", *, workers: int | None = None) -> float:
        """Return the L2 cap discrepancy: the mean square distance of a cap's weight from the cap's measure.

        Parameters
        ----------
        norm : {"l2"}
            The root of the integral over the caps ``C = {y: <c, y> >= t}`` of ``(weight in C - sigma(C))^2``,
            dsigma(c) dt with -1 <= t <= 1.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        float
            Accurate to 1e-15 in its square, so never below some 1e-8 (docs/theorems/5.8-cap-discrepancy.md).

        Raises
        ------
        ValueError
            If `norm` is another one, or it would take more than 1e13 operations: ``n^2 (m + 3) / 2``.

        References
        ----------
        .. [1] K. B. Stolarsky, "Sums of distances between points on a sphere II", Proceedings of the AMS 41 (1973),
           575-582.
        .. [2] J. S. Brauchart and J. Dick, "A simple proof of Stolarsky's invariance principle", Proceedings of the
           AMS 141 (2013), 2085-2096.

        Examples
        --------
        Fibonacci points have the best order for the sphere, n^(-3/4):

        >>> from spherapprox import points
        >>> [round(points.fibonacci(n).cap_discrepancy() * n**0.75, 3) for n in (100, 1000)]
        [0.453, 0.451]
        """
        load("spherapprox.quality.discrepancy")
        from ..quality import discrepancy

        if norm != "l2":
            raise ValueError(
                f"'norm' must be 'l2', got {_checks.show(norm)}: the supremum over caps is not computed, the mean "
                "square over them is, for weights of any sign in any dimension"
            )
        return discrepancy.l2(self._points, self._weights, workers=_checks.workers(workers))
