"""A compacted cache with its table, held against the one that it stands for, and its file."""

from __future__ import annotations

import contextlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.cache_utils import CacheLayerMixin

from ..... import _checks
from ..heads.problem import widened
from ..interchange import check_device
from ..models.calls import evaluating, explaining
from ..models.checking import check_cache
from ..models.divergence import divergences
from ..models.interface import attending
from .cache import CompactedCache, CompactedLayer, copied
from .collecting import chunks
from .files import kind_of, layer_of, tensors_of
from .inputs import Inputs


class HeadRecord(NamedTuple):
    """What became of one head of one sequence in one layer.

    `tokens` of `before` are left, with biases from `least_bias` to `largest_bias` (nan without). At queries held out,
    `error` is the root mean square of the change of the outputs, over that of the outputs, and `mass_error` that of
    log masses; nan where a layer is kept as it is, as `what` says: "compacted", "window, kept" or "kept".
    """

    layer: int
    sequence: int
    head: int
    tokens: int
    before: int
    least_bias: float
    largest_bias: float
    error: float
    mass_error: float
    what: str


class Agreement(NamedTuple):
    """What a model says behind a compacted cache, beside what it says behind the whole one, over a text's tokens.

    `agreement` is the share of places at which the likeliest next token is the same, `kl` the mean divergence of the
    next token's distribution from the whole cache's, in nats; `loss` and `loss_compacted` are mean losses of the text.
    """

    tokens: int
    agreement: float
    kl: float
    loss: float
    loss_compacted: float


