"""Inputs of a model behind a prefix: its cache, masks of all columns, places; what `generate` needs to be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import Cache, DynamicCache, EncoderDecoderCache

from ....._checks import integer
from ..interchange import dynamic_cache, of_layers
from .adapters import adapter_of, prefixes_of, sources_of
from .batches import as_batches, read_mask
from .calls import CACHES, base_of, takes, tokens_of
from .checking import checked_inputs
from .shortening import ShortenedPrefix


def prefixed_inputs(
    prefix: Any, inputs: torch.Tensor | Mapping[str, Any], *, offset: int | None = None, beams: int = 1,
    dtype: torch.dtype | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return a model's arguments for tokens behind a prefix, for ``model(...)`` and ``model.generate(...)``.

    Parameters
    ----------
    prefix : PeftModel, ShortenedPrefix, or sequence of Prefix
        A model of PEFT with prefix tuning, what `shorten_prefix` returned, or the prefixes of all layers, (heads, L,
        s).
    inputs : Tensor or Mapping
        Token numbers (batch, T), or arguments that have `input_ids`, and `attention_mask` where sequences are padded:
        on the left, to generate.
    offset : int, optional
        Places by which content stands further to the right than behind the L tokens of the prefix: if these stand for
        ``long`` tokens, and the model's places are learned, ``long - L``. That of a ShortenedPrefix by default, else 0.
    beams : int, default 1
        ``num_beams`` or ``num_return_sequences`` of ``generate``, which repeats tokens but no cache.
    dtype : torch.dtype, optional
        The model's, where prefixes are given; torch's default by default.

    Returns
    -------
    dict
        `inputs` with `attention_mask` of L + T columns (`decoder_attention_mask`, if one is given, of an
        encoder-decoder), with a new `cache`, that one call fills, and with `position_ids` where places are moved or
        there is padding, which they do not count. Give them to the model itself: ``model.get_base_model()`` in PEFT,
        which adds its own prefix.

    Raises
    ------
    TypeError, ValueError
        If the prefix is none, or inputs are not one batch.

    Notes
    -----
    Without a mask of L + T columns ``generate`` takes the first L tokens for those that the cache holds, and drops
    them. PEFT's own ``generate`` loses the prefix with transformers from 5.24 on, which call the cache otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from spherapprox.prompts.prefix import Prefix, prefixed_inputs
    >>> prefixes = [Prefix(np.ones((2, 3, 8)), np.ones((2, 3, 8)))] * 2
    >>> inputs = prefixed_inputs(prefixes, torch.tensor([[5, 6, 7, 8]]), offset=10)
    >>> inputs["attention_mask"].shape, inputs["position_ids"]
    (torch.Size([1, 7]), tensor([[13, 14, 15, 16]]))
    >>> model.generate(**prefixed_inputs(prefixes, tokens), max_new_tokens=20)  # doctest: +SKIP
    """
    if isinstance(prefix, ShortenedPrefix):
        offset, prefix = prefix.offset if offset is None else offset, prefix.model
    shift = 0 if offset is None else integer(offset, "offset", minimum=0)
    repeats = integer(beams, "beams", minimum=1)
    batches = as_batches(inputs)
    if len(batches) != 1 or "input_ids" not in batches[0]:
        raise ValueError(f"'inputs' must be one batch with 'input_ids', got {len(batches)}")
    batch, mask = batches[0], read_mask(batches[0])
    if extra := next((name for name in (*CACHES, "position_ids") if batch.get(name) is not None), None):
        raise ValueError(f"'inputs' must have no {extra!r}, which is made here: 'offset' moves places")
    twice = False
    if not isinstance(prefix, torch.nn.Module):
        layers = of_layers(prefix, "prefix")
    else:
        adapter, stored = adapter_of(prefix, "prefix"), prefixes_of(prefix)
        twice, dtype = adapter.num_transformer_submodules == 2, dtype or prefix.get_base_model().dtype
        layers = [stored[k] for k in sources_of(adapter)]
    cache = dynamic_cache(layers, batch_size=repeats * len(mask), dtype=dtype, device=mask.device)
    length = len(layers[0])
    full = _extend_mask(mask, length).long()
    if twice:
        own = {"decoder_attention_mask": full} if "decoder_attention_mask" in batch else {}
        return batch | own | {"cache": EncoderDecoderCache(cache, DynamicCache())}
    batch |= {"attention_mask": full, "cache": cache}
    if shift or not bool(mask.all()):
        batch["position_ids"] = length + shift + (mask.long().cumsum(1) - 1).clamp(min=0)
    return batch


def _extend_mask(mask: torch.Tensor, length: int) -> torch.Tensor:
    """Return a mask (batch, T) with columns of a prefix before it, which all tokens see."""
    return torch.cat([mask.new_ones(len(mask), length), mask], dim=1)


def place_behind(model: Any, inputs: Mapping[str, Any], prefix: Any) -> tuple[dict[str, Any], int]:
    """Return checked inputs of a model behind a cache, or behind prefixes of all layers, and the number of tokens."""
    base, tokens, cache = base_of(model), tokens_of(inputs), prefix
    if not isinstance(prefix, Cache):
        batch = 1 if tokens is None else len(tokens)
        cache = dynamic_cache(prefix, batch_size=batch, dtype=base.dtype, device=base.device)
    own = getattr(cache, "self_attention_cache", cache)
    length, double = int(own.get_seq_length()), bool(base.config.is_encoder_decoder)
    if not length:
        raise ValueError("'prefix' must have tokens, got none: let the model read a text")
    if (other := next((key for key in CACHES if inputs.get(key) is not None), None)) is not None:
        raise ValueError(f"'{other}' must be left out: the cache is that of 'prefix'")
    if double and own is cache:
        cache = EncoderDecoderCache(cache, DynamicCache())
    argument = next((key for key in CACHES if takes(base, key)), None)
    if argument is None:
        raise TypeError(f"'prefix' needs a model that takes a cache, {type(base).__name__} takes none")
    mask_name = "decoder_attention_mask" if double else "attention_mask"
    more, mask = {argument: cache}, inputs.get(mask_name)
    if mask is not None and mask.ndim == 2:
        more[mask_name] = _extend_mask(mask, length)
    return checked_inputs(model, {**inputs, **more}, strict=False), length
