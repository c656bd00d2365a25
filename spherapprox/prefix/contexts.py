"""Contexts: what the content of each of several examples is to its query, its log mass and its mean value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from .attention import attended
from .rows import finite, scale_for
from .wishes import arrays

WIDEST = 1e70
"""Of the largest entry of queries, or of 1 over it, and of factors: products of a few neither overflow nor vanish."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """Queries (N, s), the log masses (N,) of their contents, the means (N, p) of these, and the scale."""

    query: Float64
    log_mass: Float64
    mean: Float64
    scale: float


def read_contexts(
    query: ArrayLike, key: ArrayLike | Sequence[Any], value: ArrayLike | Sequence[Any], scale: float | None
) -> Contexts:
    """Return the checked contexts of queries (N, s): keys (N, n, s) and values (N, n, p), or lists of N arrays."""
    rows = _checks.shaped(finite(query, "query"), "query", ("N", "s"))
    n, s = rows.shape
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / WIDEST <= largest <= WIDEST:
        raise ValueError(f"'query' must have a largest entry from {1.0 / WIDEST:g} to {WIDEST:g}, got {largest:g}")
    factor = scale_for(None if scale is None else _checks.real(scale, "scale", minimum=1.0 / WIDEST, maximum=WIDEST), s)
    keys, values = arrays(key, "key", n, ("n", s)), arrays(value, "value", n, ("n", "p"))
    p = values[0].shape[1]
    for i, (k, v) in enumerate(zip(keys, values, strict=True)):
        if v.shape != (len(k), p):
            raise ValueError(
                f"'value' must have shape ({len(k)}, {p}) in row {i} as 'key' and row 0 say, got {v.shape}"
            )
    found = [attended(factor * rows[i : i + 1], k, v) for i, (k, v) in enumerate(zip(keys, values, strict=True))]
    means, masses = (np.concatenate([part[j] for part in found]) for j in (0, 1))
    return Contexts(rows, masses, means, factor)
