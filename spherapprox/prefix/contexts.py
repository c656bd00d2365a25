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
    keys, values = _several(key, "key", n), _several(value, "value", n)
    masses, means = np.empty(n), []
    for i, (k, v) in enumerate(zip(keys, values, strict=True)):
        if k.ndim != 2 or v.ndim != 2 or len(k) != len(v) or k.shape[1] != s or not v.size:
            raise ValueError(
                f"'key' and 'value' must have shapes (n, {s}) and (n, p), n > 0, for each query, got {k.shape} and "
                f"{v.shape} for query {i}"
            )
        output, mass = attended(factor * rows[i : i + 1], k, v)
        masses[i] = mass[0]
        means.append(output[0])
    if len({len(mean) for mean in means}) > 1:
        raise ValueError("'value' must have as many columns for each query")
    return Contexts(rows, masses, np.array(means), factor)


def _several(value: Any, name: str, n: int) -> list[Float64]:
    """Return N arrays of an array with three axes, or of a list."""
    found = [finite(part, name) for part in value] if isinstance(value, list | tuple) else list(finite(value, name))
    if len(found) != n:
        raise ValueError(f"'{name}' must have an array for each of the {n} queries, got {len(found)}")
    return found
