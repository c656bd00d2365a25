"""Moments of the tangent vectors from a point to the control points, under softmax weights.

For each evaluation point x the squared distances of all control points come first, in one vectorised pass; tangent
vectors are taken only where the exponential of the excess over the smallest counts.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit

__all__ = ["tangent_moments"]


@njit
def _squares(x, b, t):
    """Write ``|x - b_k|^2`` into t, and return the smallest."""
    t[:] = 0.0
    for j in range(x.size):
        for k in range(t.size):
            difference = b[j, k] - x[j]
            t[k] += difference * difference
    least = np.inf
    for k in range(t.size):
        least = min(least, t[k])
    return least


@njit
def _logarithm(x, b, k, t, v):
    """Write into v the tangent vector at x that points to b_k, of length the angle, and return the angle.

    Differences from the nearer one of x and -x keep the digits of both. At the antipode, to which every direction
    leads, it is that of the axis that is farthest from x.
    """
    side = 1.0 if t <= 2.0 else -1.0
    along = square = chord = 0.0
    for j in range(x.size):
        v[j] = b[j, k] - side * x[j]
        chord += v[j] * v[j]
        along += x[j] * v[j]
    for j in range(x.size):
        v[j] -= along * x[j]
        square += v[j] * v[j]
    near = 2.0 * math.asin(min(0.5 * math.sqrt(chord), 1.0))
    angle = near if side > 0.0 else math.pi - near
    if square < 1e-300 and side < 0.0:
        axis = np.argmin(np.abs(x))
        square = 1.0 - x[axis] * x[axis]
        for j in range(x.size):
            v[j] = (1.0 if j == axis else 0.0) - x[axis] * x[j]
    scale = angle / math.sqrt(square) if square >= 1e-300 else 0.0
    for j in range(x.size):
        v[j] *= scale
    return angle


@njit
def tangent_moments(x, b, rate, reach, first, second, third):
    """Write the moments at each row of x (m, d): first (m, d), second (m, d, d) and third (m,).

    The control points are the columns of b (d, n); of them those count whose exponent is less than `reach` above the
    smallest.
    """
    d, n = b.shape
    t, v, near = np.empty(n), np.empty(d), np.empty(n, np.int64)
    mean, products = np.empty(d), np.empty((d, d))
    for i in range(x.shape[0]):
        row = x[i]
        least = _squares(row, b, t)
        count = 0
        for k in range(n):
            near[count] = k
            count += rate * (t[k] - least) < reach
        total = cube = 0.0
        mean[:] = 0.0
        products[:] = 0.0
        for k in near[:count]:
            e = math.exp(-rate * (t[k] - least))
            angle = _logarithm(row, b, k, t[k], v)
            total += e
            cube += e * (angle * angle * angle)
            for j in range(d):
                product = e * v[j]
                mean[j] += product
                for h in range(j + 1):
                    products[j, h] += product * v[h]
        third[i] = cube / total
        for j in range(d):
            first[i, j] = mean[j] / total
            for h in range(j + 1):
                second[i, j, h] = second[i, h, j] = products[j, h] / total
