"""Vector fields in closed form, with exact constants: a rotation, and projections onto spaces that move with x."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from ..target import DERIVED, Target

FRAMED = (1, 3, 7)  # the dimensions of the spheres that have frames of tangent fields (Adams 1962)


def rotation_field(dim: int, *, matrix: ArrayLike | None = None) -> Target:
    """Return a rotation's velocity field ``x -> A x`` with a skew-symmetric A: tangent to the sphere.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    matrix : array_like, shape (dim+1, dim+1), optional
        A, with ``A.T = -A`` exactly; by default the first axis turns towards the second with unit speed, which on S^2
        is the Earth's rotation.

    Returns
    -------
    Target
        With dim+1 outputs; ``<x, f(x)> = 0``. It is the velocity of the points under the rotations ``exp(t A)``.

    Raises
    ------
    ValueError
        If the matrix has another shape, is not skew-symmetric, or has an element that is not finite.

    Notes
    -----
    *Constants.* L = F = the operator norm of A, exact: ``|A x| <= ||A|| |x|`` and
    ``|A x - A y| <= ||A|| |x - y| <= ||A|| theta(x, y)``; both are attained. Let ``|A v| = ||A||``, ``|v| = 1``: then
    F is the norm at v, and L the slope in the direction v at any point orthogonal to v. So are H = T = F and Lap = m F:
    second and third derivatives along a great circle g are ``-A g`` and ``-A g'``. For a given matrix the norm is
    rounded upward by 1e-14 relative.

    Examples
    --------
    >>> from spherapprox import targets
    >>> turn = targets.rotation_field(2)
    >>> turn([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    array([[ 0. ,  1. ,  0. ],
           [-0.6,  0. ,  0. ]])
    >>> turn.lipschitz, turn.sup_norm
    (1.0, 1.0)
    """
    dim = _checks.dimension(dim)
    if matrix is None:
        function, size = _turn, 1.0
    else:
        a = _checks.floating(matrix, "matrix", (dim + 1, dim + 1), note=f" for dim = {dim}").astype(np.float64)
        if not np.array_equal(a, -a.T):
            raise ValueError("'matrix' must be skew-symmetric, got A.T != -A: (A - A.T) / 2 is")
        a.flags.writeable = False
        function, size = functools.partial(_multiply, a), float(np.linalg.norm(a, 2)) * (1.0 + 1e-14)
    return Target(
        function, dim, **_linear_constants(size, dim), n_outputs=dim + 1, name="rotation field",
        provenance="exact: operator norm", degree=1, origins=DERIVED,
    )  # fmt: skip


def tangent_projection(dim: int, *, vector: ArrayLike | None = None) -> Target:
    """Return the projection of a fixed vector onto the tangent space at x, ``v - <v, x> x``.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    vector : array_like, shape (dim+1,), optional
        v, of any length; by default the unit vector of the last axis.

    Returns
    -------
    Target
        With dim+1 outputs. It is the gradient on the sphere of ``<v, x>``: it points towards v, and vanishes at v and
        at its antipode only.

    Raises
    ------
    ValueError
        If the vector has another shape or an element that is not finite.

    Notes
    -----
    *Constants.* L = F = |v|, exact. The derivative in a unit tangent direction u is ``-<v, u> x - <v, x> u``; x and u
    are orthonormal, so its length is that of the projection of v onto the plane of x and u: at most |v|, and |v| on
    every great circle through v. The field itself has length ``|v| sin theta(x, v)``. H = 2 |v|, T = 4 |v| and
    Lap = 2 m |v|, exact (docs/theorems/6.3-polynomial-derivatives.md).

    Examples
    --------
    >>> from spherapprox import targets
    >>> north = targets.tangent_projection(2)
    >>> north([[1.0, 0.0, 0.0], [0.6, 0.0, 0.8]]).round(2)
    array([[ 0.  ,  0.  ,  1.  ],
           [-0.48,  0.  ,  0.36]])
    >>> north.lipschitz, north.sup_norm
    (1.0, 1.0)
    """
    dim = _checks.dimension(dim)
    v, size = _vector(vector, dim)
    return Target(
        functools.partial(_tangent, v), dim, lipschitz=size, sup_norm=size, smoothness=2.0 * size,
        laplacian=2.0 * dim * size, third_derivative=4.0 * size, n_outputs=dim + 1, name="tangent projection",
        provenance="exact: length of the vector", degree=2, origins=DERIVED,
    )  # fmt: skip


def moving_frame(dim: int, *, vector: ArrayLike | None = None) -> Target:
    """Return a fixed vector's coordinates in an orthonormal frame that moves with x, on S^1, S^3 and S^7.

    Parameters
    ----------
    dim : int
        m of the sphere S^m: 1, 3 or 7, the spheres with such a frame (Adams [1]_).
    vector : array_like, shape (dim+1,), optional
        v, of any length; by default the unit vector of the last axis.

    Returns
    -------
    Target
        With dim+1 outputs ``<v, e_0 x>, ..., <v, e_m x>``, where ``e_0 = 1, ..., e_m`` are the units of the complex
        numbers, the quaternions or the octonions: ``e_0 x = x``, and the other ``e_i x`` are orthonormal tangent
        vectors at x. The first output is the component along x, the others are those of `tangent_projection`.

    Raises
    ------
    ValueError
        If `dim` is none of these, or the vector has another shape or an element that is not finite.

    Notes
    -----
    By ``<v, e x> = <v x*, e>``, x* the conjugate, the outputs are the coordinates of the product ``v x*``. The algebras
    are those of Cayley and Dickson, ``(a, b)(c, d) = (a c - d* b, d a + b c*)``.

    *Constants.* L = F = |v|, exact: the map is linear in x and multiplies lengths by |v|, since ``|v x*| = |v| |x|``.
    So the output has length |v| everywhere, and the slope is |v| in every direction. H = T = |v| and Lap = m |v| as for
    `rotation_field`.

    References
    ----------
    .. [1] J. F. Adams, Vector fields on spheres, Annals of Mathematics 75 (1962) 603-632.

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.moving_frame(1)([[1.0, 0.0], [0.6, 0.8]]).round(6)  # the frames (1, 0), (0, 1) and x, (-0.8, 0.6)
    array([[0. , 1. ],
           [0.8, 0.6]])
    """
    dim = _checks.dimension(dim)
    if dim not in FRAMED:
        raise ValueError(f"'dim' must be 1, 3 or 7, the spheres with a frame, got {dim}: use tangent_projection")
    v, size = _vector(vector, dim)
    matrix = _product(np.broadcast_to(v, (v.size, v.size)), _conjugate(np.eye(v.size))).T.copy()  # of x -> v x*
    matrix.flags.writeable = False
    return Target(
        functools.partial(_multiply, matrix), dim, **_linear_constants(size, dim), n_outputs=dim + 1,
        name="moving frame", provenance="exact: length of the vector", degree=1, origins=DERIVED,
    )  # fmt: skip


def _linear_constants(size: float, dim: int) -> dict[str, Any]:
    """Return the constants of a linear map of this operator norm."""
    return dict.fromkeys(("lipschitz", "sup_norm", "smoothness", "third_derivative"), size) | {"laplacian": dim * size}


def _turn(x: Floats) -> Floats:
    result = np.zeros_like(x)
    result[:, 0], result[:, 1] = 0.0 - x[:, 1], x[:, 0]
    return result


def _multiply(matrix: Float64, x: Floats) -> Float64:
    """Return ``A x`` for each row x."""
    return np.asarray(x @ matrix.T)


def _tangent(v: Float64, x: Floats) -> Float64:
    return np.asarray(v - (x @ v)[:, None] * x)


def _vector(vector: ArrayLike | None, dim: int) -> tuple[Float64, float]:
    """Return a read-only vector, by default that of the last axis, and its length."""
    _checks.memory(8.0 * (dim + 1), f"a vector for 'dim' = {dim}", "choose a smaller 'dim'")
    if vector is None:
        v = np.zeros(dim + 1)
        v[-1] = 1.0
    else:
        v = _checks.floating(vector, "vector", (dim + 1,), note=f" for dim = {dim}").astype(np.float64)
    v.flags.writeable = False
    return v, math.hypot(*v) if dim < 1000 else float(np.linalg.norm(v))


def _conjugate(a: Float64) -> Float64:
    """Return the conjugate of numbers of a Cayley-Dickson algebra, coordinates last."""
    return np.concatenate([a[..., :1], -a[..., 1:]], axis=-1)


def _product(a: Float64, b: Float64) -> Float64:
    """Return the product of numbers of a Cayley-Dickson algebra, coordinates last."""
    n = a.shape[-1] // 2
    if n == 0:
        return a * b
    (p, q), (r, s) = (a[..., :n], a[..., n:]), (b[..., :n], b[..., n:])
    first, second = _product(p, r) - _product(_conjugate(s), q), _product(s, p) + _product(q, _conjugate(r))
    return np.concatenate([first, second], axis=-1)
