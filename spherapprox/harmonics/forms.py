"""Symmetric forms on tangent spaces of S^m: derivatives of functions at points, and forms from values in directions."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Float64


@dataclass(frozen=True, eq=False)
class TangentDerivatives:
    """A function's value and derivatives at points, in orthonormal bases of the tangent spaces.

    Attributes
    ----------
    value : ndarray, shape (n, p)
    first, second, third : ndarray, shape (n, p, m), (n, p, m, m), (n, p, m, m, m)
        Symmetric forms: the r-th derivative along the geodesic with unit velocity ``u = sum_i a_i e_i`` is
        ``sum_ij.. T_ij.. a_i a_j ..``. `third` is None where it was not asked for.
    frame : ndarray, shape (n, m, m+1)
        The basis e_1, ..., e_m at each point.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import harmonics
    >>> derivatives = harmonics.PolynomialDerivatives(lambda x: x[:, :2], dim=3, degree=1)(np.eye(4))
    >>> derivatives.value.shape, derivatives.first.shape, derivatives.second.shape, derivatives.frame.shape
    ((4, 2), (4, 2, 3), (4, 2, 3, 3), (4, 3, 4))
    """

    value: Float64
    first: Float64
    second: Float64
    third: Float64 | None
    frame: Float64

    def at(self, rows: Any) -> TangentDerivatives:
        """Return the derivatives at some of the points.

        Parameters
        ----------
        rows : slice or array_like
            An index of the points.

        Returns
        -------
        TangentDerivatives

        Raises
        ------
        IndexError
            If there are no points with this index.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import harmonics
        >>> derivatives = harmonics.PolynomialDerivatives(lambda x: x[:, 0], dim=3, degree=1)(np.eye(4))
        >>> derivatives.at(slice(2)).first.shape
        (2, 1, 3)
        """
        third = None if self.third is None else self.third[rows]
        return TangentDerivatives(
            self.value[rows], self.first[rows], self.second[rows], third=third, frame=self.frame[rows]
        )


def tangent_frame(x: Float64) -> Float64:
    """Return orthonormal bases (n, m, m+1) of tangent spaces, by the reflection of the last axis to -x or x."""
    sign = np.where(x[:, -1:] < 0.0, -1.0, 1.0)
    v = x + sign * np.eye(x.shape[1])[-1]  # (n, m+1)
    frame = -(x[:, :-1, None] / (1.0 + np.abs(x[:, -1:, None]))) * v[:, None, :]  # (n, m, m+1)
    return np.asarray(frame + np.eye(x.shape[1])[:-1])


def directions(m: int, order: int) -> Float64:
    """Return unit vectors of R^m at which the values of a form of degree `order` or less determine it.

    With the axes e_i: (e_i + e_j)/sqrt 2, for cubic forms (e_i - e_j)/sqrt 2 too, and sums of three axes.
    """
    axes = np.eye(m)
    pairs, triples = itertools.combinations(axes, 2), itertools.combinations(axes, 3)
    rows = [*axes, *(math.sqrt(0.5) * (a + s * b) for a, b in pairs for s in ((1.0,), (1.0, -1.0))[order - 2])]
    if order == 3:
        rows += [math.sqrt(1.0 / 3.0) * (a + b + c) for a, b, c in triples]
    return np.array(rows)


def form_inverse(m: int, degree: int, order: int) -> Float64:
    """Return the matrix (m^degree, directions) that takes the values of a form at `directions` to its components."""
    u = directions(m, order)
    powers = u
    for _ in range(degree - 1):
        powers = (powers[:, :, None] * u[:, None, :]).reshape(len(u), -1)  # (directions, m^r)
    return np.asarray(np.linalg.pinv(powers))
