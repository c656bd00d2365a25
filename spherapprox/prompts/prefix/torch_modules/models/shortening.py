"""A trained prefix of PEFT in, a shorter one out: heads compressed for the queries of given text, keys turned."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ....._checks import flag, generator, instance, integer, warn_inaccurate
from ....._types import Float64
from ...compression.api import compress
from ...compression.result import CompressedPrefix
from ...compression.search import Descent
from ...layer.rows import Prefix
from ..interchange import from_prompt_embeddings, prompt_embeddings
from .batches import Batch, as_batches, moved, seen, split, takes, tokens_of
from .calls import base_of, evaluating
from .divergence import Divergence, next_token_divergence
from .interface import Call, watching
from .positions import turned, turns_of


@dataclass(frozen=True)
class ShortenedHead:
    """What was lost at one head of keys.

    Parameters
    ----------
    layer, head : int
        Numbers of the layer and of the head of keys; in an encoder-decoder where layers share a prefix, the first one.
    error, held_out : float
        Root mean square of the change of the outputs of the heads of queries that share these keys, beside their
        content, over the root mean square of the outputs: at the queries that the keys were made for, and at those of
        the sequences that were held out.
    share : float
        Mean share of the attention that the long prefix had there.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import ShortenedHead
    >>> ShortenedHead(layer=0, head=1, error=0.02, held_out=0.03, share=0.4).held_out
    0.03
    """

    layer: int
    head: int
    error: float
    held_out: float
    share: float


@dataclass(frozen=True, eq=False)
class ShortenedPrefix:
    """A shorter prefix in a model of PEFT, and what it does on the sequences that were held out.

    Parameters
    ----------
    model : PeftModel
        A new one, of the class of the given one and its configuration with fewer virtual tokens and without
        `prefix_projection`, over the same base model, which is not copied. It saves, loads and trains as any other.
    prefixes : tuple of Prefix
        The prefixes that it holds, (heads, length, s), one for each layer.
    heads : tuple of ShortenedHead
        A row for each layer and head of keys.
    without, divergence, in_place : Divergence
        Of next tokens, from the given model: to the model without a prefix, to the short one as it is called, and to
        the short one if content keeps the places that it had; `in_place` is `divergence` where nothing moves, and None
        where the model cannot be told places.
    offset : int
        Places by which content has moved to the left, 0 with rotary positions. ``offset + torch.arange(T)[None]`` are
        the `position_ids` that keep its places in PEFT's ``model(...)``, which adds the short length itself;
        `prefixed_inputs` makes them for ``generate``.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import shorten_prefix
    >>> print(shorten_prefix(model, 10, inputs=batches).table())  # doctest: +SKIP
    """

    model: Any
    prefixes: tuple[Prefix, ...]
    heads: tuple[ShortenedHead, ...]
    without: Divergence
    divergence: Divergence
    in_place: Divergence | None
    offset: int

    def table(self) -> str:
        """Return the errors as a text table, a line for each layer and head, and the divergences below."""
        from tabulate import tabulate

        rows = [(h.layer, h.head, f"{h.share:.3g}", f"{h.error:.3g}", f"{h.held_out:.3g}") for h in self.heads]
        headers = ("layer", "head", "share", "error", "held out")
        table = tabulate(rows, headers, disable_numparse=True, colalign=["right"] * len(headers))
        lines = [f"next tokens, no prefix: {self.without}", f"next tokens, short prefix: {self.divergence}"]
        if self.offset:
            kept = "the model takes no position_ids" if self.in_place is None else str(self.in_place)
            lines.append(f"next tokens, short prefix and position_ids from {self.offset} on: {kept}")
        return "\n".join((table, "", *lines))

    def __repr__(self) -> str:
        return f"ShortenedPrefix(length={len(self.prefixes[0])}, layers={len(self.prefixes)}, {self.divergence})"


def shorten_prefix(
    model: Any, length: int, inputs: Any, *, tokens: int = 1000, solver: Descent | None = None,
    rng: int | np.random.Generator | None = 0, progress: bool = False,
) -> ShortenedPrefix:  # fmt: skip
    """Shorten the trained prefix of a model of PEFT, layer by layer and head by head.

    Parameters
    ----------
    model : PeftModel
        With prefix tuning, for causal language models or encoder-decoders; the active adapter is read, with a
        projection or without. It is not changed.
    length : int
        Virtual tokens of the short prefix, at most those of the given one.
    inputs : Tensor, Mapping, or iterable of them
        Text as the model will read it: token numbers (batch, T), or the model's arguments such as `input_ids` and
        `attention_mask`, two sequences or more; an encoder-decoder takes `decoder_input_ids` too. Every fifth sequence
        is held out: nothing is made for it, and what the short prefix does is measured on it.
    tokens : int, default 1000
        Tokens of the text, at most, whose queries count: those of all heads that share a key, weighted by the square
        of the prefix's share, are what `compress` gets.
    solver : Descent, optional
        As in `compress`; ``Descent(norm="rms", starts=1, held_out=0)`` by default. If its `mass` is None, each head has
        one of its own, which follows from the prefix's shares and the content there.
    rng : int or Generator, optional
        For the choice of tokens, where there are more.
    progress : bool, default False
        Show a bar over the heads.

    Returns
    -------
    ShortenedPrefix
        The new model, and a table of errors.

    Raises
    ------
    TypeError, ValueError
        If the model is none of PEFT with prefix tuning, has other attention than `of_model` reads, adds biases of
        positions to the logits of its prefix (T5), keeps none of a layer's prefix in its window, or holds prefixes that
        its layers do not see; if `length` is more than there is, or `inputs` have one sequence.

    Warns
    -----
    RuntimeWarning
        If queries are so few that errors at others may be far larger.

    Notes
    -----
    A prefix of L tokens has content begin at place L, a shorter one at S. Keys of rotary models are turned by S - L
    places (`turn_keys`), so that nothing else changes. Learned places move with the content: see `offset`, and train a
    few steps (`distill_prefix`) where they cannot be given. Queries that do not see the whole prefix in their window
    are left out. Logits that the model soft-caps are compressed as if they were not, and measured as they are. The
    embeddings that a projection was trained for cannot be had back, so the short prefix has none.
    A head of 100 tokens to 10, of 64 columns and for 4000 queries, takes some two seconds.

    PEFT 0.21 shares one prefix among pairs of layers of an encoder-decoder, which is kept. Its ``generate`` loses the
    prefix with transformers from 5.24 on: ``generate`` of the base model takes `prefixed_inputs`.

    References
    ----------
    Li and Liang (2021), Prefix-Tuning: Optimizing Continuous Prompts for Generation, arXiv:2101.00190.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import shorten_prefix
    >>> short = shorten_prefix(model, 10, inputs=tokenizer(texts, return_tensors="pt"))  # doctest: +SKIP
    >>> short.model.save_pretrained("short")  # doctest: +SKIP
    """
    # Step 1: check the arguments
    config = adapter_of(model)
    count = int(config.num_virtual_tokens)
    length = integer(length, "length", minimum=1, maximum=count, limit="the given prefix has no more")
    limit, random = integer(tokens, "tokens", minimum=1), generator(rng)
    solver = Descent("rms", starts=1, held_out=0) if solver is None else instance(solver, "solver", Descent)
    visible = flag(progress, "progress")
    parts = split(as_batches(inputs))
    # Step 2: the queries of all layers, in a pass each
    stored = prefixes_of(model)
    sources = sources_of(config)
    turns = turns_of(model, length - count)
    queries, held = (_collect(model, [stored[k] for k in sources], part, limit, random) for part in parts)
    # Step 3: heads, one by one
    short, rows = _compressed(stored, sources, queries, held, length, solver, visible)
    placed = short if turns is None else turned(short, turns)
    # Step 4: the model, and what it does
    made = _rebuilt(model, config, placed)
    offset = count - length if turns is None else 0
    divergence = next_token_divergence(model, made, parts[1])
    without = next_token_divergence(model, base_of(model), parts[1])
    in_place = _in_place(model, made, parts[1], offset) if offset else divergence
    return ShortenedPrefix(made, tuple(placed), tuple(rows), without, divergence, in_place, offset)


def adapter_of(model: Any, name: str = "model") -> Any:
    """Return the configuration of the active adapter of a model of PEFT with prefix tuning."""
    config: Any = getattr(model, "peft_config", {}).get(getattr(model, "active_adapter", None))
    kind = getattr(getattr(config, "peft_type", None), "value", None)
    if kind != "PREFIX_TUNING":
        found = type(model).__name__ if kind is None else f"an adapter of {kind}"
        raise TypeError(f"'{name}' must be a model of PEFT with prefix tuning, got {found}")
    task = getattr(config.task_type, "value", config.task_type)
    if task not in ("CAUSAL_LM", "SEQ_2_SEQ_LM"):
        raise ValueError(f"'model' must predict next tokens, task CAUSAL_LM or SEQ_2_SEQ_LM, got {task}")
    return config


def prefixes_of(model: Any) -> tuple[Prefix, ...]:
    """Return the prefixes that the active adapter of a model of PEFT holds, projected if it projects."""
    config, encoder = adapter_of(model), model.prompt_encoder[model.active_adapter]
    with torch.no_grad():
        rows = encoder.embedding.weight
        if config.prefix_projection and not config.inference_mode:
            rows = encoder(torch.arange(config.num_virtual_tokens, device=rows.device))
    heads = config.num_attention_heads
    return from_prompt_embeddings(rows, layers=config.num_layers, heads=heads, head_dim=config.token_dim // heads)


def sources_of(config: Any) -> list[int]:
    """Return for each layer which of the stored prefixes PEFT gives to it."""
    twice = config.num_transformer_submodules == 2  # every other one is for cross-attention, and is dropped
    return [(2 * k if twice else k) % config.num_layers for k in range(config.num_layers)]


_MASS = 0.7
"""The factor of the mass over that of first order: next tokens of small models diverge less than with 1."""
_LEAST = 1e-3
"""The least weight of a query over the largest one."""


@dataclass
class _Queries:
    """Queries (heads, m, s) of a layer, what they see of their content, and how."""

    query: torch.Tensor
    mass: torch.Tensor
    output: torch.Tensor
    scale: float
    softcap: float | None

    def seen(
        self, key: torch.Tensor, value: torch.Tensor, heads: slice
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return a prefix's outputs, those beside the content, and its shares at some heads."""
        logits = self.scale * (self.query[heads] @ key.T)
        if self.softcap is not None:
            logits = self.softcap * torch.tanh(logits / self.softcap)
        share = torch.sigmoid(torch.logsumexp(logits, -1) - self.mass[heads])
        outputs = torch.softmax(logits, -1) @ value
        return outputs, torch.lerp(self.output[heads], outputs, share[..., None]), share


