"""How far the next token follows what heads read of a cache: slopes of logarithms of chances, by their outputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..heads.problem import widened
from ..models.calls import explaining
from ..models.interface import Call, watching
from ..models.reading import Reading
from .collecting import Watcher, chunks, empty_cache, handed_cache
from .inputs import Inputs

_TOKENS, _CHUNK, _WEIGHTS = 1024, 256, 2**26
"""Tokens that are read, tokens at once, and numbers of attention at once in a layer, 256 MiB of them."""


@dataclass
class SlopeWatcher(Watcher):
    """Adds zeros to the outputs of layers, by which chances are differentiated, and keeps the shares of `columns`."""

    columns: int = 0
    zeros: dict[int, torch.Tensor] = field(default_factory=dict)
    shares: dict[int, torch.Tensor] = field(default_factory=dict)

    def __call__(self, call: Call, outputs: torch.Tensor) -> torch.Tensor | None:
        """Return outputs (batch, heads, T, p) of a call, if its keys are of the cache."""
        number, _ = self.handed.get(call.key.data_ptr(), (None, None))
        if number is None:
            return None
        with torch.no_grad():
            shares = call.weights()[..., : self.columns].sum(dim=-1, keepdim=True)
        self.shares[number] = widened(shares).unflatten(1, (call.key.shape[1], -1))
        self.zeros[number] = torch.zeros_like(outputs, requires_grad=True)
        return outputs + self.zeros[number]


def check_slopes(model: Any, text: Any) -> None:
    """Refuse what has no slopes."""
    if isinstance(text, Reading):
        raise TypeError("'text' must be ids for budget='error', which differentiates: a Reading is done")
    if model.get_output_embeddings() is None:
        raise TypeError(f"'model' must have logits for budget='error', {type(model).__name__} has none: take its LM")


def measure_slopes(model: Any, cache: Any, texts: list[Inputs], real: torch.Tensor) -> dict[int, torch.Tensor]:
    """Return the squares of slopes (batch, shared heads) of each layer of a cache, sums over tokens of texts.

    Slopes are of the logarithm of the chance of a token that is drawn at each place, of as many tokens behind it as are
    read at once, by what a head reads of the cache: by its outputs, times the share of its attention that the cache
    has. The mean of their squares is the Fisher information. Without a cache texts are the context, read anew.
    """
    slopes: dict[int, torch.Tensor] = {}
    generator = torch.Generator(real.device).manual_seed(0)
    each = max(_TOKENS // len(texts), 1)
    heads = getattr(model.config.get_text_config(decoder=True), "num_attention_heads", 1)
    before = real[:, :0] if cache is None else real
    for text in texts:
        some = replace(text, ids=text.ids[:, :each], mask=text.mask[:, :each])
        size = max(min(_CHUNK, _WEIGHTS // (heads * (real.numel() + some.ids.numel()))), 1)
        watcher = SlopeWatcher(columns=real.shape[1])
        working = empty_cache(watcher, model) if cache is None else handed_cache(watcher, cache)
        for part, arguments in chunks(model, some, before, size):
            watcher.zeros, watcher.shares = {}, {}
            with torch.inference_mode(False), torch.enable_grad(), watching(model, watcher):
                plain = {name: _plain(value) for name, value in arguments.items()}
                with explaining(model, cached=True):
                    logits = model(**plain, cache=working).logits
                more = _differentiate(logits, _plain(some.mask[:, part]), watcher, generator)
            slopes = {number: squares + slopes.get(number, 0.0) for number, squares in more.items()}
            watcher.handed.clear()
            _detach(working)
    return slopes


def _plain(value: Any) -> Any:
    """Return what may be differentiated."""
    return value.clone() if isinstance(value, torch.Tensor) and value.is_inference() else value


def _differentiate(
    logits: torch.Tensor, mask: torch.Tensor, watcher: SlopeWatcher, generator: torch.Generator
) -> dict[int, torch.Tensor]:
    """Return the squares of slopes (batch, shared heads) of layers at tokens that are none of padding."""
    if not watcher.zeros:  # nothing attends by the interface
        return {}
    logs = widened(logits)[mask].log_softmax(dim=-1)
    if bool(logs.isnan().any()):
        raise ValueError(
            "'model' must have finite logits behind 'cache' for budget='error', got nan or inf: so have its weights, "
            'or padding by eager attention in float64: set_attn_implementation("sdpa")'
        )
    drawn = torch.multinomial(logs.detach().exp(), 1, generator=generator)
    chances = logs.gather(-1, drawn).sum()
    pairs = zip(watcher.shares.items(), torch.autograd.grad(chances, list(watcher.zeros.values())), strict=True)
    return {
        number: (shares * widened(slopes).unflatten(1, shares.shape[1:3])).square().sum(dim=(2, 3, 4))
        for (number, shares), slopes in pairs
    }


def _detach(cache: Any) -> None:
    """Let a cache forget how its tokens were computed."""
    for layer in getattr(cache, "self_attention_cache", cache).layers:
        for name, part in vars(layer).items():
            if isinstance(part, torch.Tensor):
                setattr(layer, name, part.detach())
