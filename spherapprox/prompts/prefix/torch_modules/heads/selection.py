"""Keys that are chosen among those given: by their attention, or by matching pursuit of the mass."""

from __future__ import annotations

import torch

from ....._threads import slices
from .problem import Heads, Targets
from .solving import solve_nonnegative

_ENTRIES = 2**27
"""Masses of one head that the pursuit holds, 512 MiB of them: of many queries some are taken."""
_TOGETHER, _PICKINGS, _CANDIDATES = 8, 256, 4
"""Tokens picked at once are those that it has over the first, or all over the second; and candidates for each of
several."""


def attend_most(targets: Targets, count: int) -> torch.Tensor:
    """Return the places (G, count), rising, of the tokens of the largest attention, in root mean squares."""
    return targets.squares.topk(count, dim=-1).indices.sort(dim=-1).values


def pursue_masses(heads: Heads, targets: Targets, count: int) -> torch.Tensor:
    """Return the places (G, count), rising, of tokens whose weighted masses come nearest to all (matching pursuit).

    First one after another, then several at once; nonnegative weights are solved for after each picking. Masses are
    over all of each query: over its largest one, errors of a model's cache are larger by 10 %, its recall is less.
    """
    return torch.stack([_pursue(heads.at(g), targets.at(g), count) for g in slices(len(heads.key), 1)])


def _pursue(heads: Heads, targets: Targets, count: int) -> torch.Tensor:
    """Return the places (count,) of one head."""
    m, n = heads.queries.shape[1], heads.key.shape[1]
    rows = torch.linspace(0, m - 1, min(m, max(_ENTRIES // n, 1)), device=heads.key.device).long()
    logits = heads.logits(heads.key, heads.queries[:, rows])[0]  # in rows, of which few are taken
    masses = logits.sub_(targets.log_masses[0, rows]).exp_()
    places, passive = torch.empty(0, dtype=torch.long, device=masses.device), masses.new_empty(0, dtype=torch.bool)
    basis, gram = masses.new_empty(count, len(rows)), masses.new_empty(count, count)
    match = moments = masses.sum(dim=1)
    while (k := len(places)) < count:
        if k:
            weights = solve_nonnegative(gram[:k, :k], moments[places], passive)
            match = (masses @ (1.0 - weights @ basis[:k])).index_fill_(0, places, -torch.inf)
            passive = weights > 0.0
        together = min(max(k // _TOGETHER, count // _PICKINGS, 1), count - k)
        picks = _match_best(masses, match, together, n - k)
        places, passive = torch.cat([places, picks]), torch.cat([passive, torch.ones_like(picks, dtype=torch.bool)])
        j = len(places)
        basis[k:j] = masses[picks]
        gram[k:j, :j] = basis[k:j] @ basis[:j].T
        gram[:k, k:j] = gram[k:j, :k].T
    return places.sort().values


def _match_best(masses: torch.Tensor, match: torch.Tensor, count: int, free: int) -> torch.Tensor:
    """Return tokens that match best what is left, in turn; those like one that is taken count less.

    Of `free` ones the match is finite.
    """
    candidates = match.topk(min(_CANDIDATES * count, free) if count > 1 else 1).indices
    block, match = masses[candidates], match[candidates]
    block /= block.norm(dim=1, keepdim=True).clamp(min=1e-30)
    left, taken = 1.0 - (block @ block.T).square_(), candidates.new_empty(0)
    for _ in range(count):
        best = match.argmax(dim=0, keepdim=True)
        taken = torch.cat([taken, best])
        match = (match * left.index_select(0, best)[0]).index_fill_(0, taken, -torch.inf)
    return candidates[taken]
