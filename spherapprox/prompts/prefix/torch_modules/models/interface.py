"""Attention as models of transformers call it: one function that may be watched, and adds biases that a cache carries.

Models look the function up by name in their configuration (``AttentionInterface``), so that it sees queries, keys and
values as they are behind rotary positions, norms and adapters, with the mask, the scale and what else the layer asks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

NAME = "spherapprox"
"""The name under which models find the function."""


class BiasedKeys(torch.Tensor):
    """Keys that carry biases from a cache to `attention_forward`; all else that reads them raises, none are lost."""

    bias: torch.Tensor

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function not in _HARMLESS:
            raise RuntimeError(
                "the cache has biases, or tokens that are hidden in some heads, which other attention would not see: "
                f"model.set_attn_implementation({NAME!r}) first, or compress with bias=False and budget='uniform'"
            )
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))


_HARMLESS = {torch.Tensor.size, torch.Tensor.dim, torch.Tensor.__repr__} | {
    getattr(torch.Tensor, name).__get__ for name in ("shape", "dtype", "device", "ndim", "requires_grad", "is_cuda")
}
"""What may be asked of keys with biases."""


class Call(NamedTuple):
    """What an attention layer asks for: queries (batch, heads, T, s), keys and values (batch, shared heads, n, ...).

    `mask` is None or added to logits, of shapes that broadcast to (batch, heads, T, n): the model's own, positions'
    biases and biases of keys together. `softcap` is None or c of ``c tanh(logit / c)``, before the mask.
    """

    module: torch.nn.Module
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    scale: float
    softcap: float | None
    window: int | None

    def logits(self) -> torch.Tensor:
        """Return the logits (batch, heads, T, n), -inf where a key is not seen."""
        logits = score_keys(self.query, self.repeat_rows(self.key), self.scale, self.softcap)
        return logits if self.mask is None else logits + self.mask

    def weights(self) -> torch.Tensor:
        """Return the attention (batch, heads, T, n); 0 for a query that sees no key."""
        logits = self.logits()
        weights = torch.softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
        return weights.masked_fill(logits.isneginf().all(dim=-1, keepdim=True), 0.0).to(logits.dtype)

    def repeat_rows(self, rows: torch.Tensor) -> torch.Tensor:
        """Return keys or values repeated for the heads of queries that share them."""
        return rows.repeat_interleave(self.query.shape[1] // rows.shape[1], dim=1)

    def attend(self, dropout: float = 0.0) -> torch.Tensor:
        """Return the outputs (batch, heads, T, p)."""
        if self.softcap is None:
            return torch.nn.functional.scaled_dot_product_attention(
                self.query, self.repeat_rows(self.key), self.repeat_rows(self.value), attn_mask=self.mask,
                dropout_p=dropout, scale=self.scale,
            )  # fmt: skip
        return torch.nn.functional.dropout(self.weights(), dropout) @ self.repeat_rows(self.value)


def score_keys(query: torch.Tensor, key: torch.Tensor, scale: float, softcap: float | None) -> torch.Tensor:
    """Return the logits (..., T, n) of queries (..., T, s) and keys (..., n, s), before a mask."""
    logits = scale * (query @ key.transpose(-1, -2))
    return logits if softcap is None else softcap * torch.tanh(logits / softcap)


def find_hidden(mask: torch.Tensor) -> torch.Tensor:
    """Return where a mask hides a key: by -inf, or the least number of its dtype, which may have a bias."""
    return mask <= 0.5 * torch.finfo(mask.dtype).min


def take_mask(mask: torch.Tensor, query: torch.Tensor, sequence: int, rows: Any) -> torch.Tensor:
    """Return what a mask adds to logits of rows of queries of a sequence, in float64; -inf where a key is hidden."""
    numbers = mask.expand(len(query), -1, query.shape[2], -1)[sequence, :, rows]
    return numbers.double().masked_fill(find_hidden(numbers), -torch.inf)


Listener = Callable[[Call, torch.Tensor], torch.Tensor | None]
"""Takes a call and its outputs (batch, heads, T, p); what it returns, if it does, takes their place."""
_LISTENERS: dict[int, Listener] = {}
"""Of modules that are watched, by their `id`."""


def attention_forward(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
    attention_mask: torch.Tensor | None, dropout: float = 0.0, scaling: float | None = None, **options: Any,
) -> tuple[torch.Tensor, None]:  # fmt: skip
    """Return outputs (batch, T, heads, p) of one layer, as transformers' interface has it, and None for weights."""
    if options.get("s_aux") is not None:
        raise TypeError(
            f"'model' must have plain softmax attention, {type(module).__name__} has attention sinks, which "
            "are no columns of keys: take another "
            "model, or Prefix and prefix_share for its queries, keys and values"
        )
    key, bias = _split_bias(key)
    mask = _as_numbers(attention_mask, query)
    if attention_mask is None and query.shape[2] > 1 and _is_causal(module, options):
        mask = query.new_full((query.shape[2], key.shape[2]), -torch.inf).triu(1 + key.shape[2] - query.shape[2])
    for term in (options.get("position_bias"), _as_mask(bias, key, query)):
        mask = term if mask is None else mask if term is None else mask + term.to(mask.dtype)
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    call = Call(module, query, key, value, mask, scale, options.get("softcap"), options.get("sliding_window"))
    outputs = call.attend(dropout)
    listener = _LISTENERS.get(id(module))
    substitutes = None if listener is None else listener(call, outputs)
    return (outputs if substitutes is None else substitutes).transpose(1, 2).contiguous(), None


