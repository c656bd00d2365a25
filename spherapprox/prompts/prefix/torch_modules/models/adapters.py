"""Adapters of PEFT with prefix tuning: the prefixes that they hold, and models with others in their place."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from ...layer.rows import Prefix
from ..interchange import from_prompt_embeddings, prompt_embeddings
from .calls import base_of


def has_prefix_tuning(model: Any) -> bool:
    """Tell whether a model of PEFT has prefixes of its layers, not virtual tokens among its inputs."""
    kind = getattr(getattr(model, "active_peft_config", None), "peft_type", None)
    return getattr(kind, "value", kind) in ("PREFIX_TUNING", "CARTRIDGE")


def count_virtual_tokens(model: Any) -> int:
    """Return the number of tokens that a model of PEFT puts before its inputs, as prefixes or embeddings; 0 if none."""
    config = getattr(model, "active_peft_config", None)
    return int(getattr(config, "num_virtual_tokens", 0) or 0) if getattr(config, "is_prompt_learning", False) else 0


def adapter_of(model: Any, name: str = "model") -> Any:
    """Return the configuration of the active adapter of a model of PEFT with prefix tuning."""
    config: Any = getattr(model, "peft_config", {}).get(getattr(model, "active_adapter", None))
    kind = getattr(getattr(config, "peft_type", None), "value", None)
    if kind != "PREFIX_TUNING":
        other = type(model).__name__ if kind is None else f"an adapter of {kind}"
        raise TypeError(f"'{name}' must be a model of PEFT with prefix tuning, got {other}")
    task = getattr(config.task_type, "value", config.task_type)
    if task not in ("CAUSAL_LM", "SEQ_2_SEQ_LM"):
        raise ValueError(f"'model' must predict next tokens, task CAUSAL_LM or SEQ_2_SEQ_LM, got {task}")
    return config


def prefixes_of(model: Any) -> tuple[Prefix, ...]:
    """Return the prefixes that the active adapter of a model of PEFT holds, projected if it projects."""
    config, encoder = adapter_of(model), model.prompt_encoder[model.active_adapter]
    with torch.no_grad():
        rows = encoder.embedding.weight
        if config.prefix_projection and not config.inference_mode:
            rows = encoder(torch.arange(config.num_virtual_tokens, device=rows.device))
    heads = config.num_attention_heads
    return from_prompt_embeddings(rows, layers=config.num_layers, heads=heads, head_dim=config.token_dim // heads)


def sources_of(config: Any) -> list[int]:
    """Return for each layer which of the stored prefixes PEFT gives to it."""
    twice = config.num_transformer_submodules == 2  # every other one is for cross-attention, and is dropped
    return [(2 * k if twice else k) % config.num_layers for k in range(config.num_layers)]


def replace_prefixes(model: Any, config: Any, prefixes: Sequence[Prefix]) -> Any:
    """Return a model of PEFT with other prefixes, of the same class and configuration, over the same base model."""
    config = copy.deepcopy(config)
    config.num_virtual_tokens, config.prefix_projection = len(prefixes[0]), False
    weight = model.prompt_encoder[model.active_adapter].embedding.weight
    states = [(part, part.requires_grad) for part in base_of(model).parameters()]
    other = type(model)(base_of(model), config, model.active_adapter)
    for part, required in states:  # which PEFT freezes
        part.requires_grad_(required)
    encoder = other.prompt_encoder[model.active_adapter]
    encoder.to(weight.device, weight.dtype)
    with torch.no_grad():
        encoder.embedding.weight.copy_(prompt_embeddings(prefixes, dtype=weight.dtype))
    encoder.requires_grad_(weight.requires_grad)
    other.training = model.training
    other.prompt_encoder.train(model.training)
    return other
