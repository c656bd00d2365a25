"""Contexts of the heads of a layer, what the content behind a prefix is to queries: of a call, of all of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...layer.contexts import Contexts
from ...layer.rows import Prefix
from .batches import Batch, move_batch, read_mask
from .calls import base_of, evaluating
from .interface import Call, find_hidden, score_keys, take_mask, watching


def contexts_of(call: Call, places: torch.Tensor, length: int) -> list[Contexts]:
    """Return the contexts of each head of queries, behind a prefix of a length, at sequences and tokens (N, 2)."""
    heads, columns = call.query.shape[1], call.key.shape[2]
    mask = call.query.new_zeros(1, 1, 1, columns) if call.mask is None else call.mask
    parts: list[list[Any]] = []
    for sequence in places[:, 0].unique().tolist():
        rows = places[places[:, 0] == sequence, 1].to(call.query.device)
        query = call.query[sequence, :, rows].double()
        key, value = (call.repeat_rows(part[sequence, None, :, length:])[0].double() for part in (call.key, call.value))
        numbers = take_mask(mask, call.query, sequence, rows).expand(heads, -1, -1)
        logits = score_keys(query, key, call.scale, call.softcap) + numbers[..., length:]
        mean = torch.softmax(logits, -1) @ value
        parts.append([part.cpu().numpy() for part in (query, logits.logsumexp(-1), mean, numbers[..., :length])])
    query, mass, mean, bias = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    biases = bias if bias.any() else [None] * heads
    return [Contexts(query[h], mass[h], mean[h], call.scale, call.softcap, biases[h]) for h in range(heads)]


def join_contexts(contexts: Sequence[Contexts]) -> Contexts:
    """Return several contexts, one after the other: of heads that share keys, or of batches."""
    names = ["query", "log_mass", "mean"] + ["bias"] * (contexts[0].bias is not None)
    arrays: dict[str, Any] = {name: np.concatenate([getattr(own, name) for own in contexts]) for name in names}
    return replace(contexts[0], **arrays)


def collect_queries(
    model: Any, prefixes: Sequence[Prefix], batches: list[Batch], limit: int, random: np.random.Generator
) -> list[list[Contexts]]:
    """Return the queries of each layer and head of keys at some tokens of a text, with their contexts, in one pass."""
    collector = _Collector(prefixes)
    masks = [read_mask(batch).cpu() for batch in batches]
    total = sum(int(mask.sum()) for mask in masks)
    chosen = torch.zeros(total, dtype=torch.bool)
    chosen[torch.from_numpy(random.choice(total, min(limit, total), replace=False))] = True
    with evaluating(model), watching(base_of(model), collector):
        for batch, mask in zip(batches, masks, strict=True):
            part, chosen = chosen.tensor_split([int(mask.sum())])
            collector.mask = mask.masked_scatter(mask, part)
            if part.any():
                model(**move_batch(model, batch))
    return [collector.join(layer) for layer in range(len(prefixes))]


class _Collector:
    """A listener that keeps queries of the layers that see a prefix, of the tokens of a mask (batch, T)."""

    mask: torch.Tensor

    def __init__(self, prefixes: Sequence[Prefix]) -> None:
        self.prefixes = prefixes
        self.parts: list[list[list[Contexts]]] = [[] for _ in prefixes]  # of each batch and head of queries

    def __call__(self, call: Call, outputs: torch.Tensor) -> None:
        layer, length = getattr(call.module, "layer_idx", None), len(self.prefixes[0])
        if layer is None or not self._has_prefix(call, layer):
            return
        mask = self.mask
        if call.mask is not None:  # tokens that see all of the prefix
            hidden = find_hidden(call.mask[..., :length]).any(-1)[:, 0]
            mask = mask & ~hidden.expand(mask.shape).cpu()
        if not mask.any():
            return
        contexts = contexts_of(call, torch.nonzero(mask), length)
        if contexts[0].bias is not None:
            raise ValueError("'model' must not add biases of positions to the logits of its prefix, as T5 does")
        self.parts[layer].append(contexts)

    def _has_prefix(self, call: Call, layer: int) -> bool:
        """Tell whether the first keys of a call are those of the layer's prefix."""
        prefix = torch.from_numpy(self.prefixes[layer].key)
        if call.key.shape[2] != len(self.prefixes[layer]) + call.query.shape[2] or call.key.shape[1] != len(prefix):
            return False
        key = call.key[0, :, : prefix.shape[1]]
        return bool(torch.equal(key.cpu(), prefix.to(key.dtype)))

    def join(self, layer: int) -> list[Contexts]:
        """Return all queries of each head of keys of a layer: those of one head of queries after those of another."""
        if not self.parts[layer]:
            raise ValueError(
                f"'model' must show its whole prefix to queries of layer {layer}, none sees it: the layer has a window "
                "that is shorter, another attention than that of transformers' interface, or no prefix"
            )
        heads = [join_contexts(batches) for batches in zip(*self.parts[layer], strict=True)]
        size = len(heads) // len(self.prefixes[layer].key)
        return [join_contexts(heads[first : first + size]) for first in range(0, len(heads), size)]
