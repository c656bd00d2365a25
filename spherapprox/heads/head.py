"""What core and split heads share: a frozen recipe, callable on points of the sphere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _archive, _checks
from .._types import Floats
from ..coefficients.refinement import refined
from ..coefficients.resolution import warn_unresolved
from ..coefficients.rules import resolved_concentration
from ..coefficients.task import sample
from ..partition import EqualMeasurePartition
from ..points import PointSet, nodes
from ..points.pointset import Points
from ..summation.evaluation import evaluate_arrays


@dataclass(frozen=True, eq=False, repr=False)
class Head(_archive.Savable):
    """A frozen recipe: ``evaluate(x, control_points, values, concentration, normalize=<whether it is a quotient>)``."""

    control_points: Floats
    values: Floats
    concentration: float
    points: Points | None = None

    _normalize: ClassVar[bool]
    _values: ClassVar[Callable[..., Floats]]

    def __post_init__(self) -> None:
        rows = np.array(_checks.rows(self.control_points, "control_points"), order="C")
        values = np.array(_checks.values_for(self.values, "values", len(rows), "the control points"), order="C")
        rows.flags.writeable = values.flags.writeable = False
        object.__setattr__(self, "control_points", rows)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "concentration", _checks.concentration(self.concentration))
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
        """Take what was pickled or copied: NumPy forgets that arrays were read-only, and they are not checked again."""
        for array in (state["control_points"], state["values"]):
            array.flags.writeable = False
        self.__dict__.update(state)

    def _arguments(self) -> dict[str, Any]:
        made_from = self.points if isinstance(self.points, EqualMeasurePartition | PointSet) else None
        recipe = {"control_points": self.control_points, "values": self.values, "concentration": self.concentration}
        return recipe | {"points": made_from}

    @classmethod
    def from_target(
        cls,
        target: Callable[[Any], ArrayLike],
        points: Points,
        concentration: float | None = None,
        coefficients: str = "riemann",
        *,
        degree: int | None = None,
        regularization: float | None = None,
        samples: Points | int | None = None,
    ) -> Self:
        """Make a head that approximates a function.

        Parameters
        ----------
        target : Target or callable
            Maps points (n, dim+1) to values (n,) or (n, p).
        points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
            Control points: the centres of the partition's cells (measure 1/n each), the points and weights of a point
            set (equal weights for a split head), or bare rows with weight 1/n each.
        concentration : float, optional
            lambda, at least 0. None, for "interpolation" alone, means
            `spherapprox.coefficients.well_conditioned_concentration` for the condition 1e10, or 1e5 beyond 4096
            points.
        coefficients : {"riemann", "interpolation", "least_squares", "spectral"}
            How the values are chosen. "riemann": ``c exp(lambda) w_k f(b_k)`` for a core head, ``f(b_k)`` for a split
            head. "interpolation": the head equals f at every control point. "least_squares": its mean square error is
            least. "spectral", for a core head: "riemann" with f's harmonics divided by the kernel's eigenvalues.
        degree, regularization, samples
            Options of rules that take them: `spherapprox.coefficients.core_values` and `split_values`.

        Returns
        -------
        CoreHead or SplitHead

        Raises
        ------
        TypeError, ValueError
            If the target and the points do not fit together, a split head's points have unequal weights, or a core
            head's peak is too large for float64; and what `core_values` and `split_values` raise.

        Warns
        -----
        RuntimeWarning
            If the points, the concentration and the rule do not suit each other: `core_values` says when. And if a core
            head's kernels are too narrow for its points, seen at up to 16 of them: with "riemann" the head of the
            function 1 errs there by more than 1/2; with "interpolation" neighbours add less than 5 % to most kernels.

        References
        ----------
        docs/theorems.md, 4.3, 4.4, 4.7 and 4.13.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error
        >>> height, partition = lambda x: x[:, 2], EqualMeasurePartition(2, 500)
        >>> for rule in ("riemann", "interpolation"):
        ...     head = SplitHead.from_target(height, partition, 40.0, rule)
        ...     print(rule, f"{sup_error(head, height, n=2000).lower:.0e}")
        riemann 2e-02
        interpolation 7e-05
        """
        concentration = resolved_concentration(points, concentration, coefficients)
        rows, weights = nodes(points)
        values = cls._values(
            target,
            points,
            concentration,
            coefficients,
            degree=degree,
            regularization=regularization,
            samples=samples,
        )
        if not cls._normalize:
            warn_unresolved(rows, weights, concentration, coefficients)
        return cls(rows, values, concentration, points)

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m in R^(m+1)."""
        return int(self.control_points.shape[1]) - 1

    @property
    def n_outputs(self) -> int | None:
        """Number of columns p of what the head returns, None if it returns (n,)."""
        return None if self.values.ndim == 1 else self.values.shape[1]

    def __len__(self) -> int:
        return len(self.control_points)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Head) or type(other) is not type(self):
            return NotImplemented
        pairs = zip(map(np.asarray, self._recipe()), map(np.asarray, other._recipe()), strict=True)
        return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        some = *self.control_points[0].tolist(), *self.values.ravel()[:8].tolist()
        return hash((type(self), len(self), self.concentration, *some))

    def _recipe(self) -> list[Any]:
        """Return all that the head's values depend on."""
        return [value for name, value in self._arguments().items() if name != "points"]

    def __getitem__(self, index: Any) -> Self:
        """Return the head of some of the control points, with their values.

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
        kept = np.arange(len(self))[index]
        if kept.ndim != 1:
            raise TypeError(
                f"'index' must be a slice, a mask or a list of indices, got {_checks.show(index)}: head[k:k+1] has one "
                "control point"
            )
        if not kept.size:
            raise ValueError(f"'index' must keep a control point, got {_checks.show(index)} of {len(self)}")
        return replace(self, control_points=self.control_points[kept], values=self.values[kept], points=None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)}, dim={self.dim}, concentration={self.concentration:g})"

    def __call__(
        self,
        x: ArrayLike,
        *,
        method: str = "auto",
        rtol: float | None = 1e-14,
        workers: int | None = None,
        out: Floats | None = None,
        progress: bool = False,
    ) -> Floats:
        """Return the head's values at points of the sphere.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method, rtol, workers, out, progress
            As in `spherapprox.evaluate`.

        Returns
        -------
        ndarray, shape (m,) or (m, p)
            float32 if x, control points and values all are, else float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or an option is out of its range.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead
        >>> head = SplitHead(np.eye(2), [[1.0, 0.0], [2.0, 5.0]], 9.0)
        >>> head([[1.0, 0.0], [0.6, 0.8]]).round(3).tolist()
        [[1.0, 0.001], [1.858, 4.291]]
        """
        rows, shown = _checks.rows(x, dim=self.dim), _checks.flag(progress, "progress")
        b, values = self.control_points, self.values
        return evaluate_arrays(
            rows, b, values, self.concentration, self._normalize, method, rtol, workers, out, progress=shown
        )[0]

    def refine(self, target: Callable[[Any], ArrayLike], steps: int = 1, *, workers: int | None = None) -> Self:
        """Return a head whose values have taken up what this one leaves of a target at its control points.

        Each step adds ``target(b_k) - head(b_k)`` to the value at b_k; for a core head, divided by the sum of all
        kernels there. If the points are distinct and the concentration is above 0, it converges to interpolation, fast
        for what is smooth and slowly for what is rough: the matrix has eigenvalues in (0, 1], and on many points it
        damps degree l by the kernel's a_l, so that k steps make an error 1 - a_l into ``(1 - a_l)^(k+1)``. A few steps
        are cheap and need no system to be solved.

        Parameters
        ----------
        target : Target or callable
            Maps points (n, dim+1) to values (n,) or (n, p), as the head does.
        steps : int, default 1
            0 to 1e6.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        CoreHead or SplitHead
            With float64 values.

        Raises
        ------
        TypeError, ValueError
            If the target does not fit, or `steps` is no integer of that range.

        References
        ----------
        docs/theorems.md, 4.13.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error
        >>> height = lambda x: x[:, 2]
        >>> head = SplitHead.from_target(height, EqualMeasurePartition(2, 500), 40.0)
        >>> better = head.refine(height, 2)
        >>> [round(sup_error(h, height, n=2000).lower, 4) for h in (head, better)]
        [0.0245, 0.0002]
        """
        steps = _checks.integer(steps, "steps", minimum=0, maximum=10**6)
        f = sample(target, self.control_points, "control_points")
        if f.shape != self.values.shape:
            raise ValueError(f"'target' must return shape {self.values.shape} as the head does, got {f.shape}")
        values = refined(
            f,
            self.control_points,
            self.values,
            self.concentration,
            steps,
            normalize=self._normalize,
            workers=_checks.workers(workers),
        )
        return replace(self, values=values)
