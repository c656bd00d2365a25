"""`RecurrentModule`: a compiled program as torch's own RNN, LSTM or GRU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch

from ...._checks import choice
from ...._types import Float64
from ....heads.torch_modules.tensors import NUMBERS, Whole, exporting, float_dtype, held, unrounded
from ..gates import Gates, relu_network
from ..hawk.assembly import OPEN
from ..layer import Layer
from ..network import Network
from .sharing import check_input, copy, precise, value_bound_of

_Part: TypeAlias = tuple[Float64, Float64, Float64]
_STOCK = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
_CELLS = {"rnn": torch.rnn_relu_cell, "lstm": torch.lstm_cell, "gru": torch.gru_cell}


class RecurrentModule(Whole):
    """A `Network` as one stock `torch.nn.RNN`, `torch.nn.LSTM` or `torch.nn.GRU`, and a `torch.nn.Linear`.

    See docs/theorems/10.3-gates.md, docs/theorems/10.6-errors-of-modules.md.

    Parameters
    ----------
    network : Network
    kind, dtype, device, value_bound
        As in `Network.to_torch`.

    Attributes
    ----------
    rnn : torch.nn.RNN, torch.nn.LSTM or torch.nn.GRU
        Of as many layers as the network, all as wide as the widest.
    readout : torch.nn.Linear
    start : Tensor, shape (layers, width)
        The hidden state before the first step. A buffer.
    scale, sharpness : float
        eps and mu of `Gates`; 1 and inf for an RNN, which needs neither.

    Notes
    -----
    Nothing is trainable: weights of gates reach mu / eps, so that sigmoids are 0 or 1 and their gradients vanish, or
    are as large as mu, and autocast rounds nothing. Long sequences are run a part at a time: memory grows with the
    outputs only. `torch.export` and `torch.onnx` make a loop of torch's cells, which takes sequences of any length.
    `torch.vmap` has no rule for recurrent layers: the module takes batches itself.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
    >>> bits = Input(1, bound=1.0)
    >>> majority = Program(step(LinState(2.0 * bits - 1.0, 1.0, bound=1000.0)))
    >>> module = majority.compile().to_torch("gru")
    >>> module(torch.tensor([[1.0], [0.0], [1.0], [1.0]], dtype=torch.float64))[:, 0].tolist()
    [1.0, 0.0, 1.0, 1.0]
    """

    start: Any
    numbers = NUMBERS  # of the units of a part of a long sequence

    def __init__(
        self, network: Network, kind: str, *, dtype: Any = None, device: Any = None, value_bound: float | None = None
    ) -> None:
        super().__init__()
        self.kind = choice(kind, "kind", _STOCK)
        self.dtype = dtype = float_dtype(dtype)
        units, reader, self.scale, self.sharpness = _units(network, self.kind, dtype, bound=value_bound)
        width = max(len(unit.start) for unit in units)
        options = {"nonlinearity": "relu"} if self.kind == "rnn" else {}
        self.rnn = _build(_STOCK[self.kind], device, dtype, network.dim, width, len(units), batch_first=True, **options)
        self.readout = _build(torch.nn.Linear, device, dtype, width, len(reader))
        copy(self.readout, {"weight": _padded(reader, len(reader), width), "bias": network.readout_bias})
        for number, unit in enumerate(units):
            copy(self.rnn, unit.padded(width, width if number else network.dim, f"_l{number}"))
        start = np.stack([_padded(unit.start[None], 1, width)[0] for unit in units])
        self.register_buffer("start", held(start, dtype, "network").to(self.readout.weight.device))
        self.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        """Return the outputs (L, p) or (batch, L, p) at all steps of sequences (L, d) or (batch, L, d).

        x is of the module's dtype and on its device; TypeError or ValueError says what does not fit.
        """
        check_input(self, x, self.rnn.input_size)
        batch = (x if x.ndim == 3 else x[None]).to(self.dtype)
        start = self.start[:, None].expand(-1, batch.shape[0], -1).contiguous()
        with unrounded(x), precise(x):
            values = self._scan(batch, start) if exporting() else self._run(batch, start)
        return values if x.ndim == 3 else values[0]

    def _run(self, batch: Any, start: Any) -> Any:
        """Return the outputs (batch, L, p), a part of the sequences at a time."""
        if not batch.numel():
            return batch.new_zeros((*batch.shape[:-1], self.readout.out_features))
        state = (start, torch.zeros_like(start)) if self.kind == "lstm" else start
        steps = max(1, self.numbers // (len(batch) * self.readout.in_features * 4))
        outputs = []
        for part in batch.split(batch.shape[1] if torch.jit.is_tracing() else steps, dim=1):
            hidden, state = self.rnn(part, state)
            outputs.append(self.readout(hidden))
        return torch.cat(outputs, dim=1)

    def _scan(self, batch: Any, start: Any) -> Any:
        """Return the outputs (batch, L, p) by steps of torch's cells, for graphs that take any length."""
        from torch._higher_order_ops import scan  # a module's steps become a graph of the length that was traced

        weights, cell, lstm = self.rnn.all_weights, _CELLS[self.kind], self.kind == "lstm"

        def step(states: Any, x: Any) -> tuple[Any, Any]:
            after = []
            for state, layer in zip(states, weights, strict=True):
                after.append(cell(x, state, *layer))
                x = after[-1][0] if lstm else after[-1]
            return after, torch.nn.functional.linear(x, self.readout.weight, self.readout.bias)

        states = [(state, torch.zeros_like(state)) if lstm else state for state in map(torch.clone, start)]
        return scan(step, states, batch.transpose(0, 1))[1].transpose(0, 1)

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"kind={self.kind!r}, scale={self.scale:.3g}, sharpness={self.sharpness:.3g}"


