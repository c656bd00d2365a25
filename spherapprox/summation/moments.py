"""Means under softmax weights: of the angle to the control points, and of their moments in the tangent space at x."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._kernels.simd.alignment import compiled_form
from .._loading import load
from .._threads import each_block
from .._types import Float64
from . import dense
from .evaluation import LARGEST_CONCENTRATION
from .method import EXACT, silent
from .problem import Problem

_REACH = 45.0  # terms below exp(-45) of the largest, over the number of control points, are left out
_FEW = 100  # for fewer points sorting the control points would take longer than all distances. Tuned.
_TREE_COLUMNS, _NARROW = 10, 0.5
"""Columns, and excess of a square over the smallest one, up to which boxes leave out control points. Tuned."""
_BOX = 32  # control points of a box, at least. Tuned.
_ROWS, _PAIRS = 256, 2**21
"""Points of a task where boxes leave out control points, and pairs of points where not: some milliseconds."""


class TangentMoments(NamedTuple):
    """Weighted moments of the logarithms ``v_k = log_x(b_k)``, tangent vectors at x of length ``theta(x, b_k)``.

    Attributes
    ----------
    first : ndarray, shape (n, dim+1)
        ``sum_k w_k v_k``.
    second : ndarray, shape (n, dim+1, dim+1)
        ``sum_k w_k v_k v_k^T``; its trace is ``sum_k w_k |v_k|^2``.
    third : ndarray, shape (n,)
        ``sum_k w_k |v_k|^3``.

    Examples
    --------
    >>> from spherapprox.summation import TangentMoments
    >>> TangentMoments._fields
    ('first', 'second', 'third')
    """

    first: Float64
    second: Float64
    third: Float64


def angle_mean(x: ArrayLike, control_points: ArrayLike, concentration: float, *, workers: int | None = None) -> Float64:
    """Return the mean angle between x and the control points under the softmax weights.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim.
    control_points : array_like, shape (n, dim+1)
        The points b_k.
    concentration : float
        lambda, from 0 to 1e300.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.

    Returns
    -------
    ndarray, shape (m,)
        ``sum_k theta(x, b_k) e_k / sum_k e_k`` with ``e_k = exp(-lambda |x - b_k|^2 / 2)``; a relative error near 1e-15
        but for pairs of nearly opposite points, whose angles have an absolute error up to 1e-8.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, or an option is out of its range.

    References
    ----------
    docs/theorems/4.4-split-head.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import angle_mean
    >>> angle_mean(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, -1.0]]), 5.0).round(6)
    array([1.570796])
    """
    points = _checks.rows(x, "x")
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1)
    rate = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)]) / 2.0
    problem = Problem(points, controls, rate, dtype=np.dtype(np.float64), values=None)
    sums = dense.sums(problem, EXACT, _checks.workers(workers), report=silent).partial
    return np.asarray(sums.numerators[:, 0] / sums.denominator)


def tangent_moments(
    x: ArrayLike, control_points: ArrayLike, concentration: float, *, workers: int | None = None
) -> TangentMoments:
    """Return the first three moments of the control points in the tangent spaces at x, under the softmax weights.

    Parameters
    ----------
    x : array_like, shape (n, dim+1)
        Points of the sphere S^dim.
    control_points, concentration, workers
        As in `angle_mean`.

    Returns
    -------
    TangentMoments
        Of ``v_k = log_x(b_k)`` with the weights ``w_k = e_k / sum_j e_j``, ``e_k = exp(-lambda |x - b_k|^2 / 2)``. For
        the antipode of x, whose logarithm is any tangent vector of length pi, one of them. The order-r moment has an
        error of at most ``1e-13 (1 + lambda t) sum_k w_k |v_k|^r + 1e-18``, t the smallest ``|x - b_k|^2``.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, or an option is out of its range.

    References
    ----------
    docs/theorems/4.H-second-order.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import tangent_moments
    >>> around = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8]])
    >>> moments = tangent_moments(np.array([[0.0, 0.0, 1.0]]), around, 5.0)
    >>> bool(abs(moments.first).max() < 1e-15), moments.second.round(4).tolist()
    (True, [[[0.4141, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    """
    points = _checks.rows(x, "x").astype(np.float64)
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1).astype(np.float64)
    rate = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)]) / 2.0
    (n, d), threads = points.shape, _checks.workers(workers)
    _checks.memory(8.0 * n * (d * d + 2 * d), "the moments", "take fewer points")
    load("spherapprox._kernels.summation.moments")
    from .._kernels.summation import moments

    room = (_REACH + math.log(len(controls))) / rate if rate > 0.0 else math.inf
    sort = n >= _FEW and d <= _TREE_COLUMNS and room < _NARROW
    columns, boxes, size = _boxed(controls, sort)
    result = TangentMoments(np.empty((n, d)), np.empty((n, d, d)), np.empty(n))

    def task(rows: slice) -> None:
        parts = (part[rows] for part in result)
        moments.tangent_moments(compiled_form(points[rows], points.dtype), columns, boxes, size, rate, room, *parts)

    each_block(task, n, _ROWS if sort else max(1, _PAIRS // len(controls)), workers=threads)
    return result


def _boxed(controls: Float64, sort: bool) -> tuple[Float64, Float64, int]:
    """Return control points as columns (d, n), boxes (2d, B) of so many of them, and that number (unsorted: all)."""
    n, size = len(controls), len(controls)
    if sort:
        from scipy.spatial import cKDTree

        size = max(_BOX, math.isqrt(n) // 4)
        controls = controls[cKDTree(controls, leafsize=size).indices]
    columns, starts = np.ascontiguousarray(controls.T), np.arange(0, n, size)
    sides = [side.reduceat(columns, starts, axis=1) for side in (np.minimum, np.maximum)]
    return columns, np.concatenate(sides), size
