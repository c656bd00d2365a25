"""Inputs of models of transformers, checked where the models' own errors do not tell, come late, or never come."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from typing import Any

import torch
from transformers import Cache, EncoderDecoderCache
from transformers.cache_utils import StaticLayer
from transformers.utils import TransformersKwargs

from ....._checks import instance, wrong_type
from .adapters import count_virtual_tokens
from .calls import CACHES, ROWS, base_of

_OTHERS = {*TransformersKwargs.__annotations__, *CACHES, "token_type_ids", "return_dict", "task_ids", "adapter_names"}
"""Names that models take, or leave alone, beside those of their own."""
_ROWS = ("attention_mask", "position_ids", "token_type_ids", "inputs_embeds")
"""Ends of names of what has a row for each sequence, beside tokens."""


def checked_inputs(model: Any, inputs: Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """Return inputs of a model, checked, and where it is; strictly, there are none that it does not know."""
    base = base_of(model)
    check_weights(base)
    if strict:
        check_names(base, inputs)
        _check_main(base, inputs)
    arguments = dict(inputs)
    if base.device.type != "meta":  # as of weights that are elsewhere until they are used
        tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        arguments |= {name: value.to(base.device) for name, value in tensors.items() if not value.is_meta}
    for name, value in arguments.items():
        if value is None:
            continue
        if name in CACHES:
            check_cache(base, value, name)
        elif name.endswith("input_ids"):
            _check_tensor(value, name)
            _check_tokens(base, name, value)
        elif name.endswith(_ROWS) and not isinstance(value, Mapping):
            _check_tensor(value, name)
    answers = "decoder_input_ids", "decoder_inputs_embeds", "labels"
    if base.config.is_encoder_decoder and not any(inputs.get(name) is not None for name in answers):
        raise TypeError(f"'decoder_input_ids' must be given: what the decoder of {type(base).__name__} reads")
    counts = [_check_together(model, arguments, prefix) for prefix in ("", "decoder_")]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(f"'decoder_input_ids' must be of the {counts[0]} sequences of 'input_ids', got {counts[1]}")
    return arguments


def check_weights(model: Any) -> None:
    """Check that a model's weights have numbers."""
    if any(part.is_meta for part in model.parameters()) and not hasattr(model, "hf_device_map"):
        raise ValueError("'model' must hold its weights, got some on the device meta: from_pretrained(...) loads them")


def check_cache(model: Any, cache: Any, name: str) -> None:
    """Check that a cache is one, with as many layers as a decoder has."""
    instance(cache, name, Cache, remedy="a model's output has one, .cache; dynamic_cache(prefixes) makes one")
    layers = getattr(getattr(cache, "self_attention_cache", cache), "layers", ())
    if any(isinstance(layer, StaticLayer) for layer in layers):
        raise TypeError(
            f"'{name}' must be a DynamicCache, got a static one, whose rows are not all tokens: let the model fill a "
            "DynamicCache(config=model.config)"
        )
    whole = base_of(model).config
    config = whole.get_text_config(decoder=True)
    if isinstance(cache, EncoderDecoderCache) and not (
        whole.is_encoder_decoder or getattr(config, "add_cross_attention", 0)
    ):
        raise ValueError(
            f"'{name}' must be of a decoder alone, as the model is: cache.self_attention_cache, if it is its own"
        )
    count = getattr(config, "num_hidden_layers", None) or len(layers)
    least = count - (getattr(config, "num_kv_shared_layers", None) or 0)
    if not whole.is_encoder_decoder and layers and not least <= len(layers) <= count:
        raise ValueError(f"'{name}' must be of the {count} layers of the model, got one of {len(layers)}")


def check_mask(mask: torch.Tensor, name: str) -> None:
    """Check that a mask (batch, columns) is 1 at tokens and 0 at padding, and that there are tokens in each row."""
    if bool(((mask != 0) & (mask != 1)).any()):
        low, high = (float(end) for end in torch.aminmax(mask))
        raise ValueError(f"'{name}' must be 1 at tokens and 0 at padding, got {low:g} to {high:g}")
    if not bool(mask.bool().any(dim=-1).all()):
        raise ValueError(
            f"'{name}' must be 1 at tokens of each sequence, got a row of zeros: 1 - mask, if 1 is padding"
        )


def check_names(base: Any, inputs: Mapping[str, Any]) -> None:
    """Check that a model takes all inputs."""
    own, kind = [*inspect.signature(base.forward).parameters], type(base).__name__
    for name in inputs:
        if name not in own and name not in _OTHERS:
            near = difflib.get_close_matches(name, own, 1, 0.85)
            remedy = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(own)[:200]}"
            raise TypeError(f"'{name}' is no input of {kind}: {remedy}")


def _check_main(base: Any, inputs: Mapping[str, Any]) -> None:
    """Check that a model is given what it reads."""
    main = getattr(base, "main_input_name", "input_ids")
    if not any(inputs.get(name) is not None for name in (*ROWS, main, "encoder_outputs")):
        raise TypeError(f"'{main}' must be given: **tokenizer(text, return_tensors='pt') does, for text")


