"""Runs of a model whose layers are known, call by call; what they compute is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import Cache

from ....._types import Float64
from .adapters import count_virtual_tokens, has_prefix_tuning
from .calls import base_of, find_output, run, take_first
from .generation import place_behind
from .interface import Call, find_hidden
from .layers import LayerRecord, check_prefixes, find_cached
from .reading import LayerReading, Reading, mean_shares, stack_shares, token_shares


class Order:
    """The records of a model's layers in the order of its calls, and which tokens were seen by any in the last one."""

    def __init__(self, records: Sequence[LayerRecord]) -> None:
        self._records = iter(records)
        self._visible: torch.Tensor | None = None

    def take(self, call: Call) -> tuple[LayerRecord, torch.Tensor]:
        """Return the record of the next call, checked, and which of the tokens (batch, T) that ask any token sees."""
        record = next(self._records, None)
        shape = call.query.shape[1], call.key.shape[1], call.query.shape[3]
        if record is None or (record.heads, record.key_value_heads, record.head_dim) != shape:
            raise ValueError(
                "the model called other attention layers than those that were found: of_model(model, ...) takes inputs "
                "as these, and is to be called anew for a model that was changed"
            )
        tokens = call.query.shape[0], call.query.shape[2]
        if record.kind != "cross" or self._visible is None or self._visible.shape != tokens:
            self._visible = _find_visible(call)  # keys of cross-attention are of other tokens
        return record, self._visible

    def finish(self) -> None:
        """Check that all layers were called."""
        if (missing := next(self._records, None)) is not None:
            raise ValueError(
                f"the model did not call {missing.name} for these inputs: of_model(model, ...) takes such as these"
            )


def _find_visible(call: Call) -> torch.Tensor:
    """Return which of the tokens (batch, T) that ask are seen by any: the last keys are theirs."""
    batch, _, count, _ = call.query.shape
    if call.mask is None or call.key.shape[2] < count:
        return torch.ones(batch, count, dtype=torch.bool, device=call.query.device)
    return (~find_hidden(call.mask)).any(dim=1).any(dim=1)[:, -count:].expand(batch, -1)


def read_model(
    model: Any, records: Sequence[LayerRecord], inputs: Mapping[str, Any], queries: int | None,
    chosen: Sequence[LayerRecord],
) -> Reading:  # fmt: skip
    """Return what the chosen layers of a model compute for inputs."""
    indices, order = {record.index for record in chosen}, Order(records)
    layers: list[dict[str, Any]] = []
    waiting: dict[int, list[dict[str, Any]]] = {}

    def listen(call: Call, output: torch.Tensor) -> None:
        record, visible = order.take(call)
        if record.index not in indices:
            return
        rows = choose_rows(call.query.shape[2], queries, call.query.device)
        mask = call.mask if call.mask is None or call.mask.shape[-2] == 1 else call.mask[..., rows, :]
        layer = {
            "record": record, "query": call.query[:, :, rows], "key": call.key, "value": call.value, "mask": mask,
            "scale": call.scale, "softcap": call.softcap, "output": output[:, :, rows], "seen": visible[:, rows],
            "rows": rows,
        }  # fmt: skip
        layers.append(layer)
        waiting.setdefault(id(call.module), []).append(layer)

    def after(module: torch.nn.Module, _: Any, result: Any) -> None:
        for layer in waiting.pop(id(module), ()):
            layer["result"] = take_first(result)

    modules = dict(model.named_modules())
    with contextlib.ExitStack() as hooks:
        for name in {record.name for record in chosen}:
            hooks.enter_context(modules[name].register_forward_hook(after))
        output = run(model, inputs, listen)
    order.finish()
    return Reading(tuple(LayerReading(**layer) for layer in layers), find_output(output))


def choose_rows(count: int, queries: int | None, device: Any) -> torch.Tensor:
    """Return the tokens whose queries are kept, evenly spaced, the last one among them."""
    if queries is None or queries >= count:
        return torch.arange(count, device=device)
    return torch.arange(1, queries + 1, device=device) * count // queries - 1


def measure_prefix(model: Any, records: Sequence[LayerRecord], prefix: Any, inputs: Mapping[str, Any]) -> Float64:
    """Return the shares (layers, heads) of a prefix, or of the model's own: see `ModelAttention.prefix_share`."""
    layers, length = find_cached(records), count_virtual_tokens(model)
    if prefix is not None:
        if length:
            raise ValueError("'prefix' must be left out, the model of PEFT has its own: base_model is without one")
        if not isinstance(prefix, Cache):
            check_prefixes(prefix, layers)
        inputs, length = place_behind(model, inputs, prefix)
    elif not length:
        raise TypeError("'prefix' must be given: prefixes of layers, or a cache; the model has none of its own")
    reading, first = read_model(model, records, inputs, None, layers), 0
    if isinstance(prefix, Cache):  # few columns may stand for many tokens
        lengths = {min(length, layer.key.shape[2] - layer.query.shape[2]) for layer in reading.layers}
        if len(lengths) > 1:
            raise ValueError(
                f"'prefix' must have as many columns in all layers, got {sorted(lengths)}: "
                "read(layers=..., cache=prefix).share(columns) is of some"
            )
        length = lengths.pop()
    elif prefix is None and not has_prefix_tuning(model):
        if base_of(model).config.is_encoder_decoder:
            raise TypeError("'model' must have prefixes in its cache, got virtual tokens of its encoder's inputs")
        first = length  # virtual tokens ask, too
    return stack_shares(mean_shares(token_shares(layer, length)[..., first:]) for layer in reading.layers)
