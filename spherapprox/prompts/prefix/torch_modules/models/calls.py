"""Runs of models of transformers: what their attention layers are called with, and prefixes in their caches."""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from transformers import Cache, DynamicCache, EncoderDecoderCache, PreTrainedModel

from ..interchange import dynamic_cache, of_layers
from .interface import Call, Listener, watching

SOURCES = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
"""Arguments in which layers of cross-attention take what they attend to."""
ROWS = ("decoder_input_ids", "decoder_inputs_embeds", "input_ids", "inputs_embeds")
"""Arguments that have a row for each sequence, and a column for each token."""
CACHES = ("cache", "past_key_values")
"""Arguments by which models take a cache: transformers 5.24 has named it anew."""


class Visit(NamedTuple):
    """One call of an attention module: its name, its arguments by their names, what it asks for and returns."""

    name: str
    arguments: dict[str, Any]
    call: Call
    result: torch.Tensor


def base_of(model: Any) -> PreTrainedModel:
    """Return the model of transformers that PEFT has wrapped, with its adapters, or the model itself."""
    base: PreTrainedModel = model.get_base_model() if hasattr(model, "get_base_model") else model
    return base


def has_prefix_tuning(model: Any) -> bool:
    """Tell whether a model of PEFT has prefixes of its layers, not virtual tokens among its inputs."""
    kind = getattr(getattr(model, "active_peft_config", None), "peft_type", None)
    return getattr(kind, "value", kind) in ("PREFIX_TUNING", "CARTRIDGE")


def virtual_tokens(model: Any) -> int:
    """Return the number of tokens that a model of PEFT puts before its inputs, as prefixes or embeddings; 0 if none."""
    config = getattr(model, "active_peft_config", None)
    return int(getattr(config, "num_virtual_tokens", 0) or 0) if getattr(config, "is_prompt_learning", False) else 0


@contextlib.contextmanager
def evaluating(*sides: Any) -> Iterator[None]:
    """Leave dropout out, and graphs; each part of modules is in training afterwards if it was."""
    modules = [part for side in sides if isinstance(side, torch.nn.Module) for part in side.modules()]
    trained = [part for part in modules if part.training]
    try:
        for part in trained:
            part.training = False
        with torch.no_grad():
            yield
    finally:
        for part in trained:
            part.training = True


def run(model: Any, inputs: Mapping[str, Any], listener: Listener) -> Any:
    """Return the outputs of a model whose attention is watched; caches among the inputs stay as they are."""
    kept = {name: copied(value) if isinstance(value, Cache) else value for name, value in inputs.items()}
    cached = any(isinstance(value, Cache) for value in kept.values())
    with evaluating(model), watching(model, listener), explaining(model, cached=cached):
        return model(**kept)


@contextlib.contextmanager
def explaining(model: Any, *, cached: bool) -> Iterator[None]:
    """Say what errors of a model mean: caches of other models, and numbers beyond its tables."""
    kind, config = type(base_of(model)).__name__, base_of(model).config
    try:
        yield
    except (IndexError, RuntimeError) as error:
        text = str(error)
        if cached and re.search("must match|same dtype|matmul", text):
            raise ValueError(
                f"'cache' must be of {kind} itself, of its dtype, and of as many sequences as inputs: {text}"
            ) from error
        if "out of range" not in text and "out of bounds" not in text:
            raise
        names = [name for name in ("max_position_embeddings", "type_vocab_size") if hasattr(config, name)]
        limits = ", ".join(f"{name}={getattr(config, name)}" for name in names)
        raise ValueError(
            f"'input_ids', and types and places if given, must be in the tables of {kind} ({limits}), with a cache's "
            "and a prefix's tokens before them"
        ) from error


def copied(cache: Cache) -> Cache:
    """Return a copy of a cache, without its graph."""
    parts = [getattr(cache, name, cache) for name in ("self_attention_cache", "cross_attention_cache")]
    copy_: Cache = copy.deepcopy(cache, memo_of(layer for part in parts for layer in part.layers))
    return copy_


def memo_of(layers: Iterable[Any]) -> dict[int, torch.Tensor]:
    """Return the copies, without graphs, that `copy.deepcopy` makes of the tensors of a cache's layers."""
    values = [value for layer in layers for value in vars(layer).values()]
    values += [part for value in values if isinstance(value, dict) for part in value.values()]
    return {id(value): value.detach().clone() for value in values if isinstance(value, torch.Tensor)}


