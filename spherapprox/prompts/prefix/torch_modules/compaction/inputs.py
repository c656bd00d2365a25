"""What a model is given to read: ids of a batch, the mask of all tokens, and what else it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..... import _checks
from ..models.calls import CACHES
from ..models.checking import check_mask, check_names


@dataclass(frozen=True)
class Inputs:
    """Ids (batch, T), their mask (batch, T), that of the tokens before (batch, n) or None, other arguments."""

    ids: torch.Tensor
    mask: torch.Tensor
    before: torch.Tensor | None
    others: dict[str, Any]

    @classmethod
    def of(cls, value: Any, name: str, model: Any, *, batch: int, length: int) -> Inputs:
        """Return inputs from ids (T,), (1, T) or (batch, T), or a dict of a model's arguments, behind `length` tokens.

        A mask of `length` more columns than ids is one of the tokens before, too.
        """
        decoder = "decoder_" if model.config.is_encoder_decoder else ""
        others = dict(value) if isinstance(value, Mapping) else {f"{decoder}input_ids": value}
        if f"{decoder}input_ids" not in others:
            raise ValueError(f"'{name}' must have '{decoder}input_ids', got {sorted(others)}")
        check_names(model, others)
        if decoder and not {model.main_input_name, "inputs_embeds", "encoder_outputs"} & {*others}:
            raise ValueError(
                f"'{name}' must have what the encoder read, {model.main_input_name!r} or 'encoder_outputs', beside "
                f"'decoder_input_ids', got {sorted(others)}"
            )
        ids = _ids(others.pop(f"{decoder}input_ids"), name, model)
        if ids.shape[0] not in (1, batch):
            raise ValueError(f"'{name}' must be of 1 or {batch} sequences, as the cache has, got {ids.shape[0]}")
        if not ids.shape[1]:
            raise ValueError(f"'{name}' must have tokens, got none")
        ids = ids.expand(batch, -1)
        mask = others.pop(f"{decoder}attention_mask", None)
        mask = torch.ones_like(ids) if mask is None else torch.atleast_2d(torch.as_tensor(mask)).to(ids.device)
        columns = ids.shape[1]
        if mask.ndim != 2 or mask.shape[1] not in (columns, columns + length) or mask.shape[0] not in (1, batch):
            raise ValueError(
                f"'{name}' must have a mask of {columns} columns, or {columns + length} with those of the tokens in "
                f"the cache, got shape {tuple(mask.shape)}"
            )
        check_mask(mask[:, -columns:], f"attention_mask' of '{name}")
        mask = mask.expand(batch, -1).bool()
        before = mask[:, :length] if mask.shape[1] > columns else None
        for own in ("position_ids", "labels"):  # of no piece
            others.pop(own, None)
        if any(others.get(other) is not None for other in CACHES):
            raise ValueError(f"'{name}' must have no cache of its own: it is read behind 'cache'")
        return cls(ids, mask[:, -columns:], before, others)

    def split(self, size: int) -> list[Inputs]:
        """Return pieces of so many tokens, which know of none before."""
        pairs = zip(self.ids.split(size, dim=1), self.mask.split(size, dim=1), strict=True)
        return [Inputs(ids, mask, None, self.others) for ids, mask in pairs]


def _ids(value: Any, name: str, model: Any) -> torch.Tensor:
    """Return ids (B, T) of a model's vocabulary, on its device."""
    try:
        ids = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        raise _checks.wrong_type(value, name, "token ids", remedy="tokenizer(text, return_tensors='pt')") from None
    if ids.dtype not in (torch.int32, torch.int64) or ids.ndim not in (1, 2):
        raise TypeError(f"'{name}' must be token ids (T,) or (batch, T), got {ids.dtype} of shape {tuple(ids.shape)}")
    size = model.get_input_embeddings().weight.shape[0]
    if ids.numel() and not (int(ids.min()) >= 0 and int(ids.max()) < size):
        raise ValueError(f"'{name}' must be ids from 0 to {size - 1}, got {int(ids.min())} to {int(ids.max())}")
    return torch.atleast_2d(ids).to(model.device).long()


def real_tokens(masks: list[torch.Tensor], batch: int, length: int, device: Any) -> torch.Tensor:
    """Return which of the tokens in the cache are none of padding, (batch, length), which has to be on the left."""
    real = torch.ones(batch, length, dtype=torch.bool, device=device)
    for mask in masks:
        if mask.shape[1] != length:
            raise ValueError(f"'context' must have the {length} tokens that the cache has read, got {mask.shape[1]}")
        real = mask
    if bool((real[:, :-1] & ~real[:, 1:]).any()) or not bool(real[:, -1].all()):
        raise ValueError("'context' must be padded on the left: tokenizer.padding_side = 'left'")
    return real
