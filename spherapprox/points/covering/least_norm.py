"""The point of least norm in the convex hull of given points, which gives the smallest cap that holds them."""

from __future__ import annotations

import numpy as np

from ..._types import Float64, Int64

_EPS = float(np.finfo(np.float64).eps)
MULTIPLICATIONS = 2e10
"""Multiplications after which the search stops where it is: the hull's point found so far is still one of the hull."""


def least_norm(x: Float64, *, multiplications: float = MULTIPLICATIONS) -> tuple[Float64, Int64, Float64]:
    """Return the hull's point of least norm, the rows that span it and their weights, by Wolfe's algorithm.

    The point is a convex combination of the rows whatever rounding does: where the search ends early, at the latest
    after so many multiplications, its norm is too large, never too small (Mathematical Programming 11 (1976) 128-149).
    """
    n, d = x.shape
    index = np.array([int(np.argmax(x @ x.mean(axis=0)))])
    weights, corral = np.ones(1), _Corral(x[index])
    point = x[index[0]]
    for _ in range(min(20 * (d + 10), int(multiplications / (n * d)) + 10)):
        # Step 1: the row farthest on the other side of the hyperplane through the point, or the end
        norm2, score = float(point @ point), x @ point
        new = int(np.argmin(score))
        if norm2 - score[new] <= 4.0 * _EPS * np.sqrt(norm2) or norm2 <= _EPS**2 or new in index:
            break
        if not corral.append(x[new]):
            break
        # Step 2: the point of least norm with that row
        trial, shares = _shrink(np.append(index, new), np.append(weights, 0.0), corral)
        candidate = shares @ x[trial]
        if float(candidate @ candidate) >= norm2:  # rounding: no more to gain
            break
        point, index, weights = candidate, trial, shares
    return point, index, weights


def _shrink(index: Int64, weights: Float64, corral: _Corral) -> tuple[Int64, Float64]:
    """Walk towards the affine hull's point of least norm, dropping rows whose weight would become negative."""
    while True:
        target = corral.solve()
        if (target > 0.0).all():
            return index, target / target.sum()
        falls = target <= 0.0
        share = weights[falls] / np.maximum(weights[falls] - target[falls], np.finfo(np.float64).tiny)
        step = min(1.0, float(share.min()))
        weights = np.maximum(weights + step * (target - weights), 0.0)
        weights[np.flatnonzero(falls)[int(np.argmin(share))]] = 0.0
        keep = weights > 0.0
        corral.remove(np.flatnonzero(~keep))
        index, weights = index[keep], weights[keep] / weights[keep].sum()


class _Corral:
    """QR factors of the columns (1, x_k) of the rows in use."""

    def __init__(self, x: Float64) -> None:
        self._q, self._r = np.linalg.qr(np.vstack([np.ones(len(x)), x.T]))

    def remove(self, places: Int64) -> None:
        """Remove columns, by rotations."""
        from scipy.linalg import qr_delete

        for k in places[::-1]:
            self._q, self._r = qr_delete(self._q, self._r, int(k), which="col", check_finite=False)
            width = self._r.shape[1]  # square factors stay square
            self._q, self._r = self._q[:, :width], self._r[:width]

    def append(self, row: Float64) -> bool:
        """Add a column by Gram-Schmidt, done twice; False if it depends on the others."""
        column = np.concatenate([[1.0], row])
        first = self._q.T @ column
        across = column - self._q @ first
        second = self._q.T @ across
        across -= self._q @ second
        length = float(np.sqrt(across @ across))
        if length < 32.0 * _EPS:
            return False
        k = len(first)
        r = np.zeros((k + 1, k + 1))
        r[:k, :k], r[:k, k], r[k, k] = self._r, first + second, length
        self._q, self._r = np.column_stack([self._q, across / length]), r
        return True

    def solve(self) -> Float64:
        """Return the affine weights, of sum 1, of the point of least norm."""
        from scipy.linalg import solve_triangular

        z = solve_triangular(self._r, np.ones(len(self._r)), trans="T", check_finite=False)
        weights = solve_triangular(self._r, z, check_finite=False)
        return np.asarray(weights / weights.sum())