@dataclass(frozen=True)
class _Gated:
    """A layer as gate times value, unit by unit; no gate is one that is always open, and the reader makes its values.

    Gate and value are a matrix for z, one for the layer's own past, and a bias.
    """

    gate: _Part | None
    value: _Part
    start: Float64
    reader: Float64


@dataclass(frozen=True)
class _Units:
    """Weights of one layer of a torch module, gate by gate in torch's order."""

    gates: Sequence[_Part]
    start: Float64

    def padded(self, width: int, before: int, suffix: str) -> dict[str, Float64]:
        """Return torch's parameters of a layer, its units padded by some that stay 0."""
        inputs, recurrent, biases = (list(parts) for parts in zip(*self.gates, strict=True))
        bias = np.concatenate([_padded(part[None], 1, width)[0] for part in biases])
        return {
            "weight_ih" + suffix: np.vstack([_padded(part, width, before) for part in inputs]),
            "weight_hh" + suffix: np.vstack([_padded(part, width, width) for part in recurrent]),
            "bias_ih" + suffix: bias,
            "bias_hh" + suffix: 0.0 * bias,
        }

    def largest(self, before: float, past: float) -> float:
        """Return a bound of all sums, for bounds of the values that come and of the layer's own past."""
        sums = [
            before * np.abs(weight).sum(axis=1) + past * np.abs(own).sum(axis=1) + np.abs(bias)
            for weight, own, bias in self.gates
        ]
        return float(np.max(sums))


def _units(network: Network, kind: str, dtype: Any, bound: float | None) -> tuple[list[_Units], Float64, float, float]:
    """Return the layers of a module, the matrix of its read-out, eps and mu."""
    layers = network.layers or (Layer("state", np.eye(network.dim), np.zeros(network.dim)),)
    if kind == "rnn":
        relus = relu_network(replace(network, layers=layers))
        units = [_Units([(part.weight, part.recurrent, part.bias)], part.start) for part in relus.layers]
        return units, relus.readout, 1.0, np.inf
    bound = value_bound_of(network, kind, bound)
    gates = Gates.of(bound, str(dtype).removeprefix("torch."))
    convert, units, reader, before = _lstm if kind == "lstm" else _gru, [], np.eye(network.dim), 1.0
    for layer in layers:
        rows = _gated(layer, gates)
        unit, own = convert(rows, reader, before, gates.scale)
        reach = unit.largest(bound * (gates.scale if units else 1.0), past=bound * gates.scale)
        if not reach <= torch.finfo(dtype).max / 4.0:
            raise ValueError(f"'value_bound' and weights must be smaller for {dtype}, got sums up to {reach:.3g}")
        units.append(unit)
        reader, before = rows.reader @ own, 1.0 / gates.scale
    return units, (network.readout @ reader) * before, gates.scale, gates.sharpness


