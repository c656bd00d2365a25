"""Inputs of a model behind a prefix: its cache, masks of all columns, places; what `generate` needs to be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ....._checks import integer, needs
from ..interchange import dynamic_cache, of_layers
from .batches import as_batches, seen
from .calls import CACHES
from .shortening import ShortenedPrefix, adapter_of, prefixes_of, sources_of

with needs("transformers", "prompts.prefix.prefixed_inputs", "interop"):
    from transformers import DynamicCache, EncoderDecoderCache


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
    moved = 0 if offset is None else integer(offset, "offset", minimum=0)
    repeats = integer(beams, "beams", minimum=1)
    batches = as_batches(inputs)
    if len(batches) != 1 or "input_ids" not in batches[0]:
        raise ValueError(f"'inputs' must be one batch with 'input_ids', got {len(batches)}")
    batch, mask = batches[0], seen(batches[0])
    if extra := [name for name in (*CACHES, "position_ids") if batch.get(name) is not None]:
        raise ValueError(f"'inputs' must have no {extra[0]!r}, which is made here: 'offset' moves places")
    twice = False
    if not isinstance(prefix, torch.nn.Module):
        layers = of_layers(prefix, "prefix")
    else:
        adapter, stored = adapter_of(prefix, "prefix"), prefixes_of(prefix)
        twice, dtype = adapter.num_transformer_submodules == 2, dtype or prefix.get_base_model().dtype
        layers = [stored[k] for k in sources_of(adapter)]
    cache = dynamic_cache(layers, batch_size=repeats * len(mask), dtype=dtype, device=mask.device)
    length = len(layers[0])
    full = torch.cat([mask.new_ones(len(mask), length), mask], dim=1).long()
    if twice:
        own = {"decoder_attention_mask": full} if "decoder_attention_mask" in batch else {}
        return batch | own | {"cache": EncoderDecoderCache(cache, DynamicCache())}
    batch |= {"attention_mask": full, "cache": cache}
    if moved or not bool(mask.all()):
        batch["position_ids"] = length + moved + (mask.long().cumsum(1) - 1).clamp(min=0)
    return batch
