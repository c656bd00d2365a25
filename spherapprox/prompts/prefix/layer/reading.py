"""`as_layer`: the weights of a module of torch, as an `AttentionLayer`."""

from __future__ import annotations

from typing import Any

from .... import _checks
from .layer import AttentionLayer


def as_layer(layer: Any) -> AttentionLayer:
    """Return the weights of an attention layer as arrays.

    Parameters
    ----------
    layer : AttentionLayer or torch.nn.MultiheadAttention
        Of any dtype, on any device; weights are copied, and dropout is left out. Parametrized weights are read as they
        are computed.

    Raises
    ------
    TypeError, ValueError
        If it is neither (`of_model` reads layers of transformers' models), if it may compute something else than its
        weights say (an adapter of PEFT, a forward of its own, forward hooks), or has what no `AttentionLayer` has:
        `bias_k`, `add_zero_attn`, or keys and values of other widths (`kdim`, `vdim`).

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix import as_layer
    >>> as_layer(torch.nn.MultiheadAttention(32, 4))
    AttentionLayer(d=32, heads=4, s=8, p=8)
    """
    if isinstance(layer, AttentionLayer):
        return layer
    module = getattr(layer, "_orig_mod", layer)  # what torch.compile wraps
    check_plain(module, "layer", "an AttentionLayer or a torch.nn.MultiheadAttention")
    return AttentionLayer.fused(
        module.in_proj_weight, module.out_proj.weight, bias=module.in_proj_bias, out_bias=module.out_proj.bias,
        heads=module.num_heads,
    )  # fmt: skip


def check_plain(module: Any, name: str, kind: str = "a torch.nn.MultiheadAttention") -> None:
    """Check that a module is a `torch.nn.MultiheadAttention` that has nothing that no `AttentionLayer` has."""
    obstacle = _checks.obstacle(module, "MultiheadAttention")
    if obstacle == type(module).__name__:
        obstacle += f": {_remedy(module)}"
    if obstacle:
        raise TypeError(f"'{name}' must be {kind}, got {obstacle}")
    if module.in_proj_weight is None:
        raise ValueError(f"'{name}' must have keys and values as wide as queries, got one with 'kdim' or 'vdim'")
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError(f"'{name}' must have neither 'bias_k' nor 'add_zero_attn': these are prefixes of one token")


def _remedy(module: Any) -> str:
    """Say what to do with what is no `torch.nn.MultiheadAttention`."""
    if hasattr(module, "self_attn"):
        return "its .self_attn is one"
    if any(kind.__module__.startswith(("transformers.", "peft.")) for kind in type(module).__mro__):
        return "of_model(model).as_layer(...) reads a layer of a model of transformers, by what it computes"
    config = getattr(module, "config", None)
    if hasattr(module, "q_norm") or any(hasattr(config, name) for name in ("rope_parameters", "rope_theta")):
        return "it turns or norms queries and keys, which Prefix.attend and prefix_share take as they are behind that"
    return "AttentionLayer(query, key, value, out, heads=...) takes weights of others that have no rotary positions"
