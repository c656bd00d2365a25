"""Control points on S^m: the record `PointSet` and makers of Fibonacci, uniform, Sobol and product Gauss points."""

from __future__ import annotations

import inspect
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.special import betaincinv

from . import _checks, sphere
from .partition import EqualMeasurePartition

__all__ = ["PointSet", "fibonacci", "gauss_product", "nodes", "sobol", "uniform"]

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


def fibonacci(n: int) -> PointSet:
    """Return n points of S^2 along the golden spiral, from north to south.

    Parameters
    ----------
    n : int
        The number of points, at least 1.

    Returns
    -------
    PointSet
        Equal weights; point i has height 1 - (2i + 1)/n and azimuth 2 pi i / phi modulo a turn, phi the golden ratio.
        The covering radius is below 2.74 / sqrt(n) (computed for n = 2, ..., 399 and five counts to 1e5).

    References
    ----------
    .. [1] A. Gonzalez, "Measurement of areas on a sphere using Fibonacci and latitude-longitude lattices",
       Mathematical Geosciences 42 (2010), 49-64.

    Examples
    --------
    >>> from spherapprox import points
    >>> points.fibonacci(1000).points[0].round(4)
    array([0.0447, 0.    , 0.999 ])
    """
    n = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS, why="make fewer points")
    _checks.memory(64.0 * n, f"{n} points of S^2", "make fewer points")
    odd = 2.0 * np.arange(n) + 1.0
    # i/phi modulo 1 as 64-bit integers, exact to 2^-64 i
    turns = (np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.float64) * 2.0**-64
    radius = np.sqrt(odd * (2.0 * n - odd)) / n
    azimuth = 2.0 * np.pi * turns
    return PointSet(np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), (n - odd) / n]))


def uniform(dim: int, n: int, rng: np.random.Generator | int | None = None) -> PointSet:
    """Return n independent uniform points of S^m with equal weights.

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
    PointSet

    Examples
    --------
    >>> from spherapprox import points
    >>> points.uniform(8, 100, rng=0)
    PointSet(n=100, dim=8)
    """
    return PointSet(sphere.uniform(dim, n, rng))


def sobol(dim: int, n: int, rng: np.random.Generator | int | None = None) -> PointSet:
    """Return the first n points of a scrambled Sobol sequence, mapped to S^m, with equal weights.

    Parameters
    ----------
    dim : int
        The manifold's dimension, 1 <= m <= 21201.
    n : int
        The number of points, 1 <= n <= 2^30; powers of two are the most even.
    rng : None, int or numpy.random.Generator
        Source of the scrambling; an int is a seed.

    Returns
    -------
    PointSet

    Notes
    -----
    Coordinate j of the unit cube becomes the colatitude on S^(m-j) by its inverse distribution function, the last one
    the azimuth, so that volume goes to measure.

    Examples
    --------
    >>> from spherapprox import points
    >>> import numpy as np
    >>> bool(np.abs(points.sobol(3, 1024, rng=0).points.mean(axis=0)).max() < 0.005)
    True
    """
    from scipy.stats import qmc

    dim = _checks.dimension(dim, maximum=qmc.Sobol.MAXDIM)
    n = _checks.integer(n, "n", minimum=1, maximum=2**30)
    _checks.memory(48.0 * n * (dim + 1), f"{n} points of S^{dim}", "make fewer points")
    generator = _checks.generator(rng)
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"  # SciPy 1.15 renamed it
    sequence = qmc.Sobol(dim, **{name: generator})
    cube = sequence.random_base2(max(n - 1, 0).bit_length())[:n] + 2.0**-31  # the middles of the grid of 2^-30
    x, radius = np.empty((n, dim + 1)), np.ones(n)
    for j in range(dim - 1):
        # sigma(C(t)) = I_{sin^2 t}(k/2, 1/2) / 2: cosine and sine each from its own inverse, so that no digit is lost
        k, u = dim - j, cube[:, j]
        cosine = np.sqrt(betaincinv(0.5, k / 2, np.abs(1.0 - 2.0 * u)))
        x[:, k] = radius * np.where(u < 0.5, cosine, -cosine)
        radius *= np.sqrt(betaincinv(k / 2, 0.5, 2.0 * np.minimum(u, 1.0 - u)))
    x[:, 0], x[:, 1] = radius * np.cos(2.0 * np.pi * cube[:, -1]), radius * np.sin(2.0 * np.pi * cube[:, -1])
    return PointSet(x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None])


