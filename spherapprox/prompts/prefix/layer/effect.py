"""`prefix_effect`: what a prefix does to the attention and the outputs of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._softmax import softmax
from ...._types import Float64
from .attention import log_weights
from .layer import AttentionLayer
from .reading import as_layer
from .rows import Prefix, causal_mask, finite, fitting
from .share import share_of
from .weights import by_head, matrix, side_by_side


class NextLogits(NamedTuple):
    """The four terms of the logits of the layer behind one with a prefix; their sum is the logits.

    Parameters
    ----------
    bias_bias, bias_content, content_bias, content_content : ndarray, shape (..., T, T) or (..., heads, T, T)
        Entry i, j is what asks at i times what answers at j: the part of either that the prefix adds, and the part that
        stays of the content.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import NextLogits
    >>> sum(NextLogits(1.0, 2.0, 3.0, 4.0))
    10.0
    """

    bias_bias: Float64
    bias_content: Float64
    content_bias: Float64
    content_content: Float64


@dataclass(frozen=True, eq=False, repr=False)
class PrefixEffect:
    """Attention and outputs of a layer's heads, without and with a prefix.

    ``prefixed_output = bias + (1 - share) * output`` and, over the content,
    ``prefixed_attention = (1 - share) * attention``: a prefix scales the attention to content down, and adds its own
    values.

    Parameters
    ----------
    attention : ndarray, shape (..., heads, T, T)
        Weights of the content without the prefix.
    prefixed_attention : ndarray, shape (..., heads, T, L + T)
        Weights of the prefix, then of the content.
    share : ndarray, shape (..., heads, T)
        Sum of the prefix's weights.
    bias : ndarray, shape (..., heads, T, p)
        Sum of the prefix's values with their weights.
    output, prefixed_output : ndarray, shape (..., heads, T, p)
        Outputs of the heads, before the weights behind them, without and with the prefix.
    layer : AttentionLayer
        The layer.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, prefix_effect
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((4, 8, 8)), heads=2)
    >>> effect = prefix_effect(rng.standard_normal((5, 8)), rng.standard_normal((3, 8)), layer, causal=False)
    >>> effect
    PrefixEffect(heads=2, T=5, L=3, mean share=...)
    >>> kept = (1 - effect.share)[..., None] * effect.output
    >>> bool(np.allclose(effect.prefixed_output, effect.bias + kept))
    True
    >>> [part.shape for part in effect.split_output()], effect.next_logits(np.eye(8)).content_bias.shape
    ([(5, 8), (5, 8)], (5, 5))
    """

    attention: Float64
    prefixed_attention: Float64
    share: Float64
    bias: Float64
    output: Float64
    prefixed_output: Float64
    layer: AttentionLayer

    def __repr__(self) -> str:
        heads, rows, columns = self.prefixed_attention.shape[-3:]
        return (
            f"PrefixEffect(heads={heads}, T={rows}, L={columns - self.attention.shape[-1]}, "
            f"mean share={self.share.mean():.3g})"
        )

    def split_output(self) -> tuple[Float64, Float64]:
        """Return the layer's outputs with the prefix in two parts: what the prefix adds, what stays of the content.

        Returns
        -------
        bias : ndarray, shape (..., T, d_out)
            The heads' `bias`, behind the layer's last weights.
        content : ndarray, shape (..., T, d_out)
            ``(1 - share) * output`` of the heads, behind the same weights, plus their bias.
        """
        content = (1.0 - self.share)[..., None] * self.output
        return self._joined(self.bias), self._joined(content) + (0.0 if self.layer.out is None else self.layer.out_bias)

    def next_logits(self, interaction: Any) -> NextLogits:
        """Return the logits of the next layer, where the layer's outputs with the prefix are its inputs.

        Parameters
        ----------
        interaction : array_like, shape (d_out, d_out), AttentionLayer or torch.nn.MultiheadAttention
            The matrix H of logits ``<y_i, H y_j>``, scale included; or the next layer, for the logits of its heads,
            whose biases count as content.

        Returns
        -------
        NextLogits
            Four arrays of shape (..., T, T), or (..., heads of the next layer, T, T).

        Raises
        ------
        TypeError, ValueError

        Notes
        -----
        There is no norm, residual connection or feed-forward layer between the two. The proof is in
        docs/theorems/8.1-what-a-prefix-does.md.
        """
        bias, content = self.split_output()
        width = content.shape[-1]
        is_layer = isinstance(interaction, AttentionLayer) or hasattr(interaction, "in_proj_bias")
        if is_layer:
            layer = as_layer(interaction)
        else:
            h = matrix(interaction, "interaction", width, heads=1)
            _checks.shaped(h, "interaction", (width, width), note=" as the layer's outputs have columns")
            layer = AttentionLayer(np.eye(width), h, np.eye(width), scale=1.0, heads=1)
        if layer.width != width:
            raise ValueError(f"'interaction' must take the layer's {width} outputs, got one of {layer.width} inputs")
        query, key, _ = layer.head_inputs(content)
        added = by_head(bias @ layer.query.T, layer.heads)
        answer = np.repeat(by_head(bias @ layer.key.T, layer.key_value_heads), layer.group_size, axis=-3)
        pairs = ((added, answer), (added, key), (query, answer), (query, key))
        terms = (layer.scale * (query_part @ np.swapaxes(key_part, -1, -2)) for query_part, key_part in pairs)
        return NextLogits(*(term if is_layer else term[..., 0, :, :] for term in terms))

    def _joined(self, heads: Float64) -> Float64:
        """Return outputs of heads (..., heads, T, p) behind the layer's last weights, (..., T, d_out)."""
        joined = side_by_side(heads)
        return joined if self.layer.out is None else np.asarray(joined @ self.layer.out.T)


