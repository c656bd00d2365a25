"""Queries of all layers and heads in one pass over a text, and what a context itself attends to."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicLayer

from ..heads.peers import WINDOW
from ..heads.problem import FOLDS, widened
from ..models.calls import explaining
from ..models.interface import Call, watching
from ..models.reading import Reading
from .cache import copied
from .inputs import Inputs

_CHUNK, _WEIGHTS = 256, 2**26
"""Tokens that are read at once, at most, and numbers of attention that are summed at once, 256 MiB of them."""


@dataclass
class LayerQueries:
    """What a layer was seen to do: its softcap and window, queries times the scale and, of a context, its attention.

    Queries are (shared heads, heads that share, tokens, s), a list for each sequence; sums and votes are of the
    attention of all tokens and of the last ones, (batch, shared heads, n).
    """

    softcap: float | None
    window: int | None
    queries: list[list[torch.Tensor]]
    sums: torch.Tensor | None = None
    votes: torch.Tensor | None = None

    def at(self, sequence: int) -> torch.Tensor:
        """Return the queries (shared heads, heads that share, tokens, s) of a sequence."""
        return torch.cat(self.queries[sequence], dim=2)


@dataclass
class Watcher:
    """Keeps the queries of some tokens, by the keys that the layers of a cache hand out."""

    layers: dict[int, LayerQueries] = field(default_factory=dict)
    keep: torch.Tensor | None = None  # (batch, T) of the tokens that are being read
    late: torch.Tensor | None = None  # (T,) which of them vote
    sizes: tuple[int, int] | None = None  # batch and length of a context, whose attention is summed
    handed: dict[int, tuple[int, torch.Tensor]] = field(default_factory=dict)

    def hand(self, cache: Cache) -> Cache:
        """Return a cache to which tokens may be added, and that tells which layer's keys are handed out."""
        layers = [copied(layer) for layer in cache.layers]
        for number, layer in enumerate(layers):
            if isinstance(layer, CacheLayerMixin):
                layer.update = self._watched(number, layer.update)
        working = DynamicCache()
        working.layers, working.layer_class_to_replicate = layers, None
        return working

    def _watched(self, number: int, update: Any) -> Any:
        def watched(*arguments: Any, **options: Any) -> Any:
            key, value = update(*arguments, **options)
            self.handed[key.data_ptr()] = number, key
            return key, value

        return watched

    def __call__(self, call: Call, outputs: torch.Tensor) -> torch.Tensor | None:
        """Take the queries of a call, if its keys are of the cache."""
        number, _ = self.handed.get(call.key.data_ptr(), (None, None))
        if number is None:
            return None
        assert self.keep is not None
        batch, heads = call.query.shape[:2]
        shared = call.key.shape[1]
        if number not in self.layers:
            _check_mask(call)
            self.layers[number] = LayerQueries(call.softcap, call.window, [[] for _ in range(batch)])
        layer = self.layers[number]
        queries = (call.scale * widened(call.query)).unflatten(1, (shared, heads // shared))
        for rows, kept, part in zip(queries, self.keep, layer.queries, strict=True):
            part.append(rows[:, :, kept])
        if self.sizes is not None:
            self._sum(layer, call)
        return None

    def _sum(self, layer: LayerQueries, call: Call) -> None:
        """Add the attention of a context's tokens to those that it has read."""
        assert self.sizes is not None
        assert self.late is not None
        shared, columns = call.key.shape[1:3]
        if layer.sums is None or layer.votes is None:
            layer.sums = call.key.new_zeros(self.sizes[0], shared, self.sizes[1], dtype=torch.float32)
            layer.votes = torch.zeros_like(layer.sums)
        weights = call.weights().float().unflatten(1, (shared, -1)).sum(dim=2)
        layer.sums[..., :columns] += weights.sum(dim=2)
        layer.votes[..., :columns] += weights[:, :, self.late].sum(dim=2)


def _check_mask(call: Call) -> None:
    """Refuse a layer that adds numbers by position to logits, which those of compacted tokens are no more."""
    mask = call.mask
    if mask is not None and bool(((mask != 0.0) & (mask > torch.finfo(mask.dtype).min / 2.0)).any()):
        raise _biased(type(call.module).__name__)


def _biased(name: str) -> ValueError:
    return ValueError(
        f"'model' must not add biases by position to its logits, {name} does: tokens that stand for others have no "
        "position"
    )


@contextmanager
def _quietly(model: Any, watcher: Watcher) -> Iterator[None]:
    with torch.no_grad(), watching(model, watcher):
        yield


def collect(model: Any, cache: Any, texts: list[Inputs], real: torch.Tensor, count: int) -> dict[int, LayerQueries]:
    """Return the queries of texts, each read behind the cache, evenly over their tokens and at most `count` a key's."""
    watcher = Watcher()
    total = sum(text.ids.shape[1] for text in texts)
    chosen = _evenly(total, max(count // _sharing(model), FOLDS)).to(real.device)
    start = 0
    with _quietly(model, watcher):
        for text in texts:
            keep = chosen[start : start + text.ids.shape[1]] & text.mask
            start += text.ids.shape[1]
            _read(model, handed_cache(watcher, cache), text, real, watcher, keep)
    return watcher.layers


def take_queries(reading: Reading, batch: int, count: int) -> dict[int, LayerQueries]:
    """Return the queries that a reading has of a cache's layers, evenly over tokens and at most `count` a key's."""
    layers = {}
    for own in reading.layers:
        record = own.record
        if record.kind != "self" or record.cache_index is None:
            continue
        if len(own.query) != batch:
            raise ValueError(f"'text' must be read of {batch} sequences, as the cache has, got {len(own.query)}")
        if record.positions:
            raise _biased(record.name)
        sharing = record.heads // record.key_value_heads
        chosen = _evenly(len(own.rows), max(count // sharing, FOLDS)).to(own.query.device)
        queries = (own.scale * widened(own.query)).unflatten(1, (record.key_value_heads, sharing))
        parts = [[rows[:, :, chosen & visible]] for rows, visible in zip(queries, own.seen, strict=True)]
        layers[record.cache_index] = LayerQueries(record.softcap, record.window, parts)
    return layers


def read_context(model: Any, context: Inputs, count: int) -> dict[int, LayerQueries]:
    """Return the queries of a context that is read anew, and what attention its tokens got."""
    batch, length = context.ids.shape
    watcher = Watcher(sizes=(batch, length))
    keep = _evenly(length, max(count // _sharing(model), FOLDS)).to(context.ids.device) & context.mask
    with _quietly(model, watcher):
        _read(model, empty_cache(watcher, model), context, context.mask[:, :0], watcher, keep)
    return watcher.layers


class _Growing(DynamicCache):
    """An empty cache that tells which layer's keys are handed out."""

    def __init__(self, watcher: Watcher, config: Any) -> None:
        super().__init__(config=config)
        for number, sliding in enumerate(self.is_sliding):
            if sliding:  # keep all tokens
                self.layers[number] = DynamicLayer()
        self.watcher = watcher

    def update(self, key_states: Any, value_states: Any, layer_idx: int, *args: Any, **options: Any) -> Any:
        key, value = super().update(key_states, value_states, layer_idx, *args, **options)
        self.watcher.handed[key.data_ptr()] = layer_idx, key
        return key, value


def empty_cache(watcher: Watcher, model: Any) -> Any:
    """Return an empty cache that tells which layer's keys are handed out."""
    cache = _Growing(watcher, model.config)
    return EncoderDecoderCache(cache, DynamicCache()) if model.config.is_encoder_decoder else cache


def handed_cache(watcher: Watcher, cache: Any) -> Any:
    """Return a cache to which tokens may be added, and that tells which layer's keys are handed out."""
    if isinstance(cache, EncoderDecoderCache):
        working = EncoderDecoderCache(watcher.hand(cache.self_attention_cache), _shared(cache.cross_attention_cache))
        working.is_updated = dict(cache.is_updated)
        return working
    return watcher.hand(cache)


def _shared(cache: Any) -> Any:
    working = DynamicCache()
    working.layers = [copied(layer) for layer in cache.layers]
    return working


def _sharing(model: Any) -> int:
    """Return how many heads share a key, 1 where a configuration does not say."""
    config = model.config.get_text_config(decoder=True)
    heads = getattr(config, "num_attention_heads", 1)
    return max(int(heads // (getattr(config, "num_key_value_heads", None) or heads)), 1)


def _evenly(total: int, count: int) -> torch.Tensor:
    """Return which of `total` tokens are among `count` at even distances."""
    mask = torch.zeros(total, dtype=torch.bool)
    mask[torch.linspace(0, total - 1, min(count, total)).round().long()] = True
    return mask


def arguments_of(model: Any) -> set[str]:
    """Return the names of what a model takes."""
    return set(inspect.signature(model.forward).parameters)


def chunks(
    model: Any, text: Inputs, before: torch.Tensor, size: int = _CHUNK
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Yield which tokens of a text are read at once, and the model's arguments for it, but for the cache."""
    decoder = "decoder_" if model.config.is_encoder_decoder else ""
    mask = torch.cat([before, text.mask], dim=1)
    places = (mask.long().cumsum(dim=1) - 1).clamp(min=0)
    names, padded = arguments_of(model), not bool(mask.all())
    for start in range(0, text.ids.shape[1], size):
        part = slice(start, min(start + size, text.ids.shape[1]))
        columns = slice(0, before.shape[1] + part.stop)
        arguments = {f"{decoder}input_ids": text.ids[:, part], **text.others, "use_cache": True}
        if padded:
            arguments[f"{decoder}attention_mask"] = mask[:, columns].long()
            if "position_ids" in names:
                arguments["position_ids"] = places[:, before.shape[1] :][:, part]
        yield part, arguments


def _read(model: Any, cache: Any, text: Inputs, before: torch.Tensor, watcher: Watcher, keep: torch.Tensor) -> None:
    """Let a model read a text behind the tokens of a cache, which it adds to; it is of a watcher that keeps queries."""
    total = text.ids.shape[1]
    late = torch.arange(total, device=keep.device) >= total - WINDOW
    last = {"logits_to_keep": 1} if "logits_to_keep" in arguments_of(model) else {}
    heads = getattr(model.config.get_text_config(decoder=True), "num_attention_heads", 1)
    size = _CHUNK if watcher.sizes is None else max(min(_CHUNK, _WEIGHTS // (heads * text.ids.numel())), 1)
    for part, arguments in chunks(model, text, before, size):
        watcher.keep, watcher.late = keep[:, part], late[part]
        with explaining(model, cached=True):
            model(**arguments, **last, cache=cache)
        watcher.handed.clear()
