"""The attention layers of a model: found by what they call, and checked to compute what the model computes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel

from ..interchange import of_layers
from .calls import SOURCES, Visit, base_of, find_output, visit_layers
from .interface import NAME, find_hidden

_ATTENTION = re.compile("attention|attn", re.IGNORECASE)
"""Names of classes that attend, or look as if they did."""
_OTHERS = re.compile(
    "mamba|deltanet|linearattention|shortconv|recurrent|rwkv|retention|hyena|rglru|ssm|lightning", re.I
)
"""Names of classes that carry tokens in another way, which no prefix of keys and values reaches."""

_SINGLE = float(torch.finfo(torch.float32).eps)
"""The roundoff of float32, in which models of float64 compute some of their softmax."""


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


def find_cached(records: Sequence[LayerRecord]) -> list[LayerRecord]:
    """Return the records of the layers whose cache can hold a prefix."""
    cached = [record for record in records if record.kind == "self"]
    if not cached:
        raise ValueError("'model' must have causal attention, whose cache holds a prefix, got one that sees both ways")
    return cached


def check_prefixes(prefixes: Any, records: Sequence[LayerRecord]) -> None:
    """Check that prefixes are those of the layers of records."""
    shapes = [(*prefix.key.shape[::2], prefix.value.shape[-1]) for prefix in of_layers(prefixes, "prefix")]
    expected = [(record.key_value_heads, record.head_dim, record.value_dim) for record in records]
    if shapes != expected:
        texts = [" or ".join(str(shape) for shape in dict.fromkeys(side)) for side in (expected, shapes)]
        raise ValueError(
            f"'prefix' must have a Prefix for each of {len(expected)} layers, of heads of keys, s and p {texts[0]}, "
            f"got {len(prefixes)} of {texts[1]}"
        )


def find_layers(model: Any, inputs: Mapping[str, Any], expected: torch.Tensor) -> tuple[LayerRecord, ...]:
    """Return the records of a model's attention layers, checked to compute the outputs of its own attention."""
    visits, names, output = visit_layers(model, inputs)
    _check_layers(model, visits, names)
    _check_outputs(model, expected, find_output(output), inputs)
    return tuple(_record_layer(index, visit) for index, visit in enumerate(visits))


def find_remedy(model: Any) -> str:
    """Say what to do with what is no model of transformers."""
    if isinstance(model, str | type):
        return "transformers.AutoModelForCausalLM.from_pretrained(...) loads one"
    for name in ("model", "module"):
        if isinstance(getattr(model, name, None), PreTrainedModel):
            return f"its .{name} is one"
    if isinstance(model, torch.nn.MultiheadAttention):
        return "as_layer reads this one"
    if isinstance(model, PretrainedConfig):
        return "transformers.AutoModelForCausalLM.from_config(...) makes one"
    if type(model).__module__.startswith("transformers."):
        return "of_model takes the model that it is part of"
    return "as_layer reads a torch.nn.MultiheadAttention, AttentionLayer takes weights"


def _check_layers(model: Any, visits: list[Visit], names: list[str]) -> None:
    """Check that all layers that carry tokens called the interface."""
    base, parts = type(base_of(model)).__name__, dict(model.named_modules())
    kinds = {name: type(parts[name]).__name__ for name in names if not isinstance(parts[name], PreTrainedModel)}
    others = [name for name, kind in kinds.items() if _OTHERS.search(kind) and "Norm" not in kind]
    if others:
        inner = max(others, key=lambda name: name.count("."))
        raise TypeError(
            f"'model' must have layers of softmax attention alone, got {base} with {kinds[inner]} ({inner}), which no "
            "prefix of keys and values reaches: take another model, or Prefix and prefix_share for queries, keys and "
            "values of the layers that do attend"
        )
    callers = [visit.name for visit in visits]
    silent = [name for name, kind in kinds.items() if _ATTENTION.search(kind) and not _is_near(name, callers)]
    if silent or not visits:
        what = f"{kinds[silent[0]]} ({silent[0]}) attends by itself" if silent else "no layer called it"
        raise TypeError(
            f"'model' must attend by transformers' AttentionInterface, got {base}: {what}; Prefix, prefix_share and "
            "compress take queries, keys and values as arrays, AttentionLayer weights"
        )


def _is_near(name: str, callers: Sequence[str]) -> bool:
    """Tell whether a module called the interface, or is part of one that did, or has one as its part."""
    return any(f"{caller}.".startswith(f"{name}.") or name.startswith(f"{caller}.") for caller in callers)


def _check_outputs(model: Any, expected: torch.Tensor, outputs: torch.Tensor, inputs: Mapping[str, Any]) -> None:
    """Check that the model computes the same as with its own attention."""
    mask = inputs.get("decoder_attention_mask" if base_of(model).config.is_encoder_decoder else "attention_mask")
    if isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.shape == expected.shape[:2]:
        expected, outputs = expected[mask.bool()], outputs[mask.bool()]
    away = float((outputs.double() - expected.double()).abs().max())
    if not bool(expected.isfinite().all()):
        raise ValueError(f"'model' must compute numbers, got nan or inf from {type(base_of(model)).__name__} itself")
    size, eps = float(expected.double().abs().max()), float(torch.finfo(expected.dtype).eps)
    if not away <= max(eps, _SINGLE) ** 0.5 * size:
        config = base_of(model).config
        raise ValueError(
            f"'model' must compute the same by attention that is watched, got {type(base_of(model)).__name__} whose "
            f"outputs differ by {away:.3g} of {size:.3g} from those with its own ({config._attn_implementation}): "
            f"its layers use what {NAME}'s function does not know, such as biases or sinks of their own; "
            "model.float() if they are rounded, else Prefix and prefix_share take queries, keys and values as arrays"
        )


def _record_layer(index: int, visit: Visit) -> LayerRecord:
    """Return the record of a call."""
    call, hidden, biased = visit.call, None, False
    if call.mask is not None:
        hidden = find_hidden(call.mask)
        biased = bool(call.mask.masked_fill(hidden, 0.0).any())
    causal = hidden is not None and call.query.shape[2] > 1 and bool(hidden[..., 0, -1].all())
    cross = any(visit.arguments.get(name) is not None for name in SOURCES)
    kind = "cross" if cross else "self" if causal else "encoder"
    place = getattr(call.module, "layer_idx", None)
    return LayerRecord(
        index, visit.name, place if isinstance(place, int) and kind == "self" else None, kind,
        heads=call.query.shape[1], key_value_heads=call.key.shape[1], head_dim=call.query.shape[3],
        value_dim=call.value.shape[3], window=call.window, softcap=call.softcap, positions=biased,
    )  # fmt: skip