def visits(model: Any, inputs: Mapping[str, Any]) -> tuple[list[Visit], list[str], Any]:
    """Return the calls of attention modules, the names of all modules that ran, and the outputs."""
    names = {id(part): name for name, part in model.named_modules()}
    arguments: dict[int, dict[str, Any]] = {}
    found: list[tuple[Call, dict[str, Any], list[torch.Tensor]]] = []
    waiting: dict[int, list[torch.Tensor]] = {}

    def before(part: torch.nn.Module, rest: Any, named: Any) -> None:
        arguments[id(part)] = _named(part, rest, named)

    def after(part: torch.nn.Module, _: Any, result: Any) -> None:
        if id(part) in waiting:
            waiting.pop(id(part)).append(first_tensor(result))

    def listen(call: Call, _: torch.Tensor) -> None:
        results = waiting.setdefault(id(call.module), [])
        found.append((call, arguments.get(id(call.module), {}), results))

    handles = [part.register_forward_pre_hook(before, with_kwargs=True) for part in model.modules()]
    handles += [part.register_forward_hook(after) for part in model.modules()]
    try:
        output = run(model, inputs, listen)
    finally:
        for handle in handles:
            handle.remove()
    calls = [Visit(names[id(call.module)], given, call, (results or [call.query])[0]) for call, given, results in found]
    return calls, [names[number] for number in arguments if number in names], output


def _named(part: torch.nn.Module, rest: Any, named: Any) -> dict[str, Any]:
    """Return the arguments of a module's forward by their names."""
    places = inspect.signature(part.forward).parameters.values()
    names = [place.name for place in places if place.kind is place.POSITIONAL_OR_KEYWORD]
    return {**dict(zip(names, rest, strict=False)), **named}


def first_tensor(result: Any) -> Any:
    """Return a tensor, or the first of several."""
    while isinstance(result, tuple | list):
        result = result[0]
    return result


def main_output(output: Any) -> torch.Tensor:
    """Return the logits of a model, or its last hidden states."""
    for name in ("logits", "last_hidden_state"):
        if isinstance(getattr(output, name, None), torch.Tensor):
            found: torch.Tensor = getattr(output, name)
            return found
    parts = output.values() if isinstance(output, Mapping) else output
    return next(part for part in parts if isinstance(part, torch.Tensor) and part.is_floating_point() and part.ndim > 1)


def example_inputs(model: Any) -> dict[str, Any]:
    """Return a few tokens of a model's vocabulary that have no meaning of their own."""
    base, config = base_of(model), base_of(model).config
    name = getattr(base, "main_input_name", "input_ids")
    embeddings = base.get_input_embeddings() if name == "input_ids" else None
    count = getattr(embeddings, "num_embeddings", 0)
    special = {value for key, value in config.to_dict().items() if key.endswith("_token_id") and isinstance(value, int)}
    tokens = [token for token in range(count) if token not in special][:4] or list(range(min(count, 4)))
    if name != "input_ids" or not tokens:
        raise TypeError(
            f"'model' must be given inputs of its own, {type(base).__name__} takes {name}: of_model(model, {name}=...)"
        )
    inputs = {"input_ids": torch.tensor([tokens], device=base.device)}
    return inputs | {"decoder_input_ids": inputs["input_ids"][:, :3]} if config.is_encoder_decoder else inputs


def behind(model: Any, inputs: Mapping[str, Any], prefix: Any, name: str = "prefix") -> tuple[dict[str, Any], int]:
    """Return the inputs of a model with a cache, or prefixes of all layers, before them, and the number of tokens."""
    base = base_of(model)
    rows = next((value for key, value in inputs.items() if key in ROWS and isinstance(value, torch.Tensor)), None)
    cache = prefix
    if not isinstance(prefix, Cache):
        batch = 1 if rows is None else len(rows)
        cache = dynamic_cache(of_layers(prefix, name), batch_size=batch, dtype=base.dtype, device=base.device)
    own = getattr(cache, "self_attention_cache", cache)
    length, double = int(own.get_seq_length()), bool(base.config.is_encoder_decoder)
    if not length:
        raise ValueError(f"'{name}' must have tokens, got none: let the model read a text")
    if (other := next((key for key in CACHES if inputs.get(key) is not None), None)) is not None:
        raise ValueError(f"'{other}' must be left out: the cache is that of '{name}'")
    if double and own is cache:
        cache = EncoderDecoderCache(cache, DynamicCache())
    argument = cache_argument(base)
    if argument is None:
        raise TypeError(f"'{name}' needs a model that takes a cache, {type(base).__name__} takes none")
    mask_name = "decoder_attention_mask" if double else "attention_mask"
    added, mask = {argument: cache}, inputs.get(mask_name)
    if mask is not None and mask.ndim == 2:
        added[mask_name] = torch.cat([mask.new_ones(len(mask), length), mask], dim=1)
    return {**inputs, **added}, length


def cache_argument(model: Any) -> str | None:
    """Return the argument by which a model takes a cache."""
    known = inspect.signature(base_of(model).forward).parameters
    return next((name for name in CACHES if name in known), None)
