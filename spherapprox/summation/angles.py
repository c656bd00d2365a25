"""The mean angle to the control points under softmax weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from . import dense
from .evaluation import LARGEST_CONCENTRATION
from .method import silent
from .problem import Problem


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
    problem = Problem(points, controls, rate, np.dtype(np.float64), None)
    sums = dense.sums(problem, None, _checks.workers(workers), silent).partial
    return np.asarray(sums.numerators[:, 0] / sums.denominator)