@dataclass(frozen=True, eq=False)
class CacheCompaction:
    """A cache of few tokens that stand for all that a model has read, from `compress_cache`.

    Parameters
    ----------
    records : tuple of HeadRecord
        One for each head of each layer, of each sequence.
    method : str
        That of `compress_cache`.
    length : int
        Tokens that the cache stands for: the next one's position.
    sources : str
        Where the queries are from: "text", "reading", "context, repeated", "context", or "random tokens".
    """

    records: tuple[HeadRecord, ...]
    method: str
    length: int
    sources: str
    _layers: tuple[CacheLayerMixin, ...]
    _cross: tuple[CacheLayerMixin, ...] | None = None

    @property
    def cache(self) -> Any:
        """A cache of transformers, another one each time, that models and ``generate`` take and add tokens to."""
        cache = CompactedCache([copied(layer) for layer in self._layers])
        if self._cross is None:
            return cache
        return EncoderDecoderCache(cache, CompactedCache([copied(layer) for layer in self._cross]))

    @property
    def is_plain(self) -> bool:
        """Whether any attention may use the cache: there are no biases, and heads have as many tokens."""
        return all(layer.is_plain for layer in self._layers if isinstance(layer, CompactedLayer))

    @property
    def nbytes(self) -> int:
        """Bytes of the keys, the values and the biases that are held."""
        return sum(
            part.nbytes for layer in self._layers for part in tensors_of(layer).values() if part.is_floating_point()
        )

    def attending(self, model: PreTrainedModel) -> contextlib.AbstractContextManager[None]:
        """Let a model attend by this library inside a ``with`` block, as a cache with biases needs.

        ``model.set_attn_implementation("spherapprox")`` does so for good.

        Parameters
        ----------
        model : transformers.PreTrainedModel
        """
        return attending(_checks.instance(model, "model", torch.nn.Module))

    def table(self) -> str:
        """Return a text table with a line for each head."""
        from tabulate import tabulate

        several = any(record.sequence for record in self.records)
        rows = [
            [r.layer, *[r.sequence] * several, r.head, r.tokens, r.before, _range(r),
             *("" if math.isnan(x) else f"{x:.3g}" for x in (r.error, r.mass_error)), r.what]
            for r in self.records
        ]  # fmt: skip
        headers = ["layer", *["sequence"] * several, "head", "tokens", "of", "biases", "error", "mass error", ""]
        return str(tabulate(rows, headers, disable_numparse=True))

    def compare(self, model: PreTrainedModel, cache: Any, text: Any) -> Agreement:
        """Return what a model says of a text behind this cache, beside the whole one.

        Parameters
        ----------
        model : transformers.PreTrainedModel
        cache : transformers.Cache
            The one that was compacted; nothing is added to it.
        text : ids or dict
            As in `compress_cache`: other texts than those of the queries say most.

        Raises
        ------
        TypeError, ValueError
            If the cache has another length, or the text is none of the model.
        """
        _checks.instance(model, "model", PreTrainedModel, remedy="of PEFT: model.get_base_model()")
        check_cache(model, cache, "cache")
        own = getattr(cache, "self_attention_cache", cache)
        if isinstance(own, CompactedCache):
            raise ValueError("'cache' must be the whole one that was compacted, got one that is compacted")
        length = int(cache.get_seq_length())
        if length != self.length:
            raise ValueError(f"'cache' must be the one of {self.length} tokens that was compacted, got one of {length}")
        batch = 1 + max(record.sequence for record in self.records)
        inputs = Inputs.of(text, "text", model, batch=batch, length=length)
        before = self._real(inputs.mask) if inputs.before is None else inputs.before
        return _agreement(model, (_copy(cache), self.cache), inputs, before)

    def _real(self, like: torch.Tensor) -> torch.Tensor:
        """Return which of the tokens in the cache are none of padding, (batch, length)."""
        parts = (layer.rows for layer in self._layers if isinstance(layer, CompactedLayer))
        counts = like.new_tensor([rows.real for rows in next(parts, [])] or [self.length], dtype=torch.long)
        return (torch.arange(self.length, 0, -1, device=like.device) <= counts[:, None]).expand(len(like), -1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the cache and its records into a file of safetensors, whole or not at all.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TypeError, OSError
            If a layer's state is not one of keys and values, or the file cannot be written.
        """
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        place = Path(_checks.path(path))
        groups = {"": self._layers, "cross.": self._cross or ()}
        tensors: dict[str, torch.Tensor] = {}
        kinds = {}
        for prefix, layers in groups.items():
            for number, layer in enumerate(layers):
                tensors |= {f"{prefix}{number}.{key}": part.contiguous() for key, part in tensors_of(layer).items()}
                kinds[f"{prefix}{number}"] = kind_of(layer)
        header = {"method": self.method, "length": self.length, "sources": self.sources, "layers": kinds}
        header |= {"records": [list(record) for record in self.records], "cross": self._cross is not None}
        unfinished = place.with_name(place.name + ".part")
        try:
            save_file(tensors, unfinished, metadata={"spherapprox": json.dumps(header)})
            os.replace(unfinished, place)
        except SafetensorError as error:
            raise OSError(f"{place} cannot be written: {error}") from None
        finally:
            unfinished.unlink(missing_ok=True)

    def __repr__(self) -> str:
        done = [record for record in self.records if not math.isnan(record.error)]
        share = sum(r.tokens for r in self.records) / max(sum(r.before for r in self.records), 1)
        worst = max((record.error for record in done), default=0.0)
        return (
            f"CacheCompaction({self.method!r}, layers={len(self._layers)}, length={self.length}, share={share:.3g}, "
            f"largest_error={worst:.3g})"
        )


def load_cache(path: str | os.PathLike[str], *, device: Any = None) -> CacheCompaction:
    """Return the compaction of a cache that `CacheCompaction.save` has written.

    Parameters
    ----------
    path : str or path
    device : optional
        As of `torch.tensor`; the CPU by default.

    Raises
    ------
    OSError, ValueError
        If there is no such file, or it is none of these.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import load_cache
    >>> short = load_cache("cache.safetensors")  # doctest: +SKIP
    """
    from safetensors import SafetensorError, safe_open

    place = _checks.path(path)
    check_device(device)
    try:
        with safe_open(place, "pt", device="cpu" if device is None else str(device)) as file:
            header = json.loads((file.metadata() or {})["spherapprox"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"'path' must be a file of CacheCompaction.save, {place} is none: {error!r}") from None
    layers: dict[str, list[CacheLayerMixin]] = {"": [], "cross.": []}
    for name, kind in header["layers"].items():
        prefix = "cross." if name.startswith("cross.") else ""
        own = {key.removeprefix(f"{name}."): part for key, part in tensors.items() if key.startswith(f"{name}.")}
        layers[prefix].append(layer_of(kind, own))
    records = tuple(HeadRecord(*record) for record in header["records"])
    cross = tuple(layers["cross."]) if header["cross"] else None
    return CacheCompaction(records, header["method"], header["length"], header["sources"], tuple(layers[""]), cross)


def _range(record: HeadRecord) -> str:
    if math.isnan(record.least_bias):
        return ""
    return f"{record.least_bias:.3g} to {record.largest_bias:.3g}"


def _copy(cache: Any) -> Any:
    """Return a cache to which tokens may be added, in place of the given one."""
    if isinstance(cache, EncoderDecoderCache):
        both = EncoderDecoderCache(_copy(cache.self_attention_cache), _copy(cache.cross_attention_cache))
        both.is_updated = dict(cache.is_updated)
        return both
    working = DynamicCache()
    working.layers = [copied(layer) for layer in cache.layers]
    return working


def _agreement(model: Any, caches: tuple[Any, Any], text: Inputs, before: torch.Tensor) -> Agreement:
    """Return how a model's answers behind two caches agree, over the tokens of a text that are none of padding."""
    sums, last = torch.zeros(4, dtype=torch.float64), text.ids.shape[1] - 1
    count = losses = 0
    with evaluating(model), attending(model), explaining(model, cached=True):
        for part, arguments in chunks(model, text, before):
            whole, short = (widened(model(**arguments, cache=cache).logits).log_softmax(dim=-1) for cache in caches)
            mask = text.mask[:, part]
            sums[0] += (whole.argmax(dim=-1) == short.argmax(dim=-1))[mask].sum().item()
            sums[1] += divergences(whole[mask], short[mask]).double().sum().item()
            count += int(mask.sum())
            following = slice(part.start + 1, min(part.stop + 1, last + 1))
            width, asked = following.stop - following.start, text.ids[:, following, None]
            both = mask[:, :width] & text.mask[:, following]
            for place, logs in ((2, whole), (3, short)):
                sums[place] -= logs[:, :width].gather(-1, asked)[..., 0][both].double().sum().item()
            losses += int(both.sum())
    agreement, kl, loss, loss_compacted = (sums / torch.tensor([count, count, losses, losses])).tolist()
    return Agreement(count, agreement, kl, loss, loss_compacted)
