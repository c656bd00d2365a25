"""What an executor computes from a prompt without its transformer: reads of records, sums of products; and checks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from .layout import ROUNDING

_NUMBERS = 2**22
"""Products that are made at a time."""


def reads_of(executor: Any, prompt: Float64) -> list[Float64]:
    """Return the records that work tokens of each layer read, shape (n_l, n_(l-1) + 1), up to impurity."""
    keys, records = (prompt[:, executor.layout.columns(name)] for name in ("key", "record"))
    reads, start = [], 0
    for n, size, sharp in zip(executor.sizes, executor.sizes[1:], executor.concentrations, strict=False):
        logits = sharp * (executor.keys[start : start + size] @ keys.T)  # (n_l, m)
        top = np.maximum(logits.max(axis=1, keepdims=True), 0.0)
        masses = np.exp(logits - top)
        total = masses.sum(axis=1, keepdims=True) + executor.layout.workers * np.exp(-top)  # whose keys are 0
        rows = masses @ records / total
        reads.append(np.concatenate([rows[:, :n], rows[:, -1:]], axis=1))
        start += size
    return reads


def outputs_of(executor: Any, reads: list[Float64], inputs: Float64) -> Float64:
    """Return the outputs (n, n_D) for inputs (n, n_0)."""
    step = max(1, _NUMBERS // max(n * size for n, size in pairwise(executor.sizes)))
    parts = [inputs[start : start + step] for start in range(0, len(inputs), step)]
    return np.concatenate([_part(executor, reads, part) for part in parts])


def _part(executor: Any, reads: list[Float64], inputs: Float64) -> Float64:
    rows = zip(reads, executor.segments, executor.activation_bounds, strict=True)
    for layer, (record, count, bound) in enumerate(rows):
        if layer:  # or a token's sum reaches its gate (9.1)
            inputs = np.maximum(inputs, 0.0)
            largest = float(inputs.max())
            if not largest <= bound * (1.0 + ROUNDING):
                raise ValueError(
                    f"'activation_bounds' must hold the inputs of layer {layer + 1}, got {_checks.digits(bound)} for "
                    f"inputs up to {_checks.digits(largest)}: bounds.prompts.executor_budget computes what suffices"
                )
        weights, values = record[:, :-1] / (2.0 * executor.weight_bound), inputs[:, None] / (2.0 * bound)
        products = _squares(weights + values, count) - _squares(weights - values, count)  # (n, n_l, n_(l-1))
        inputs = executor.weight_bound * bound * products.sum(axis=2) + record[:, -1]
    return inputs


def checked_inputs(executor: Any, x: ArrayLike, name: str) -> Float64:
    """Return inputs (n, n_0) within the executor's radius."""
    rows = _checks.floating(_checks.detached(x), name, ("n", executor.sizes[0])).astype(np.float64)
    largest = float(np.abs(rows).max())
    if not largest <= executor.radius:
        raise ValueError(f"'{name}' must be at most {_checks.digits(executor.radius)} in absolute value, as 'radius' "
                         f"has it, got {_checks.digits(largest)}")  # fmt: skip
    return rows


def checked_prompt(executor: Any, prompt: ArrayLike) -> Float64:
    """Return a prompt with this executor's keys and records within the bounds."""
    array = _checks.floating(_checks.detached(prompt), "prompt", (executor.prompt_length, executor.token_dim))
    rows = array.astype(np.float64)
    keys = rows[:, executor.layout.columns("key")]
    if not np.abs(keys - executor.keys).max() <= 1e-6 or rows[:, executor.layout.ends["read"][0] :].any():
        raise ValueError("'prompt' must have this executor's keys and 0 behind its records: 'encode' makes it")
    check_records(
        executor, rows[:, executor.layout.columns("record")], "prompt", slack=float(np.finfo(array.dtype).eps)
    )
    return rows


def check_records(executor: Any, records: Float64, name: str, slack: float = ROUNDING) -> None:
    """Check that no record exceeds its bounds, but for roundings."""
    start = 0
    for layer, (size, row_bound) in enumerate(zip(executor.sizes[1:], executor.row_bounds, strict=True), 1):
        rows = np.abs(records[start : start + size])
        for quantity, sizes, limit, option in (
            ("entries", rows.max(axis=1), executor.weight_bound, "weight_bound"),
            ("a sum", rows[:, :-1].sum(axis=1), row_bound, "row_bound"),
        ):
            worst = int(sizes.argmax())
            if not sizes[worst] <= limit * (1.0 + max(slack, ROUNDING)):
                raise ValueError(
                    f"'{name}' must have {quantity} of at most {_checks.digits(limit)}, in absolute values, in row "
                    f"{worst} of layer {layer}, got {_checks.digits(float(sizes[worst]))}: take a larger {option}"
                )
        start += size


def _squares(t: Float64, segments: int) -> Float64:
    """Interpolate t^2 at so many equal segments of [-1, 1], and go on with the last slope beyond."""
    half = segments // 2
    v = np.abs(t) * half
    node = np.minimum(np.floor(v), half - 1.0)
    return np.asarray(((2.0 * node + 1.0) * v - node * (node + 1.0)) / half**2)
