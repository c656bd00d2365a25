"""Published choices of tokens to keep, and trivial ones: keys and values as they are, no biases.

`snapkv` is that of Li et al. (2024), arXiv:2404.14469: the queries of the context's end vote by their attention, votes
are pooled over neighbours, and the end stays. `h2o` is that of Zhang et al. (2023), arXiv:2306.14048: the tokens that
got most attention from all of the context, and recent ones, in halves. Both choose for each shared head, by the sum
over its heads of queries; written from the papers.
"""

from __future__ import annotations

import torch

WINDOW, _POOL = 32, 7
"""Queries that vote, and tokens over which the largest vote counts, as the authors' defaults are."""


def snapkv(votes: torch.Tensor, count: int) -> torch.Tensor:
    """Return places (G, count), rising, from the attention (G, n) that the last tokens of the context paid."""
    kept = min(WINDOW, count // 2)
    pooled = torch.nn.functional.max_pool1d(votes[:, None], _POOL, stride=1, padding=_POOL // 2)[:, 0]
    return _with_recent(pooled, count, kept)


def h2o(sums: torch.Tensor, count: int) -> torch.Tensor:
    """Return places (G, count), rising, from the attention (G, n) that all tokens of the context paid."""
    return _with_recent(sums, count, count // 2)


def recent(shape: torch.Size, count: int) -> torch.Tensor:
    """Return the last places."""
    return torch.arange(shape[1] - count, shape[1]).expand(shape[0], -1)


def uniform(shape: torch.Size, count: int) -> torch.Tensor:
    """Return places at even distances, the last one among them."""
    return (torch.arange(1, count + 1) * shape[1] / count).ceil().long().sub(1).expand(shape[0], -1)


def _with_recent(scores: torch.Tensor, count: int, kept: int) -> torch.Tensor:
    """Return the last `kept` places and those of the largest scores before."""
    n = scores.shape[-1]
    best = scores[:, : n - kept].topk(count - kept, dim=-1).indices
    last = torch.arange(n - kept, n, device=scores.device).expand(len(scores), -1)
    return torch.cat([best, last], dim=-1).sort(dim=-1).values