def _collect(
    model: Any, prefixes: Sequence[Prefix], batches: list[Batch], limit: int, random: np.random.Generator
) -> list[_Queries]:
    """Return the queries of each layer at some tokens of a text, in one pass."""
    collector = _Collector(prefixes)
    masks = [seen(batch) for batch in batches]
    total = sum(int(mask.sum()) for mask in masks)
    chosen = np.zeros(total, dtype=bool)
    chosen[random.choice(total, min(limit, total), replace=False)] = True
    with evaluating(model), watching(base_of(model), collector):
        for batch, mask in zip(batches, masks, strict=True):
            taken, chosen = chosen[: int(mask.sum())], chosen[int(mask.sum()) :]
            collector.mask = mask.cpu().clone()
            collector.mask[mask.cpu()] = torch.from_numpy(taken)
            if taken.any():
                model(**moved(model, batch))
    return [collector.queries(number) for number in range(len(prefixes))]


class _Collector:
    """A listener that keeps queries of the layers that see a prefix."""

    mask: torch.Tensor

    def __init__(self, prefixes: Sequence[Prefix]) -> None:
        self.prefixes = prefixes
        self.parts: list[list[_Queries]] = [[] for _ in prefixes]

    def __call__(self, call: Call, outputs: torch.Tensor) -> None:
        layer, length = getattr(call.module, "layer_idx", None), len(self.prefixes[0])
        if layer is None or not self._is_seen(call, layer):
            return
        logits = call.logits().double()
        if call.mask is not None:
            bias = call.mask[..., :length]
            hidden = bias < -1e4
            if bool(((bias != 0.0) & ~hidden).any()):
                raise ValueError("'model' must not add biases of positions to the logits of its prefix, as T5 does")
            visible = ~hidden.any(-1).expand(logits.shape[:-1])[:, 0].cpu()
        else:
            visible = torch.ones(self.mask.shape, dtype=torch.bool)
        kept = (visible & self.mask).to(logits.device)  # (batch, T)
        rows = call.query.double().transpose(0, 1)[:, kept]
        content = logits[..., length:].transpose(0, 1)[:, kept]
        values = call.repeated(call.value[:, :, length:]).double()
        output = (torch.softmax(logits[..., length:], -1) @ values).transpose(0, 1)[:, kept]
        mass = torch.logsumexp(content, -1)
        self.parts[layer].append(_Queries(rows.cpu(), mass.cpu(), output.cpu(), call.scale, call.softcap))

    def _is_seen(self, call: Call, layer: int) -> bool:
        """Tell whether the first keys of a call are those of the layer's prefix."""
        prefix = torch.from_numpy(self.prefixes[layer].key)
        if call.key.shape[2] != len(self.prefixes[layer]) + call.query.shape[2] or call.key.shape[1] != len(prefix):
            return False
        found = call.key[0, :, : prefix.shape[1]]
        return bool(torch.equal(found.cpu(), prefix.to(found.dtype)))

    def queries(self, layer: int) -> _Queries:
        """Return all queries of a layer."""
        parts = self.parts[layer]
        if not sum(part.mass.numel() for part in parts):
            raise ValueError(
                f"'model' must show its whole prefix to queries of layer {layer}, none sees it: the layer has a window "
                "that is shorter, another attention than that of transformers' interface, or no prefix"
            )
        query, mass, output = (torch.cat([getattr(p, name) for p in parts], 1) for name in ("query", "mass", "output"))
        return _Queries(query, mass, output, parts[0].scale, parts[0].softcap)


