"""Geodesic distances of points of S^m, and uniform samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Seed

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
    TypeError, ValueError
        If the rows are no numbers or not of unit length, or the shapes do not fit.

    Notes
    -----
    This is the angle between the directions of the rows: with ``d = |x| - |y|``,
    ``2 atan2(sqrt(|x-y|^2 - d^2), sqrt(|x+y|^2 - d^2))`` [1]_. For rows whose lengths are 1 to rounding it is accurate
    to a few units in the last place from 1e-15 to antipodal points, where ``arccos <x, y>`` loses eight digits. Where
    lengths differ by d, an angle errs by some 1e-16 d^2 over it too. No array larger than the result is made.

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
    shape = _checks.broadcast_shape("x[:, None] and y give the table of all pairs", x=a.shape, y=b.shape)[:-1]
    _checks.memory(5 * 8 * float(np.prod(shape, dtype=float)), "the table of distances", "pass fewer rows at a time")
    minus, plus, cross = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for j in range(a.shape[-1]):
        # |x-y|^2, |x+y|^2 and |x|^2 - |y|^2, coordinate by coordinate
        difference, total = a[..., j] - b[..., j], a[..., j] + b[..., j]
        cross += difference * total
        minus += difference * difference
        plus += total * total
    # (|x| - |y|)^2, which is taken from both
    cross /= np.sqrt(np.square(a).sum(-1)) + np.sqrt(np.square(b).sum(-1))
    cross *= cross
    minus, plus = np.maximum(minus - cross, 0.0), np.maximum(plus - cross, 0.0)
    return np.asarray(2.0 * np.arctan2(np.sqrt(minus), np.sqrt(plus)))


def uniform(dim: int, n: int, rng: Seed = None) -> Float64:
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
    x = _checks.generator(rng).standard_normal((n, dim + 1))  # of uniform direction
    x /= np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    return x


def _unit(x: ArrayLike, name: str) -> Float64:
    """Return rows of unit length with any leading axes."""
    array = _checks.floating(x, name, (..., "dim+1"))
    _checks.rows(array.reshape(-1, array.shape[-1]), name)
    return array.astype(np.float64, copy=False)
