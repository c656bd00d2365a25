"""Batches of inputs of models: what is given, which tokens are no padding, and parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from ....._checks import show
from ....._types import Bools
from .calls import base_of, copy_caches, tokens_of
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


def read_mask(batch: Batch) -> torch.Tensor:
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


def hold_out(batches: list[Batch]) -> tuple[list[Batch], list[Batch]]:
    """Return every sequence but the fifth ones, and these; of fewer than five the last one is held out."""
    counts = [len(tokens_of(batch)) for batch in batches]
    total = sum(counts)
    if total < 2:
        raise ValueError("'inputs' must have two sequences or more, of which some are held out, got 1")
    outside = np.arange(total) % 5 == 4 if total >= 5 else np.arange(total) == total - 1
    masks = np.split(outside, np.cumsum(counts)[:-1])
    inner, outer = (
        [_take_rows(batch, rows) for batch, rows in zip(batches, side, strict=True) if rows.any()]
        for side in ([~mask for mask in masks], masks)
    )
    return inner, outer


def _take_rows(batch: Batch, rows: Bools) -> Batch:
    """Return some sequences of a batch."""
    count, places = len(rows), torch.from_numpy(np.flatnonzero(rows))
    return {
        name: value.index_select(0, places.to(value.device))
        if isinstance(value, torch.Tensor) and value.ndim and len(value) == count
        else value
        for name, value in batch.items()
    }


def move_batch(model: Any, batch: Batch) -> Batch:
    """Return a batch where a module's parameters are, checked for models of transformers; tokens are added to none."""
    batch = copy_caches(batch)
    if isinstance(base_of(model), PreTrainedModel):
        return checked_inputs(model, batch, strict=False)
    device = next((p.device for p in model.parameters()), None) if isinstance(model, torch.nn.Module) else None
    return {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in batch.items()}
