"""`as_layer`: the weights of a module of torch, as an `AttentionLayer`."""

from __future__ import annotations

from typing import Any

from .layer import AttentionLayer


def as_layer(layer: Any) -> AttentionLayer:
    """Return the weights of an attention layer as arrays.

    Parameters
    ----------
    layer : AttentionLayer or torch.nn.MultiheadAttention
        Of any dtype, on any device; weights are copied, and dropout is left out.

    Returns
    -------
    AttentionLayer

    Raises
    ------
    TypeError, ValueError
        If it is neither, or has what no `AttentionLayer` has: `bias_k`, `add_zero_attn`, or keys and values of other
        widths (`kdim`, `vdim`).

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prefix import as_layer
    >>> as_layer(torch.nn.MultiheadAttention(32, 4))
    AttentionLayer(d=32, heads=4, s=8, p=8)
    """
    if isinstance(layer, AttentionLayer):
        return layer
    if not all(hasattr(layer, name) for name in ("in_proj_bias", "out_proj", "num_heads", "bias_k")):
        remedy = "AttentionLayer(query, key, value, out, heads=...) takes the weights of any other"
        remedy = "its .self_attn is one" if hasattr(layer, "self_attn") else remedy
        raise TypeError(
            f"'layer' must be an AttentionLayer or a torch.nn.MultiheadAttention, got {type(layer).__name__}: {remedy}"
        )
    check_plain(layer, "layer")
    return AttentionLayer.fused(
        layer.in_proj_weight, layer.out_proj.weight, bias=layer.in_proj_bias, out_bias=layer.out_proj.bias,
        heads=layer.num_heads,
    )  # fmt: skip


def check_plain(module: Any, name: str) -> None:
    """Check that a `torch.nn.MultiheadAttention` has nothing that no `AttentionLayer` has."""
    if module.in_proj_weight is None:
        raise ValueError(f"'{name}' must have keys and values as wide as queries, got one with 'kdim' or 'vdim'")
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError(f"'{name}' must have neither 'bias_k' nor 'add_zero_attn': these are prefixes of one token")
