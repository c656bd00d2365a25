"""Keys that are chosen among those given: by their attention, or by matching pursuit of the mass."""

from __future__ import annotations

import torch

from .problem import Heads, Targets
from .solving import nonnegative

_ENTRIES = 2**27
"""Masses of one head that the pursuit holds, 512 MiB of them: of many queries some are taken."""
_SHARE, _PICKINGS, _ROUNDS = 8, 256, 30
"""Tokens picked at once are those that it has over the first, or all over the second; steps that solve for weights."""


def attend_most(targets: Targets, count: int) -> torch.Tensor:
    """Return the places (G, count), rising, of the tokens of the largest attention, in root mean squares."""
    return targets.squares.topk(count, dim=-1).indices.sort(dim=-1).values


def pursue_masses(heads: Heads, targets: Targets, count: int) -> torch.Tensor:
    """Return the places (G, count), rising, of tokens whose weighted masses come nearest to all (matching pursuit).

    First one after another, then several at once; weights are solved for after each picking.
    """
    return torch.stack([_pursue(heads.at(g), targets.at(g), count) for g in _singles(len(heads.key))])


def _singles(count: int) -> list[slice]:
    return [slice(g, g + 1) for g in range(count)]


def _pursue(heads: Heads, targets: Targets, count: int) -> torch.Tensor:
    """Return the places (count,) of one head."""
    m, n = heads.queries.shape[1], heads.key.shape[1]
    rows = torch.linspace(0, m - 1, min(m, max(_ENTRIES // n, 1)), device=heads.key.device).long()
    logits = heads.logits(heads.queries[:, rows], heads.key)[0]
    columns = logits.sub_(targets.log_masses[0, rows, None]).exp_()
    places = columns.new_empty(0, dtype=torch.long)
    basis, gram = columns.new_empty(count, len(rows)), columns.new_empty(count, count)
    weights, residual = columns.new_empty(0), columns.new_ones(len(rows))
    mask = torch.zeros(n, dtype=torch.bool, device=columns.device)
    while (k := len(places)) < count:
        match = (residual @ columns).masked_fill_(mask, -torch.inf)
        picks = match.topk(min(max(k // _SHARE, count // _PICKINGS, 1), count - k)).indices
        mask[picks] = True
        places = torch.cat([places, picks])
        j = len(places)
        basis[k:j] = columns[:, picks].T
        gram[k:j, :j] = basis[k:j] @ basis[:j].T
        gram[:k, k:j] = gram[k:j, :k].T
        lengths = gram.diagonal()[:j].clamp(min=1e-30).sqrt()
        scaled = gram[:j, :j] / lengths[:, None] / lengths
        moment = basis[:j].sum(dim=1) / lengths
        start = torch.cat([weights, weights.new_zeros(j - k)]) * lengths
        weights = nonnegative(scaled[None], moment[None], start[None], _ROUNDS)[0][0] / lengths
        residual = 1.0 - weights @ basis[:j]
    return places.sort().values
