"""Positions of prefixes: keys turned where they are rotary, and what a model has to be told where they are not."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ....._checks import instance, integer
from ...layer.rows import Prefix
from ..interchange import of_layers
from .calls import base_of, run, takes
from .checking import check_weights
from .interface import Call

_PROBES = 6
"""Tokens at which it is seen what positions do to the keys of a model."""
_ANGLES = 1e-6
"""What an angle of a model, in float32, is off by for each place, at most; and keys with it."""


class Turn(NamedTuple):
    """What a change of all positions does to the keys (..., s) of a layer, and its heads of keys and columns."""

    turn: Callable[[torch.Tensor], torch.Tensor]
    shape: tuple[int, int]


def turn_keys(prefixes: Sequence[Prefix], shift: int, model: torch.nn.Module) -> tuple[Prefix, ...]:
    """Turn the keys of prefixes as the rotary positions of a model do, so that they stand at other places.

    With R_i what a layer does to a query or key at place i, ``<R_(i + shift) q, turned k> = <R_i q, k>``: content that
    has moved by `shift` places sees the turned keys as it saw the given ones before. Behind a prefix of S tokens that
    stands for L content begins at S, so `shift` is S - L.

    Parameters
    ----------
    prefixes : sequence of Prefix
        One for each layer, (heads, L, s), as a cache or PEFT holds them: keys behind the rotary positions.
    shift : int
        Places by which all keys move; it may be negative.
    model : torch.nn.Module
        The model of transformers, or of PEFT over it, that sees the prefixes.

    Returns
    -------
    tuple of Prefix
        Keys turned by the model's own functions, layer by layer: halves or pairs of columns, some of the columns only,
        several bases, scaled frequencies; keys of layers without positions as they are. They are right to 1e-6 times
        the shift, as exact as the angles of the model's float32, whatever the dtype of its weights.

    Raises
    ------
    TypeError, ValueError
        If the model has no rotary positions, or prefixes are not of its layers, or the model's keys do other things at
        other places than its rotary functions say: a few tokens are read at both places and compared.

    Notes
    -----
    Frequencies that depend on the length of the text ("dynamic", "longrope") are those of short texts.

    References
    ----------
    Su, Lu, Pan, Murtadha, Wen and Liu (2021), RoFormer: Enhanced Transformer with Rotary Position Embedding,
    arXiv:2104.09864.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import turn_keys
    >>> turned = turn_keys(prefixes, 10 - 100, model)  # 10 tokens that stand for 100  # doctest: +SKIP
    """
    layers, shift = of_layers(prefixes), integer(shift, "shift", minimum=-(2**31), maximum=2**31)
    check_weights(instance(model, "model", torch.nn.Module))
    turns = find_turns(model, shift)
    if turns is None:
        raise ValueError(
            f"'model' must have rotary positions, got {type(base_of(model)).__name__}: its keys have none, and content "
            "that moves is told its places by 'position_ids'"
        )
    if len(turns) != len(layers):
        raise ValueError(f"'prefixes' must be {len(turns)}, one for each layer of 'model', got {len(layers)}")
    for number, (prefix, turn) in enumerate(zip(layers, turns, strict=True)):
        if prefix.key.shape[::2] != turn.shape:
            heads, columns = turn.shape
            raise ValueError(
                f"'prefixes[{number}]' must have keys ({heads}, L, {columns}) as 'model' has, got {prefix.key.shape}"
            )
    return turn_prefixes(layers, turns)


def turn_prefixes(prefixes: Sequence[Prefix], turns: Sequence[Turn]) -> tuple[Prefix, ...]:
    """Return prefixes with the keys of each layer turned."""
    return tuple(
        Prefix(turn.turn(torch.tensor(prefix.key)).numpy(), prefix.value)
        for prefix, turn in zip(prefixes, turns, strict=True)
    )


def find_turns(model: torch.nn.Module, shift: int) -> list[Turn] | None:
    """Return what a change of all positions does to the keys of each layer; None without rotary positions."""
    base = base_of(model)
    rotary = next((part.rotary_emb for part in base.modules() if hasattr(part, "rotary_emb")), None)
    if rotary is None:
        return None
    start = max(0, -shift)
    rotary = copy.deepcopy(rotary)  # frequencies of some follow the places last seen: the model sees those at 0 last
    calls = {place: _calls_at(base, place) for place in sorted((start, start + shift), reverse=True)}
    before, after = calls[start], calls[start + shift]
    if not before:
        raise ValueError(f"'model' must attend by the interface of transformers, {type(base).__name__} does not")
    return [
        _find_turn(base, rotary, call, later.key, shift, number)
        for number, (call, later) in enumerate(zip(before, after, strict=True))
    ]


def _calls_at(base: Any, place: int) -> list[Call]:
    """Return the calls of attention layers for a few tokens from a place on."""
    numbers = torch.arange(_PROBES, device=next(base.parameters()).device)[None]
    tokens = (1 + numbers) % base.get_input_embeddings().num_embeddings
    calls: list[Call] = []
    inputs = {"input_ids": tokens, "position_ids": place + numbers, "use_cache": False}
    run(base, inputs, lambda call, _: calls.append(call))
    return calls


def _find_turn(base: Any, rotary: Any, call: Call, after: torch.Tensor, shift: int, number: int) -> Turn:
    """Return the turn of a layer's keys, or that there is none, checked against the keys at both places."""
    limit = max(1e-3, torch.finfo(after.dtype).eps ** 0.5, _ANGLES * abs(shift)) * float(after.abs().max())
    for turn in (_make_rotation(base, rotary, call.module, shift), lambda key: key):
        with contextlib.suppress(TypeError, RuntimeError):  # of functions that take other arguments or shapes
            if float((turn(call.key) - after).abs().max()) <= limit:
                return Turn(turn, (call.key.shape[1], call.key.shape[3]))
    raise ValueError(
        f"'model' must have keys that its rotary functions turn, those of layer {number} of {type(base).__name__} "
        "change otherwise with their places"
    )


def _make_rotation(
    base: Any, rotary: Any, module: torch.nn.Module, shift: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the turn by a number of places as a model's module computes it; none if it has other functions."""
    apply = getattr(sys.modules[type(module).__module__], "apply_rotary_pos_emb", None)
    if apply is None:
        return lambda key: key
    options = {}
    if takes(rotary, "layer_type"):
        options["layer_type"] = base.config.get_text_config().layer_types[module.layer_idx]

    def turn(key: torch.Tensor) -> torch.Tensor:
        place = torch.tensor([[shift]], device=next(base.parameters()).device)
        cos, sin = (part.to(key.device) for part in rotary(key.new_empty(1, 1, 1).to(place.device), place, **options))
        length = torch.hypot(cos, sin)  # scaled frequencies make keys longer, once
        columns = cos.shape[-1]
        rows = key[..., :columns].reshape(1, -1, key.shape[-2], columns)
        rows = apply(rows, rows, cos / length, sin / length)[1].reshape(*key.shape[:-1], columns)
        return torch.cat([rows, key[..., columns:]], dim=-1)

    return turn
