"""The construction that makes a split head classical attention: matrices, prefix and tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from .split import SplitHead

LARGEST_CONCENTRATION, LARGEST_MASK = 1e300, 1e304
"""Largest sizes at which no product with tokens and matrices overflows."""


@dataclass(frozen=True, eq=False, repr=False)
class Construction(SplitHead):
    """Matrices, prefix and tokens of `ClassicalHead` (docs/theorems/4.14-classical-head.md)."""

    interaction: str = field(default="flag", kw_only=True)
    mask: float = field(default=None, kw_only=True)  # type: ignore[assignment]  # a float once the head is made

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.concentrations(self.concentration, len(self), maximum=LARGEST_CONCENTRATION)
        _checks.choice(self.interaction, "interaction", ("flag", "none", "printed"))
        mask = cast("float | None", self.mask)
        if mask is None:
            mask = 0.0 if self.interaction == "none" else -(2.0 * self._largest_concentration + 1000.0)
        mask = _checks.real(mask, "mask", minimum=-LARGEST_MASK, maximum=0.0)
        if self.interaction == "none" and mask != 0.0:
            raise ValueError(f"'mask' must be left out, or None, for interaction='none', got {_checks.digits(mask)}")
        object.__setattr__(self, "mask", mask)

    @property
    def embedding_dim(self) -> int:
        """Columns d of a token: 2 (dim+1) + p, and one more for "flag"."""
        return 2 * (self.dim + 1) + (self.n_outputs or 1) + (self.interaction == "flag")

    @property
    def query(self) -> Float64:
        """The query matrix, shape (d, d), to be multiplied by tokens from the left; it holds sqrt(d) and the mask."""
        width, scale = self.dim + 1, math.sqrt(self.embedding_dim)
        # 4.14: W_Q
        x, asked = slice(0, width), slice(width, 2 * width)
        matrix = np.zeros((self.embedding_dim, self.embedding_dim))
        matrix[x, asked] = scale * np.eye(width)
        if self.interaction == "printed":
            matrix[x, x] = self.mask * scale * np.eye(width)
        elif self.interaction == "flag":
            matrix[-1, -1] = self.mask * scale
        return matrix

    @property
    def key(self) -> Float64:
        """The key matrix, shape (d, d): the identity but for the columns of values."""
        diagonal = np.ones(self.embedding_dim)
        # 4.14: W_K
        diagonal[self._value_columns] = 0.0
        return np.diag(diagonal)

    @property
    def value(self) -> Float64:
        """The value matrix, shape (d, d): it moves the columns of values to the front."""
        columns = self._value_columns
        matrix = np.zeros((self.embedding_dim, self.embedding_dim))
        # 4.14: W_V
        matrix[columns, : columns.stop - columns.start] = np.eye(columns.stop - columns.start)
        return matrix

    @property
    def _value_columns(self) -> slice:
        """The columns of a token of the prefix that hold its value."""
        start = 2 * (self.dim + 1)
        return slice(start, start + (self.n_outputs or 1))

    @property
    def prefix(self) -> Float64:
        """The prefix, shape (n, d): rows ``(0, concentration_k b_k, values_k)``, and 0 for "flag".

        Control points that are of unit length to less than float64's rounding are brought to it.
        """
        width = self.dim + 1
        _checks.memory(8.0 * len(self) * self.embedding_dim, "the prefix", "take fewer control points")
        tokens = np.zeros((len(self), self.embedding_dim))
        # 4.14: p_k = (0, lambda b_k, xi_k)
        tokens[:, width : 2 * width] = np.reshape(self.concentration, (-1, 1)) * self._directions()
        tokens[:, self._value_columns] = self.values.reshape(len(self), -1)
        return tokens

    def embed(self, x: ArrayLike) -> Float64:
        """Return the tokens of inputs: ``(x, 0, 0)``, and 1 for "flag".

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Points of unit length.

        Returns
        -------
        ndarray, shape (T, d) or (batch, T, d)

        Raises
        ------
        ValueError
            If the rows are no points of S^dim.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import ClassicalHead
        >>> ClassicalHead(np.eye(2), [1.0, 2.0], 9.0).embed([[0.6, 0.8]])
        array([[0.6, 0.8, 0. , 0. , 0. , 1. ]])
        """
        points = _checks.sequences(x, dim=self.dim)
        _checks.memory(8.0 * points[..., 0].size * self.embedding_dim, "the tokens", "take x in parts")
        tokens = np.zeros((*points.shape[:-1], self.embedding_dim))
        tokens[..., : self.dim + 1] = points
        if self.interaction == "flag":
            tokens[..., -1] = 1.0
        return tokens

    def project(self, y: ArrayLike) -> Floats:
        """Project the attention's outputs to values: their first p columns.

        Parameters
        ----------
        y : array_like, shape (..., d)

        Returns
        -------
        ndarray, shape (..., p), or (...) for values of shape (n,)

        Raises
        ------
        ValueError
            If there are not d columns.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import ClassicalHead
        >>> ClassicalHead(np.eye(2), [1.0, 2.0], 9.0).project([[1.5, 0.0, 0.0, 0.0, 0.0, 0.0]])
        array([1.5])
        """
        outputs = _checks.floating(y, "y", (..., self.embedding_dim))
        return outputs[..., 0] if self.n_outputs is None else outputs[..., : self.n_outputs]
