"""The matrices and the prefix that make a split head classical attention (docs/theorems/4.14-classical-head.md)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .. import _checks
from .._types import Float64, Floats

LARGEST_CONCENTRATION, LARGEST_MASK = 1e300, 1e304
"""Largest sizes at which no product with tokens and matrices overflows."""


class Layout(NamedTuple):
    """Columns of a token: x and its place in keys, of dim + 1 each, values, and one more for "flag"."""

    dim: int
    outputs: int
    interaction: str
    mask: float

    @property
    def width(self) -> int:
        """All columns, d."""
        return 2 * (self.dim + 1) + self.outputs + (self.interaction == "flag")

    @property
    def values(self) -> slice:
        """The columns of a token of the prefix that hold its value."""
        return slice(2 * (self.dim + 1), 2 * (self.dim + 1) + self.outputs)


def checked_mask(mask: float | None, interaction: str, concentration: float) -> float:
    """Return the mask, or the one at which the weight that "flag" leaves to inputs underflows to 0."""
    _checks.choice(interaction, "interaction", ("flag", "none", "printed"))
    if mask is None:
        mask = 0.0 if interaction == "none" else -(2.0 * concentration + 1000.0)
    mask = _checks.real(mask, "mask", minimum=-LARGEST_MASK, maximum=0.0)
    if interaction == "none" and mask != 0.0:
        raise ValueError(f"'mask' must be left out, or None, for interaction='none', got {_checks.digits(mask)}")
    return mask


def query_matrix(layout: Layout) -> Float64:
    """Return W_Q of 4.14, (d, d); it holds sqrt(d) and the mask."""
    width, scale = layout.dim + 1, math.sqrt(layout.width)
    x, key = slice(0, width), slice(width, 2 * width)
    matrix = np.zeros((layout.width, layout.width))
    matrix[x, key] = scale * np.eye(width)
    if layout.interaction == "printed":
        matrix[x, x] = layout.mask * scale * np.eye(width)
    elif layout.interaction == "flag":
        matrix[-1, -1] = layout.mask * scale
    return matrix


def key_matrix(layout: Layout) -> Float64:
    """Return W_K of 4.14, (d, d): the identity but for the columns of values."""
    diagonal = np.ones(layout.width)
    diagonal[layout.values] = 0.0
    return np.diag(diagonal)


def value_matrix(layout: Layout) -> Float64:
    """Return W_V of 4.14, (d, d), which moves the columns of values to the front."""
    matrix = np.zeros((layout.width, layout.width))
    matrix[layout.values, : layout.outputs] = np.eye(layout.outputs)
    return matrix


def prefix_tokens(layout: Layout, keys: Float64, values: Floats) -> Float64:
    """Return the tokens ``p_k = (0, lambda_k b_k, xi_k)`` of 4.14, (n, d), from the keys lambda_k b_k and values."""
    _checks.memory(8.0 * len(keys) * layout.width, "the prefix", "take fewer control points")
    tokens = np.zeros((len(keys), layout.width))
    tokens[:, layout.dim + 1 : 2 * (layout.dim + 1)] = keys
    tokens[:, layout.values] = values.reshape(len(keys), -1)
    return tokens