def prefix_effect(x: ArrayLike, prefix: Prefix | ArrayLike, layer: Any, *, causal: bool) -> PrefixEffect:
    """Compute what a prefix does to the attention and the outputs of a layer's heads.

    Parameters
    ----------
    x : array_like, shape (..., T, d)
        The content: inputs of the layer, behind the norm that precedes it.
    prefix : Prefix or array_like, shape (L, d)
        Keys and values of shape (key_value_heads, L, ...), or tokens of which the layer makes them.
    layer : AttentionLayer or torch.nn.MultiheadAttention
        The layer, which stays as it is.
    causal : bool
        Whether row i sees the content up to place i only, as in decoders; all rows see the whole prefix.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, or logits take too much memory.

    References
    ----------
    docs/theorems/8.1-what-a-prefix-does.md; Petrov (2025), equations 3.5 to 3.7.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, Prefix, prefix_effect
    >>> layer = AttentionLayer(np.eye(2), np.eye(2), np.eye(2), scale=1.0, heads=1)
    >>> effect = prefix_effect([[1.0, 2.0]], [[2.0, 0.0]], layer, causal=False)
    >>> effect.share.round(4)  # logits 5 of the content and 2 of the prefix
    array([[0.0474]])
    """
    weights = as_layer(layer)
    query, key, value = weights.head_inputs(x)
    count = query.shape[-2]
    if not query.size:
        raise ValueError(f"'x' must have rows, got shape {np.shape(x)}")
    mask = causal_mask(count, count) if _checks.flag(causal, "causal") else None
    if not isinstance(prefix, Prefix):
        tokens = finite(prefix, "prefix")
        if tokens.ndim != 2 or tokens.shape[1] != weights.width:
            shape = f"(L, {weights.width}), got shape {tokens.shape}"
            raise ValueError(f"'prefix' must be a Prefix, or tokens of shape {shape}")
        prefix = weights.prefix(tokens)
    rows = fitting(prefix, (weights.key_value_heads, weights.head_dim, weights.value_dim)).repeated(weights.heads)
    length = len(rows)
    _checks.memory(40.0 * query[..., 0].size * (length + count), "attention", "take fewer rows of 'x' at a time")
    logits = log_weights(query, key, rows.key, scale=weights.scale, mask=mask)  # (..., heads, T, L + T)
    before, after = softmax(logits[..., length:]), softmax(logits)
    bias = after[..., :length] @ rows.value
    return PrefixEffect(
        attention=before,
        prefixed_attention=after,
        share=share_of(logits[..., :length], logits[..., length:]),
        bias=bias,
        output=before @ value,
        prefixed_output=bias + after[..., length:] @ value,
        layer=weights,
    )
