"""`PrefixAttention`: a frozen `torch.nn.MultiheadAttention` with a prefix that can be trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...._checks import choice, flag, instance
from ...._types import Float64
from ....heads.torch_modules.tensors import Whole
from ..layer.reading import check_plain
from ..layer.rows import Prefix, as_prefix, fitting
from .projections import check_rows, content_mask, joined, projected


class _PlainPath(torch.Tensor):
    """A tensor at whose sight `torch.nn.TransformerEncoder` passes padded sequences on, not nested ones."""


class PrefixAttention(Whole):
    """A frozen `torch.nn.MultiheadAttention` whose queries see the tokens of a prefix before the content.

    Parameters
    ----------
    mha : torch.nn.MultiheadAttention
        The layer, with or without biases, `batch_first` or not. It is held, not copied, and frozen: its parameters ask
        for gradients no longer.
    prefix : Prefix, or sequence of one Prefix or None for each head
        Of shape (heads, L, s); of a single head (L, s) does too. Those of heads may differ in length.
    space : {"key_values", "tokens"}, default "key_values"
        What is held, and trained. "key_values": keys and values of each head, 2 L d numbers. "tokens": inputs of the
        layer, L d numbers, of which it makes the keys and values by its own weights; the prefix must have `tokens`.
    trainable : bool, default True
        Whether they are parameters, which ask for gradients, or buffers.

    Attributes
    ----------
    attention : torch.nn.MultiheadAttention
    prefix_key, prefix_value : Tensor, shape (heads, L, s)
        For "key_values", of the module's dtype and on its device; `keys_and_values` makes them for "tokens" too.
    prefix_tokens : Tensor, shape (L, d)
        For "tokens".

    Raises
    ------
    TypeError, ValueError
        If the module is another one or has `kdim`, `vdim`, `bias_k` or `add_zero_attn`, or the prefix does not fit it.

    Notes
    -----
    Called as the module is, it returns what the module returns for ``[prefix; content]`` as keys and values: in float64
    to 1e-14 of the size of logits and values. It takes the module's place as `self_attn` or `multihead_attn` of
    `torch.nn.TransformerEncoderLayer` and `TransformerDecoderLayer`. These have a fast path for inference, which reads
    weights and never calls a module in the place of theirs; they do not take it around this one, so evaluation is
    training without dropout. `torch.nn.TransformerEncoder` warns of such layers unless `enable_nested_tensor` is false.
    Load weights of the whole model before it is put in: their names gain ``attention.``. A prefix may be of more
    precision than the module, float32 beside bfloat16 say: it is rounded in each call.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix import as_layer
    >>> from spherapprox.prompts.prefix.torch_modules import PrefixAttention
    >>> encoder = torch.nn.TransformerEncoderLayer(32, 4, batch_first=True)
    >>> prefix = as_layer(encoder.self_attn).prefix(torch.randn(3, 32))
    >>> encoder.self_attn = PrefixAttention(encoder.self_attn, prefix)
    >>> encoder.self_attn
    PrefixAttention(
      length=3, space='key_values'
      (attention): MultiheadAttention(
        (out_proj): NonDynamicallyQuantizableLinear(in_features=32, out_features=32, bias=True)
      )
    )
    >>> encoder(torch.ones(2, 7, 32)).shape
    torch.Size([2, 7, 32])
    """

    prefix_unseen: Any
    _qkv_same_embed_dim = False  # torch's layers read it, and take their plain path

    def __init__(
        self, mha: Any, prefix: Prefix | Sequence[Prefix | None], *, space: str = "key_values", trainable: bool = True
    ) -> None:
        super().__init__()
        check_plain(mha, "mha")
        self.space = choice(space, "space", ("key_values", "tokens"))
        rows, unseen = _of_all_heads(prefix, mha.num_heads, mha.head_dim)
        arrays: dict[str, Float64] = {"prefix_key": rows.key, "prefix_value": rows.value}
        if self.space == "tokens":
            if rows.tokens is None or rows.tokens.shape[1] != mha.embed_dim:
                raise ValueError(
                    f"'prefix' must have tokens of {mha.embed_dim} columns for space='tokens', got none: "
                    "layer.prefix(tokens) makes one"
                )
            arrays = {"prefix_tokens": rows.tokens}
        like = mha.out_proj.weight
        for name, array in arrays.items():
            tensor = torch.tensor(array, dtype=like.dtype, device=like.device)
            if not torch.isfinite(tensor).all():
                raise ValueError(f"'prefix' must be finite in the module's {like.dtype}: mha.double() has more range")
            if flag(trainable, "trainable"):
                self.register_parameter(name, torch.nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)
        self.register_buffer("prefix_unseen", None if unseen is None else torch.tensor(unseen, device=like.device))
        self.attention = mha.requires_grad_(False)
        self.train(mha.training)

    @property
    def length(self) -> int:
        """Number of tokens L of the prefix: of the longest, where those of heads differ."""
        return int((self.prefix_key if self.space == "key_values" else self.prefix_tokens).shape[-2])

    @property
    def batch_first(self) -> bool:
        """Whether the first axis of inputs is that of sequences."""
        return bool(self.attention.batch_first)

    @property
    def num_heads(self) -> int:
        """Number of heads."""
        return int(self.attention.num_heads)

    @property
    def embed_dim(self) -> int:
        """Columns d of inputs and outputs."""
        return int(self.attention.embed_dim)

    @property
    def in_proj_bias(self) -> Any:
        """Bias of queries, keys and values, as torch's layers read it."""
        return self.attention.in_proj_bias

    @property
    def in_proj_weight(self) -> Any:
        """Weights of queries, keys and values, as torch's layers read them."""
        return self.attention.in_proj_weight.as_subclass(_PlainPath)

    @property
    def out_proj(self) -> Any:
        """What stands behind the heads, as torch's layers read it."""
        return self.attention.out_proj

    def keys_and_values(self) -> tuple[Any, Any]:
        """Return the keys and values (heads, L, s) of the prefix, with their graph."""
        if self.space == "key_values":
            return self.prefix_key, self.prefix_value
        tokens = self.prefix_tokens.to(self.attention.in_proj_weight.dtype)
        tokens = tokens[None] if self.batch_first else tokens[:, None]
        _, key, value = projected(self.attention, tokens, tokens, value=tokens)
        return key[0], value[0]

    def prefixes(self) -> tuple[Prefix, ...]:
        """Return the prefix (L, s) of each head, as it is now, in float64."""
        key, value = self.keys_and_values()
        tokens = self.prefix_tokens if self.space == "tokens" else None
        if self.prefix_unseen is None:
            return tuple(Prefix(k, v, tokens) for k, v in zip(key, value, strict=True))
        return tuple(Prefix(k[~u], v[~u]) for k, v, u in zip(key, value, self.prefix_unseen, strict=True))

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return the layer's outputs, and the weights if they are asked for.

        Parameters
        ----------
        query, key, value, need_weights, average_attn_weights
            As of `torch.nn.MultiheadAttention`.
        key_padding_mask, attn_mask
            As there: for the content alone, n columns. Every query sees the whole prefix.
        is_causal : bool, default False
            Without `attn_mask`: whether each query sees the content up to its own place only, and the whole prefix; the
            last query is at the last place, so T = 1 is a token that is decoded. With one the mask alone counts.

        Returns
        -------
        outputs : Tensor
            Of the shape of `query`.
        weights : Tensor, shape (batch, T, L + n) or (batch, heads, T, L + n), or None
            The first L columns are those of the prefix: L more than the module's own. Without `batch` for unbatched
            inputs.
        """
        mha, batched = self.attention, query.ndim == 3
        for name, tensor in (("query", query), ("key", key), ("value", value)):
            check_rows(mha, tensor, name, like=query)
        if key.shape != value.shape:
            raise ValueError(
                f"'key' and 'value' must have the same shape, got {tuple(key.shape)} and {tuple(value.shape)}"
            )
        q, k, v = projected(mha, query, key, value=value)
        of_content = content_mask(q, k, attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal)
        mask = self._mask(q, of_content, k.shape[2])
        k, v = (
            torch.cat([far.to(own.dtype).expand(own.shape[0], -1, -1, -1), own], dim=2)
            for far, own in zip(self.keys_and_values(), (k, v), strict=True)
        )
        dropout = mha.dropout if self.training else 0.0
        if not need_weights:
            heads = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
            return joined(mha, heads, batched), None
        logits = (q * mha.head_dim**-0.5) @ k.transpose(-1, -2)
        weights = torch.softmax(logits if mask is None else logits + mask, dim=-1)
        weights = torch.nn.functional.dropout(weights, dropout)
        outputs = joined(mha, weights @ v, batched)
        weights = weights.mean(dim=1) if average_attn_weights else weights
        return outputs, weights if batched else weights[0]

    def _mask(self, query: Any, content: Any, n: int) -> Any:
        """Return the mask added to logits of the prefix and the content, up to (batch, heads, T, L + n)."""
        unseen = self.prefix_unseen
        if unseen is None:
            return None if content is None else torch.nn.functional.pad(content, (self.length, 0))
        far = torch.zeros_like(unseen, dtype=query.dtype).masked_fill(unseen, -torch.inf)[:, None]  # (heads, 1, L)
        own = query.new_zeros(1, n) if content is None else content
        own = own.expand(*torch.broadcast_shapes(own.shape[:-1], far.shape[:-1]), n)
        return torch.cat([far.expand(*own.shape[:-1], -1), own], dim=-1)

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"length={self.length}, space={self.space!r}"


def _of_all_heads(
    prefix: Prefix | Sequence[Prefix | None], heads: int, columns: int
) -> tuple[Prefix, np.ndarray[Any, np.dtype[np.bool_]] | None]:
    """Return the prefix of all heads, and which rows (heads, L) are beyond a head's own: None if there are none."""
    shape = heads, columns, columns
    if isinstance(prefix, Prefix):
        single = heads == 1 and prefix.key.ndim == 2
        return fitting(Prefix(prefix.key[None], prefix.value[None], prefix.tokens) if single else prefix, shape), None
    kinds: Any = (Prefix, list, tuple)
    remedy = as_prefix(prefix, "layer.prefix(tokens) is one of all heads, a list has one for each")
    instance(prefix, "prefix", *kinds, remedy=remedy)
    if len(prefix) != heads:
        raise ValueError(f"'prefix' must have a Prefix, or None, for each of {heads} heads, got {len(prefix)}")
    rows = [_of_one_head(part, h, columns) for h, part in enumerate(prefix)]
    lengths = np.array([len(part) for part in rows])
    key, value = np.zeros((2, heads, lengths.max(), columns))
    for h, part in enumerate(rows):
        key[h, : len(part)], value[h, : len(part)] = part.key, part.value
    unseen = np.arange(lengths.max()) >= lengths[:, None]
    return Prefix(key, value), unseen if unseen.any() else None


def _of_one_head(prefix: Prefix | None, head: int, columns: int) -> Prefix:
    """Return a head's prefix, which may be empty."""
    rows = Prefix(np.empty((0, columns)), np.empty((0, columns))) if prefix is None else prefix
    name = f"prefix[{head}]"
    instance(rows, name, Prefix, remedy=as_prefix(rows, "Prefix(key, value) makes one"))
    if rows.key.shape[1:] != (columns,) or rows.value.shape[1:] != (columns,):
        raise ValueError(
            f"'{name}' must have keys and values (L, {columns}), got {rows.key.shape} and {rows.value.shape}"
        )
    return rows
