"""The split head: softmax attention over control points."""

from __future__ import annotations

from ..coefficients import split_values
from .kernel import KernelHead


class SplitHead(KernelHead):
    """The split attention head, a softmax: `CoreHead` over ``sum_k exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    control_points : array_like, shape (n, dim+1)
        Control points b_k on S^dim, of unit length.
    values : array_like, shape (n,) or (n, p)
        What is averaged: the head is a convex combination of the rows of values.
    concentration : float
        lambda, at least 0.
    points : EqualMeasurePartition or PointSet, optional
        What the control points were made from; else they themselves.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, or the values do not fit.

    Notes
    -----
    A head is frozen; its arrays are read-only copies. `from_target` makes one from a function.

    References
    ----------
    docs/theorems.md, 4.4; Petrov (2025), Theorem 4.15.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 200.0)
    >>> head(np.array([[0.6, 0.0, 0.8]])).round(3)
    array([0.796])
    """

    _normalize = True
    _values = staticmethod(split_values)
