"""Tokens spent over heads where they change the next token most."""

from __future__ import annotations

import math

import torch

_LEAST, _MOST = 10, 4
"""Each head gets the mean number of tokens over the one at least, and times the other at most: work grows with it."""
_SMALLEST = 1e-12
"""The least weight over the mean one: heads of none, pruned ones, share what the others may not have."""


def weigh(slopes: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return what heads (G,) get tokens in proportion to: of slopes (G,) in squares and values (G, n, p).

    Half the slopes times the squared errors of outputs is the divergence of the next token, to second order. Errors are
    as large as values are spread, and their squares fall as one over the tokens: the sum over heads of w^2 / t is least
    for t in proportion to w.
    """
    spread = (values - values.mean(dim=1, keepdim=True)).square().sum(dim=-1).mean(dim=-1)
    return (slopes.double() * spread.double()).sqrt()


def spend(weights: list[torch.Tensor], count: int, most: int) -> list[list[int]]:
    """Return the tokens of heads of layers, `most` of each at most and `count` on the mean, in proportion to weights.

    If weights say nothing, all get `count`.
    """
    flat = torch.cat(weights).double().cpu()
    shares = (flat / flat.mean()).clamp(min=_SMALLEST)
    if not bool(shares.isfinite().all()):
        shares = torch.ones_like(flat)
    total, least, most = count * len(flat), max(count // _LEAST, 1), min(most, _MOST * count)
    low, high = 0.0, float(total) / shares.min().item()
    for _ in range(100):
        scale = (low + high) / 2.0
        low, high = (low, scale) if (scale * shares).clamp(least, most).sum() > total else (scale, high)
    numbers = (low * shares).clamp(least, most)
    counts = numbers.floor().long()
    left = (numbers - counts).masked_fill(counts >= most, -math.inf)
    counts[left.topk(total - int(counts.sum())).indices] += 1
    return [part.tolist() for part in counts.split([len(layer) for layer in weights])]
