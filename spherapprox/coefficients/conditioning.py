"""The smallest concentration at which the kernel matrix of given points is well conditioned."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import _checks
from .._threads import interruptible, one_blas_thread
from .._types import Float64
from ..points import nodes
from ..points.pointset import Points
from .kernel import matrix, require_distinct, sums

EXACT = 1200  # up to so many points the eigenvalues are those of the whole matrix. Tuned.
PATCH, _SCALES, _QUERIES = 600, (1, 4, 16, 64), 20_000
"""Points of a patch, the neighbours whose distances choose it, and the points that are tried for its centre."""
_CLOSE = 0.6  # points that are closer than this share of the median distance to the 2 dim-th neighbour are thinned out
_TOLERANCE = 1e-3  # of the logarithm of the concentration
_FURTHEST = 600.0  # logarithms of concentrations beyond it are not tried
_SINGULAR = math.log(1e15)
"""Logarithm of the largest condition number that float64 tells from that of a singular matrix."""


def well_conditioned_concentration(points: Points, condition: float = 1e10) -> float:
    """Return the smallest concentration at which the kernel matrix has at most a given condition number.

    The matrix ``exp(-concentration |b_j - b_k|^2 / 2)`` of distinct points has ones everywhere at 0 and tends to the
    identity; its condition number, in the spectral norm, never grows with the concentration. The smaller the
    concentration, the better a smooth target is resolved, and the more digits are lost in solving for the values
    (docs/theorems/4.13-interpolation.md).

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like, shape (n, dim+1)
        Control points, all distinct.
    condition : float, default 1e10
        From 1.001 to 1e12.

    Returns
    -------
    float
        Up to 1200 points at most 0.1 % in excess. Beyond, an estimate from the smallest eigenvalues of matrices of 600
        points, where points are densest (the whole matrix has none larger), and the largest sum of a row: in tests
        within 10 % up to dim = 3, and 40 % below at dim = 8 and the default condition. 0 for a single point.

    Raises
    ------
    TypeError, ValueError
        If the points are none of a sphere, or repeated but for what underflows, or `condition` is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import well_conditioned_concentration
    >>> poles = np.array([[0.0, 1.0], [0.0, -1.0]])  # eigenvalues 1 +- exp(-2 lambda)
    >>> round(well_conditioned_concentration(poles, 3.0), 3)  # log(2) / 2
    0.347
    """
    rows = nodes(points)[0].astype(np.float64)
    condition = _checks.real(condition, "condition", minimum=1.001, maximum=1e12)
    if len(rows) == 1:
        return 0.0
    require_distinct(rows)
    (n, d), log_limit, at = rows.shape, math.log(condition), log_condition(rows)
    start = math.log(0.5 * n ** (2.0 / (d - 1)) / max(1.0, log_limit))
    return math.exp(_zero(lambda t: at(math.exp(t)) - log_limit, start))


def thin_points(rows: Float64) -> Float64:
    """Return points without those that lie close to an earlier one: scattered points, but no lattice, lose some."""
    from scipy.spatial import cKDTree

    n, dim = len(rows), rows.shape[1] - 1
    if n <= 2:
        return rows
    tree, rank = cKDTree(rows), min(2 * dim, n - 1)
    nearest, typical = interruptible(lambda: tree.query(rows, k=[2, 1 + rank]))[0].T
    close = _CLOSE * float(np.median(typical))
    mask = np.ones(n, dtype=bool)
    for i in np.flatnonzero(nearest < close):
        if mask[i]:
            around = np.array(tree.query_ball_point(rows[i], close))
            mask[around[around > i]] = False
    return rows[mask]


def log_condition(rows: Float64) -> Callable[[float], float]:
    """Return the function that gives the logarithm of the condition number at a concentration, of float64 at most."""
    patches = []
    if len(rows) > EXACT:  # the points around those whose neighbours are nearest, for neighbours of several ranks
        from scipy.spatial import cKDTree

        tree, ranks = cKDTree(rows), [1 + rank for rank in _SCALES]
        queries = rows if len(rows) <= _QUERIES else rows[np.random.default_rng(0).permutation(len(rows))[:_QUERIES]]
        distances = interruptible(lambda: tree.query(queries, k=ranks))[0]  # (queries, scales)
        centers = sorted(set(distances.argmin(axis=0).tolist()))
        patches = [rows[tree.query(queries[i], k=PATCH)[1]] for i in centers]

    def evaluate(concentration: float) -> float:
        if patches:  # 4.13 (b): a patch has no smaller eigenvalue, and no eigenvalue exceeds the largest row sum
            smallest = min(_eigenvalues(patch, concentration)[0] for patch in patches)
            largest = float(sums(rows, rows, np.ones(len(rows)), concentration=concentration).max())
        else:
            smallest, largest = _eigenvalues(rows, concentration)[[0, -1]]
        singular = smallest <= largest * math.exp(-_SINGULAR)
        return _SINGULAR if singular else math.log(largest / smallest)

    return evaluate


def _eigenvalues(rows: Float64, concentration: float) -> Float64:
    """Return the eigenvalues of the kernel matrix, in increasing order."""
    a = matrix(rows, rows, concentration, remedy="take fewer points")
    with one_blas_thread():  # several take seconds where other work has the cores
        return np.asarray(interruptible(lambda: np.linalg.eigvalsh(a)))


def _zero(excess: Callable[[float], float], start: float) -> float:
    """Return a point, by at most a tolerance above it, after the zero of a function that does not increase."""
    from scipy.optimize import brentq

    step = 0.5 if excess(start) > 0.0 else -0.5
    near, far = start, start + step
    while excess(far) * step > 0.0:
        step *= 2.0
        near, far = far, far + step
        if far > _FURTHEST:
            raise ValueError(
                "'points' must be far enough apart for their kernels to differ, got two at a distance that underflows: "
                "drop one of them"
            )
    return float(brentq(excess, near, far, xtol=0.5 * _TOLERANCE)) + 0.5 * _TOLERANCE
