"""Layers of caches in files: their tensors, what else makes them, and back."""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, DynamicSlidingWindowLayer

from .cache import CompactedLayer, Rows


def tensors_of(layer: CacheLayerMixin) -> dict[str, torch.Tensor]:
    """Return the tensors of a layer by their names in files."""
    if isinstance(layer, CompactedLayer):
        tensors: dict[str, torch.Tensor] = {}
        for number, rows in enumerate(layer.rows):
            parts = {key: part for key, part in rows._asdict().items() if isinstance(part, torch.Tensor)}
            tensors |= {f"{number}.{key}": part for key, part in parts.items()}
        return tensors
    return {"keys": layer.keys, "values": layer.values} if getattr(layer, "keys", None) is not None else {}


def kind_of(layer: CacheLayerMixin) -> dict[str, Any]:
    """Return what else makes a layer, as JSON has it."""
    if isinstance(layer, CompactedLayer):
        return {"length": layer.length, "width": layer.width, "window": layer.window,
                "real": [rows.real for rows in layer.rows]}  # fmt: skip
    if type(layer) is DynamicSlidingWindowLayer:
        return {"sliding": layer.sliding_window, "length": layer.cumulative_length}
    if type(layer) is not DynamicLayer:
        raise TypeError(f"only layers of keys and values can be saved, there is a {type(layer).__name__}")
    return {}


def layer_of(kind: dict[str, Any], tensors: dict[str, torch.Tensor]) -> CacheLayerMixin:
    """Return the layer of a file."""
    if "width" in kind:
        rows = [
            Rows(**{name: tensors.get(f"{b}.{name}") for name in Rows._fields[:5]}, real=real)
            for b, real in enumerate(kind["real"])
        ]
        return CompactedLayer(rows, kind["length"], kind["width"], kind["window"])
    layer = DynamicSlidingWindowLayer(kind["sliding"]) if "sliding" in kind else DynamicLayer()
    if tensors:
        layer.update(tensors["keys"], tensors["values"])
    if "sliding" in kind:
        layer.cumulative_length = kind["length"]
    return layer
