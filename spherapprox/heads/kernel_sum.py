"""The function of a head: a sum of kernels, or the quotient of two, as data, and with its gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _archive, _checks
from .._types import Float64, Floats
from ..partition import EqualMeasurePartition
from ..points import PointSet
from ..points.operations import isometry
from ..points.pointset import Points
from ..summation.evaluation import LARGEST_CONCENTRATION, evaluate_at
from . import gradient


@dataclass(frozen=True, eq=False, repr=False)
class KernelSum(_archive.Savable):
    """Evaluate ``sum_k values_k exp(-concentration_k |x - b_k|^2 / 2)``, or the average by softmax if normalised.

    Control points b_k, values and concentrations are checked and read-only arrays: frozen, compared, indexed, rotated.
    """

    _normalize: ClassVar[bool]

    control_points: Floats
    values: Floats
    concentration: float | Float64
    points: Points | None = None

    def __post_init__(self) -> None:
        rows = np.array(_checks.rows(self.control_points, "control_points"), order="C")
        values = np.array(_checks.values_for(self.values, "values", len(rows), owner="the control points"), order="C")
        rows.flags.writeable = values.flags.writeable = False
        object.__setattr__(self, "control_points", rows)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "concentration", _checks.concentrations(self.concentration, len(rows)))
        if isinstance(self.concentration, np.ndarray):
            self.concentration.flags.writeable = False
        if not isinstance(self.points, EqualMeasurePartition | PointSet):
            if self.points is not None and not np.array_equal(_checks.rows(self.points, "points"), rows):
                raise ValueError(
                    "'points' must be what the control points were made from, got other rows: leave it out"
                )
            object.__setattr__(self, "points", rows)
        elif (self.points.dim, len(self.points)) != (self.dim, len(rows)):
            raise ValueError(
                f"'points' must be what the control points were made from, {len(rows)} points of S^{self.dim}, "
                f"got {len(self.points)} of S^{self.points.dim}"
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or copied recipe: NumPy forgets which arrays are read-only; nothing is checked again."""
        for array in (state["control_points"], state["values"], state["concentration"]):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        self.__dict__.update(state)

    def _arguments(self) -> dict[str, Any]:
        made_from = self.points if isinstance(self.points, EqualMeasurePartition | PointSet) else None
        recipe = {"control_points": self.control_points, "values": self.values, "concentration": self.concentration}
        return recipe | {"points": made_from}

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m in R^(m+1)."""
        return int(self.control_points.shape[1]) - 1

    @property
    def _largest_concentration(self) -> float:
        """The concentration, or the largest one of the control points."""
        return float(np.max(self.concentration))

    @property
    def n_outputs(self) -> int | None:
        """Number of columns p of the outputs (n, p), None for outputs (n,)."""
        return None if self.values.ndim == 1 else self.values.shape[1]

    def __len__(self) -> int:
        return len(self.control_points)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelSum) or type(other) is not type(self):
            return NotImplemented
        # all that the head's values depend on
        mine, theirs = ({**head._arguments(), "points": None} for head in (self, other))
        pairs = ((np.asarray(value), np.asarray(theirs[name])) for name, value in mine.items())
        return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        first = (self.control_points[0], self.values.ravel()[:8], np.ravel(self.concentration)[:8])
        return hash((type(self), len(self), *(number for array in first for number in array.tolist())))

    def __call__(
        self, x: ArrayLike, *, method: str = "auto", rtol: float | None = 1e-14, workers: int | None = None
    ) -> Floats:
        """Evaluate the head at points of the sphere.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method, rtol, workers
            As in `spherapprox.evaluate`.

        Returns
        -------
        ndarray, shape (m,) or (m, p)
            float32 if x, control points and values all are, else float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or an option is out of its range.
        """
        b, values = self.control_points, self.values
        return evaluate_at(
            x, b, values, concentration=self.concentration, normalize=self._normalize, method=method, rtol=rtol,
            workers=workers,
        )  # fmt: skip

    def gradient(
        self, x: ArrayLike, *, method: str = "auto", rtol: float | None = 1e-14, workers: int | None = None
    ) -> Floats:
        """Evaluate the gradient on the sphere: tangent vectors, the slope per radian.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method : {"auto", "differences", "dense", "truncated", "harmonic", "lowrank"}
            "differences" adds multiples of ``b_k - x`` over the control points near x and keeps all digits. The others
            are sums of multiples of b_k by that method of `spherapprox.evaluate`, fast, but with an error that grows
            with the concentration, since b_k - x is small where it matters. "auto" takes the sums while the largest
            concentration is at most ``64 (dim+1)``, where they lose about a digit, and else the differences.
        rtol : float or None, default 1e-14
            What may be left out on purpose: by sums as in `spherapprox.evaluate`, by differences in each row this times
            ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the v_k. None leaves out nothing, and
            so do differences where control points have concentrations of their own.
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
        For ``lambda`` from 1 to 1e8 and a dozen control points at distances near ``lambda**-0.5``, the error of
        "differences" is at most 1e-15 times ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the
        v_k; that of the sums is ``lambda**0.5`` times as large. Where all are farther, it grows with the exponents.

        References
        ----------
        docs/theorems/4.15-gradient.md.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import CoreHead
        >>> CoreHead([[1.0, 0.0]], [1.0], 2.0).gradient([[0.6, 0.8]]).round(6)  # 2 exp(-0.8) (b - <b, x> x)
        array([[ 0.575141, -0.431356]])
        """
        rows = _checks.rows(x, dim=self.dim)
        limit = LARGEST_CONCENTRATION[np.dtype(np.float64)]
        concentration = _checks.concentrations(self.concentration, len(self), maximum=limit)
        b, table = self.control_points, self.values.reshape(len(self), -1)
        options: Any = {"method": method, "rtol": rtol, "workers": _checks.workers(workers)}
        vectors = gradient.gradients(rows, b, table, concentration=concentration, normalize=self._normalize, **options)
        result: Floats = vectors[:, 0] if self.values.ndim == 1 else vectors
        return result.astype(np.result_type(rows, b, self.values), copy=False)

    def __getitem__(self, index: Any) -> Self:
        """Restrict the head to some control points, with their values.

        Parameters
        ----------
        index : slice, or array_like of bool or int
            One-dimensional: ``head[:100]``, ``head[mask]`` with a mask of n entries, ``head[[4, 2]]``.

        Returns
        -------
        CoreHead, SplitHead or ClassicalHead
            Of a core head, a part of its sum: ``head[:k] + head[k:]`` is the head. A split head's softmax is over the
            chosen control points alone. Its `points` are its control points: bare rows, of which no weights are known.

        Raises
        ------
        IndexError
            If an index is out of range, or a mask has another length.
        TypeError, ValueError
            If the index is a single number, or chooses nothing.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead
        >>> head = SplitHead(np.eye(3), [1.0, 2.0, 3.0], 5.0)
        >>> head[1:], head[head.values > 2.0].values
        (SplitHead(n=2, dim=2, concentration=5), array([3.]))
        """
        rows = np.arange(len(self))[index]
        if rows.ndim != 1:
            raise TypeError(
                f"'index' must be a slice, a mask or a list of indices, got {_checks.show(index)}: head[k:k+1] has one "
                "control point"
            )
        if not rows.size:
            raise ValueError(f"'index' must keep a control point, got {_checks.show(index)} of {len(self)}")
        own = {"concentration": self.concentration[rows]} if isinstance(self.concentration, np.ndarray) else {}
        return replace(self, control_points=self.control_points[rows], values=self.values[rows], points=None, **own)

    def __repr__(self) -> str:
        concentration = _checks.concentration_text(self.concentration)
        return f"{type(self).__name__}(n={len(self)}, dim={self.dim}, concentration={concentration})"

    def rotate(self, R: Any, *, vectors: bool = False) -> Self:
        """Rotate the head by an orthogonal R: the result at x is this head at ``R^T x``.

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
            If R is of another shape or not orthogonal, or the values are not vectors of this kind.

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