def gauss_product(dim: int, degree: int) -> PointSet:
    """Return the product Gauss rule of S^m that integrates every polynomial of the given degree exactly.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    degree : int
        The largest total degree g >= 0 of polynomials in the m + 1 coordinates that the rule integrates exactly.

    Returns
    -------
    PointSet
        (g + 1) (floor(g/2) + 1)^(m-1) points from north to south with positive weights.

    Raises
    ------
    ValueError
        If the rule would not fit into memory.

    Notes
    -----
    In each colatitude the Gauss-Gegenbauer rule with floor(g/2) + 1 nodes, exact to degree g for the weight
    (1 - t^2)^((k-2)/2) of S^k; g + 1 equispaced azimuths [1]_.

    References
    ----------
    .. [1] A. H. Stroud, "Approximate Calculation of Multiple Integrals", Prentice-Hall 1971, section 2.7.

    Examples
    --------
    >>> from spherapprox import points
    >>> rule = points.gauss_product(2, 5)
    >>> len(rule)
    18
    >>> round(float(rule.weights @ rule.points[:, 0] ** 4), 12)  # 1/5
    0.2
    """
    dim = _checks.dimension(dim, maximum=sphere.MAX_POINTS)
    degree = _checks.integer(degree, "degree", minimum=0, maximum=sphere.MAX_POINTS)
    nodes = degree // 2 + 1
    count = (degree + 1) * nodes ** min(dim - 1, 200)  # so many dimensions exceed any memory
    n_bytes = 24.0 * (dim + 2) * min(count, 10**18)
    what = f"{count:.3g} points of S^{dim}" if count < 10**18 else f"the rule of 'degree' = {degree} on S^{dim}"
    _checks.memory(n_bytes, what, "lower 'degree'" if nodes > 1 else "lower 'dim'")
    azimuth = 2.0 * np.pi * (np.arange(degree + 1) / (degree + 1))
    x, w = np.column_stack([np.cos(azimuth), np.sin(azimuth)]), np.full(degree + 1, 1.0 / (degree + 1))
    if nodes == 1:  # one node in each colatitude: the equator
        return PointSet(np.pad(x, ((0, 0), (0, dim - 1))), w)
    for k in range(2, dim + 1):
        t, share = _gauss_gegenbauer(nodes, (k - 1) / 2)
        inner = np.sqrt((1.0 - t) * (1.0 + t))[:, None, None] * x  # (nodes, n, k)
        x = np.concatenate([inner, np.broadcast_to(t[:, None, None], (nodes, len(x), 1))], axis=2).reshape(-1, k + 1)
        w = np.outer(share, w).ravel()
    return PointSet(x, w)


def _gauss_gegenbauer(n: int, order: float) -> tuple[Floats, Floats]:
    """Return nodes (falling) and weights (sum 1) of the Gauss rule for the weight (1 - t^2)^(order - 1/2).

    Nodes are the Jacobi matrix's eigenvalues after one Newton step, weights the Christoffel numbers 1/sum p_j(t)^2 of
    the orthonormal polynomials: 1e-15 in the moments, where SciPy 1.17's `roots_gegenbauer` loses three digits.
    """
    j = np.arange(1, n + 1)
    beta = np.sqrt(j * (j + 2.0 * order - 1.0) / (4.0 * (j + order) * (j + order - 1.0)))
    t = eigh_tridiagonal(np.zeros(n), beta[:-1], eigvals_only=True)[::-1]
    value, slope, _ = _orthonormal(t, beta)
    t = t - value / slope
    t = 0.5 * (t - t[::-1])
    weights = 1.0 / _orthonormal(t, beta)[2]
    weights = weights + weights[::-1]
    return t, weights / math.fsum(weights)


def _orthonormal(t: Floats, beta: Floats) -> tuple[Floats, Floats, Floats]:
    """Return p_n(t), its derivative and sum_{j<n} p_j(t)^2 by beta_{j+1} p_{j+1} = t p_j - beta_j p_{j-1}."""
    before, value, squares = np.zeros_like(t), np.ones_like(t), np.zeros_like(t)
    slope_before, slope, last = np.zeros_like(t), np.zeros_like(t), 0.0
    for b in beta:
        squares += value * value
        before, value, slope_before, slope = (
            value,
            (t * value - last * before) / b,
            slope,
            (value + t * slope - last * slope_before) / b,
        )
        last = b
    return value, slope, squares


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
