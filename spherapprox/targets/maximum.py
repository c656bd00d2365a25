"""Proven bounds of the largest norm and slope of a vector field on S^2 with polynomial components."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, harmonics
from .._norms import unit_of
from .._types import Float64
from ..harmonics.columns import coefficient_table, factors
from ..harmonics.rounding import mean_size, sum_rounding
from ..harmonics.sums import summed_directly
from ..harmonics.turns import turn_coefficients

_COARSEST = 0.2  # the first grid's slack: at degree n it has some 25 n^2 cells
_DIVISION = 2  # a cell that may hold the maximum is cut into 2 by 2
MOST_CELLS = 4_000_000
"""A grid has no more cells: reached by fields whose length hardly varies, of which nothing can be discarded."""


class FieldMaximum(NamedTuple):
    """Upper bounds of ``sup |f|`` and of ``sup ||Df||``, which is the best Lipschitz constant, and values attained."""

    sup_norm: float
    lipschitz: float
    attained_value: float
    attained_slope: float


def field_maximum(coefficients: ArrayLike, *, normalization: str = "orthonormal", slack: float = 1e-5) -> FieldMaximum:
    """Return proven bounds of a polynomial vector field's largest norm and largest slope on S^2.

    The coefficients, shape ((K+1)**2, p), are those of `harmonics.synthesize`. The bounds of ``sup |f|`` and of
    ``sup ||Df||``, the operator norm of the derivative from tangent vectors to R^p, exceed the true maxima by at most a
    factor ``1/(1 - slack)``, slack in [1e-8, 0.2]. A field whose length, or whose slope, hardly varies needs some
    ``5 n**2 / slack`` cells, and ValueError says so where these are too many.

    docs/theorems/6.1-polynomial-maximum.md (vector fields): at the grid point nearest to where the maximum M is
    attained the norm is at least ``M cos(n d)``, with n the degree and d the covering radius. The grid is refined where
    that leaves room only: cells whose midpoint has less cannot hold the maximum. `harmonics.bandlimited_maximum` says
    what rounding adds.

    Examples
    --------
    >>> from spherapprox.targets.maximum import field_maximum
    >>> field = [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0]]  # x -> (2 x_1, x_2)
    >>> maximum = field_maximum(field, normalization="schmidt")
    >>> round(maximum.sup_norm, 3), round(maximum.lipschitz, 3)
    (2.0, 2.0)
    """
    table, max_degree = coefficient_table(coefficients)
    _checks.shaped(table, "coefficients", ("(K+1)^2", "p"))
    slack = _checks.real(slack, "slack", minimum=1e-8, maximum=_COARSEST)
    factor, degree = factors(max_degree, normalization), harmonics.degrees(max_degree)
    n = int(degree[np.any(table != 0.0, axis=1)].max(initial=0))
    table, degree = table[: (n + 1) ** 2], degree[: (n + 1) ** 2]
    if n == 0:
        constant = math.hypot(*harmonics.synthesize(table, [[0.0, 0.0, 1.0]], normalization=normalization)[0])
        return FieldMaximum(constant, 0.0, constant, attained_slope=0.0)
    unit = unit_of(table)
    table = table / unit * factor[degree][:, None]
    # 6.3: the turns L_a f about three axes have, as a matrix, the norm of Df
    turns = np.concatenate([turn_coefficients(table, axis) for axis in range(3)], axis=1)
    rounding = sum_rounding(n)
    value_error, slope_error = rounding * mean_size(table), rounding * mean_size(table, order=1)

    def norm(x: Float64) -> Float64:
        return np.asarray(np.linalg.norm(summed_directly(table, n, x), axis=0))

    def slope(x: Float64) -> Float64:
        matrices = summed_directly(turns, n, x).T.reshape(len(x), 3, -1)
        return np.asarray(np.linalg.norm(matrices, 2, axis=(1, 2)))

    value_low, value_high = _largest(norm, n, slack, error=value_error)
    slope_low, slope_high = _largest(slope, n, slack, error=slope_error)
    return FieldMaximum(*(unit * size for size in (value_high, slope_high, value_low, slope_low)))


def _largest(
    size: Callable[[Float64], Float64], n: int, slack: float, *, error: float, most_cells: int = MOST_CELLS
) -> tuple[float, float]:
    """Return a lower and an upper bound of the maximum of `size`, a norm as in 6.1 of degree n, computed to `error`."""
    # Step 1: a grid of cells, counts along a meridian and twice as many along a parallel, within a radius of midpoints
    half = 2.0 * math.asin(math.sin(0.5 * (math.acos(1.0 - _COARSEST) / n)) / math.sqrt(2.0))
    count = math.ceil(0.5 * math.pi / half)
    half = 0.5 * math.pi / count
    edges = (2.0 * np.arange(2 * count) + 1.0) * half
    theta, phi = (axis.ravel() for axis in np.meshgrid(edges[:count], edges, indexing="ij"))
    best = 0.0
    while True:
        # Step 2: the values at the midpoints, and the factor of 6.1
        values = size(_points(theta, phi))
        best = max(best, float(values.max()))
        share = math.cos(n * (2.0 * math.asin(math.sqrt(2.0) * math.sin(0.5 * half)) + 1e-15))  # angles' rounding
        if 1.0 - share <= slack:
            return max(0.0, best - error), (best + error) * (1.0 + 1e-14) / share
        # Step 3: the cells that may hold the maximum, cut into smaller ones
        mask = values + error >= (best - error) * share
        if int(mask.sum()) * _DIVISION**2 > most_cells:
            raise ValueError(
                f"'slack' must be larger for a field of degree {n} that hardly varies in size, got {slack:g}: "
                f"{1.0 - share:.2g} is reached"
            )
        steps = (np.arange(_DIVISION) - 0.5 * (_DIVISION - 1)) * (2.0 * half / _DIVISION)
        down, across = (axis.ravel() for axis in np.meshgrid(steps, steps, indexing="ij"))
        # (cells _DIVISION^2,)
        theta, phi = (theta[mask, None] + down).ravel(), (phi[mask, None] + across).ravel()
        half /= _DIVISION


def _points(theta: Float64, phi: Float64) -> Float64:
    """Return points of S^2 from colatitude and longitude."""
    return np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)
