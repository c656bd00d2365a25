"""Attention over a prefix: outputs and log masses, a few queries at a time."""

from __future__ import annotations

import numpy as np

from .._types import Float64

_AT_ONCE = 2**22
"""Logits that are held at once."""


def attended(x: Float64, key: Float64, value: Float64, bias: Float64 | None = None) -> tuple[Float64, Float64]:
    """Return the outputs (m, p) and the log masses (m,) of queries, times their scale, at keys with values."""
    with np.errstate(over="ignore", invalid="ignore"):
        outputs, masses = _attended(x, key, value, bias)
    if not (np.isfinite(outputs).all() and np.isfinite(masses).all()):
        raise ValueError("'queries' must have finite logits and outputs: scale * <q, k> or sums of values overflow")
    return outputs, masses


def _attended(x: Float64, key: Float64, value: Float64, bias: Float64 | None) -> tuple[Float64, Float64]:
    outputs, masses = np.empty((len(x), value.shape[1])), np.empty(len(x))
    step = max(_AT_ONCE // len(key), 1)
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        logits = x[part] @ key.T  # (step, n)
        if bias is not None:
            logits += bias
        largest = logits.max(axis=1)
        weights = np.exp(logits - largest[:, None], out=logits)
        sums = weights.sum(axis=1)
        outputs[part] = (weights @ value) / sums[:, None]
        masses[part] = largest + np.log(sums)
    return outputs, masses
