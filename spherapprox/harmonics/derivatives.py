"""Derivatives of spherical polynomials on S^m, exact from their values along great circles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import slices
from .._types import Float64
from .forms import TangentDerivatives, directions, form_inverse, tangent_frame
from .projection import project
from .sums import summed_directly
from .turns import turn_coefficients

Function = Callable[[Any], ArrayLike]

_TABLE_DEGREE = 256
"""On S^2 derivatives of polynomials to this degree are expanded in harmonics: their values along circles cost more."""
_VALUES = 2**20  # values of the function that are taken in one call
LARGEST_DEGREE = 10_000


def circle_weights(degree: int) -> Float64:
    """Return weights (3, 2n+1) of values at the angles 2 pi k/(2n+1) for the first three derivatives at 0 (6.3)."""
    n, q = degree, 2 * degree + 1
    j, k = np.arange(1, n + 1.0), np.arange(q)
    # 6.3 (1); exact residues keep the angles' digits
    angle = (2.0 * math.pi / q) * (np.outer(k, j) % q)
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.asarray((2.0 / q) * np.stack([sine @ j, -(cosine @ j**2), -(sine @ j**3)]))


class PolynomialDerivatives:
    """The first three derivatives of a spherical polynomial on S^m, at any points.

    Parameters
    ----------
    function : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    dim : int
        m of the sphere S^m.
    degree : int
        n, 0 to 10000: the function is the restriction of a polynomial of this degree.

    Raises
    ------
    TypeError, ValueError
        If an argument is no function or out of its range.

    Notes
    -----
    Along a great circle the function is a trigonometric polynomial of degree n, which 2n + 1 equispaced values
    determine. On S^2 up to degree 256 the function is expanded in harmonics once, and turned about the axes: its great
    circles are turns. The r-th derivatives have an error of some ``1e-14 (n+1)^r sup|f|``, and what errors of the
    values add: up to ``(n+1)^r (2 + log(n+1))`` times the largest, on S^2 ``(n+1)^(r+1)`` times.

    References
    ----------
    docs/theorems/6.3-polynomial-derivatives.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import harmonics
    >>> square = harmonics.PolynomialDerivatives(lambda x: x[:, 0] ** 2, dim=2, degree=2)
    >>> derivatives = square(np.array([[1.0, 0.0, 0.0]]))
    >>> (derivatives.second.round(12) + 0.0).tolist()  # on every great circle through this point it is cos(t)^2
    [[[[-2.0, 0.0], [0.0, -2.0]]]]
    """

    def __init__(self, function: Function, dim: int, degree: int) -> None:
        _checks.callable_(function, "function")
        self.function = function
        self.dim = _checks.dimension(dim)
        self.degree = _checks.integer(degree, "degree", minimum=0, maximum=LARGEST_DEGREE)

    def __call__(self, x: ArrayLike, order: int = 3) -> TangentDerivatives:
        """Return the value and the derivatives up to an order at points.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Points of the sphere.
        order : {2, 3}
            Highest derivative.

        Returns
        -------
        TangentDerivatives

        Raises
        ------
        TypeError, ValueError
            If the rows are no points of S^dim, or the function returns something else than one row per point.

        Examples
        --------
        >>> from spherapprox import harmonics
        >>> wave = harmonics.PolynomialDerivatives(lambda x: 2.0 * x[:, 0], dim=1, degree=1)  # 2 cos(t)
        >>> wave([[1.0, 0.0]]).second.round(12).tolist()
        [[[[-2.0]]]]
        """
        points = _checks.rows(x, "x", dim=self.dim).astype(np.float64)
        order = _checks.integer(order, "order", minimum=2, maximum=3)
        if self._in_table:
            return self._from_table(points, order)
        step = max(1, _VALUES // self._on_circles(order))
        parts = [self._differentiate_block(points[rows], order) for rows in slices(len(points), step)]
        value, first, second, frame = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "first", "second", "frame")
        )
        third = np.concatenate([part.third for part in parts if part.third is not None]) if order == 3 else None
        return TangentDerivatives(value, first, second, third=third, frame=frame)

    @property
    def _in_table(self) -> bool:
        return self.dim == 2 and self.degree <= _TABLE_DEGREE

    @property
    def expansion(self) -> Float64 | None:
        """Schmidt's coefficients ((n+1)^2, p) of the polynomial that is differentiated; None if values on circles are.

        Examples
        --------
        >>> from spherapprox import harmonics
        >>> harmonics.PolynomialDerivatives(lambda x: x[:, 2], dim=2, degree=1).expansion.shape
        (4, 1)
        """
        if not self._in_table:
            return None
        p, columns = self._table
        return np.ascontiguousarray(columns.reshape(-1, p, 20)[:, :, 0])

    def evaluations(self, order: int = 3) -> int:
        """Return the number of values of the function that the derivatives at a point take.

        Parameters
        ----------
        order : {2, 3}
            Highest derivative.

        Returns
        -------
        int
            Those on circles; an expansion in harmonics counts as 10, from degree 31 on as ``(n+1)**2 / 100``.

        Raises
        ------
        TypeError, ValueError
            For another order.

        Examples
        --------
        >>> from spherapprox import harmonics
        >>> harmonics.PolynomialDerivatives(lambda x: x[:, 0] ** 4, dim=3, degree=4).evaluations()  # 10 circles
        81
        """
        order = _checks.integer(order, "order", minimum=2, maximum=3)
        if self._in_table:
            return max(10, (self.degree + 1) ** 2 // 100)
        return self._on_circles(order)

    def _on_circles(self, order: int) -> int:
        return 1 + 2 * self.degree * len(directions(self.dim, order))

    def _differentiate_block(self, x: Float64, order: int) -> TangentDerivatives:
        """Return the derivatives by values on the great circles in some directions."""
        n, m, q = len(x), self.dim, 2 * self.degree + 1
        frame, along = tangent_frame(x), directions(m, order)
        # Step 1: the values, those at x once
        angle = (2.0 * math.pi / q) * np.arange(1, q)
        u = np.einsum("ci,nij->ncj", along, frame)  # (n, circles, m+1)
        nodes = np.cos(angle)[:, None] * x[:, None, None, :] + np.sin(angle)[:, None] * u[:, :, None, :]
        values = self._values(x)  # (n, p)
        ring = self._values(nodes.reshape(-1, m + 1)) if q > 1 else values[:0]
        ring = ring.reshape(n, len(along), q - 1, values.shape[1])
        # Step 2: the derivatives along each circle, (3, n, circles, p)
        weights = circle_weights(self.degree)
        rates = np.einsum("rk,nckp->rncp", weights[:, 1:], ring) + weights[:, :1, None, None] * values[:, None, :]
        # Step 3: the forms that have these values
        forms = [
            np.einsum("tc,ncp->npt", form_inverse(m, r, order), rates[r - 1]).reshape(n, values.shape[1], *(m,) * r)
            for r in range(1, order + 1)
        ]
        return TangentDerivatives(values, forms[0], forms[1], third=forms[2] if order == 3 else None, frame=frame)

    def _values(self, x: Float64) -> Float64:
        values = _checks.values_for(_checks.called(self.function, x), "function(x)", len(x), owner="the points")
        return np.asarray(values.reshape(len(x), -1), dtype=np.float64)

    @cached_property
    def _table(self) -> tuple[int, Float64]:
        """The number of components p, and the coefficients of values and of their first to third turns (6.3)."""
        columns = [project(self._values, self.degree, normalization="schmidt").reshape((self.degree + 1) ** 2, -1)]
        # L_a, L_a L_b, L_a L_b L_c of the function
        turns: dict[tuple[int, ...], Float64] = {(): columns[0]}
        for r in (1, 2, 3):
            turns = {(a, *axes): turn_coefficients(part, a) for axes, part in turns.items() for a in range(3)}
            for axes in itertools.combinations_with_replacement(range(3), r):
                orders = list(itertools.permutations(axes))
                columns.append(np.mean([turns[order] for order in orders], axis=0))
        p = columns[0].shape[1]
        return p, np.stack(columns, axis=2).reshape(len(columns[0]), -1)

    def _from_table(self, x: Float64, order: int) -> TangentDerivatives:
        """Return the derivatives from the expansions of the function's turns on S^2."""
        p, coefficients = self._table
        count = 10 if order == 2 else 20
        table = coefficients.reshape(-1, p, 20)[:, :, :count].reshape(-1, p * count)
        sums = summed_directly(table, self.degree, x).T.reshape(len(x), p, count)
        e = tangent_frame(x)
        axes = np.cross(x[:, None, :], e)  # the great circle from x along e_i is the turn about the axis x times e_i
        forms: list[Float64] = []
        for r, start, end in ((1, 1, 4), (2, 4, 10), (3, 10, 20))[:order]:
            full = np.empty((len(x), p, *(3,) * r))
            components = np.array(list(itertools.combinations_with_replacement(range(3), r))).T  # a <= b <= ..
            for permutation in itertools.permutations(range(2, 2 + r)):  # a symmetric form from its sorted components
                full.transpose(0, 1, *permutation)[:, :, *components] = sums[:, :, start:end]
            for _ in range(r):  # one axis of R^3 after the other, which goes to the end
                full = np.einsum("npa...,nia->np...i", full, axes)
            forms.append(full)
        return TangentDerivatives(sums[:, :, 0], forms[0], forms[1], third=forms[2] if order == 3 else None, frame=e)
