"""What torch's units need: powers of two for gates of LSTMs and GRUs, and networks of ReLUs only for RNNs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ... import _checks
from ..._types import Float64
from .layer import Layer
from .network import Network

DTYPES = ("float64", "float32")
_SMALL, _SHARP, _SLOPE, _LARGEST = (
    dict(zip(DTYPES, (2.0**a, 2.0**b), strict=True)) for a, b in ((-27, -13), (60, 30), (-16, -7), (900, 77))
)


@dataclass(frozen=True)
class Gates:
    """Constants of an LSTM or a GRU that is a program, all powers of two.

    Attributes
    ----------
    scale : float
        eps: units hold eps times the program's values, of which tanh is the identity up to rounding.
    sharpness : float
        mu: gates of ReLUs and of products with a binary factor are ``sigmoid(mu u)``, a step.
    slope : float
        delta: gates of other products are ``sigmoid(+-delta u / U)``, nearly linear, for factors u of size U.
    """

    scale: float
    sharpness: float
    slope: float

    @classmethod
    def of(cls, value_bound: float, dtype: str = "float64") -> Gates:
        """Return the constants for values up to a bound, from 2^-900 to 2^900, or 2^77 in float32 (10.3).

        eps is the largest power of two with ``eps value_bound <= 2^-27`` (float32: 2^-13), mu is 2^60 (2^30), and delta
        2^-16 (2^-7): what truncation, ``delta^2 |u|^3 / 12``, and rounding, ``2^-51 / delta``, are about least for
        together, for factors up to 1. At 2^77 in float32 mu / eps is 2^120.
        """
        _checks.choice(dtype, "dtype", DTYPES)
        note = "" if dtype == "float64" else " in float32: take float64"
        bound = _checks.real(value_bound, "value_bound", above=0.0)
        if not 2.0**-900 <= bound <= _LARGEST[dtype]:
            limit = int(math.log2(_LARGEST[dtype]))
            raise ValueError(f"'value_bound' must be from 2^-900 to 2^{limit}{note}, got {_checks.digits(bound)}")
        _, exponent = math.frexp(_SMALL[dtype] / bound)
        return cls(math.ldexp(1.0, exponent - 1), _SHARP[dtype], _SLOPE[dtype])


def relu_network(network: Network) -> Network:
    """Return a network with layers of ReLUs only, as `torch.nn.RNN` has them: states are differences of two (10.2)."""
    if any(layer.op == "product" for layer in network.layers):
        raise ValueError("a ReLU network multiplies nothing, and this one has products: use 'lstm' or 'gru'")
    layers, reader = [], np.eye(network.dim)
    for layer in network.layers:
        layers.append(_positive(layer, reader))
        eye = np.eye(len(layer))
        reader = np.hstack([eye, -eye]) if layer.op == "state" else eye
    return Network(
        tuple(layers), network.readout @ reader, network.readout_bias, name=network.name,
        value_bound=network.value_bound,
    )  # fmt: skip


def _positive(layer: Layer, reader: Float64) -> Layer:
    """Return a layer of ReLUs whose values, or differences of them, are those of a layer (10.2)."""
    weight = layer.weight @ reader
    if layer.op == "relu":
        return Layer("relu", weight, layer.bias, recurrent=layer.recurrent, start=layer.start, names=layer.names)
    start = np.concatenate([np.maximum(layer.start, 0.0), np.maximum(-layer.start, 0.0)])
    recurrent = np.block([[layer.recurrent, -layer.recurrent], [-layer.recurrent, layer.recurrent]])
    names = tuple(f"{sign}{name}" if name else "" for sign in "+-" for name in layer.names)
    return Layer(
        "relu", np.vstack([weight, -weight]), np.append(layer.bias, -layer.bias), recurrent=recurrent, start=start,
        names=names,
    )  # fmt: skip
