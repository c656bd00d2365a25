"""`LayerRecord`: what an attention layer of a model is."""

from __future__ import annotations

from typing import NamedTuple


class LayerRecord(NamedTuple):
    """An attention layer of a model, as it was called: see `ModelAttention`."""

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
