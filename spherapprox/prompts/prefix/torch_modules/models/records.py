"""`LayerRecord`: what an attention layer of a model is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...layer.rows import Prefix


@dataclass(frozen=True)
class LayerRecord:
    """An attention layer of a model, as it was called.

    Parameters
    ----------
    index : int
        Its place among the calls.
    name : str
        That of the module, in ``model.named_modules()``.
    cache_index : int or None
        Its layer of the cache, where it has one.
    kind : {"self", "encoder", "cross"}
        Causal attention, such that sees both ways, and attention to what another module made.
    heads, key_value_heads : int
        Of queries, and of keys and values.
    head_dim, value_dim : int
        Columns s of queries and keys, p of values.
    window : int or None
        Tokens that a query sees, at most.
    softcap : float or None
        c of logits ``c tanh(logit / c)``.
    positions : bool
        Whether biases by positions are added to logits.

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules.models import LayerRecord
    >>> LayerRecord(0, "h.0.attn", 0, "self", 4, 2, 8, 8, None, None, False).key_value_heads
    2
    """

    index: int
    name: str
    cache_index: int | None
    kind: str
    heads: int
    key_value_heads: int
    head_dim: int
    value_dim: int
    window: int | None
    softcap: float | None
    positions: bool


def cached_layers(records: Sequence[LayerRecord]) -> list[LayerRecord]:
    """Return the records of the layers whose cache can hold a prefix."""
    found = [record for record in records if record.kind == "self"]
    if not found:
        raise ValueError("'model' must have causal attention, whose cache holds a prefix, got one that sees both ways")
    return found


def check_prefixes(prefixes: Any, records: Sequence[LayerRecord]) -> None:
    """Check that prefixes are those of the layers of records."""
    if isinstance(prefixes, list | tuple) and all(isinstance(prefix, Prefix) for prefix in prefixes):
        shapes = [(*prefix.key.shape[::2], prefix.value.shape[-1]) for prefix in prefixes if prefix.key.ndim == 3]
        expected = [(record.key_value_heads, record.head_dim, record.value_dim) for record in records]
        if shapes != expected:
            raise ValueError(
                f"'prefix' must have a Prefix for each of {len(expected)} layers, of heads of keys, s and p "
                f"{_counts(expected)}, got {len(prefixes)} of {_counts(shapes)}"
            )


def _counts(shapes: Sequence[tuple[int, ...]]) -> str:
    """Return different shapes as text."""
    return " or ".join(str(shape) for shape in dict.fromkeys(shapes)) or "one head"
