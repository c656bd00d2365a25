"""Contexts: what the content of each of several examples is to its query, its log mass and its mean value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._threads import one_blas_thread
from ...._types import Float64, Indices
from .attention import attend
from .rows import array, finite, scale_for

WIDEST = 1e70
"""Of the largest entry of queries, or of 1 over it, and of factors: products of a few neither overflow nor vanish."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """Queries (N, s), the log masses (N,) of their contents, the means (N, p) of these, and the scale.

    Logits of a prefix are products, in models also capped as ``c tanh(logit / c)``, with biases (N, L) of its columns.
    """

    query: Float64
    log_mass: Float64
    mean: Float64
    scale: float
    softcap: float | None = None
    bias: Float64 | None = None

    def at(self, rows: Indices) -> Contexts:
        """Return the contexts of rows."""
        bias = None if self.bias is None else self.bias[rows]
        return replace(self, query=self.query[rows], log_mass=self.log_mass[rows], mean=self.mean[rows], bias=bias)

    def logits(self, keys: Float64) -> Float64:
        """Return the logits (N, L) of keys (L, s) of a prefix."""
        logits = self.scale * (self.query @ keys.T)
        if self.softcap is not None:
            logits = self.softcap * np.tanh(logits / self.softcap)
        return logits if self.bias is None else logits + self.bias[:, : len(keys)]


def read_contexts(
    query: ArrayLike, key: ArrayLike | Sequence[Any], value: ArrayLike | Sequence[Any], scale: float | None
) -> Contexts:
    """Return the checked contexts of queries (N, s): keys (N, n, s) and values (N, n, p), or lists of N arrays."""
    rows = _checks.shaped(finite(query, "query"), "query", ("N", "s"))
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / WIDEST <= largest <= WIDEST:
        raise ValueError(f"'query' must have a largest entry from {1.0 / WIDEST:g} to {WIDEST:g}, got {largest:g}")
    factor = scale_for(
        None if scale is None else _checks.real(scale, "scale", minimum=1.0 / WIDEST, maximum=WIDEST), rows.shape[1]
    )
    keys, values = keys_and_values(rows, key, value)
    means, masses = attend_contexts(factor * rows, keys, values)
    return Contexts(rows, masses, means, scale=factor)


def keys_and_values(query: Float64, key: Any, value: Any) -> tuple[list[Float64], list[Float64]]:
    """Return the checked keys and values of the context of each query."""
    keys = arrays(key, "key", len(query), shape=("n", query.shape[1]))
    values = arrays(value, "value", len(query), shape=("n", "p"))
    p = values[0].shape[1]
    for i, (k, v) in enumerate(zip(keys, values, strict=True)):
        if v.shape != (len(k), p):
            raise ValueError(f"'value' must have shape ({len(k)}, {p}) in row {i}, as 'key' and row 0, got {v.shape}")
    return keys, values


def attend_contexts(x: Float64, keys: list[Float64], values: list[Float64]) -> tuple[Float64, Float64]:
    """Return the means (N, p) and the log masses (N,) of contexts, for queries times their scale."""
    with one_blas_thread():
        contexts = [attend(x[i : i + 1], k, v) for i, (k, v) in enumerate(zip(keys, values, strict=True))]
    return np.concatenate([mean for mean, _ in contexts]), np.concatenate([mass for _, mass in contexts])


def arrays(value: Any, name: str, count: int, *, shape: tuple[int | str, ...], owner: str = "query") -> list[Float64]:
    """Return the array of each row, from one array or as many as there are rows."""
    is_array = isinstance(value, np.ndarray) or hasattr(value, "detach")
    if is_array:
        return [*array(value, name, (count, *shape))]
    if not isinstance(value, list | tuple) or len(value) != count:
        description = f"{len(value)}" if isinstance(value, list | tuple) else _checks.show(value)
        raise ValueError(f"'{name}' must hold an array for each of the {count} rows of '{owner}', got {description}")
    return [array(rows, name, shape, note=f" in row {i}") for i, rows in enumerate(value)]