def _compressed(
    stored: Sequence[Prefix], sources: list[int], queries: list[_Queries], held: list[_Queries], length: int,
    solver: Descent, visible: bool,
) -> tuple[list[Prefix], list[ShortenedHead]]:  # fmt: skip
    """Return the short prefixes, and the errors of each head of keys."""
    from tqdm.auto import tqdm

    used = {k: [layer for layer, source in enumerate(sources) if source == k] for k in range(len(stored))}
    heads = len(stored[0].key)
    short = [Prefix(p.key[:, :length], p.value[:, :length]) for p in stored]  # of those that no layer uses
    rows, doubts = [], []
    bar = tqdm(total=heads * sum(map(bool, used.values())), desc="heads", disable=not visible)
    with bar:
        for k, layers in used.items():
            parts = []
            for head in range(heads if layers else 0):
                pairs = [(queries[layer], held[layer]) for layer in layers]
                key, value = stored[k].key[head], stored[k].value[head]
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    part = _fit(Prefix(key, value), [one for one, _ in pairs], head, heads, length, solver)
                doubts += [str(w.message) for w in caught]
                parts.append(part)
                ours, others = (_error(key, value, part, side, head, heads) for side in zip(*pairs, strict=True))
                rows.append(ShortenedHead(layers[0], head, ours[0], others[0], others[1]))
                bar.update()
            if parts:
                short[k] = Prefix(np.stack([p.key for p in parts]), np.stack([p.value for p in parts]))
    if doubts:
        warn_inaccurate(f"at {len(doubts)} of {len(rows)} heads 'inputs' and 'tokens' give few queries: {doubts[0]}")
    return short, sorted(rows, key=lambda row: (row.layer, row.head))


