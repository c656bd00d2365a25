"""Interpolation: values by which the head equals the target at every control point.

With ``A_jk = exp(-lambda |b_j - b_k|^2 / 2)`` a core head has ``A xi = f``; a split head ``S v = f``, S = D^-1 A the
softmax matrix and D the diagonal matrix of A's row sums, hence ``A v = D f``.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from .. import _checks
from .._threads import interruptible, one_blas_thread
from .._types import Float64
from . import iteration
from .kernel import matrix, require_distinct, sums
from .task import Task, units

DIRECT = 4096
"""Up to so many control points the matrix is factorised, beyond them the system is solved by iteration. Tuned."""
ITERATED_CONDITION = 1e5  # a condition number at which the iteration takes some tens of steps
ACCURACY = 1e-10  # a relative residual above it is warned of
_RESIDUAL = 1e-13  # a relative residual up to which a Cholesky factorisation is trusted
_SMALL = 1024  # points up to which BLAS has one thread: more gain little, and wait for each other where cores are taken
_NEGLIGIBLE = 1e-15  # relative to the diagonal: pivots below it are rounding errors


def core(task: Task, *, direct: int = DIRECT) -> Float64:
    """Return xi of ``(A + regularization I) xi = f``, (n,) or (n, p), directly for at most so many points."""
    return _solve_values(task, normalize=False, direct=direct)


def split(task: Task, *, direct: int = DIRECT) -> Float64:
    """Return v of ``(A + regularization I) (v - f) = D f - A f``, (n,) or (n, p).

    Without regularization it is ``S v = f``; with ever more v tends to f, the values of "riemann".
    """
    return _solve_values(task, normalize=True, direct=direct)


def _solve_values(task: Task, *, normalize: bool, direct: int) -> Float64:
    """Solve ``(A + ridge I) x = f``, or ``(D + ridge I) f`` to `normalize`, directly or by iteration."""
    rows, ridge = task.rows, task.ridge
    if len(rows) > 1 and ridge == 0.0:
        if task.concentration == 0.0:
            raise ValueError(
                "'concentration' must be greater than 0 for coefficients='interpolation', got 0: all kernels are 1"
            )
        require_distinct(rows)
    f = task.sample().astype(np.float64)
    unit = units(f)
    n, right = len(rows), f / unit
    a = None if n > direct else matrix(rows, rows, task.concentration, remedy="take fewer points")
    if normalize:
        row_sums = sums(rows, rows, np.ones(n), concentration=task.concentration) if a is None else a.sum(axis=1)
        # 4.13 (a): v = A^-1 D f
        right = ((row_sums + ridge) * right.T).T
    if a is None:
        return iteration.solve(rows, task.concentration, right, ridge=ridge) * unit
    with one_blas_thread() if n <= _SMALL else nullcontext():
        return _factorise(a, right, ridge) * unit


def _factorise(a: Float64, right: Float64, ridge: float) -> Float64:
    """Solve ``(a + ridge I) x = right`` by Cholesky's factorisation, or by its part that is not rounding errors.

    Of that the solution is the one of least squares by the columns that a factorisation with pivots chooses.
    """
    from scipy.linalg import cho_factor, cho_solve, lapack, lstsq

    a[np.diag_indices_from(a)] += ridge
    try:
        x = interruptible(lambda: cho_solve(cho_factor(a, lower=True), right))
        if _residual(a, x, right) <= _RESIDUAL:
            return np.asarray(x)
    except np.linalg.LinAlgError:
        pass
    tolerance, x = _NEGLIGIBLE * float(a.diagonal().max()), np.zeros_like(right)
    _, pivots, rank, _ = interruptible(lambda: lapack.dpstrf(a, lower=1, tol=tolerance))
    columns = np.sort(pivots[:rank] - 1)
    options = {"cond": _NEGLIGIBLE, "lapack_driver": "gelsy", "check_finite": False}
    x[columns] = interruptible(lambda: lstsq(a[:, columns], right, **options))[0]
    residual = _residual(a, x, right)
    if residual > ACCURACY:
        _checks.warn_inaccurate(
            f"'concentration' is too small for these points and this target: the matrix is singular to rounding, and "
            f"the head meets the target at them only to {residual:.1g} of its size; take a larger concentration "
            "(coefficients.well_conditioned_concentration), or give a 'regularization'"
        )
    return x


def _residual(a: Float64, x: Float64, right: Float64) -> float:
    """Return the largest residual relative to the largest right-hand side, of the worst column."""
    with np.errstate(all="ignore"):
        gaps = np.abs(a @ x - right).reshape(len(a), -1).max(axis=0)
    size = np.abs(right).reshape(len(a), -1).max(axis=0)
    return float(np.max(gaps / np.maximum(size, np.finfo(float).tiny), initial=0.0)) if np.isfinite(x).all() else np.inf
