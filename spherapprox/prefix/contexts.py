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
    factor = scale_for(scale, s)
    keys, values = arrays(key, "key", n, ("n", s)), arrays(value, "value", n, ("n", "p"))
    if any(v.shape != (len(k), values[0].shape[1]) for k, v in zip(keys, values, strict=True)):
        raise ValueError("'value' must have a row for each of 'key', and as many columns for each query")
    found = [attended(factor * rows[i : i + 1], k, v) for i, (k, v) in enumerate(zip(keys, values, strict=True))]
    means, masses = (np.concatenate([part[j] for part in found]) for j in (0, 1))
    return Contexts(rows, masses, means, factor)
