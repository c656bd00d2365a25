"""Runs of models of transformers, and what their attention layers are called with."""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from transformers import Cache, PreTrainedModel

from .interface import Call, Listener, watching

SOURCES = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
"""Arguments in which layers of cross-attention take what they attend to."""
ROWS = ("decoder_input_ids", "decoder_inputs_embeds", "input_ids", "inputs_embeds")
"""Arguments that have a row for each sequence, and a column for each token."""
CACHES = ("cache", "past_key_values")
"""Arguments by which models take a cache: transformers 5.24 has named it anew."""


class Visit(NamedTuple):
    """One call of an attention module: its name, its arguments by their names, and what it asks for."""

    name: str
    arguments: dict[str, Any]
    call: Call


def base_of(model: Any) -> PreTrainedModel:
    """Return the model of transformers that PEFT has wrapped, with its adapters, or the model itself."""
    base: PreTrainedModel = model.get_base_model() if hasattr(model, "get_base_model") else model
    return base


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


def run(model: Any, inputs: Mapping[str, Any], listener: Listener | None = None) -> Any:
    """Return the outputs of a model, whose attention a listener may watch; caches among the inputs stay as they are."""
    arguments = copy_caches(inputs)
    cached = any(isinstance(value, Cache) for value in arguments.values())
    watch = contextlib.nullcontext() if listener is None else watching(model, listener)
    with evaluating(model), watch, explaining(model, cached=cached):
        return model(**arguments)


@contextlib.contextmanager
def explaining(model: Any, *, cached: bool) -> Iterator[None]:
    """Say what errors of a model of transformers mean: caches of other models, and numbers beyond its tables."""
    try:
        yield
    except (IndexError, RuntimeError) as error:
        base, text = base_of(model), str(error)
        if not isinstance(base, PreTrainedModel):
            raise
        kind, config = type(base).__name__, base.config
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


def copy_caches(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with copies of the caches among them, without their graphs."""
    return {name: _copy_cache(value) if isinstance(value, Cache) else value for name, value in inputs.items()}


def _copy_cache(cache: Any) -> Any:
    parts = {getattr(cache, name, cache) for name in ("self_attention_cache", "cross_attention_cache")}
    return copy.deepcopy(cache, memo_of(layer for part in parts for layer in part.layers))


def memo_of(layers: Iterable[Any]) -> dict[int, torch.Tensor]:
    """Return the copies, without graphs, that `copy.deepcopy` makes of the tensors of a cache's layers."""
    values = [value for layer in layers for value in vars(layer).values()]
    values += [part for value in values if isinstance(value, dict) for part in value.values()]
    return {id(value): value.detach().clone() for value in values if isinstance(value, torch.Tensor)}


def visit_layers(model: Any, inputs: Mapping[str, Any]) -> tuple[list[Visit], list[str], Any]:
    """Return the calls of attention modules, the names of all modules that ran, and the outputs."""
    names = {id(part): name for name, part in model.named_modules()}
    arguments: dict[int, dict[str, Any]] = {}
    visits: list[Visit] = []

    def before(part: torch.nn.Module, rest: Any, named: Any) -> None:
        arguments[id(part)] = _name_arguments(part, rest, named)

    def listen(call: Call, _: torch.Tensor) -> None:
        visits.append(Visit(names[id(call.module)], arguments.get(id(call.module), {}), call))

    with contextlib.ExitStack() as hooks:
        for part in model.modules():
            hooks.enter_context(part.register_forward_pre_hook(before, with_kwargs=True))
        output = run(model, inputs, listen)
    return visits, [names[number] for number in arguments], output


def _name_arguments(part: torch.nn.Module, rest: Any, named: Any) -> dict[str, Any]:
    """Return the arguments of a module's forward by their names."""
    places = inspect.signature(part.forward).parameters.values()
    names = [place.name for place in places if place.kind is place.POSITIONAL_OR_KEYWORD]
    return {**dict(zip(names, rest, strict=False)), **named}


def take_first(result: Any) -> Any:
    """Return a tensor, or the first of several."""
    while isinstance(result, tuple | list):
        result = result[0]
    return result


def find_output(output: Any) -> torch.Tensor:
    """Return the logits of a model, or its last hidden states."""
    for name in ("logits", "last_hidden_state"):
        if isinstance(getattr(output, name, None), torch.Tensor):
            logits: torch.Tensor = getattr(output, name)
            return logits
    parts = output.values() if isinstance(output, Mapping) else output
    return next(part for part in parts if isinstance(part, torch.Tensor) and part.is_floating_point() and part.ndim > 1)


def make_inputs(model: Any) -> dict[str, Any]:
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


def tokens_of(inputs: Mapping[str, Any]) -> Any:
    """Return what has a row for each sequence and a column for each next token that a model predicts."""
    return next((inputs[name] for name in ROWS if inputs.get(name) is not None), None)


def takes(model: Any, name: str) -> bool:
    """Tell whether a model's forward pass names an argument."""
    return name in inspect.signature(model.forward).parameters