def _shared(part: _Queries, head: int, heads: int) -> slice:
    """Return the heads of queries that share a head of keys."""
    group = len(part.query) // heads
    return slice(head * group, (head + 1) * group)


def _fit(
    prefix: Prefix, parts: Sequence[_Queries], head: int, heads: int, length: int, solver: Descent
) -> CompressedPrefix:
    """Return the compressed prefix of a head.

    To first order an output changes by ``share (r + (1 - share) s (p - c))`` for errors r of the prefix's output p and
    s of its log mass beside content c, so squares are weighted by those of the shares, and the mass by its factor.
    """
    key, value = torch.from_numpy(prefix.key), torch.from_numpy(prefix.value)
    rows, weights, spreads, largest = [], [], [], 0.0
    for part in parts:
        chosen = _shared(part, head, heads)
        own, _, shares = part.seen(key, value, chosen)
        rows.append(part.query[chosen].flatten(0, 1))
        weights.append(shares.square().flatten())
        spreads.append(((1.0 - shares) * (own - part.output[chosen]).norm(dim=-1)).square().flatten())
        largest = max(largest, float(own.norm(dim=-1).max()))
    weight = torch.cat(weights)
    weight = weight.clamp(min=_LEAST * float(weight.max()))
    if solver.mass is None:
        spread = math.sqrt(float((weight * torch.cat(spreads)).sum() / weight.sum()))
        solver = replace(solver, mass=_MASS * spread / largest if largest > 0.0 else _MASS)
    return compress(
        prefix, torch.cat(rows).numpy(), length=length, bias=False, scale=parts[0].scale, weights=weight.numpy(),
        solver=solver,
    )  # fmt: skip


