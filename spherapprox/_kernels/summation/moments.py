"""Moments of the tangent vectors from a point to the control points, under softmax weights.

For each evaluation point x the squared distances of control points come first, in vectors, but those of boxes too far
away; tangent vectors are taken only where the exponential of the excess over the smallest counts.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit


@njit
def _distances(x, boxes, least, largest):
    """Write the squares of the least and the largest distance from x to boxes (2d, B); return the least of these."""
    least[:] = 0.0
    largest[:] = 0.0
    for j in range(x.size):
        for k in range(least.size):
            below, above = boxes[j, k] - x[j], x[j] - boxes[x.size + j, k]
            out, through = max(below, above), min(below, above)
            out = max(out, 0.0)
            least[k] += out * out
            largest[k] += through * through
    bound = np.inf
    for k in range(largest.size):
        bound = min(bound, largest[k])
    return bound


@njit
def _squares(x, b, first, t):
    """Write ``|x - b_k|^2`` for k from `first` on into t, and return the smallest."""
    t[:] = 0.0
    for j in range(x.size):
        column = b[j][first : first + t.size]
        for k in range(t.size):
            difference = column[k] - x[j]
            t[k] += difference * difference
    least = np.inf
    for k in range(t.size):
        least = min(least, t[k])
    return least


@njit
def _near(x, b, boxes, size, room, least, largest, near_boxes, t, ids):
    """List the control points whose square exceeds the smallest by less than `room`; return their number, and it."""
    n, boxed, count, nearest = b.shape[1], 0, 0, np.inf
    # Step 1: the squares of those in boxes that may hold such points
    bound = (_distances(x, boxes, least, largest) + room) * (1.0 + 1e-12)
    for k in range(least.size):
        if least[k] <= bound:
            near_boxes[boxed] = k * size
            length = min(size, n - k * size)
            nearest = min(nearest, _squares(x, b, k * size, t[count : count + length]))
            boxed += 1
            count += length
    # Step 2: the points themselves
    n_near = count = 0
    for first in near_boxes[:boxed]:
        for k in range(first, min(first + size, n)):
            ids[n_near], t[n_near] = k, t[count]
            n_near += t[count] - nearest < room
            count += 1
    return n_near, nearest


@njit
def _logarithm(x, b, k, t, v):
    """Write into v the tangent vector at x that points to b_k, of length the angle, and return the angle.

    Differences from the nearer one of x and -x keep the digits of both; at the antipode it is that of some axis.
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
def tangent_moments(x, b, boxes, size, rate, room, first, second, third):
    """Write the moments at each row of x (m, d): first (m, d), second (m, d, d) and third (m,).

    The control points are the columns of b (d, n), those of ``boxes`` (2d, B) `size` after each other: their least and
    largest coordinates. Those count whose squared distance exceeds the smallest by less than `room`.
    """
    d, n = b.shape
    t, v, ids = np.empty(n), np.empty(d), np.empty(n, np.int64)
    least, largest, near_boxes = np.empty(boxes.shape[1]), np.empty(boxes.shape[1]), np.empty(boxes.shape[1], np.int64)
    mean, products = np.empty(d), np.empty((d, d))
    for i in range(x.shape[0]):
        row = x[i]
        count, nearest = _near(row, b, boxes, size, room, least, largest, near_boxes, t, ids)
        total = cube = 0.0
        mean[:] = 0.0
        products[:] = 0.0
        for k in range(count):
            e = math.exp(-rate * (t[k] - nearest))
            angle = _logarithm(row, b, ids[k], t[k], v)
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
