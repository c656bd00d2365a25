"""A trained prefix of PEFT in, a shorter one out: heads compressed for the queries of given text, keys turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tabulate import tabulate

from ....._checks import flag, generator, instance, integer
from ...compression.search import Descent
from ...layer.rows import Prefix
from .adapters import adapter_of, prefixes_of, replace_prefixes, sources_of
from .batches import Batch, as_batches, hold_out
from .calls import base_of, evaluating, takes, tokens_of
from .compressing import ShortenedHead, compress_prefixes
from .contexts import collect_queries
from .divergence import Divergence, next_token_divergence
from .positions import find_turns, turn_prefixes


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
        rows = [(h.layer, h.head, f"{h.share:.3g}", f"{h.error:.3g}", f"{h.held_out:.3g}") for h in self.heads]
        headers = ("layer", "head", "share", "error", "held out")
        table = tabulate(rows, headers, disable_numparse=True, colalign=["right"] * len(headers))
        lines = [f"next tokens, no prefix: {self.without}", f"next tokens, short prefix: {self.divergence}"]
        if self.offset:
            text = "the model takes no position_ids" if self.in_place is None else str(self.in_place)
            lines.append(f"next tokens, short prefix and position_ids from {self.offset} on: {text}")
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
    inner, outer = hold_out(as_batches(inputs))
    # Step 2: the queries of all layers, in a pass each
    stored = prefixes_of(model)
    sources = sources_of(config)
    turns = find_turns(model, length - count)
    layers = [stored[k] for k in sources]
    queries, held_out = (collect_queries(model, layers, part, limit, random) for part in (inner, outer))
    # Step 3: heads, one by one
    short, rows = compress_prefixes(stored, sources, (queries, held_out), length, solver, visible)
    placed = short if turns is None else turn_prefixes(short, turns)
    # Step 4: the model, and what it does
    shorter = replace_prefixes(model, config, placed)
    offset = count - length if turns is None else 0
    without, divergence = (next_token_divergence(model, other, outer) for other in (base_of(model), shorter))
    in_place = _diverge_in_place(model, shorter, outer, offset) if offset else divergence
    return ShortenedPrefix(shorter, tuple(placed), tuple(rows), without, divergence, in_place, offset)


def _diverge_in_place(model: Any, shorter: Any, batches: list[Batch], offset: int) -> Divergence | None:
    """Return the divergence of a short prefix behind which content keeps its places, if the model takes them."""
    if not takes(base_of(model), "position_ids"):
        return None

    def call(**batch: Any) -> Any:
        places = batch.get("position_ids")
        if places is None:
            tokens = tokens_of(batch)
            places = torch.arange(tokens.shape[1], device=tokens.device)[None]
        return shorter(**{**batch, "position_ids": places + offset})

    with evaluating(shorter):
        return next_token_divergence(model, call, batches)
