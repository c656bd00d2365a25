"""The kernel matrix ``exp(-lambda |x_j - b_k|^2 / 2)``, whole or through products with it."""

from __future__ import annotations

import numpy as np

from .. import _checks, _softmax
from .._types import Float64, Floats
from ..summation.evaluation import Arrays, checked_wish, evaluate_arrays


def matrix(x: Floats, b: Floats, concentration: float, remedy: str) -> Float64:
    """Return the kernel matrix (m, n), from differences of rows as `spherapprox.evaluate` takes it."""
    exponents = squared_distances(x, b, remedy)
    exponents *= -0.5 * concentration
    return np.asarray(np.exp(exponents, out=exponents))


def softmax_weights(squares: Float64, concentration: float) -> Float64:
    """Return the softmax (m, n) of squared distances: the kernel over its row sums, which may underflow."""
    weights = squares - squares.min(axis=1, keepdims=True)
    weights *= -0.5 * concentration
    return _softmax.softmax(weights, out=weights)


def squared_distances(x: Floats, b: Floats, remedy: str) -> Float64:
    """Return the squared distances (m, n) of rows."""
    from scipy.spatial import distance  # in this order two threads never wait for each other

    _checks.memory(32.0 * len(x) * len(b), f"a kernel matrix of {len(x)} by {len(b)} and its factors", remedy)
    return np.asarray(distance.cdist(x.astype(np.float64), b.astype(np.float64), "sqeuclidean"))


def sums(
    x: Floats, b: Floats, values: Float64, concentration: float, *, normalize: bool = False, workers: int | None = None
) -> Float64:
    """Return the head's values at x, (m,) or (m, p), in float64."""
    arrays, wish = Arrays(x.astype(np.float64), b.astype(np.float64), values), checked_wish("auto", 1e-14, workers)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize)[0].astype(np.float64, copy=False)


def require_distinct(rows: Floats) -> None:
    """Check that no point is repeated, so that no two rows of the kernel matrix are equal."""
    shifted = rows + 0.0  # -0.0 is 0.0
    order = np.lexsort(shifted.T)
    (equal,) = np.nonzero((shifted[order[1:]] == shifted[order[:-1]]).all(axis=1))
    if equal.size:
        j, k = sorted((int(order[equal[0]]), int(order[equal[0] + 1])))
        raise ValueError(
            f"'points' must be distinct for coefficients='interpolation', got the same point in rows {j} and {k}: "
            "drop one of them, or give a 'regularization'"
        )
