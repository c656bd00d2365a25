"""Least squares: values that minimise the head's weighted mean square error over samples."""

from __future__ import annotations

import math

import numpy as np

from .. import _checks
from .._threads import interruptible
from .._types import Float64, Floats
from ..partition import EqualMeasurePartition
from ..points import nodes, sobol
from ..sphere import MAX_POINTS
from . import iteration
from .interpolation import ACCURACY
from .kernel import matrix, softmax_weights, squared_distances, sums
from .task import Task, sample, units

OVERSAMPLING = 4  # by default so many samples for each control point
PARTITION_DIM = 8  # up to this dimension the samples are centres of an equal-measure partition, beyond it Sobol points
DIRECT = 1.2e7  # up to so many elements the matrix is factorised, beyond them the system is solved by iteration. Tuned.
OVERSHOOT = 2.0
"""A core head that is so many times the target at a control point, where no sample holds it, is warned of."""
_NEGLIGIBLE = 1e-15  # relative to the largest: singular values below it are rounding errors


def core(task: Task, *, direct: float = DIRECT) -> Float64:
    """Return xi that minimise ``sum_j w_j |h(x_j) - f(x_j)|^2 + regularization |xi|^2``, (n,) or (n, p)."""
    x, roots, f = _samples(task)
    unit = units(f)
    return _solve(task, x, roots, f=f / unit, start=None, direct=direct) * unit


def split(task: Task, *, direct: float = DIRECT) -> Float64:
    """Return v that minimise ``sum_j w_j |h(x_j) - f(x_j)|^2 + regularization |v - f(b)|^2``, (n,) or (n, p)."""
    x, roots, f = _samples(task)
    start = task.sample().astype(np.float64)
    unit = units(f, start)
    return _solve(task, x, roots, f=f / unit, start=start / unit, direct=direct) * unit


def _samples(task: Task) -> tuple[Floats, Float64, Float64]:
    """Return the samples (M, dim+1), roots of their weights (M,), and the target there, (M,) or (M, p)."""
    n, dim, samples = len(task.rows), task.dim, task.samples
    if samples is None or np.isscalar(samples) or (isinstance(samples, np.ndarray) and samples.ndim == 0):
        count = OVERSAMPLING * n if samples is None else samples
        count = _checks.integer(count, "samples", minimum=1, maximum=MAX_POINTS)
        _checks.memory(24.0 * count * (dim + 1), f"{count} samples of S^{dim}", "take fewer 'samples'")
        samples = EqualMeasurePartition(dim, count) if dim <= PARTITION_DIM else sobol(dim, count, 0)
    x, weights = nodes(samples, "samples")
    _checks.same_sphere(x, "samples", task.dim, owner="the control points' sphere")
    if len(x) < n and task.ridge == 0.0:
        raise ValueError(
            f"'samples' must be at least as many as the {n} control points, got {len(x)}: take more, or give a "
            "'regularization'"
        )
    if weights is None:
        weights = np.full(len(x), 1.0 / len(x))
    elif weights.min() < 0.0:
        raise ValueError(f"'samples' must have weights of at least 0, got {weights.min():g}: pass the bare rows")
    return x, np.sqrt(weights), sample(task.target, x, "samples").astype(np.float64)


def _solve(task: Task, x: Floats, roots: Float64, *, f: Float64, start: Float64 | None, direct: float) -> Float64:
    """Minimise over the correction of the start, by a factorisation or by iteration; warn of samples too few."""
    rows, concentration, ridge = task.rows, task.concentration, task.ridge
    if float(len(x)) * len(rows) > direct:
        values = iteration.least_squares(x, roots, rows, concentration=concentration, f=f, ridge=ridge, start=start)
    else:
        remedy = "take fewer points or 'samples'"
        if start is None:
            a = matrix(x, rows, concentration, remedy=remedy)
        else:
            a = softmax_weights(squared_distances(x, rows, remedy), concentration)
        residual = f if start is None else f - a @ start
        change = _factorise(roots[:, None] * a, (roots * residual.T).T, ridge)
        values = change if start is None else start + change
    _warn_of_samples(task, f, values, normalize=start is not None)
    return values


def _warn_of_samples(task: Task, f: Float64, values: Float64, *, normalize: bool) -> None:
    """Warn where the samples do not determine the values."""
    largest, size = float(np.abs(values).max()), float(np.abs(f).max())
    between = (
        0.0 if normalize else float(np.abs(sums(task.rows, task.rows, values, concentration=task.concentration)).max())
    )
    rounding = float(np.finfo(float).eps) * largest
    remedy = "take a smaller concentration, more 'samples', or give a 'regularization'"
    if between > OVERSHOOT * size:
        _checks.warn_inaccurate(
            f"'concentration' is too large for these samples: between them the head is up to {between / size:.2g} "
            f"times the target; {remedy}"
        )
    elif size > 0.0 == largest and not task.ridge and not normalize:
        _checks.warn_inaccurate(f"'concentration' is too large for these samples: no kernel reaches them; {remedy}")
    elif rounding > ACCURACY * size > 0.0:
        _checks.warn_inaccurate(
            f"'concentration' is too small for these points: values of up to {largest / size:.2g} times the target "
            f"cancel, and their rounding adds {rounding / size:.1g} of it; take a larger concentration, or give a "
            "'regularization'"
        )


def _factorise(a: Float64, right: Float64, ridge: float) -> Float64:
    """Return the solution of least norm, by Householder reflections, then with pivots for the triangle that is left."""
    from scipy.linalg import lstsq, qr

    if ridge > 0.0:
        a = np.concatenate([a, math.sqrt(ridge) * np.eye(a.shape[1])])
        right = np.concatenate([right, np.zeros((a.shape[1], *right.shape[1:]))])
    n, table = a.shape[1], right.reshape(len(right), -1)
    bordered = np.concatenate([a, table], axis=1)
    (triangle,) = interruptible(lambda: qr(bordered, mode="r", overwrite_a=True, check_finite=False))  # (rows, n+p)
    small, rotated = triangle[:n, :n], triangle[:n, n:]  # (n, n), (n, p)
    options = {"cond": _NEGLIGIBLE, "lapack_driver": "gelsy", "check_finite": False}
    solution = interruptible(lambda: lstsq(small, rotated, **options))[0]
    return np.asarray(solution).reshape(n, *right.shape[1:])
