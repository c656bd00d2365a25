"""Feed-forward layers in rational numbers: piecewise-linear functions of one column, added to a token."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..._types import Array, Indices


class Layer(NamedTuple):
    """A residual layer of ReLUs: tokens get ``relu(x[:, columns] - knots) @ down + shift`` added.

    Parameters
    ----------
    columns : ndarray of int, shape (r,)
        The column that each unit reads.
    knots : ndarray of Fraction, shape (r,)
        Where units begin.
    down : ndarray of Fraction, shape (r, d)
        What units give to each column.
    shift : ndarray of Fraction, shape (d,)
        What is added in any case.
    """

    columns: Indices
    knots: Array
    down: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        """Return tokens (m, d) behind the layer."""
        hidden = np.maximum(x[:, self.columns] - self.knots, 0)
        return np.asarray(x + hidden @ self.down + self.shift)


def interpolate_values(column: int, knots: Sequence[Fraction], values: Sequence[Sequence[Any]]) -> Layer:
    """Return a layer that adds the values at the knots of a column, straight lines between, and constants outside."""
    places, heights = np.array(knots, dtype=object), np.array(values, dtype=object)
    slopes = np.diff(heights, axis=0) / np.diff(places)[:, None]
    level = np.zeros_like(heights[:1])
    down = np.diff(np.concatenate([level, slopes, level]), axis=0)
    return Layer(np.full(len(places), column), places, down, heights[0])


def bump(column: int, a: Fraction, b: Fraction, values: Sequence[Sequence[Any]], *, ramp: Fraction) -> Layer:
    """Return a layer of 4 units that adds what is straight from a to b, and nothing beyond ramps."""
    nothing = [Fraction(0)] * len(values[0])
    return interpolate_values(column, [a - ramp, a, b, b + ramp], [nothing, *values, nothing])


def join_layers(layers: Sequence[Layer]) -> Layer:
    """Return one layer that adds what several add."""
    columns, knots, down = (np.concatenate(arrays) for arrays in list(zip(*layers, strict=True))[:3])
    return Layer(columns, knots, down, np.sum([layer.shift for layer in layers], axis=0))