def _error(
    key: Float64, value: Float64, part: CompressedPrefix, sides: Sequence[_Queries], head: int, heads: int
) -> tuple[float, float]:
    """Return the error of the outputs beside the content, and the mean share of the prefix."""
    change = size = share = count = 0.0
    for side in sides:
        chosen = _shared(side, head, heads)
        _, before, shares = side.seen(torch.from_numpy(key), torch.from_numpy(value), chosen)
        _, after, _ = side.seen(torch.from_numpy(part.key), torch.from_numpy(part.value), chosen)
        change, size = change + float((after - before).square().sum()), size + float(before.square().sum())
        share, count = share + float(shares.sum()), count + shares.numel()
    return (change / size) ** 0.5 if size > 0.0 else change**0.5, share / count


def _rebuilt(model: Any, config: Any, prefixes: Sequence[Prefix]) -> Any:
    """Return a model of PEFT with other prefixes, of the same class and configuration, over the same base model."""
    made_of = copy.deepcopy(config)
    made_of.num_virtual_tokens, made_of.prefix_projection = len(prefixes[0]), False
    given = model.prompt_encoder[model.active_adapter].embedding.weight
    required = {part: part.requires_grad for part in base_of(model).parameters()}
    made = type(model)(base_of(model), made_of, model.active_adapter)
    for part, asked in required.items():  # which PEFT freezes
        part.requires_grad_(asked)
    encoder = made.prompt_encoder[model.active_adapter]
    encoder.to(given.device, given.dtype)
    with torch.no_grad():
        encoder.embedding.weight.copy_(prompt_embeddings(prefixes, dtype=given.dtype))
    encoder.requires_grad_(given.requires_grad)
    made.training = model.training
    made.prompt_encoder.train(model.training)
    return made


def _in_place(model: Any, made: Any, batches: list[Batch], offset: int) -> Divergence | None:
    """Return the divergence of a short prefix behind which content keeps its places, if the model takes them."""
    if not takes(base_of(model), "position_ids"):
        return None

    def kept(**batch: Any) -> Any:
        places = batch.get("position_ids")
        tokens = tokens_of(batch)
        places = torch.arange(tokens.shape[1], device=tokens.device)[None] if places is None else places
        return made(**{**batch, "position_ids": places + offset})

    with evaluating(made):
        return next_token_divergence(model, kept, batches)
