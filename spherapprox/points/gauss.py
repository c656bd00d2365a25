"""The product Gauss rule of S^m."""

from __future__ import annotations

import math

import numpy as np

from .. import _checks, sphere
from .._types import Float64
from .pointset import PointSet


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
        (g + 1) (floor(g/2) + 1)^(m-1) points from north to south with positive weights. Its covering radius is exact
        (to 1e-15 relative, docs/theorems/5.7-quadrature-error.md), its `quadrature_error` up to degree g a few 1e-15:
        2e-14 on S^2 for g = 500, 3e-15 on S^3 for g = 60 and 1e-15 on S^6 for g = 12 for each degree.

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
    rule = f"{count:.3g} points of S^{dim}" if count < 10**18 else f"the rule of 'degree' = {degree} on S^{dim}"
    _checks.memory(n_bytes, rule, "lower 'degree'" if nodes > 1 else "lower 'dim'")
    # Step 1: equispaced points of S^1
    azimuth = 2.0 * np.pi * (np.arange(degree + 1) / (degree + 1))
    x, w = np.column_stack([np.cos(azimuth), np.sin(azimuth)]), np.full(degree + 1, 1.0 / (degree + 1))
    if nodes == 1:  # one node in each colatitude: the equator
        return PointSet(np.pad(x, ((0, 0), (0, dim - 1))), w, np.pi / (degree + 1), degree=degree)
    # Step 2: the product with a Gauss rule of colatitude, from S^2 up to S^m
    radius = np.pi / (degree + 1)
    for k in range(2, dim + 1):
        t, share = _gauss_gegenbauer(nodes, (k - 1) / 2)
        inner = np.sqrt((1.0 - t) * (1.0 + t))[:, None, None] * x  # (nodes, n, k)
        x = np.concatenate([inner, np.broadcast_to(t[:, None, None], (nodes, len(x), 1))], axis=2).reshape(-1, k + 1)
        w = np.outer(share, w).ravel()  # (nodes n,)
        radius = _covering_radius(t, radius)
    return PointSet(x, w, radius, degree=degree)


def _covering_radius(t: Float64, inner: float) -> float:
    """Return the covering radius of colatitudes arccos(t) times points of S^(k-1) with covering radius inner < pi/2.

    docs/theorems/5.7-quadrature-error.md: the farthest points are the poles, or lie between two colatitudes.
    """
    # 5.7, product Gauss rules
    theta = np.arctan2(np.sqrt((1.0 - t) * (1.0 + t)), t)
    half, middle = 0.5 * np.diff(theta), 0.5 * (theta[1:] + theta[:-1])
    between = np.hypot(np.sin(half), np.sin(middle) * math.tan(inner)) / np.cos(half)
    return max(float(theta[0]), math.atan(between.max()))


def _gauss_gegenbauer(n: int, order: float) -> tuple[Float64, Float64]:
    """Return nodes (falling) and weights (sum 1) of the Gauss rule for the weight (1 - t^2)^(order - 1/2).

    Nodes are the Jacobi matrix's eigenvalues after one Newton step, weights the Christoffel numbers 1/sum p_j(t)^2 of
    the orthonormal polynomials: 1e-15 in the moments, where SciPy 1.17's `roots_gegenbauer` loses three digits.
    """
    # Step 1: eigenvalues of the Jacobi matrix
    j = np.arange(1, n + 1)
    beta = np.sqrt(j * (j + 2.0 * order - 1.0) / (4.0 * (j + order) * (j + order - 1.0)))
    from scipy.linalg import eigh_tridiagonal  # not before it is needed, as it loads much

    t = eigh_tridiagonal(np.zeros(n), beta[:-1], eigvals_only=True)[::-1]
    # Step 2: a Newton step, and the symmetry about 0
    value, slope, _ = _orthonormal(t, beta)
    t = t - value / slope
    t = 0.5 * (t - t[::-1])
    # Step 3: Christoffel numbers
    weights = 1.0 / _orthonormal(t, beta)[2]
    weights = weights + weights[::-1]
    return t, weights / math.fsum(weights)


def _orthonormal(t: Float64, beta: Float64) -> tuple[Float64, Float64, Float64]:
    """Return p_n(t), its derivative and sum_{j<n} p_j(t)^2 by beta_{j+1} p_{j+1} = t p_j - beta_j p_{j-1}."""
    before, value, squares = np.zeros_like(t), np.ones_like(t), np.zeros_like(t)
    slope_before, slope, last = np.zeros_like(t), np.zeros_like(t), 0.0
    for b in beta:
        squares += value * value
        slope_before, slope = slope, (value + t * slope - last * slope_before) / b
        before, value = value, (t * value - last * before) / b
        last = b
    return value, slope, squares
