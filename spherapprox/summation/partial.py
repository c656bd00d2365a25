"""The sums over a part of the control points, and the merge of two parts, for blocks, threads and machines.

The state of a sum is a triple for each evaluation point, and `merge` makes the triples of two parts of the control
points into the triple of their union: an associative operation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Bools, Float64

_TINY, _HUGE = -100.0, 600.0
"""Logarithms of sums relative to their shift: below the first they are tiny, up to the second far from overflow."""


class Partial(NamedTuple):
    """The sums over a part of the control points, relative to ``exp(-rate shift)``.

    With ``t_k = offset_k + stretch_k |x - b_k|^2``: `numerators`, shape (m, p), are the sums of
    ``w_k exp(-rate (t_k - shift))``, `denominator`, (m,), the sum without w_k, or 0 where it is not wanted; `shift`,
    (m,), is at most min t_k, so that no term overflows, and 0 or so near min t_k that what underflows is nothing beside
    the rest.
    """

    shift: Float64
    numerators: Float64
    denominator: Float64


def merge(a: Partial, b: Partial, rate: float) -> Partial:
    """Return the union of disjoint parts, relative to the smaller shift, unless its sums are tiny beside the others."""
    swap = a.shift > b.shift
    low, high = _chosen(swap, b, a), _chosen(swap, a, b)
    # 4.8, merging: M = -rate shift; the larger M is that of `low`
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


def write_rows(state: Partial, rows: Any, part: Partial) -> None:
    """Write a part's triple into some rows of the state."""
    state.shift[rows], state.numerators[rows], state.denominator[rows] = part.shift, part.numerators, part.denominator
