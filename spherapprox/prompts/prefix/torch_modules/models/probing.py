"""Affine maps of attention modules, found by what the modules compute for zeros and unit vectors."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import Cache

from ....._types import Float64
from ...layer.layer import AttentionLayer
from .calls import SOURCES, Visit, base_of, evaluating, take_first, takes, tokens_of, visit_layers
from .interface import Call, find_hidden, watching
from .layers import LayerRecord

_ROWS = 1024
"""Inputs that are probed at once."""
_CLOSE = 1e-5
"""Differences from an affine map, over its size, up to which a module has one: some round to float32 on the way."""


class Probe(NamedTuple):
    """A copy of an attention module in float64, with the arguments by which the model called it, for one token."""

    module: torch.nn.Module
    arguments: dict[str, Any]
    record: LayerRecord
    source: str
    """The argument that has the inputs."""

    @property
    def like(self) -> torch.Tensor:
        """Inputs (1, 1, d)."""
        inputs: torch.Tensor = self.arguments[self.source]
        return inputs

    @property
    def width(self) -> int:
        """Columns of the inputs."""
        return int(self.like.shape[-1])

    def run(self, rows: torch.Tensor, outputs: torch.Tensor | None = None) -> tuple[Call, torch.Tensor]:
        """Return the call and the output of the module for inputs (batch, T, d), which are also what is attended to.

        `outputs`, (batch, heads, T, p), take the place of those of the heads.
        """
        calls: list[Call] = []

        def listen(call: Call, _: torch.Tensor) -> torch.Tensor | None:
            calls.append(call)
            return outputs

        sources = [name for name in SOURCES if self.arguments.get(name) is not None]
        with evaluating(self.module), watching(self.module, listen):
            result = self.module(**self.arguments | dict.fromkeys([self.source, *sources], rows))
        return calls[0], take_first(result)


def make_probes(
    model: Any, records: Sequence[LayerRecord], inputs: Mapping[str, Any], position: int
) -> Iterator[Probe]:
    """Return probes of the layers of records, for a token at a position: each copies a module when it is asked for."""
    base = base_of(model)
    arguments, tokens = dict(inputs), tokens_of(inputs)
    if takes(base, "position_ids") and isinstance(tokens, torch.Tensor) and not base.config.is_encoder_decoder:
        arguments["position_ids"] = torch.full(tokens.shape[:2], position, device=tokens.device)
    visits, _, _ = visit_layers(base, arguments)
    for record in records:
        if position and "position_embeddings" in visits[record.index].arguments and "position_ids" not in arguments:
            kind = type(base).__name__
            raise ValueError(f"'position' must be 0 for {kind}, which takes no 'position_ids', got {position}")
    return (_make_probe(visits[record.index], record) for record in records)


def _make_probe(visit: Visit, record: LayerRecord) -> Probe:
    """Return a copy of the module of a call that can be probed."""
    module = visit.call.module
    if any(part.dtype.itemsize == 1 for part in module.parameters()):
        kind = type(module).__name__
        raise TypeError(f"'layer' must have weights of floats, got a quantized {kind}: model.dequantize() has them")
    arguments = {name: _cut_argument(name, value) for name, value in visit.arguments.items()}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.ndim == 3:  # the inputs
            return Probe(copy.deepcopy(module).double(), arguments, record, name)
    raise ValueError(f"'layer' must take inputs (batch, T, d), got {record.name}, which takes {', '.join(arguments)}")


def _cut_argument(name: str, value: Any) -> Any:
    """Return an argument of a module for one token of one sequence, in float64; None for masks and caches."""
    if isinstance(value, Cache) or "mask" in name or name == "position_bias":
        return None
    if name == "position_embeddings" and isinstance(value, tuple):  # cosines and sines (..., T, s)
        return tuple(_widen(part[..., :1, :1, :]) for part in value)
    return _widen(value[:1, :1]) if isinstance(value, torch.Tensor) and value.ndim > 1 else value


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    """Return numbers in float64, or complex128; integers as they are."""
    digits = tensor.is_floating_point() or tensor.is_complex()
    return tensor.to(torch.promote_types(tensor.dtype, torch.float64)) if digits else tensor


def read_layer(model: Any, record: LayerRecord, inputs: Mapping[str, Any], position: int) -> AttentionLayer:
    """Return the layer of a record, as it is at a position."""
    kind = type(dict(model.named_modules())[record.name]).__name__
    if record.softcap is not None or record.positions:
        what = "adds biases by positions" if record.softcap is None else f"caps them at {record.softcap:g}"
        raise ValueError(
            f"'layer' must have logits that are no more than products, got {record.name} ({kind}), which {what}: "
            "no AttentionLayer has that, read and fit take it as it is"
        )
    (probe,) = make_probes(model, [record], inputs, position)
    maps = dict(zip(("query", "key", "value", "out"), [*read_inputs(probe), read_output(probe)], strict=True))
    arrays = {name: weight.cpu().numpy() for name, (weight, _) in maps.items()}
    arrays |= {f"{name}_bias": bias.cpu().numpy() for name, (_, bias) in maps.items()}
    scale = probe.run(torch.zeros_like(probe.like))[0].scale
    layer = AttentionLayer(**arrays, heads=record.heads, key_value_heads=record.key_value_heads, scale=scale)
    _check_layer(probe, layer)
    return layer


def read_inputs(probe: Probe) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return weights (heads * s, d) and biases of queries, keys and values, checked to be affine."""
    like, d = probe.like, probe.width
    units = torch.cat([torch.eye(d, dtype=like.dtype, device=like.device), _draw_rows(d, like)])

    def answers(rows: torch.Tensor) -> list[torch.Tensor]:
        calls = [probe.run(part[:, None])[0] for part in rows.split(_ROWS)]
        return [
            torch.cat([getattr(call, name)[:, :, 0].flatten(1) for call in calls]) for name in ("query", "key", "value")
        ]

    maps = []
    for name, zero, rows in zip(("queries", "keys", "values"), answers(0.0 * units[:1]), answers(units), strict=True):
        weight = (rows[:d] - zero).T  # (heads * s, d)
        predicted = units[d:] @ weight.T + zero
        if not float((predicted - rows[d:]).abs().max()) <= _CLOSE * float(rows.abs().max()):
            kind = type(probe.module).__name__
            norm = " norms them (q_norm)" if hasattr(probe.module, "q_norm") else " computes them in another way"
            raise ValueError(
                f"'layer' must have {name} that are affine functions of inputs, got {probe.record.name}, "
                f"whose {kind}{norm}: no AttentionLayer has that, read and fit take it as it is"
            )
        maps.append((weight, zero[0]))
    return maps


