"""Batches of inputs of models: what is given, which tokens are seen, and parts of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from transformers import Cache, PreTrainedModel

from ....._checks import show
from ....._types import Bools
from .calls import base_of, copied
from .checking import check_mask, checked_inputs

Batch = dict[str, Any]
"""Arguments of a model by their names."""


def as_batches(inputs: Any, name: str = "inputs") -> list[Batch]:
    """Return a list of batches from one, or several, of token numbers or of a model's arguments."""
    if isinstance(inputs, torch.Tensor | Mapping):
        inputs = [inputs]
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        raise TypeError(f"'{name}' must be token numbers (batch, T) or a model's arguments, got {show(inputs)}")
    batches = [_as_batch(batch, name) for batch in inputs]
    if not batches:
        raise ValueError(f"'{name}' must have a batch, got none")
    return batches


def _as_batch(batch: Any, name: str) -> Batch:
    if isinstance(batch, torch.Tensor):
        batch = {"input_ids": batch}
    if not isinstance(batch, Mapping):
        kinds, remedy = "Tensors of token numbers or a model's arguments", "tokenizer(texts, return_tensors='pt')"
        raise TypeError(f"'{name}' must be {kinds}, got {show(batch)}: {remedy} makes one")
    tokens = tokens_of(batch)
    if not isinstance(tokens, torch.Tensor) or tokens.ndim < 2 or not tokens.numel():
        shape = tuple(tokens.shape) if isinstance(tokens, torch.Tensor) else show(tokens)
        raise ValueError(f"'{name}' must have 'input_ids', a Tensor of shape (batch, T), got {shape}")
    if any(name.endswith("input_ids") and getattr(part, "is_floating_point", bool)() for name, part in batch.items()):
        raise ValueError(f"'{name}' must have 'input_ids' that are tokens, as int64, got {tokens.dtype}")
    return dict(batch)


def tokens_of(batch: Mapping[str, Any]) -> Any:
    """Return what has a row for each sequence and a column for each next token that a model predicts."""
    names = ("decoder_input_ids", "decoder_inputs_embeds", "input_ids", "inputs_embeds")
    return next((batch[name] for name in names if batch.get(name) is not None), None)


def seen(batch: Batch) -> torch.Tensor:
    """Return which tokens are no padding, (batch, T)."""
    tokens = tokens_of(batch)
    decoder = "decoder_" if any(name.startswith("decoder_input") for name in batch) else ""
    mask = batch.get(f"{decoder}attention_mask")
    if mask is None:
        return torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
    if mask.shape != tokens.shape[:2]:
        shape = tuple(tokens.shape[:2])
        raise ValueError(f"'{decoder}attention_mask' must have shape {shape}, got {tuple(mask.shape)}")
    check_mask(mask, f"{decoder}attention_mask")
    return mask.bool()


def split(batches: list[Batch]) -> tuple[list[Batch], list[Batch]]:
    """Return every sequence but the fifth ones, and these; of fewer than five the last one is held out."""
    counts = [len(tokens_of(batch)) for batch in batches]
    total = sum(counts)
    if total < 2:
        raise ValueError("'inputs' must have two sequences or more, of which some are held out, got 1")
    held = np.arange(total) % 5 == 4 if total >= 5 else np.arange(total) == total - 1
    parts: tuple[list[Batch], list[Batch]] = ([], [])
    for batch, rows in zip(batches, np.split(held, np.cumsum(counts)[:-1]), strict=True):
        for part, chosen in zip(parts, (~rows, rows), strict=True):
            if chosen.any():
                part.append(_rows(batch, chosen))
    return parts


def _rows(batch: Batch, chosen: Bools) -> Batch:
    """Return the sequences of a batch that are chosen."""
    count, places = len(chosen), torch.from_numpy(np.flatnonzero(chosen))
    return {
        name: value.index_select(0, places.to(value.device))
        if isinstance(value, torch.Tensor) and value.ndim and len(value) == count
        else value
        for name, value in batch.items()
    }


def moved(model: Any, batch: Batch) -> Batch:
    """Return a batch where a module's parameters are, checked for models of transformers; tokens are added to none."""
    batch = {name: copied(value) if isinstance(value, Cache) else value for name, value in batch.items()}
    if isinstance(base_of(model), PreTrainedModel):
        return checked_inputs(model, batch, strict=False)
    device = next((p.device for p in model.parameters()), None) if isinstance(model, torch.nn.Module) else None
    return {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in batch.items()}


def takes(model: torch.nn.Module, name: str) -> bool:
    """Tell whether a model's forward pass names an argument."""
    return name in inspect.signature(model.forward).parameters
