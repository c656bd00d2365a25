"""`Prefix`: keys and values that attention heads see before those of their content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Bools, Float64
from .attention import beside


@dataclass(frozen=True, eq=False)
class Prefix:
    """Keys and values of the tokens of a prefix, for one head or for all heads of a layer.

    Parameters
    ----------
    key : array_like, shape (L, s) or (heads, L, s)
        A row for each token; L may be 0. The heads are those that have keys: in grouped attention fewer than queries.
    value : array_like, shape (L, p) or (heads, L, p)
        As many rows as `key`.
    tokens : array_like, shape (L, d), optional
        The embeddings from which a layer makes these keys and values, if there are any.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.prefix import Prefix
    >>> prefix = Prefix([[2.0, 0.0]], [[1.0]])
    >>> len(prefix), prefix.attend([[1.0, 2.0]], [[0.0, 1.0], [1.0, 1.0]], [[0.0], [0.0]], scale=1.0).round(4)
    (1, array([[0.2119]]))
    """

    key: Float64
    value: Float64
    tokens: Float64 | None = None

    def __post_init__(self) -> None:
        key, value = finite(self.key, "key"), finite(self.value, "value")
        if key.ndim not in (2, 3) or key.ndim != value.ndim or key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"'key' and 'value' must have shapes (L, s) and (L, p), or (heads, L, s) and (heads, L, p), got "
                f"{key.shape} and {value.shape}"
            )
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "value", value)
        if self.tokens is not None:
            tokens = finite(self.tokens, "tokens")
            if tokens.ndim != 2 or len(tokens) != len(self) or not tokens.shape[1]:
                raise ValueError(f"'tokens' must have shape ({len(self)}, d) as 'key' has rows, got {tokens.shape}")
            object.__setattr__(self, "tokens", tokens)

    def __len__(self) -> int:
        return int(self.key.shape[-2])

    def __repr__(self) -> str:
        heads = f"heads={len(self.key)}, " if self.key.ndim == 3 else ""
        return f"{type(self).__name__}({heads}length={len(self)}, s={self.key.shape[-1]}, p={self.value.shape[-1]})"

    def repeated(self, heads: int) -> Prefix:
        """Return the prefix with its keys and values repeated for each head of queries.

        Parameters
        ----------
        heads : int
            Heads of queries, a multiple of those of the keys: consecutive ones share keys and values.

        Raises
        ------
        TypeError, ValueError
            If the number is no multiple, or the prefix is of one head, without an axis of heads.

        Examples
        --------
        >>> import numpy as np
        >>> Prefix(np.ones((2, 3, 4)), np.ones((2, 3, 4))).repeated(8)
        Prefix(heads=8, length=3, s=4, p=4)
        """
        heads = _checks.integer(heads, "heads", minimum=1)
        if self.key.ndim != 3 or heads % len(self.key):
            raise ValueError(f"'heads' must be a multiple of the prefix's, got {heads} for shape {self.key.shape}")
        times = heads // len(self.key)
        return Prefix(np.repeat(self.key, times, 0), np.repeat(self.value, times, 0), self.tokens)

    def attend(self, query: ArrayLike, key: ArrayLike, value: ArrayLike, *, scale: float | None = None) -> Float64:
        """Return attention over the prefix and content.

        Parameters
        ----------
        query : array_like, shape (..., T, s)
            Queries. For a prefix of several heads the axis before T is that of the heads.
        key, value : array_like, shapes (..., n, s) and (..., n, p)
            Keys and values of the content; n may be 0.
        scale : float, optional
            Factor of the inner products, 1 / sqrt(s) by default.

        Returns
        -------
        ndarray, shape (..., T, p)
            ``softmax(scale * query [prefix; content keys]^T) [prefix; content values]``, right to 1e-15 times the size
            of the logits and values.

        Raises
        ------
        TypeError, ValueError
        """
        q, k, v = finite(query, "query"), finite(key, "key"), finite(value, "value")
        for name, array, width in (("query", q, self.key), ("key", k, self.key), ("value", v, self.value)):
            if array.ndim < self.key.ndim or array.shape[-1] != width.shape[-1]:
                raise ValueError(
                    f"'{name}' must have {self.key.ndim} axes or more and {width.shape[-1]} columns as the prefix has, "
                    f"got shape {array.shape}"
                )
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"'key' and 'value' must have as many rows, got shapes {k.shape} and {v.shape}")
        return beside(q, k, v, prefix_key=self.key, prefix_value=self.value, scale=scale_for(scale, q.shape[-1]))


def fitting(prefix: Prefix | None, shape: tuple[int, int, int]) -> Prefix:
    """Return a prefix of a layer with so many heads of keys, columns of keys and of values; for None an empty one."""
    g, s, p = shape
    rows = Prefix(np.empty((g, 0, s)), np.empty((g, 0, p))) if prefix is None else prefix
    _checks.instance(rows, "prefix", Prefix, remedy=as_prefix(rows, "layer.prefix(tokens) makes one"))
    if rows.key.shape != (g, len(rows), s) or rows.value.shape != (g, len(rows), p):
        raise ValueError(
            f"'prefix' must have keys ({g}, L, {s}) and values ({g}, L, {p}) as the layer has, got "
            f"{rows.key.shape} and {rows.value.shape}"
        )
    return rows


def as_prefix(value: object, remedy: str) -> str:
    """Say how a `Prefix` comes of something else."""
    if getattr(value, "bias", None) is not None:
        return "it has biases, which no Prefix has: compress(..., bias=False) finds one without"
    return "its .prefix is one" if hasattr(value, "prefix") else remedy


def scale_for(scale: float | None, columns: int) -> float:
    """Return the factor of inner products."""
    return 1.0 / float(np.sqrt(columns)) if scale is None else _checks.real(scale, "scale", above=0.0)


def finite(value: ArrayLike, name: str) -> Float64:
    """Return a finite float64 array, which may be empty; tensors with a graph are read."""
    return _checks.reals(_checks.detached(value), name, finite=True, nan=False)


def array(value: ArrayLike, name: str, shape: tuple[int | str, ...], note: str = "") -> Float64:
    """Return a finite float64 array of a shape, which is not empty."""
    return np.asarray(_checks.floating(_checks.detached(value), name, shape, note=note).astype(np.float64))


def causal_mask(queries: int, keys: int) -> Bools:
    """Return which content each query sees, (T, n): the last one all, each before it one token less."""
    if queries > keys:
        raise ValueError(
            f"'causal' needs as many tokens of content as there are queries or more, got {keys} for {queries}: the "
            "last query is at the last place"
        )
    return np.tri(queries, keys, keys - queries, dtype=bool)
