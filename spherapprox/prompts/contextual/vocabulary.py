"""The tokens of sequences, and how often each sequence has each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _checks
from ..._types import Float64

_WIDEST = 1e70
"""Of the largest entry of tokens, or of 1 over it: products of a few neither overflow nor vanish."""


def vocabulary(sequences: Any) -> tuple[Float64, Float64]:
    """Return the tokens of sequences, (V, d), in an order of their own, and how often each has each, (N, V)."""
    is_array = isinstance(sequences, np.ndarray) or hasattr(sequences, "detach")
    if not is_array and not (isinstance(sequences, list | tuple) and len(sequences)):
        raise ValueError(f"'sequences' must be an array (N, n, d) or a list of arrays, got {_checks.show(sequences)}")
    if is_array:
        sequences = _checks.floating(_checks.detached(sequences), "sequences", ("N", "n", "d"))
    arrays = [
        _checks.floating(_checks.detached(rows), f"sequences[{i}]", ("n", "d")) for i, rows in enumerate(sequences)
    ]
    for i, array in enumerate(arrays):
        _checks.shaped(array, f"sequences[{i}]", ("n", arrays[0].shape[1]), note=", as the first has")
    rows = np.concatenate(arrays).astype(np.float64)
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / _WIDEST <= largest <= _WIDEST:
        raise ValueError(f"'sequences' must have a largest entry from {1 / _WIDEST:g} to {_WIDEST:g}, got {largest:g}")
    tokens, which = np.unique(rows, axis=0, return_inverse=True)
    _checks.memory(8.0 * len(arrays) * len(tokens), "the counts of tokens", "take fewer sequences")
    counts = np.zeros((len(arrays), len(tokens)))
    owner = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    np.add.at(counts, (owner, which.reshape(-1)), 1.0)
    return tokens, counts
