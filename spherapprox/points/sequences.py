"""Makers of any number of control points: Fibonacci, uniform random and scrambled Sobol points."""

from __future__ import annotations

import numpy as np

from .. import _checks, sphere
from .._types import Seed
from ..quality.nearest import unit
from .pointset import PointSet


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

    Raises
    ------
    TypeError, ValueError
        If `n` is no integer of its range, or the points would not fit into memory.

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
    n = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS, limit="make fewer points")
    _checks.memory(64.0 * n, f"{n} points of S^2", "make fewer points")
    odd = 2.0 * np.arange(n) + 1.0
    # i/phi modulo 1 as 64-bit integers, exact to 2^-64 i
    turns = (np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.float64) * 2.0**-64
    radius = np.sqrt(odd * (2.0 * n - odd)) / n
    azimuth = 2.0 * np.pi * turns
    return PointSet(np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), (n - odd) / n]))


def uniform(dim: int, n: int, rng: Seed = None) -> PointSet:
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

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or the points would not fit into memory.

    Examples
    --------
    >>> from spherapprox import points
    >>> points.uniform(8, 100, rng=0)
    PointSet(n=100, dim=8)
    """
    return PointSet(sphere.uniform(dim, n, rng))


def sobol(dim: int, n: int, rng: Seed = None) -> PointSet:
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

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or the points would not fit into memory.

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
    from scipy.special import betaincinv
    from scipy.stats import qmc

    dim = _checks.dimension(dim, maximum=qmc.Sobol.MAXDIM)
    n = _checks.integer(n, "n", minimum=1, maximum=2**30)
    _checks.memory(48.0 * n * (dim + 1), f"{n} points of S^{dim}", "make fewer points")
    sequence = qmc.Sobol(dim, rng=_checks.generator(rng))
    cube = sequence.random_base2(max(n - 1, 0).bit_length())[:n] + 2.0**-31  # the middles of the grid of 2^-30
    x, radius = np.empty((n, dim + 1)), np.ones(n)
    for j in range(dim - 1):
        # sigma(C(t)) = I_{sin^2 t}(k/2, 1/2) / 2: cosine and sine each from its own inverse, so that no digit is lost
        k, u = dim - j, cube[:, j]
        cosine = np.sqrt(betaincinv(0.5, k / 2, np.abs(1.0 - 2.0 * u)))
        x[:, k] = radius * np.where(u < 0.5, cosine, -cosine)
        radius *= np.sqrt(betaincinv(k / 2, 0.5, 2.0 * np.minimum(u, 1.0 - u)))
    x[:, 0], x[:, 1] = radius * np.cos(2.0 * np.pi * cube[:, -1]), radius * np.sin(2.0 * np.pi * cube[:, -1])
    return PointSet(unit(x))
