"""What two models say of next tokens: the divergence of their distributions, through all layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import Cache

from ....._checks import wrong_type
from .batches import Batch, as_batches, move_batch, read_mask
from .calls import CACHES, evaluating, explaining

_AT_ONCE = 2**22
"""Logits that are held in float64 at once."""

Side = Callable[..., Any]
"""A model, or what is called as one: it takes a batch's arguments and returns logits, or an output that has them."""


@dataclass(frozen=True)
class Divergence:
    """How the next tokens of one model differ from another's.

    Parameters
    ----------
    nats : float
        Mean over the tokens of the divergence of Kullback and Leibler ``sum_v p(v) log(p(v) / q(v))``, from the one
        distribution p to the other q, in nats, at least 0.
    agreement : float
        Share of the tokens, in [0, 1], after which both find the same next token likeliest.
    tokens : int
        Number of tokens, padding left out.

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules.models.divergence import Divergence
    >>> print(Divergence(0.0123, 0.97, 400))
    0.0123 nats, 97.0 % agree, 400 tokens
    """

    nats: float
    agreement: float
    tokens: int

    def __str__(self) -> str:
        return f"{self.nats:.3g} nats, {self.agreement:.1%} agree, {self.tokens} tokens".replace("%", " %")


def next_token_divergence(model: Side, other: Side, inputs: Any) -> Divergence:
    """Compare what two models say of the next token after each token of a text.

    Parameters
    ----------
    model, other : torch.nn.Module or callable
        The one that is right, and the other. They are called with a batch's arguments by name, ``model(**batch)``, in
        evaluation mode and without gradients, and return logits (batch, T, V) or an output that has them as
        `.logits`. A model with a cache is a function that makes a new one at each call, see the example; the same
        model with its adapter and without are two functions.
    inputs : Tensor, Mapping, or iterable of them
        Token numbers (batch, T), or arguments of the models such as `input_ids` and `attention_mask`; an
        encoder-decoder takes `decoder_input_ids` too. Where the mask is 0 nothing is compared.

    Returns
    -------
    Divergence
        In float64 from the logits as they are: right to 1e-13 for these.

    Raises
    ------
    TypeError, ValueError
        If inputs are none, logits are of other shapes or other vocabularies, or are no numbers.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix import next_token_divergence
    >>> table = torch.nn.Embedding(5, 5)  # logits of the next token by the last one
    >>> model = lambda input_ids: table(input_ids)
    >>> gap = next_token_divergence(model, lambda input_ids: 2.0 * table(input_ids), torch.tensor([[0, 1, 2, 3, 4]]))
    >>> gap.nats > 0.0, gap.agreement, gap.tokens
    (True, 1.0, 5)
    >>> behind = lambda **batch: model(**batch, cache=dynamic_cache(prefixes, batch_size=2))  # doctest: +SKIP
    >>> next_token_divergence(model, behind, tokens)  # doctest: +SKIP
    """
    nats = agree = 0.0
    count = 0
    with evaluating(model, other):
        for batch in as_batches(inputs):
            ours = next_logits(model, batch, "model")
            theirs = next_logits(other, batch, "other").to(ours.device)
            if ours.shape != theirs.shape:
                raise ValueError(
                    f"'other' must have logits of {ours.shape[1]} tokens as 'model' has, got {theirs.shape[1]}"
                )
            step = max(_AT_ONCE // ours.shape[1], 1)
            for logits, others in zip(ours.split(step), theirs.split(step), strict=True):
                nats += float(divergences(logits.double(), others.double()).sum())
                agree += float((logits.argmax(-1) == others.argmax(-1)).sum())
                count += len(logits)
    if math.isnan(nats):
        raise ValueError("'model' and 'other' must have logits that are numbers, got nan")
    return Divergence(nats / count, agree / count, count)


def divergences(logits: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return the divergence of each row, sums of terms ``q - p - p log(q / p)`` that are not negative."""
    log_p, log_q = logits.log_softmax(-1), others.log_softmax(-1)
    p, q = log_p.exp(), log_q.exp()
    return torch.where(p == 0.0, q, q - p - p * (log_q - log_p)).sum(-1)  # nan stays


def next_logits(side: Side, batch: Batch, name: str) -> torch.Tensor:
    """Return the logits (tokens, V) of a side after the tokens of a batch that are seen."""
    if not callable(side):
        raise wrong_type(side, name, "a model, or a function as one", "its .model is one" * hasattr(side, "model"))
    if any(isinstance(value, Cache) for value in getattr(side, "keywords", {}).values()):
        raise ValueError(
            f"'{name}' must make a cache at each call, which adds to it: lambda **batch: model(..., cache=...)"
        )
    arguments = move_batch(side, batch)
    with explaining(side, cached=any(name in CACHES for name in arguments)):
        answer = side(**arguments)
    logits, mask = getattr(answer, "logits", answer), read_mask(batch)
    if not isinstance(logits, torch.Tensor) or logits.ndim != 3 or logits.shape[0] != mask.shape[0]:
        raise ValueError(f"'{name}' must return logits (batch, T, V), got {type(answer).__name__}")
    length = mask.shape[1]
    if logits.shape[1] < length:
        raise ValueError(f"'{name}' must return logits after {length} tokens, got {logits.shape[1]}")
    return logits[:, -length:][mask.to(logits.device)]  # soft prompts of PEFT have logits before them
