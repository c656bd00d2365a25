"""What can be done with heads that are sums of kernels: fitting them to data, their gradients, turning them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Floats
from ..partition import EqualMeasurePartition
from ..points import PointSet
from ..points.operations import isometry
from ..summation.evaluation import LARGEST_CONCENTRATION
from . import fitting, gradient
from .head import Head


class KernelHead(Head):
    """A head that is a sum of kernels ``exp(-concentration |x - b_k|^2 / 2)``, or the quotient of two such sums."""

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        *,
        n: int | None = None,
        concentration: float | None = None,
        regularization: float | None = None,
        weights: ArrayLike | None = None,
        rng: object = None,
    ) -> Self:
        """Make a head that approximates data: values, noisy or not, at points of the sphere.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        y : array_like, shape (m,) or (m, p)
            Values at these points.
        n : int, optional
            Number of control points, at most m; None means 300, or m where that is less. They are centres of k-means,
            started from rows that are far apart, and do not depend on y; if no more than n rows are distinct, these are
            the control points.
        concentration : float, optional
            lambda, at least 0. None takes one that is best in cross-validation: of a grid that goes up by factors of 2,
            then refined to a factor of 2**(1/4), or 2**(1/2) if n is above 300.
        regularization : float, optional
            mu > 0. A core head has the values v that minimise ``|K v - y|^2 + mu v^T A v``, with the kernel's matrix K
            between x and the control points and A among these: kernel ridge regression, if these are all rows. A split
            head has those that minimise ``|W v - y|^2 + mu |v - c|^2`` for the best number c, with the softmax W. None
            takes the mu that is best in cross-validation. The least is some 2e-15 times the largest squared singular
            value of ``K A**-0.5``, or of W less its columns' means: rounding errors hide what is smaller.
        weights : array_like, shape (m,), optional
            Weights of the rows' squares, at least 0 and not all 0; None means 1 each. A weight of 2 counts as the row
            twice, 0 as if it were left out.
        rng : None, int or numpy.random.Generator
            Draws the row that k-means starts from.

        Returns
        -------
        CoreHead, SplitHead or ClassicalHead
            As the class; a classical head with its usual interaction. With float32 arrays if x and y are float32.

        Raises
        ------
        TypeError, ValueError
            If the rows have no unit length, y does not fit, an option is out of its range, or m n is too large.

        Notes
        -----
        Cross-validation leaves out each row in turn, and all that are equal to it, in closed form, with the control
        points kept: the weighted mean squared error over rows, summed over columns. The work is a few dozen times
        m n^2.

        References
        ----------
        Golub, Heath and Wahba (1979), Generalized cross-validation as a method for choosing a good ridge parameter;
        Dhillon and Modha (2001), Concept decompositions for large sparse text data using clustering.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead, sphere
        >>> x = sphere.uniform(2, 400, rng=0)
        >>> noise = np.random.default_rng(1).normal(0.0, 0.1, 400)
        >>> head = SplitHead.fit(x, np.sin(3 * x[:, 2]) + noise, n=60, rng=0)
        >>> bool(np.sqrt(np.mean((head(x) - np.sin(3 * x[:, 2])) ** 2)) < 0.04)  # less than half the noise is left
        True
        """
        chosen = fitting.fit(
            x,
            y,
            n=n,
            normalize=cls._normalize,
            concentration=concentration,
            regularization=regularization,
            weights=weights,
            rng=rng,
        )
        return cls(chosen.control_points, chosen.values, chosen.concentration)

    def gradient(
        self, x: ArrayLike, *, method: str = "auto", rtol: float | None = 1e-14, workers: int | None = None
    ) -> Floats:
        """Return the gradient on the sphere at points: tangent vectors, the slope per radian.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method : {"auto", "differences", "dense", "truncated", "harmonic", "lowrank"}
            "differences" adds multiples of ``b_k - x`` over the control points near x and keeps all digits. The others
            are sums of multiples of b_k by that method of `spherapprox.evaluate`, fast, but with an error that grows
            with the concentration, since b_k - x is small where it matters. "auto" takes the sums while concentration
            is at most ``64 (dim+1)``, where they lose about a digit, and else the differences.
        rtol : float or None, default 1e-14
            What may be left out on purpose: by sums as in `spherapprox.evaluate`, by differences in each row this times
            ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the v_k. None leaves out nothing.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        ndarray, shape (m, dim+1), or (m, p, dim+1) for values of p columns
            ``[i, j]`` is the gradient of column j at ``x[i]``, orthogonal to ``x[i]`` to rounding. float32 if x,
            control points and values all are, computed in float64, else float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or an option is out of its range.

        Notes
        -----
        With ``e_k = exp(-lambda |x - b_k|^2 / 2)`` it is, of a core head, the tangent part of
        ``lambda sum_k v_k e_k (b_k - x)``, of a split head that of the same sum for ``v_k - h(x)``, over ``sum_k e_k``.
        For ``lambda`` from 1 to 1e8 and control points at distances near ``lambda**-0.5``, the error of "differences"
        is at most 1e-15 times ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the v_k; that of
        the sums is ``lambda**0.5`` times as large.

        References
        ----------
        docs/theorems.md, 4.15.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import CoreHead
        >>> CoreHead([[1.0, 0.0]], [1.0], 2.0).gradient([[0.6, 0.8]]).round(6)  # 2 exp(-0.8) (b - <b, x> x)
        array([[ 0.575141, -0.431356]])
        """
        rows = _checks.rows(x, dim=self.dim)
        gradient.check(method, rtol)
        concentration = _checks.concentration(self.concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
        b, table = self.control_points, self.values.reshape(len(self), -1)
        vectors = gradient.gradients(
            rows, b, table, concentration, self._normalize, method, rtol, _checks.workers(workers)
        )
        result: Floats = vectors[:, 0] if self.values.ndim == 1 else vectors
        return result.astype(np.result_type(rows, b, self.values), copy=False)

    def rotate(self, R: Any, *, vectors: bool = False) -> Self:
        """Return the head that is this one turned by R: at x it is what this one is at ``R^T x``.

        Parameters
        ----------
        R : array_like, shape (dim+1, dim+1), or scipy.spatial.transform.Rotation
            An orthogonal matrix to 1e-10, reflections included, such as ``scipy.stats.special_ortho_group.rvs(dim+1)``
            draws; for dim = 2 also a single `Rotation`.
        vectors : bool, default False
            Whether the rows of values are vectors of R^(dim+1), such as tangent vectors, that turn with the sphere:
            ``values_k`` becomes ``R values_k``. Else each column is a number for itself, and values stay as they are.

        Returns
        -------
        CoreHead or SplitHead
            Its `points` are turned as well: a `PointSet` stays one, a partition becomes a `PointSet` with the radius of
            its cells as covering radius, provided that they are the control points.

        Raises
        ------
        TypeError, ValueError
            If R is of another shape or not orthogonal, or the values are not such vectors.

        Examples
        --------
        >>> from spherapprox import CoreHead
        >>> head = CoreHead([[1.0, 0.0]], [1.0], 2.0).rotate([[0.0, -1.0], [1.0, 0.0]])  # by 90 degrees
        >>> head.control_points + 0.0, head([[0.0, 1.0]])
        (array([[0., 1.]]), array([1.]))
        """
        matrix, values = isometry(R, self.dim), self.values
        if _checks.flag(vectors, "vectors"):
            if values.shape[1:] != (self.dim + 1,):
                raise ValueError(
                    f"'vectors' must be False for values of shape {values.shape}: only rows of {self.dim + 1} numbers, "
                    f"vectors of R^{self.dim + 1}, turn with the sphere"
                )
            values = (values @ matrix.T).astype(values.dtype, copy=False)
        points, rows = self.points, self.control_points
        if isinstance(points, EqualMeasurePartition):
            points = PointSet(points.centers(), covering_radius=points.cell_radius())
        if isinstance(points, PointSet) and np.array_equal(points.points, rows):
            points = points.rotate(matrix)
            return replace(self, control_points=points.points, values=values, points=points)
        rows = (rows @ matrix.T).astype(rows.dtype, copy=False)
        return replace(self, control_points=rows, values=values, points=None)
