"""The sums over a part of the control points, and how two parts become one: the same for blocks, threads and machines.

The state of a sum is a triple for each evaluation point, and `merge` makes the triples of two parts of the control
points into the triple of their union: an associative operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Bools, Float64, Floats, Indices

_TINY, _HUGE = -100.0, 600.0
"""Logarithms of sums relative to their shift: below the first they are tiny, up to the second far from overflow."""
Controls = tuple[Floats, Float64, Float64]
"""Control points (n, d), offsets (n,) and weights (n, p), p = 0 for angles."""


def compiled_form(array: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return an array as kernels want it: contiguous, and writeable, since numba compiles again for one that is not."""
    return np.require(array, dtype, ["C", "W"])


@dataclass(frozen=True)
class Problem:
    """The sums that are wanted: at x (m, d), over b (n, d), rate = lambda/2, computed in `dtype`.

    `w` gives the weights (n, p) of a slice of the control points; None stands for the angles between x and b_k (p = 1).
    `normalize` says whether the sum without weights is wanted too; `lifted`, that sums are multiplied by huge numbers
    later, so that tiny ones matter. `offset` (n,) adds to the squared distances.
    """

    x: Floats
    b: Floats
    rate: float
    dtype: np.dtype[Any]
    w: Callable[[slice], Float64] | None
    p: int = 1
    normalize: bool = True
    lifted: bool = False
    offset: Float64 | None = None

    @property
    def dim(self) -> int:
        """Dimension of the sphere."""
        return int(self.x.shape[1]) - 1

    def controls(self, part: slice) -> Controls:
        """Return a part of the control points, their offsets and weights."""
        b = self.b[part]
        offset = np.zeros(len(b)) if self.offset is None else self.offset[part]
        return b, offset, np.empty((len(b), 0)) if self.w is None else self.w(part)

    def at_rows(self, rows: Any) -> Problem:
        """Return the problem at some of the evaluation points."""
        return replace(self, x=self.x[rows])


@dataclass(frozen=True)
class Tolerance:
    """What a method may leave out on purpose, and the largest bound of all its errors, both relative to its scale."""

    omitted: float
    total: float


@dataclass(frozen=True)
class Partial:
    """The sums over a part of the control points, relative to ``exp(-rate shift)``.

    With ``t_k = offset_k + |x - b_k|^2``: `numerators`, shape (m, p), are the sums of ``w_k exp(-rate (t_k - shift))``,
    `denominator`, (m,), the sum without w_k, or 0 where it is not wanted; `shift`, (m,), is at most min t_k, so that no
    term overflows, and 0 or so near min t_k that what underflows is nothing beside the rest.
    """

    shift: Float64
    numerators: Float64
    denominator: Float64


@dataclass(frozen=True)
class Sums:
    """What a method returns: the sums, how far they may be off on the method's own scale, and what computed them.

    `error` bounds ``|error| / sum_k |w_k| exp(...)``, row by row for "dense" and "truncated", over its largest row for
    the others. `doubtful` lists rows whose denominator is too small for such an error: they are to be done densely.
    """

    partial: Partial
    error: float
    path: str
    doubtful: Indices | None = None


def merge(a: Partial, b: Partial, rate: float) -> Partial:
    """Return the triple of the union of two disjoint sets of control points.

    It is relative to the smaller shift, unless the sums there are tiny, so that the others would be lost beside them.
    """
    swap = a.shift > b.shift
    low, high = _chosen(swap, b, a), _chosen(swap, a, b)
    distance = rate * (high.shift - low.shift)
    with np.errstate(divide="ignore"):
        size = np.log(np.maximum(np.abs(low.numerators).max(axis=1, initial=0.0), low.denominator))
    nothing = np.isneginf(size)
    up = nothing | ((size < _TINY) & (size + distance < _HUGE))
    half = np.where(nothing, 0.0, np.exp(np.where(up & ~nothing, 0.5 * distance, 0.0)))  # its square may overflow
    down = np.exp(np.where(up, 0.0, -distance))
    return Partial(
        np.where(up, high.shift, low.shift),
        low.numerators * half[:, None] * half[:, None] + high.numerators * down[:, None],
        low.denominator * half * half + high.denominator * down,
    )


def _chosen(condition: Bools, a: Partial, b: Partial) -> Partial:
    """Return a triple whose rows are of `a` where the condition holds, else of `b`."""
    return Partial(
        np.where(condition, a.shift, b.shift),
        np.where(condition[:, None], a.numerators, b.numerators),
        np.where(condition, a.denominator, b.denominator),
    )


def put(state: Partial, rows: Any, part: Partial) -> None:
    """Write a part's triple into some rows of the state."""
    state.shift[rows], state.numerators[rows], state.denominator[rows] = part.shift, part.numerators, part.denominator


def merge_into(state: Partial, rows: slice, part: Partial, rate: float, first: bool) -> None:
    """Merge a part's triple for some rows into the state."""
    before = Partial(state.shift[rows], state.numerators[rows], state.denominator[rows])
    put(state, rows, part if first else merge(before, part, rate))
