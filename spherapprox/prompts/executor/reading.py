"""Weights and biases of a `torch.nn.Sequential`, where it computes what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _checks

_REMEDIES = {
    "Dropout": "module.eval() drops nothing",
    "BatchNorm1d": "torch.nn.utils.fusion.fuse_linear_bn_eval(linear, norm) makes one Linear of the two",
}


def linear_layers(module: Any) -> tuple[list[Any], list[Any]]:
    """Return the weights and biases of the Linear layers of a Sequential, checked to have ReLU between them."""
    try:
        parts = list(module)
    except TypeError:
        kind = type(module).__name__
        raise TypeError(
            f"'module' must be a torch.nn.Sequential, got {kind}: torch.nn.Sequential(module) is one of a layer"
        ) from None
    obstacle = _checks.obstacle(module, "Sequential") if _checks.stock(module, "Sequential") else None
    if obstacle:
        raise TypeError(f"'module' must be a torch.nn.Sequential, got {obstacle}")
    active = [(number, part) for number, part in enumerate(parts) if not _passes_rows(part)]
    kinds = [_kind(part, f"module[{number}]") for number, part in active]
    if not kinds or kinds != ["Linear", "ReLU"] * (len(kinds) // 2) + ["Linear"]:
        remedy = "ReluNetwork(weights, biases) takes the arrays of any other"
        remedy = next((_REMEDIES[kind] for kind in kinds if kind in _REMEDIES), remedy)
        raise ValueError(f"'module' must hold Linear, ReLU, ..., Linear, got {', '.join(kinds) or 'nothing'}: {remedy}")
    layers = [part for _, part in active[::2]]
    biases = [np.zeros(len(layer.weight)) if layer.bias is None else layer.bias for layer in layers]
    return [layer.weight for layer in layers], biases


def _passes_rows(module: Any) -> bool:
    """Tell whether a module of torch returns rows (n, columns) as they are."""
    kind = next((kind for kind in ("Identity", "Flatten", "Dropout") if _checks.stock(module, kind)), None)
    if kind is None or _checks.obstacle(module, kind):
        return False
    return bool(module.start_dim == 1 if kind == "Flatten" else kind == "Identity" or not module.training)


def _kind(module: Any, name: str) -> str:
    """Return the name of the class of torch that a module is of, checked to compute as that does."""
    kind = next((kind for kind in ("Linear", "ReLU") if _checks.stock(module, kind)), type(module).__name__)
    obstacle = _checks.obstacle(module, kind)
    if obstacle and obstacle != type(module).__name__:
        raise TypeError(f"'{name}' must compute what its weights say, got {obstacle}")
    return kind
