"""Coefficients of the derivatives of polynomials on S^2 as they are turned about the axes of R^3."""

from __future__ import annotations

import math

import numpy as np

from .._types import Float64
from .columns import degrees


def turn_coefficients(coefficients: Float64, axis: int) -> Float64:
    """Return the coefficients ((n+1)^2, p) of a polynomial's derivative as it is turned about a coordinate axis of R^3.

    ``L_a f(x)`` is the derivative of ``f(R x)`` by the angle of R: in `synthesize`'s order it takes two terms of the
    same degree, of the orders beside that of the result.
    """
    k = degrees(math.isqrt(len(coefficients)) - 1)
    column = np.arange(len(coefficients))
    m = column - k * k - k
    mirrored = coefficients[column - 2 * m]  # cosines for sines
    if axis == 2:
        return np.asarray(m[:, None] * mirrored)
    size, away = np.abs(m), np.where(m < 0, -1, 1)
    # i L_x and L_y are half the sum and the difference of the ladder operators; of real harmonics, order 0 has sqrt(2)
    out = np.sqrt((k - size) * (k + size + 1.0) * np.where(size == 0, 2.0, 1.0))
    inward = np.sqrt((k - size + 1.0) * (k + size) * np.where(size == 1, 2.0, 1.0))
    inward[(m == 0) | (m == (1 if axis == 0 else -1))] = 0.0  # as order 0 has no sine
    out, inward = (-away * out, -away * inward) if axis == 0 else (out, -inward)
    source = mirrored if axis == 0 else coefficients
    outer, inner = (source[np.clip(column + step, 0, len(m) - 1)] for step in (away, -away))
    return np.asarray(0.5 * (out[:, None] * outer + inward[:, None] * inner))