def _check_tokens(base: Any, name: str, tokens: torch.Tensor) -> None:
    """Check that tokens are those of a model's vocabulary: devices report others late, or never."""
    if tokens.dtype not in (torch.int32, torch.int64) or tokens.is_meta or not tokens.numel():
        what = f"{tokens.dtype} of shape {tuple(tokens.shape)} on {tokens.device}"
        raise ValueError(f"'{name}' must hold tokens, as int64, got {what}: {name}.long(), if these are tokens")
    count = getattr(base.get_input_embeddings(), "num_embeddings", None)
    low, high = (int(end) for end in torch.aminmax(tokens))
    if low < 0 or (count is not None and high >= count):
        raise ValueError(f"'{name}' must be from 0 to {(count or 0) - 1}, the model's vocabulary, got {low} to {high}")


def _check_tensor(value: Any, name: str) -> None:
    """Check that a value is a tensor of a row for each sequence."""
    if isinstance(value, Mapping):
        raise wrong_type(type(value), name, "a Tensor", f"**{name}")
    if not isinstance(value, torch.Tensor):
        raise wrong_type(value, name, "a Tensor", "torch.tensor(...), or return_tensors='pt' of a tokenizer")
    if value.ndim < 2:
        raise ValueError(f"'{name}' must have shape (batch, T), got {tuple(value.shape)}: {name}[None] has")


def _check_together(model: Any, inputs: Mapping[str, Any], prefix: str) -> int | None:
    """Return the number of sequences of an encoder or a decoder, whose masks, places and caches fit its tokens."""
    base, names = base_of(model), (f"{prefix}input_ids", f"{prefix}inputs_embeds")
    name = next((name for name in names if isinstance(inputs.get(name), torch.Tensor)), None)
    if name is None:
        return None
    batch, count = inputs[name].shape[:2]
    own, before = count_virtual_tokens(model), 0
    if prefix or not base.config.is_encoder_decoder:
        cache = next((inputs[key] for key in CACHES if inputs.get(key) is not None), None)
        if cache is not None and own:
            raise ValueError(
                f"'cache' must be left out: the model of PEFT puts {own} virtual tokens there, or before it"
            )
        if cache is not None:
            _check_batch(cache, batch, name)
            before = int(cache.get_seq_length())
    for key in ("position_ids", "token_type_ids"):
        if (value := inputs.get(key)) is not None and not prefix and value.shape[-1] != count:
            raise ValueError(f"'{key}' must be of the {count} tokens of '{name}', got shape {tuple(value.shape)}")
    if isinstance(mask := inputs.get(f"{prefix}attention_mask"), torch.Tensor):
        _check_columns(mask, f"{prefix}attention_mask", name, (batch, count), before)
    places = None if inputs.get("position_ids") is not None or base.config.is_encoder_decoder else _count_places(base)
    before = before or own
    if places is not None and before + count > places:
        behind = f", {before} of them of a cache or a prefix" if before else ""
        raise ValueError(f"'{name}' must end within the {places} places of the model, got {before + count}{behind}")
    return int(batch)


def _check_columns(mask: torch.Tensor, key: str, name: str, shape: tuple[int, int], before: int) -> None:
    """Check that a mask is one of tokens and of those before, or of logits."""
    if mask.ndim == 3:
        raise ValueError(
            f"'{key}' must have 2 axes, or 4, (batch, 1, T, n), got {tuple(mask.shape)}: {key}[:, None] has"
        )
    if mask.ndim == 2:
        expected = shape[0], before + shape[1]
        if mask.shape != expected:
            of = f"{before} tokens of the cache and those of '{name}'" if before else f"the shape of '{name}'"
            raise ValueError(f"'{key}' must have {of}, {expected}, got {tuple(mask.shape)}")
        check_mask(mask, key)


def _check_batch(cache: Any, batch: int, name: str) -> None:
    """Check that a cache has as many sequences as there are."""
    keys = [getattr(layer, "keys", None) for layer in getattr(cache, "self_attention_cache", cache).layers]
    count = next((len(key) for key in keys if key is not None and key.ndim == 4), batch)
    if count != batch:
        raise ValueError(
            f"the cache must be of {batch} sequences, as '{name}' is, got {count}: dynamic_cache(..., "
            f"batch_size={batch}), or cache.batch_repeat_interleave"
        )


def _count_places(base: Any) -> int | None:
    """Return the number of learned places of a model, None if it has others."""
    count: int | None = getattr(base.config.get_text_config(), "max_position_embeddings", None)
    for name, part in base.named_modules():
        named = re.search(r"wpe$|(?<!relative_)position", name.rpartition(".")[2])
        if named and isinstance(part, torch.nn.Embedding) and part.num_embeddings - getattr(part, "offset", 0) == count:
            return count
    return None
