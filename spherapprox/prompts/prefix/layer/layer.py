"""`AttentionLayer`: the weights of a frozen attention layer, as arrays."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from .attention import beside
from .rows import Prefix, causal_mask, finite, fitting, scale_for
from .weights import by_head, head_counts, matrix, product, side_by_side, vector

_LEFT_OUT: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class AttentionLayer:
    """A frozen attention layer of one or more heads: its weights, in torch's orientation, ``x @ weight.T + bias``.

    Parameters
    ----------
    query : array_like, shape (heads * s, d)
        Weights of the queries; rows h s to (h+1) s are head h's.
    key : array_like, shape (key_value_heads * s, d)
    value : array_like, shape (key_value_heads * p, d)
        In most layers p = s.
    out : array_like, shape (d_out, heads * p), optional
        Weights behind the heads; None returns the heads' outputs side by side.
    query_bias, key_bias, value_bias, out_bias : array_like, optional
        As long as the rows of the weights; None is 0.
    heads : int
        Heads of queries. Weights do not tell how many there are: one head of all columns is another function.
    key_value_heads : int, optional
        Heads of keys and values, a divisor of `heads` (grouped-query attention): consecutive heads of queries share
        one. By default as many.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    `as_layer` reads a `torch.nn.MultiheadAttention`, and ``of_model(model).as_layer(...)`` a layer of a model of
    transformers, at one position. What depends on positions (rotary embeddings, relative biases) and norms of queries
    and keys are not part of it: weights of Llama's layers and their kind compute something else, and `Prefix`,
    `prefix_share` and `compress` take their queries and keys as they are behind that.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer
    >>> rng = np.random.default_rng(0)
    >>> query, key, value, out = rng.standard_normal((4, 8, 8))
    >>> layer = AttentionLayer(query, key, value, out, heads=2)
    >>> layer
    AttentionLayer(d=8, heads=2, s=4, p=4)
    >>> layer.attend(rng.standard_normal((5, 8)), prefix=layer.prefix(rng.standard_normal((3, 8)))).shape
    (5, 8)
    >>> [part.shape for part in layer.head_inputs(np.ones((1, 8)), np.ones((5, 8)))]
    [(2, 1, 4), (2, 5, 4), (2, 5, 4)]
    >>> layer.head_outputs(np.ones((1, 8)), np.ones((5, 8))).shape
    (2, 1, 4)
    """

    query: Float64
    key: Float64
    value: Float64
    out: Float64 | None = None
    _: KW_ONLY
    query_bias: Float64 = _LEFT_OUT
    key_bias: Float64 = _LEFT_OUT
    value_bias: Float64 = _LEFT_OUT
    out_bias: Float64 = _LEFT_OUT
    heads: int
    key_value_heads: int = _LEFT_OUT
    scale: float = _LEFT_OUT

    def __post_init__(self) -> None:
        h, g = head_counts(self.heads, self.key_value_heads)
        q = matrix(self.query, "query", None, heads=h)
        k = matrix(self.key, "key", q.shape[1], heads=g)
        v = matrix(self.value, "value", q.shape[1], heads=g)
        if len(q) // h != len(k) // g:
            raise ValueError(
                f"'query' and 'key' must have as many rows for each head, got {len(q)} for {h} and {len(k)} for {g}"
            )
        columns = h * (len(v) // g)
        o = None if self.out is None else matrix(self.out, "out", columns, heads=1)
        if o is None and self.out_bias is not _LEFT_OUT:
            raise TypeError("'out_bias' needs 'out', the weights behind the heads")
        for name, weight in (("query", q), ("key", k), ("value", v), ("out", o)):
            object.__setattr__(self, name, weight)
            length = columns if weight is None else len(weight)
            object.__setattr__(self, f"{name}_bias", vector(getattr(self, f"{name}_bias"), f"{name}_bias", length))
        vars(self).update(heads=h, key_value_heads=g, scale=scale_for(self.scale, len(q) // h))

    @classmethod
    def fused(
        cls, qkv: ArrayLike, out: ArrayLike | None = None, *, bias: ArrayLike | None = None,
        out_bias: ArrayLike | None = None, heads: int, key_value_heads: int | None = None,
        scale: float | None = None,
    ) -> Self:  # fmt: skip
        """Make a layer from one matrix of the weights of queries, keys and values, in this order.

        Parameters
        ----------
        qkv : array_like, shape ((heads + 2 key_value_heads) s, d)
            Transpose weights that are stored the other way round, ``x @ weight``, as GPT-2's are.
        bias : array_like, shape ((heads + 2 key_value_heads) s,), optional
        out, out_bias, heads, key_value_heads, scale
            As in `AttentionLayer`.

        Raises
        ------
        TypeError, ValueError

        Examples
        --------
        >>> AttentionLayer.fused(np.ones((24, 8)), heads=2)
        AttentionLayer(d=8, heads=2, s=4, p=4)
        """
        h, g = head_counts(heads, key_value_heads)
        weights = matrix(qkv, "qkv", None, heads=h + 2 * g)
        s = len(weights) // (h + 2 * g)
        ends = [h * s, (h + g) * s]
        q, k, v = np.split(weights, ends)
        options: dict[str, Any] = {"out": out, "out_bias": out_bias, "heads": h, "key_value_heads": g, "scale": scale}
        if bias is not None:
            parts = np.split(vector(bias, "bias", len(weights)), ends)
            options |= zip(("query_bias", "key_bias", "value_bias"), parts, strict=True)
        return cls(q, k, v, **options)

    def __repr__(self) -> str:
        groups = f", key_value_heads={self.key_value_heads}" if self.key_value_heads != self.heads else ""
        return f"AttentionLayer(d={self.width}, heads={self.heads}{groups}, s={self.head_dim}, p={self.value_dim})"

    @property
    def width(self) -> int:
        """Columns d of the inputs."""
        return int(self.query.shape[1])

    @property
    def head_dim(self) -> int:
        """Columns s of a head's queries and keys."""
        return len(self.query) // self.heads

    @property
    def value_dim(self) -> int:
        """Columns p of a head's values."""
        return len(self.value) // self.key_value_heads

    @property
    def group_size(self) -> int:
        """Heads of queries that share a key and a value."""
        return self.heads // self.key_value_heads

    @property
    def output_weights(self) -> Float64:
        """Weights (d_out, heads * p) behind the heads: `out`, or the identity."""
        return np.eye(self.heads * self.value_dim) if self.out is None else self.out

    def head_inputs(self, x: ArrayLike, content: ArrayLike | None = None) -> tuple[Float64, Float64, Float64]:
        """Return queries, keys and values of all heads.

        Parameters
        ----------
        x : array_like, shape (..., T, d)
            What asks.
        content : array_like, shape (..., n, d), optional
            What is attended to; x itself by default.

        Returns
        -------
        query : ndarray, shape (..., heads, T, s)
        key : ndarray, shape (..., heads, n, s)
        value : ndarray, shape (..., heads, n, p)
            Those of shared keys and values are repeated for each head of queries.

        Raises
        ------
        TypeError, ValueError
        """
        inputs = self._rows(x, "x")
        rows = inputs if content is None else self._rows(content, "content")
        query = by_head(product(inputs, self.query, self.query_bias, name="x"), self.heads)
        key, value = self._keys_and_values(rows, "x" if content is None else "content")
        return query, np.repeat(key, self.group_size, axis=-3), np.repeat(value, self.group_size, axis=-3)

    def prefix(self, tokens: ArrayLike) -> Prefix:
        """Return the keys and values, (key_value_heads, L, ...), that the layer makes of the tokens of a prefix.

        Parameters
        ----------
        tokens : array_like, shape (L, d)
            Inputs of the layer: behind the norm that precedes it, if there is one.

        Raises
        ------
        TypeError, ValueError
        """
        rows = self._rows(tokens, "tokens")
        return Prefix(*self._keys_and_values(rows, "tokens"), rows)

    def head_outputs(
        self, x: ArrayLike, content: ArrayLike | None = None, *, prefix: Prefix | None = None, causal: bool = False
    ) -> Float64:
        """Return the outputs of all heads, before the weights behind them, shape (..., heads, T, p).

        Parameters
        ----------
        x, content
            As in `head_inputs`.
        prefix : Prefix, optional
            Of shape (key_value_heads, L, ...), which every x sees before the content.
        causal : bool, default False
            Whether each x sees the content up to its own place only, and the whole prefix. The last x is at the last
            place of the content: T = 1 is a token that is decoded behind n - 1 others.

        Raises
        ------
        TypeError, ValueError
            If arrays are not finite or do not fit together, or logits take too much memory.
        """
        query, key, value = self.head_inputs(x, content)
        mask = causal_mask(query.shape[-2], key.shape[-2]) if _checks.flag(causal, "causal") else None
        shape = self.key_value_heads, self.head_dim, self.value_dim
        rows = fitting(prefix, shape).repeated(self.heads)
        logits = query[..., 0].size * (len(rows) + key.shape[-2])
        _checks.memory(24.0 * logits, "attention", "take fewer rows of 'x' at a time")
        return beside(query, key, value, prefix_key=rows.key, prefix_value=rows.value, scale=self.scale, mask=mask)

    def attend(
        self, x: ArrayLike, content: ArrayLike | None = None, *, prefix: Prefix | None = None, causal: bool = False
    ) -> Float64:
        """Return the layer's outputs ``concat(heads) @ out.T + out_bias``, shape (..., T, d_out).

        Parameters
        ----------
        x, content, prefix, causal
            As in `head_outputs`.

        Raises
        ------
        TypeError, ValueError
        """
        joined = side_by_side(self.head_outputs(x, content, prefix=prefix, causal=causal))
        return joined if self.out is None else product(joined, self.out, self.out_bias, name="content")

    def _keys_and_values(self, rows: Float64, name: str) -> tuple[Float64, Float64]:
        """Return keys (..., key_value_heads, n, s) and values (..., key_value_heads, n, p) of rows."""
        key, value = (
            product(rows, self.key, self.key_bias, name=name),
            product(rows, self.value, self.value_bias, name=name),
        )
        return by_head(key, self.key_value_heads), by_head(value, self.key_value_heads)

    def _rows(self, x: ArrayLike, name: str) -> Float64:
        rows = finite(x, name)
        if rows.ndim < 2 or rows.shape[-1] != self.width:
            raise ValueError(f"'{name}' must have shape (..., rows, {self.width}) for this layer, got {rows.shape}")
        return rows
