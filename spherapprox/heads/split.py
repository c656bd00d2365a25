"""The split head: softmax attention over control points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from .._types import Float64
from ..coefficients import split_values
from .head import Head

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Deviation from 1 of the lengths of rows that have unit length in float64."""


@dataclass(frozen=True, eq=False, repr=False)  # so that messages about its arguments name this class
class SplitHead(Head):
    """The split attention head, a softmax: `CoreHead` over ``sum_k exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    control_points : array_like, shape (n, dim+1)
        Control points b_k on S^dim, of unit length.
    values : array_like, shape (n,) or (n, p)
        What is averaged: the head is a convex combination of the rows of values.
    concentration : float or array_like, shape (n,)
        lambda, at least 0, or one for each control point: the average then is by weights proportional to
        ``exp(lambda_k - lambda_k |x - b_k|^2 / 2)``, on unit rows the softmax of the logits ``<x, c_k>`` of keys
        ``c_k = lambda_k b_k`` of any length.
    points : EqualMeasurePartition or PointSet, optional
        What the control points were made from; else they themselves.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, or the values do not fit.

    Notes
    -----
    Like a `CoreHead` it is frozen, made from a function by `from_target`, and equal to another by its numbers.
    ``head[index]`` is the softmax over some control points. Split heads do not add.

    References
    ----------
    docs/theorems/4.4-split-head.md; Petrov (2025), Theorem 4.15.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 200.0)
    >>> head(np.array([[0.6, 0.0, 0.8]])).round(3)
    array([0.796])
    """

    family = "split"
    _kind = "split-head"
    _normalize = True
    _values = staticmethod(split_values)
    _torch_module = "spherapprox.heads.torch_modules.kernel_sums.SplitAttention"

    def _directions(self) -> Float64:
        """Return the control points as keys of exact length: logits, unlike chords, multiply its error by lambda."""
        rows = self.control_points.astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.where(np.abs(lengths - 1.0) > _ROUNDING, rows / lengths, rows)

    def __add__(self, other: object) -> NoReturn:
        """Raise TypeError: a sum of split heads is no split head."""
        raise TypeError(
            "split heads do not add: each is divided by its own sum of kernels, and the softmax over all control "
            "points is another function; add their results, or the values of heads that are equal but for these"
        )

    __radd__ = __add__
