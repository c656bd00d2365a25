"""`Layer`: one recurrent layer of a compiled program, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _checks
from .._archive import Savable
from .._types import Float64

MODULES = ("rnn", "lstm", "gru")
"""Kinds of torch modules."""
LAYER_KINDS = ("state", "relu", "product")
_ARRAYS = ("weight", "bias", "recurrent", "start", "other", "other_bias", "binary")


@dataclass(frozen=True, eq=False, repr=False)
class Layer(Savable):
    """A layer h_t of a network, from the layer z_t before it.

    ========= ===============================================================================
    kind      value
    ========= ===============================================================================
    "state"   ``h_t = recurrent h_(t-1) + weight z_t + bias``
    "relu"    ``h_t = max(recurrent h_(t-1) + weight z_t + bias, 0)``
    "product" ``h_t = (weight z_t + bias) (other z_t + other_bias)``, entry by entry
    ========= ===============================================================================

    Parameters
    ----------
    kind : {"state", "relu", "product"}
    weight : array_like, shape (n, k)
    bias : array_like, shape (n,)
    recurrent : array_like, shape (n, n)
    start : array_like, shape (n,)
        h_0.
    other, other_bias : array_like, shapes (n, k), (n,)
        Of a product, 0 for other kinds.
    binary : array_like, shape (n,)
        1 where the first factor of a product is 0 or 1, else 0.

    Raises
    ------
    TypeError, ValueError
        If arrays do not fit together or are not finite.

    Examples
    --------
    >>> from spherapprox.recurrent import Input, LinState, Program
    >>> Program(LinState(Input(1), 1.0)).compile().layers
    (Layer('state', 1 -> 1, nonzeros=2),)
    """

    kind: str
    weight: Float64
    bias: Float64
    recurrent: Float64
    start: Float64
    other: Float64
    other_bias: Float64
    binary: Float64
    _kind: ClassVar[str] = "recurrent-layer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _checks.choice(self.kind, "kind", LAYER_KINDS))
        n, k = np.shape(_checks.floating(self.weight, "weight", ("n", "k")))
        shapes = dict(zip(_ARRAYS, ((n, k), (n,), (n, n), (n,), (n, k), (n,), (n,)), strict=True))
        for name, shape in shapes.items():
            array = np.array(_checks.floating(getattr(self, name), name, shape), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        width, before = self.weight.shape
        return f"Layer({self.kind!r}, {before} -> {width}, nonzeros={self.nonzeros})"

    def __len__(self) -> int:
        return len(self.bias)

    @property
    def nonzeros(self) -> int:
        """Number of weights and biases that are not 0."""
        arrays = self.weight, self.bias, self.recurrent, self.other, self.other_bias
        return int(sum(np.count_nonzero(array) for array in arrays))

    def _arguments(self) -> Mapping[str, Any]:
        return {"kind": self.kind, **{name: getattr(self, name) for name in _ARRAYS}}
