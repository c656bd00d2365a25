"""`Layer`: one recurrent layer of a compiled program, as arrays, and networks as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import _checks
from ..._archive import Savable
from ..._types import Float64

MODULES = ("rnn", "lstm", "gru", "hawk")
"""Kinds of torch modules."""
LAYER_OPS = ("state", "relu", "product")
_ARRAYS = ("weight", "bias", "recurrent", "start", "other", "other_bias", "factor")
_OF_PRODUCTS = ("other", "other_bias", "factor")


@dataclass(frozen=True, eq=False, repr=False)
class Layer(Savable):
    """A layer h_t of a network, from the layer z_t before it.

    ========= ===============================================================================
    op        value
    ========= ===============================================================================
    "state"   ``h_t = recurrent h_(t-1) + weight z_t + bias``
    "relu"    ``h_t = max(recurrent h_(t-1) + weight z_t + bias, 0)``
    "product" ``h_t = (weight z_t + bias) (other z_t + other_bias)``, entry by entry
    ========= ===============================================================================

    Parameters
    ----------
    op : {"state", "relu", "product"}
    weight : array_like, shape (n, k)
    bias : array_like, shape (n,)
    recurrent : array_like, shape (n, n), optional
        0 if left out, as all that follows.
    start : array_like, shape (n,), optional
        h_0.
    other, other_bias : array_like, shapes (n, k), (n,), optional
        Of a product.
    factor : array_like, shape (n,), optional
        The size of the first factor of a product, 1 by default, or 0 where it is nothing but 0 or 1: the gates of
        LSTMs and GRUs are made for it. Of states, their own size, 0 where it is not known: sums of a Hawk are.
    names : sequence of n str, optional
        What rows are, for `Network.listing`; "" for those without a name.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program
    >>> Program(LinState(Input(1), 1.0)).compile().layers
    (Layer('state', 1 -> 1, nonzeros=2),)
    """

    op: str
    weight: Float64
    bias: Float64
    recurrent: Float64 = None  # type: ignore[assignment]
    start: Float64 = None  # type: ignore[assignment]
    other: Float64 = None  # type: ignore[assignment]
    other_bias: Float64 = None  # type: ignore[assignment]
    factor: Float64 = None  # type: ignore[assignment]
    names: tuple[str, ...] = ()
    _kind: ClassVar[str] = "recurrent-layer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "op", _checks.choice(self.op, "op", LAYER_OPS))
        n, k = np.shape(_checks.floating(self.weight, "weight", ("n", "k")))
        _checks.memory(8.0 * n * n, f"the recurrent weights of {n} rows", "split the layer")
        shapes = dict(zip(_ARRAYS, ((n, k), (n,), (n, n), (n,), (n, k), (n,), (n,)), strict=True))
        for name, shape in shapes.items():
            if getattr(self, name) is None:  # zeros take no memory until they are read
                array = np.full(shape, 1.0) if self.op == "product" and name == "factor" else np.zeros(shape)
            else:
                array = np.array(_checks.floating(getattr(self, name), name, shape), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in self._foreign():
            if getattr(self, name).any():
                raise ValueError(f"'{name}' must be 0 in a layer of op {self.op!r}")
        if not (self.factor >= 0.0).all():
            raise ValueError(f"'factor' must hold sizes, or 0, got {self.factor.min():g}")
        names = tuple(_checks.instance(name, "names", str) for name in self.names)
        if len(names) not in (0, n):
            raise ValueError(f"'names' must hold {n} names, one for each row, got {len(names)}")
        object.__setattr__(self, "names", names if any(names) else ())

    def _foreign(self) -> tuple[str, ...]:
        """Return the names of the arrays that this kind of layer does not have."""
        own = {"product": ("recurrent", "start"), "state": _OF_PRODUCTS[:2]}
        return own.get(self.op, _OF_PRODUCTS)

    def __repr__(self) -> str:
        return f"Layer({self.op!r}, {self.weight.shape[1]} -> {len(self)}, nonzeros={self.nonzeros})"

    def __len__(self) -> int:
        return len(self.bias)

    @property
    def nonzeros(self) -> int:
        """Number of weights and biases that are not 0."""
        arrays = self.weight, self.bias, self.recurrent, self.other, self.other_bias
        return int(sum(np.count_nonzero(array) for array in arrays))

    def _arguments(self) -> Mapping[str, Any]:
        own = [name for name in _ARRAYS if name not in self._foreign()]
        return {"op": self.op, "names": self.names, **{name: getattr(self, name) for name in own}}


def lines(name: str, layers: Sequence[Layer], readout: Float64, readout_bias: Float64) -> Iterator[str]:
    """Yield the lines of the listing of a network."""
    inputs = (layers[0].weight if layers else readout).shape[1]
    yield f"{name or 'network'}: x[0:{inputs}] -> y[0:{len(readout)}]"
    before = "x"
    for number, layer in enumerate(layers, 1):
        own = f"h{number}"
        yield f"layer {number}, {layer.op}{_start(layer)}"
        yield from (f"  {_row(layer, row, own, before=before)}" for row in range(len(layer)))
        before = own
    yield "output"
    yield from (f"  y[{i}] = {_sum([(readout[i], before)], readout_bias[i])}" for i in range(len(readout)))


def _start(layer: Layer) -> str:
    """Return where a recurrent layer starts, in words."""
    if not layer.recurrent.any():
        return ""
    places = np.flatnonzero(layer.start)
    if len(places) > 8:
        return f", starts at {len(places)} values that are not 0"
    return ", starts at " + (", ".join(f"[{i}] = {layer.start[i]:g}" for i in places) or "0")


def _row(layer: Layer, row: int, own: str, before: str) -> str:
    """Return the equation of a row."""
    total = _sum([(layer.recurrent[row], f"{own}'"), (layer.weight[row], before)], layer.bias[row])
    if layer.op == "relu":
        total = f"max(0, {total})"
    if layer.op == "product":
        total = f"({total}) ({_sum([(layer.other[row], before)], layer.other_bias[row])})"
    name = layer.names[row] if layer.names else ""
    return f"{own}[{row}] = {total}" + (f"  # {name}" if name else "")


def _sum(parts: Sequence[tuple[Float64, str]], bias: float) -> str:
    """Return the terms of a sum that are not 0."""
    terms = []
    for weights, of in parts:
        for i in np.flatnonzero(weights):
            entry = f"{of[:-1]}[{i}]'" if of.endswith("'") else f"{of}[{i}]"  # a prime is for the step before
            size = "" if abs(weights[i]) == 1.0 else f"{abs(weights[i]):g} "
            terms.append(f"{'-' if weights[i] < 0.0 else '+'} {size}{entry}")
    if bias or not terms:
        terms.append(f"{'-' if np.signbit(bias) else '+'} {abs(bias):g}")
    text = " ".join(terms)
    return text.removeprefix("+ ") if text[0] == "+" else text.replace("- ", "-", 1)
