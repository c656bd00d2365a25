"""The core head: a sum of exponential kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .. import _checks
from .._types import Float64
from ..coefficients import core_values
from .head import Head


@dataclass(frozen=True, eq=False, repr=False)  # so that messages about its arguments name this class
class CoreHead(Head):
    """The core attention head ``h(x) = sum_k values_k exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    control_points : array_like, shape (n, dim+1)
        Control points b_k on S^dim, of unit length.
    values : array_like, shape (n,) or (n, p)
        Coefficients. On unit rows the sum is ``sum_k xi_k exp(concentration <x, b_k>)`` with
        ``values = xi exp(concentration)``.
    concentration : float or array_like, shape (n,)
        lambda, at least 0, or one for each control point: ``sum_k values_k exp(-lambda_k |x - b_k|^2 / 2)``, with keys
        ``c_k = lambda_k b_k`` of any length ``sum_k values_k exp(<x, c_k> - |c_k|)`` on unit rows.
    points : EqualMeasurePartition or PointSet, optional
        What the control points were made from; else they themselves.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, or the values do not fit.

    Notes
    -----
    A head is frozen; its arrays are read-only copies. `from_target` makes one from a function. Heads of one class are
    equal if their control points, values and concentration are, in the same precision; `points` does not count; an
    array of concentrations stays one, also of equal numbers. ``head[index]`` is the sum over some control points,
    ``one + other`` the sum of two heads.

    References
    ----------
    docs/theorems/4.3-core-head.md; Petrov (2025), Theorem 4.12.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import CoreHead, EqualMeasurePartition
    >>> head = CoreHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 100.0)
    >>> head
    CoreHead(n=2000, dim=2, concentration=100)
    >>> head(np.array([[0.6, 0.0, 0.8]])).round(3)  # a_1(100) = 0.99 times 0.8
    array([0.792])
    """

    family = "core"
    _kind = "core-head"
    _normalize = False
    _values = staticmethod(core_values)
    _torch_module = "spherapprox.heads.torch_modules.kernel_sums.ExponentialSum"

    def __add__(self, other: object) -> Self:
        """Add two core heads, as one over the control points of both.

        Parameters
        ----------
        other : CoreHead
            On the same sphere and with as many outputs.

        Returns
        -------
        CoreHead
            Its control points and values are those of this head, then those of the other: nothing is rounded (float32
            beside float64 becomes float64). Heads of one concentration keep it; else each control point has its own.
            Its `points` are its control points, bare rows.

        Raises
        ------
        TypeError
            If `other` is no core head.
        ValueError
            If sphere or outputs differ, or the sum is too large for memory.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import CoreHead
        >>> one, other = CoreHead(np.eye(2), [1.0, 2.0], 3.0), CoreHead([[-1.0, 0.0]], [4.0], 3.0)
        >>> one + other, (one + other).values
        (CoreHead(n=3, dim=1, concentration=3), array([1., 2., 4.]))
        >>> one + CoreHead([[-1.0, 0.0]], [4.0], 5.0)
        CoreHead(n=3, dim=1, concentration=3 to 5)
        """
        if not isinstance(other, CoreHead):
            return NotImplemented
        shapes = {name: (getattr(self, name), getattr(other, name)) for name in ("dim", "n_outputs")}
        if differences := ", ".join(f"{name} {a} and {b}" for name, (a, b) in shapes.items() if a != b):
            raise ValueError(f"core heads add if sphere and outputs are the same, got {differences}")
        _checks.memory(
            8.0 * (len(self) + len(other)) * (self.dim + 1), "their sum", "evaluate each and add the results"
        )
        rows = np.concatenate([self.control_points, other.control_points])
        values = np.concatenate([self.values, other.values])
        own: float | Float64 = self.concentration
        if isinstance(own, np.ndarray) or isinstance(other.concentration, np.ndarray) or own != other.concentration:
            pairs = (own, len(self)), (other.concentration, len(other))
            own = np.concatenate([np.broadcast_to(concentration, n) for concentration, n in pairs])
        return replace(self, control_points=rows, values=values, concentration=own, points=None)
