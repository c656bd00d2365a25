"""`LayerRecord`: what an attention layer of a model is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerRecord:
    """An attention layer of a model, as it was called: `ModelAttention` says what its parts are."""

    index: int
    name: str
    cache_index: int | None
    kind: str
    heads: int
    key_value_heads: int
    head_dim: int
    value_dim: int
    window: int | None
    softcap: float | None
    positions: bool
