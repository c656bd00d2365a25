"""Queries, keys and values of a `torch.nn.MultiheadAttention`, and the masks that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...._checks import instance
from ....heads.torch_modules.tensors import fits_dtype
from ..layer.reading import check_plain


def head_inputs(mha: Any, x: Any, content: Any = None) -> tuple[Any, Any, Any]:
    """Return the queries, keys and values of all heads of a module, as tensors with their graph.

    Parameters
    ----------
    mha : torch.nn.MultiheadAttention
    x : Tensor, shape (T, d), or (batch, T, d) if the module is `batch_first`, else (T, batch, d)
        What asks, of the module's dtype and on its device.
    content : Tensor, optional
        What is attended to, n in place of T; x itself by default.

    Returns
    -------
    query : Tensor, shape (batch, heads, T, s), or (heads, T, s)
    key, value : Tensor, shape (batch, heads, n, s), or (heads, n, s)
        The very ones between which the module attends, to the last bit or two of its dtype.

    Raises
    ------
    TypeError, ValueError
        If the module is another one, or has what `PrefixAttention` refuses, or tensors have other shapes.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix.torch_modules import head_inputs
    >>> mha = torch.nn.MultiheadAttention(32, 4, batch_first=True)
    >>> [tuple(part.shape) for part in head_inputs(mha, torch.ones(2, 7, 32), torch.ones(2, 5, 32))]
    [(2, 4, 7, 8), (2, 4, 5, 8), (2, 4, 5, 8)]
    """
    check_plain(mha, "mha")
    rows = x if content is None else content
    for name, tensor in (("x", x), ("content", rows)):
        check_rows(mha, tensor, name, like=x)
    parts = projected(mha, x, rows, value=rows)
    return parts if x.ndim == 3 else (parts[0][0], parts[1][0], parts[2][0])


def check_rows(mha: Any, tensor: Any, name: str, like: Any) -> None:
    """Check that a tensor has rows of the module's width, and as many sequences as another one."""
    instance(tensor, name, torch.Tensor, remedy="torch.as_tensor makes one")
    if tensor.is_nested:
        raise ValueError(f"'{name}' must be a padded tensor, got a nested one: to_padded_tensor(0.) makes one")
    dtype = mha.in_proj_weight.dtype
    if not fits_dtype(tensor, dtype):
        raise TypeError(f"'{name}' must be of the module's dtype {dtype}, got {tensor.dtype}: {name}.to({dtype}) is")
    batch = 0 if mha.batch_first else 1
    layout = f"(batch, T, {mha.embed_dim})" if mha.batch_first else f"(T, batch, {mha.embed_dim})"
    shape = tuple(tensor.shape)
    if tensor.ndim not in (2, 3) or shape[-1] != mha.embed_dim:
        raise ValueError(f"'{name}' must have shape (T, {mha.embed_dim}) or {layout}, got {shape}")
    if tensor.ndim != like.ndim or (like.ndim == 3 and shape[batch] != like.shape[batch]):
        raise ValueError(f"'{name}' must have as many sequences as the queries, got {shape} beside {tuple(like.shape)}")


def projected(mha: Any, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """Return queries, keys and values (batch, heads, T, s) of inputs; batch is 1 for unbatched ones."""
    linear, weight, bias = torch.nn.functional.linear, mha.in_proj_weight, mha.in_proj_bias
    if query is key and key is value:
        parts = linear(query, weight, bias).chunk(3, dim=-1)  # one product, as the module makes it
    else:
        biases = (None, None, None) if bias is None else bias.chunk(3)
        inputs = (query, key, value)
        parts = tuple(linear(*three) for three in zip(inputs, weight.chunk(3), biases, strict=True))
    return by_head(mha, parts[0]), by_head(mha, parts[1]), by_head(mha, parts[2])


def by_head(mha: Any, rows: Any) -> Any:
    """Return rows (T, d), or those of sequences in the module's order, as (batch, heads, T, s)."""
    rows = rows[None] if rows.ndim == 2 else rows if mha.batch_first else rows.transpose(0, 1)
    return rows.unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)


def joined(mha: Any, heads: Any, batched: bool) -> Any:
    """Return outputs of a module from those of its heads (batch, heads, T, s), axes in the order of its inputs."""
    rows = heads.transpose(1, 2).flatten(2)
    rows = rows[0] if not batched else rows if mha.batch_first else rows.transpose(0, 1)
    return torch.nn.functional.linear(rows, mha.out_proj.weight, mha.out_proj.bias)  # as torch: it calls no out_proj


def content_mask(query: Any, key: Any, attn_mask: Any, *, key_padding_mask: Any, is_causal: bool) -> Any:
    """Return the mask added to the logits of content, up to (batch, heads, T, n); None if nothing is."""
    batch, heads, length, _ = query.shape
    n, mask = key.shape[2], None
    if attn_mask is not None:
        added = _added(attn_mask, "attn_mask", ((length, n), (batch * heads, length, n)), like=query)
        mask = added if added.ndim == 2 else added.unflatten(0, (batch, heads))
    elif is_causal:
        if n < length:
            raise ValueError(
                f"'is_causal' needs as many tokens of content as there are queries or more, got {n} for {length}: the "
                "last query is at the last place"
            )
        mask = query.new_full((length, n), -torch.inf).triu(1 + n - length)
    if key_padding_mask is not None:
        shapes = [(batch, n), (n,)] if batch == 1 else [(batch, n)]
        padding = _added(key_padding_mask, "key_padding_mask", shapes, like=query).reshape(batch, 1, 1, n)
        mask = padding if mask is None else mask + padding
    return mask


def _added(mask: Any, name: str, shapes: Sequence[tuple[int, ...]], like: Any) -> Any:
    """Return a mask as numbers that are added to logits: -inf where one of booleans is true."""
    instance(mask, name, torch.Tensor, remedy="a tensor of booleans, true where nothing is seen, is one")
    if tuple(mask.shape) not in shapes:
        raise ValueError(
            f"'{name}' must have shape {' or '.join(map(str, shapes))}, got {tuple(mask.shape)}: it is for the content "
            "alone, the prefix is seen by all"
        )
    if mask.dtype == torch.bool:
        return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, -torch.inf)
    if not mask.is_floating_point():
        raise TypeError(f"'{name}' must be of booleans or floats, got {mask.dtype}: mask.bool() is")
    return mask.to(like.dtype)
