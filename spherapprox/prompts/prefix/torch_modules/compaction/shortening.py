"""Fewer tokens for the heads of one sequence in one layer, by any of the methods."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import torch

from . import descent, peers
from .options import CONTEXT, FITTED, FOLDS, CacheOptions
from .problem import Heads, Targets, Tokens, errors, gather, part_of
from .selection import attend_most, pursue_masses
from .solving import attention_of, closed_form, solve_values

_ENTRIES = 2**25
"""Numbers of attention of the heads that are fitted at once: 256 MiB in float64, of which a few are held."""
_FEWEST = 20
"""Iterations for which a descent is begun."""
_SPARE = 3.0
"""Numbers at the queries over the free ones of tokens, from which on a descent gains at other queries, too."""


@dataclass
class Plan:
    """A method, whether tokens have biases, the options, and when time ends."""

    method: str
    bias: bool
    options: CacheOptions
    deadline: float = field(default=math.inf)

    def stop(self) -> bool:
        """Tell whether time has ended."""
        return time.monotonic() > self.deadline

    def shorten(self, heads: Heads, targets: Targets, count: int, scores: torch.Tensor | None) -> Tokens:
        """Return `count` tokens of each head; `scores` (G, n) are what the context says of its tokens."""
        if self.method not in FITTED:
            places = self._choose(heads, count, scores)
            return Tokens(gather(heads.key, places), gather(heads.value, places), None, places)
        size = max(_ENTRIES // (heads.queries.shape[1] * count), 1)
        parts = [slice(start, start + size) for start in range(0, len(heads.key), size)]
        return joined([self._fit(heads.at(part), targets.at(part), count) for part in parts])

    def _choose(self, heads: Heads, count: int, scores: torch.Tensor | None) -> torch.Tensor:
        shape = heads.key.shape[:2]
        if self.method in CONTEXT:
            assert scores is not None
            return {"snapkv": peers.snapkv, "h2o": peers.h2o}[self.method](scores, count)
        places = {"recent": peers.recent, "uniform": peers.uniform}[self.method](shape, count)
        return places.to(heads.key.device)

    def _fit(self, heads: Heads, targets: Targets, count: int) -> Tokens:
        """Return tokens with biases and values of their own."""
        method = "top attention" if self.stop() else self.method
        ridge = self.options.ridge
        places = attend_most(targets, count) if method == "top attention" else pursue_masses(heads, targets, count)
        key, value = (gather(part, places) for part in (heads.key, heads.value))
        bias, value = closed_form(heads, targets, key, value, self.bias, ridge)
        chosen = Tokens(key, value, bias, places)
        if method != "descent":
            return chosen
        return self._descended(heads, targets, chosen, places)

    def _descended(self, heads: Heads, targets: Targets, chosen: Tokens, places: torch.Tensor) -> Tokens:
        """Return tokens at free keys, of each head those that were chosen where they are better at other queries."""
        count, mass, ridge = places.shape[1], self.options.mass, self.options.ridge
        out = torch.arange(heads.queries.shape[1], device=heads.key.device) % FOLDS == FOLDS - 1
        (some, known), (others, unseen) = (part_of(heads, targets, rows) for rows in (~out, out))

        def measure(tokens: Tokens) -> torch.Tensor:
            error, mass_error = errors(tokens, others, unseen)
            return (error.square() + (mass * mass_error).square()).nan_to_num(nan=math.inf)

        fit = descent.Fit.of(some, known, self.bias, mass, ridge)
        iterations = int(min(self.options.iterations, self.options.work / fit.operations(count)))
        numbers = heads.queries.shape[1] * (heads.value.shape[2] + 1)
        few = numbers < _SPARE * count * (heads.key.shape[2] + heads.value.shape[2] + 1)
        if few or iterations < min(_FEWEST, self.options.iterations):
            return chosen
        starts = [descent.means(fit, count, torch.Generator().manual_seed(0)), gather(heads.key, places)]
        fitted = descent.refine(fit, starts, iterations, self.stop, measure)
        key, value = (gather(part, places) for part in (heads.key, heads.value))
        bias, value = closed_form(some, known, key, value, self.bias, ridge)
        better = measure(fitted) < measure(Tokens(key, value, bias, None))
        fitted = replace(fitted, value=solve_all(heads, targets, fitted, ridge))
        return mixed(better, fitted, chosen)


def solve_all(heads: Heads, targets: Targets, tokens: Tokens, ridge: float) -> torch.Tensor:
    """Return the values of tokens that are best at all queries."""
    weights = attention_of(heads.logits(heads.queries, tokens.key), tokens.bias)
    return solve_values(weights, targets.outputs, tokens.value, ridge)


def mixed(mask: torch.Tensor, one: Tokens, other: Tokens) -> Tokens:
    """Return tokens of one kind where a mask (G,) has heads, else of the other; none have places."""
    key, value = (torch.where(mask[:, None, None], *pair) for pair in ((one.key, other.key), (one.value, other.value)))
    bias = None
    if one.bias is not None and other.bias is not None:
        bias = torch.where(mask[:, None], one.bias, other.bias)
    return Tokens(key, value, bias, None)


def joined(parts: list[Tokens]) -> Tokens:
    """Return the tokens of all heads, from those of some."""
    key, value = (torch.cat([getattr(part, name) for part in parts]) for name in ("key", "value"))
    biases = [part.bias for part in parts if part.bias is not None]
    places = [part.places for part in parts if part.places is not None]
    return Tokens(key, value, torch.cat(biases) if biases else None, torch.cat(places) if places else None)
