"""The Riesz energy of points of S^m and its descent by the L-BFGS method."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._loading import load
from .._threads import each_block
from .._types import Float64

_GRADIENT = 1e-9  # largest component of the gradient at which the descent stops; a close pair's is 1 over its distance
_GAIN = 1e-14  # relative gain of a step at which the descent stops
_LEAST_TOTAL = 1e-200  # a sum of powers below it may have lost terms to underflow


class Energy:
    """The function ``n/s log(sum_{i<j} |x_i - x_j|^-s)`` of y, with x = y/|y|, and its gradient.

    For s = 0 it is n times the mean of ``-log |x_i - x_j|``. The x of the least value is remembered.
    """

    def __init__(self, x: Float64, exponent: float, workers: int | None = None) -> None:
        self.best, self.least = x, math.inf
        self._exponent, self._workers, self._scale = exponent, workers, np.ones(len(x))

    def __call__(self, y: Float64) -> tuple[float, Float64]:
        """Return the value and the gradient at y; both are vectors."""
        rows = y.reshape(self.best.shape)
        length = np.linalg.norm(rows, axis=1, keepdims=True)  # (n, 1)
        x = rows / length
        scale, nearest, total, force = self._sums(x)
        if nearest.min() == 0.0:
            return math.inf, np.zeros_like(y)
        n = len(x)
        if self._exponent > 0.0:  # sums of powers, over their largest
            unit = -0.5 * self._exponent * np.log(scale)
            logs = np.log(total) + unit
            top = float(logs.max())
            twice = float(np.exp(logs - top).sum())  # twice the energy, over exp(top)
            value = n / self._exponent * (top + math.log(0.5 * twice))
            share = 2.0 * n * np.exp(unit - top) / (twice * scale)
        else:
            value = 0.5 * float((total / (n - 1) - np.log(scale)).sum())
            share = 2.0 / ((n - 1) * scale)
        if value < self.least:
            self.best, self.least = x, value
        # the part tangent to the sphere, over |y|
        gradient = -share[:, None] * force
        gradient -= np.einsum("ij,ij->i", gradient, x)[:, None] * x
        return value, (gradient / length).ravel()

    def _sums(self, x: Float64) -> tuple[Float64, Float64, Float64, Float64]:
        """Return the kernel's scale and sums; the scale is the last sums' `nearest`, or if that fails these sums'."""
        for _ in range(2):
            scale = self._scale
            nearest, total, force = self._repulsion(x, scale)
            self._scale = nearest
            if np.isfinite(total).all() and (self._exponent == 0.0 or total.min() > _LEAST_TOTAL):
                break
        return scale, nearest, total, force

    def _repulsion(self, x: Float64, scale: Float64) -> tuple[Float64, Float64, Float64]:
        """Return nearest (n,), total (n,) and force (n, dim+1) of the repulsion, in blocks of rows."""
        load("spherapprox._kernels.points.riesz")
        from .._kernels.points.riesz import ROWS, repulsion

        n, d = x.shape
        by_axis = np.ascontiguousarray(x.T)  # (d, n)
        nearest, total, force = np.empty(n), np.empty(n), np.empty((n, d))

        def task(part: slice) -> None:
            pull = np.empty((d, len(scale[part])))
            repulsion(by_axis, part.start, self._exponent, scale[part], nearest[part], total[part], pull)
            force[part] = pull.T

        each_block(task, n, ROWS, workers=self._workers)
        return nearest, total, force


def descend(energy: Energy, steps: int, after_step: Callable[[object], object] | None) -> None:
    """Minimise the energy in at most so many steps of L-BFGS."""
    from scipy.optimize import minimize

    options = {"maxiter": steps, "maxfun": 20 * steps, "maxcor": 20, "ftol": _GAIN, "gtol": _GRADIENT}
    minimize(energy, energy.best.ravel(), jac=True, method="L-BFGS-B", callback=after_step, options=options)