def _is_causal(module: torch.nn.Module, options: dict[str, Any]) -> bool:
    option = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if option is None else option)


def _as_numbers(mask: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor | None:
    """Return a mask as numbers that are added to logits."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(~mask, -torch.inf)


def with_bias(key: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return keys (batch, shared heads, n, s) whose first columns have biases, up to (batch, shared heads, T, t)."""
    keys = key.as_subclass(BiasedKeys)
    keys.bias = bias
    return keys


def _split_bias(key: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return plain keys, and the biases that they carry."""
    if not isinstance(key, BiasedKeys):
        return key, None
    with torch._C.DisableTorchFunctionSubclass():
        return key.as_subclass(torch.Tensor), key.bias


def _as_mask(bias: torch.Tensor | None, key: torch.Tensor, query: torch.Tensor) -> torch.Tensor | None:
    """Return biases as a mask for all columns, in the queries' dtype."""
    if bias is None:
        return None
    padded = torch.nn.functional.pad(bias.to(query.dtype), (0, key.shape[2] - bias.shape[-1]))
    return padded.repeat_interleave(query.shape[1] // key.shape[1], dim=1) if bias.shape[1] > 1 else padded


def _make_mask(*arguments: Any, **options: Any) -> torch.Tensor | None:
    """Return the mask of torch's function, never left out for causal attention."""
    mask: torch.Tensor | None = sdpa_mask(*arguments, **{**options, "allow_is_causal_skip": False})
    return mask


AttentionInterface.register(NAME, attention_forward)
AttentionMaskInterface.register(NAME, _make_mask)


@contextlib.contextmanager
def attending(model: torch.nn.Module) -> Iterator[None]:
    """Let all layers of a model attend by `attention_forward` until the end."""
    configurations = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}.values()
    names = [
        (config, config._attn_implementation) for config in configurations if hasattr(config, "_attn_implementation")
    ]
    try:
        for config, _ in names:
            config._attn_implementation = NAME
        yield
    finally:
        for config, name in names:
            config._attn_implementation = name


@contextlib.contextmanager
def watching(model: torch.nn.Module, listener: Listener) -> Iterator[None]:
    """Let a listener see each call of each layer of a model, compiled ones too, until the end."""
    modules = [id(part) for part in model.modules() if id(part) not in _LISTENERS]
    with attending(model), torch.compiler.set_stance("force_eager"):
        try:
            _LISTENERS.update(dict.fromkeys(modules, listener))
            yield
        finally:
            for number in modules:
                _LISTENERS.pop(number, None)