def _gated(layer: Layer, gates: Gates) -> _Gated:
    """Return the gates and values of a layer.

    Products u v are sigmoid(mu (u - 1/2)) v if u is binary, else sigmoid(delta u) - sigmoid(-delta u) times v.
    """
    if layer.op != "product":
        mu, value = gates.sharpness, (layer.weight, layer.recurrent, layer.bias)
        gate = (mu * layer.weight, mu * layer.recurrent, mu * layer.bias) if layer.op == "relu" else None
        return _Gated(gate, value, layer.start, reader=np.eye(len(layer)))
    n, binary = len(layer), layer.factor == 0.0
    rows = np.concatenate([np.arange(n), np.flatnonzero(~binary)])  # of each unit
    exact, sign = binary[rows], np.repeat([1.0, -1.0], [n, len(rows) - n])
    delta = gates.slope / np.where(exact, 1.0, layer.factor[rows])
    slope = np.where(exact, gates.sharpness, delta * sign)
    no_past, count = np.zeros((len(rows), len(rows))), len(rows)
    reader = np.zeros((n, count))
    reader[rows, np.arange(count)] = np.where(exact, 1.0, 2.0 / delta * sign)
    gate = slope[:, None] * layer.weight[rows], no_past, slope * (layer.bias[rows] - 0.5 * exact)
    return _Gated(gate, (layer.other[rows], no_past, layer.other_bias[rows]), np.zeros(count), reader=reader)


def _lstm(layer: _Gated, reader: Float64, before: float, eps: float) -> tuple[_Units, Float64]:
    """Return units with i = gate, f = 0, g = tanh(eps value), o = 1: h = i g; and the matrix that reads them."""
    n, columns = len(layer.start), reader.shape[1]
    opened, shut = _constant(n, columns, n, value=OPEN), _constant(n, columns, n, value=-OPEN)
    gate = opened if layer.gate is None else _of_units(layer.gate, reader, before, own=1.0 / eps)
    value = _of_units(layer.value, reader, eps * before, bias=eps)
    return _Units([gate, shut, value, opened], eps * layer.start), np.eye(n)


def _gru(layer: _Gated, reader: Float64, before: float, eps: float) -> tuple[_Units, Float64]:
    """Return two units for each gate: h1 = (1 - z) tanh(eps value) + z h1_before, and h2 = tanh(r h1_before), z = r.

    Their difference is gate times value. Without a gate, z = 0 and r = 1 make one unit.
    """
    n, columns, eye = len(layer.start), reader.shape[1], np.eye(len(layer.start))
    own = eye if layer.gate is None else np.hstack([eye, -eye])
    opened, shut = (_constant(n, columns, own.shape[1], value=at) for at in (OPEN, -OPEN))
    weight, recurrent, bias = _of_units(layer.value, reader, eps * before, bias=eps)
    value = weight, recurrent @ own, bias
    if layer.gate is None:
        return _Units([opened, shut, value], eps * layer.start), own
    weight, recurrent, bias = _of_units(layer.gate, reader, -before, own=-1.0 / eps, bias=-1.0)
    gate, copy = (weight, recurrent @ own, bias), (0.0 * weight, np.eye(n, 2 * n), 0.0 * bias)
    gates = [_concatenate(opened, gate), _concatenate(gate, shut), _concatenate(value, copy)]
    return _Units(gates, np.concatenate([eps * layer.start, np.zeros(n)])), own


def _of_units(rows: _Part, reader: Float64, before: float, *, own: float = 1.0, bias: float = 1.0) -> _Part:
    """Return matrices for values as those for units, each times a power of two."""
    return (rows[0] @ reader) * before, rows[1] * own, rows[2] * bias


def _constant(n: int, columns: int, own: int, value: float) -> _Part:
    return np.zeros((n, columns)), np.zeros((n, own)), np.full(n, value)


def _concatenate(upper: _Part, lower: _Part) -> _Part:
    first, second, third = (np.concatenate(pair) for pair in zip(upper, lower, strict=True))
    return first, second, third


def _padded(matrix: Float64, rows: int, columns: int) -> Float64:
    return np.pad(matrix, ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))


def _build(stock: Any, device: Any, dtype: Any, *sizes: int, **options: Any) -> Any:
    """Return a module of torch, whose usual start leaves the caller's random numbers as they were."""
    with torch.random.fork_rng(devices=[]):
        module = stock(*sizes, device="cpu", dtype=dtype, **options)
    return module.to(torch.get_default_device() if device is None else device)
