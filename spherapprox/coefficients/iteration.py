"""Systems of many control points, solved by iterations whose products are fast sums over the control points."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._types import Float64, Floats
from .conditioning import log_condition
from .kernel import sums
from .preconditioner import inverse_factor

ITERATIONS = 1000  # after so many an iteration has failed
TOLERANCE = 1e-12  # the residual at which conjugate gradients end, relative to the right-hand side, of each column
_STATIONARY, _CONSISTENT = 1e-10, 1e-13
"""LSMR ends where the residual's part in the range, or the residual itself, is so small, relative to the whole."""
HOPELESS = math.log(1e13)  # logarithm of a condition number at which conjugate gradients have never converged
Product = Callable[[Float64], Float64]


def solve(
    rows: Floats, concentration: float, right: Float64, *, ridge: float = 0.0, iterations: int = ITERATIONS
) -> Float64:
    """Solve ``(A + ridge I) x = right`` by preconditioned conjugate gradients, (n,) or (n, p)."""
    b = rows.astype(np.float64)
    if ridge == 0.0 and log_condition(b)(concentration) > HOPELESS:
        raise _complaint(len(b), concentration, "the matrix is singular to rounding")
    # Step 1: precondition by a sparse factor of the inverse
    factor = inverse_factor(b, concentration, ridge)
    transposed = factor.T.tocsr()

    def product(p: Float64) -> Float64:
        return sums(b, b, p, concentration=concentration) + ridge * p

    # Step 2: iterate, with products that are sums of kernels
    x, residual = conjugate_gradients(
        product, lambda r: transposed @ (factor @ r), right.reshape(len(b), -1), iterations=iterations
    )
    if residual > TOLERANCE:
        how = f"after {iterations} iterations the residual is {residual:.2g} of the target"
        raise _complaint(len(b), concentration, how)
    return x.reshape(right.shape)


def _complaint(n: int, concentration: float, how: str) -> ValueError:
    """Return the exception for an iteration that does not converge."""
    return ValueError(
        f"'concentration' is too small for {n} control points, got {concentration:g}: {how}; "
        f"take a larger one (such as {2.0 * concentration:g}), fewer points, or a larger 'regularization'"
    )


def conjugate_gradients(
    product: Product, precondition: Product, right: Float64, *, iterations: int
) -> tuple[Float64, float]:
    """Return x with ``product(x) = right`` (n, p) and the residual; columns share products, each has its own steps."""
    size = np.linalg.norm(right, axis=0)
    size[size == 0.0] = 1.0
    x, r = np.zeros_like(right), right / size
    p = z = precondition(r)
    rz = (r * z).sum(axis=0)
    residual = np.linalg.norm(r, axis=0)
    for _ in range(iterations):
        active = residual > 0.5 * TOLERANCE
        if not active.any():
            break
        q = product(p)
        step = np.where(active, rz / _replace_zeros((p * q).sum(axis=0)), 0.0)
        x += step * p
        r -= step * q
        residual = np.linalg.norm(r, axis=0)
        z = precondition(r)
        rz, before = (r * z).sum(axis=0), rz
        p = z + rz / _replace_zeros(before) * p
    true = np.linalg.norm(right / size - product(x), axis=0)
    return x * size, float(np.nan_to_num(true, nan=np.inf).max())


def _replace_zeros(a: Float64) -> Float64:
    """Replace zeros, of columns that are solved."""
    return np.where(a == 0.0, 1.0, a)


def least_squares(
    x: Floats,
    roots: Float64,
    rows: Floats,
    *,
    concentration: float,
    f: Float64,
    ridge: float,
    start: Float64 | None,
    iterations: int = ITERATIONS,
) -> Float64:
    """Minimise ``|W (H v - f)|^2 + ridge |v - start|^2`` by LSMR, W = diag(roots), H the kernel or softmax matrix.

    H^T W^2 H is near a multiple of the kernel matrix at half the concentration, whose inverse's factor preconditions.
    """
    from scipy.sparse.linalg import LinearOperator, lsmr

    x, b = x.astype(np.float64), rows.astype(np.float64)
    # Step 1: scale rows by the samples' weights and, for the softmax, by the sums of kernels
    mass = np.ones(len(x)) if start is None else 1.0 / sums(x, b, np.ones(len(b)), concentration=concentration)
    scale = roots * mass  # (m,)
    # Step 2: precondition by a sparse factor of the inverse at half the concentration
    gram = float(np.mean(sums(b, x, scale * scale, concentration=2.0 * concentration)))  # the diagonal of H^T W^2 H
    factor = inverse_factor(b, 0.5 * concentration, ridge / gram)
    transposed, root = factor.T.tocsr(), math.sqrt(ridge)

    def forward(u: Float64) -> Float64:
        v = transposed @ u.ravel()
        top = scale * sums(x, b, v, concentration=concentration)
        return np.concatenate([top, root * v]) if ridge else top

    def adjoint(u: Float64) -> Float64:
        u = u.ravel()
        v = sums(b, x, scale * u[: len(x)], concentration=concentration)
        return np.asarray(factor @ (v + root * u[len(x) :] if ridge else v))

    # Step 3: minimise over the preconditioned correction of the start, column by column
    shape = (len(x) + (len(b) if ridge else 0), len(b))
    operator = LinearOperator(shape, matvec=forward, rmatvec=adjoint, dtype=np.float64)
    table = f.reshape(len(x), -1)
    base = np.zeros((len(b), table.shape[1])) if start is None else start.reshape(len(b), -1)
    residual = table if start is None else table - sums(x, b, base, concentration=concentration, normalize=True)
    columns = []
    for column in residual.T:
        right = np.concatenate([roots * column, np.zeros(shape[0] - len(x))])
        u, stop, *_ = lsmr(operator, right, atol=_STATIONARY, btol=_CONSISTENT, conlim=0.0, maxiter=iterations)
        if stop == 7:
            raise _complaint(len(b), concentration, f"after {iterations} iterations LSMR has not converged")
        columns.append(transposed @ u)
    solution = base + np.stack(columns, axis=1)
    return np.asarray(solution.reshape(len(b), *f.shape[1:]))


def refine_values(
    f: Floats,
    rows: Floats,
    values: Floats,
    *,
    concentration: float,
    steps: int,
    normalize: bool,
    workers: int | None = None,
) -> Float64:
    """Return the values after some steps ``values + D^-1 (f - head(b))``, by which the residual is added (4.13 (c)).

    D is 1 for a split head (`normalize`), whose kernels are divided by their sum already; for a core head it is the
    sum of the kernels at each control point.
    """
    refined, scale = values.astype(np.float64), np.ones(())
    if not normalize:
        row_sums = sums(rows, rows, np.ones(len(rows)), concentration=concentration, workers=workers)
        scale = row_sums.reshape(-1, *(1,) * (refined.ndim - 1))
    for _ in range(steps):
        residual = f - sums(rows, rows, refined, concentration=concentration, normalize=normalize, workers=workers)
        refined += residual if normalize else residual / scale
    return np.asarray(refined)