def read_output(probe: Probe) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weights (d_out, heads * p) and bias by which a module's output follows from those of its heads."""
    like, heads, p = probe.like, probe.record.heads, probe.record.value_dim
    units = torch.eye(heads * p, dtype=like.dtype, device=like.device)
    rest = _draw_rows(heads * p, like)

    def answers(outputs: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        parts = []
        for part, inputs in zip(outputs.split(_ROWS), rows.split(_ROWS), strict=True):
            by_head = part.unflatten(1, (heads, p))[:, :, None]  # (batch, heads, 1, p)
            parts.append(probe.run(inputs[:, None], by_head)[1][:, 0])
        return torch.cat(parts)

    blank = torch.zeros(1, probe.width, dtype=like.dtype, device=like.device)
    bias = answers(0.0 * units[:1], blank)
    weight = (answers(units, blank.expand(len(units), -1)) - bias).T
    outputs = answers(rest, _draw_rows(probe.width, like))
    if not float((rest @ weight.T + bias - outputs).abs().max()) <= _CLOSE * float(outputs.abs().max()):
        raise ValueError(
            f"'layer' must have outputs that are an affine function of those of its heads, got {probe.record.name}, "
            f"whose {type(probe.module).__name__} gates or norms them: read takes it as it is"
        )
    return weight, bias[0]


def _draw_rows(columns: int, like: torch.Tensor) -> torch.Tensor:
    """Return a few rows of random numbers, always the same ones."""
    rows = np.random.default_rng(0).standard_normal((4, columns)) * np.array([[0.1], [1.0], [3.0], [10.0]])
    return torch.tensor(rows, dtype=like.dtype, device=like.device)


def _check_layer(probe: Probe, layer: AttentionLayer) -> None:
    """Check that a layer computes the same as the module it was read from."""
    like = probe.like
    rows = _draw_rows(probe.width, like)[:, None].transpose(0, 1)  # one sequence
    call, outputs = probe.run(rows)
    expected: Float64 = layer.attend(
        rows[0].cpu().numpy(), causal=call.mask is not None and bool(find_hidden(call.mask).any())
    )
    away = np.abs(expected - outputs[0].cpu().numpy()).max()
    if not away <= _CLOSE * np.abs(expected).max():
        raise ValueError(
            f"'layer' must be attention and affine maps alone, got {probe.record.name}, whose "
            f"{type(probe.module).__name__} computes something else (by {away:.3g} of {np.abs(expected).max():.3g}): "
            "read takes it as it is"
        )
